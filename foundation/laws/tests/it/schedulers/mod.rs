//! The fair schedulers: their proven bounds, what push-out does to them, weights, classes, and
//! bounded tables of queues.

mod bounds;
mod gps;
mod hazard;
mod link;
mod printed;
mod service;

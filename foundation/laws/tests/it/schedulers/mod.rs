//! The fair schedulers: their proven bounds, the effect of push-out, weights, classes, and bounded
//! tables of queues.

mod bounds;
mod gps;
mod hazard;
mod link;
mod printed;
mod service;

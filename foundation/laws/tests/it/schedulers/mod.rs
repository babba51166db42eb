//! The fair schedulers.

mod bounds;
mod gps;
mod hazard;
mod link;
mod printed;
mod service;

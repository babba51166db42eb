//! A gateway as a service. Pages over HTTP are served by another crate, which a program passes in
//! as [`sites`].

pub mod config;
mod device;
pub mod edges;
pub mod service;
pub mod sites;
pub mod telemetry;

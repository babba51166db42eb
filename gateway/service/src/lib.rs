//! A gateway as a service.
//!
//! [`config`] reads the TOML file of a gateway. [`service`] runs gateways: locks, ports, rights, the
//! threads that answer and forward, reloads, the guard process, and take-overs. [`telemetry`] copies
//! counters on the datapath's thread and makes snapshots and OpenMetrics of them. Pages over HTTP
//! are another crate's; [`sites`] is what a program passes in for them.

pub mod config;
mod device;
pub mod edges;
pub mod service;
pub mod sites;
pub mod telemetry;

//! A gateway as a service.
//!
//! [`config`] reads the TOML file of a gateway. [`service`] runs gateways: locks, ports, rights,
//! the control and datapath threads, reloads, the guard process, and take-overs. [`telemetry`]
//! copies counters on the datapath thread and turns them into snapshots and OpenMetrics. Pages over
//! HTTP are served by another crate, which a program passes in as [`sites`].

pub mod config;
mod device;
pub mod edges;
pub mod service;
pub mod sites;
pub mod telemetry;

//! A gateway as a service. The program passes in the code that serves pages over HTTP (see
//! [`sites`]).

pub mod config;
mod device;
pub mod edges;
pub mod service;
pub mod sites;
pub mod telemetry;

//! Tests of the measurements that are served for a datapath on memory ports. One binary links the
//! crates once.

mod page;
mod telemetry;

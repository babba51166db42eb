//! The served measurements of a datapath on memory ports. One binary, since each would link all
//! crates again.

mod page;
mod telemetry;

//! The served measurements of a datapath on memory ports. One binary links the crates once.

mod page;
mod telemetry;

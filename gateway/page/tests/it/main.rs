//! The served measurements of a datapath on memory ports. The tests are one binary, since each
//! binary links all crates again.

mod page;
mod telemetry;

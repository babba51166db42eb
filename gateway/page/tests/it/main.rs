//! Measurements of a datapath on memory ports, as they are served: one binary, since each would be
//! linked with everything again.

mod page;
mod telemetry;

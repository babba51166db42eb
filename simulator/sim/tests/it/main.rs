//! Integration tests of the simulator: one binary, since each would be linked with everything
//! again.

mod applications;
mod edges;
mod endpoints;
mod laws;
mod ns2;
mod observed;
mod wires;

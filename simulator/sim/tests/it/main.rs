//! Integration tests of the simulator, in one binary, since each binary would link everything
//! again.

mod applications;
mod edges;
mod endpoints;
mod laws;
mod ns2;
mod observed;
mod wires;

//! Integration tests of the simulator, in one binary, because each binary links everything again.

mod applications;
mod edges;
mod endpoints;
mod laws;
mod ns2;
mod observed;
mod wires;

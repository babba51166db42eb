//! Integration tests of the TCP: one binary, since each would be linked with everything again.

mod behaviour;
mod controllers;
mod fuzz;
mod losses;
mod ns2;
mod path;
mod pipe;
mod repair;
mod timely;

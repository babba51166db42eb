//! Integration tests of the TCP, in one binary, because each binary links everything again.

mod behaviour;
mod controllers;
mod fuzz;
mod losses;
mod ns2;
mod path;
mod pipe;
mod repair;
mod timely;

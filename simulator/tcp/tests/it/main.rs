//! Integration tests of the TCP, in one binary, since each binary would link everything again.

mod behaviour;
mod controllers;
mod fuzz;
mod losses;
mod ns2;
mod path;
mod pipe;
mod repair;
mod timely;

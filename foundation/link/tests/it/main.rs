//! The input of a link, its refusals, and its deliveries.

mod changed;
mod given;
mod paused;
mod properties;
mod simulator;
mod text;

//! What a link is given, what it refuses, and how it delivers.

mod changed;
mod given;
mod paused;
mod properties;
mod simulator;

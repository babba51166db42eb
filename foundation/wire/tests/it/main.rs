//! Integration tests, in one binary, because each binary links all crates.

mod captures;
mod checksum;
mod frames;
mod headers;
mod hostile;
mod join;
mod split;
mod tunnels;

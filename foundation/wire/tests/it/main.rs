//! Integration tests of the wire formats. One binary, since each would link all crates again.

mod captures;
mod checksum;
mod frames;
mod headers;
mod hostile;
mod join;
mod split;
mod tunnels;

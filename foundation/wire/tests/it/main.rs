//! Integration tests of the wire formats, in one binary because each would be linked with
//! everything again.

mod captures;
mod checksum;
mod frames;
mod headers;
mod hostile;
mod join;
mod split;
mod tunnels;

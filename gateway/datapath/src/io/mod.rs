//! Frame I/O in addition to the ports of `fairwire-linux`.

pub mod diversion;
pub mod insides;
pub mod memory;
pub mod router;
pub mod senders;

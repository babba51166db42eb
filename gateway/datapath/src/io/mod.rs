//! Frame I/O in addition to the ports of `fairwire-linux`: memory, a router's two sides, sending
//! threads.

pub mod memory;
pub mod router;
pub mod senders;

//! What carries frames beside the ports of `fairwire-linux`: memory, a router's two sides, and
//! threads that send.

pub mod memory;
pub mod router;
pub mod senders;

//! What carries frames beside the ports of `fairwire-linux`: memory, a router's two sides, and
//! threads that send.

pub(crate) mod device;
pub mod memory;
pub mod router;
pub mod senders;

//! What carries frames beside the ports of `fairwire-linux`: memory, and a router's two sides.

pub(crate) mod device;
pub mod memory;
pub mod router;

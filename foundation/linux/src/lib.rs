//! Interfaces to Linux: the [clock], the network [interfaces](link) and their
//! [queues](traffic_control), the [packet filter](nftables), and [ports](port) for frames.
//!
//! No other crate makes system calls on the network stack.

pub mod af_packet;
pub mod clock;
mod gather;
pub mod interface;
pub mod link;
pub mod memory;
pub mod netlink;
pub mod nftables;
pub mod port;
pub mod priority;
pub mod program;
pub mod receive;
mod request;
pub mod tcp_info;
pub mod traffic_control;
pub mod tun;

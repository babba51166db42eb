//! What fairwire asks of Linux: its [clock], [interfaces](link) and their [queues](traffic_control), its [packet filter](nftables), and
//! [ports](port) that carry frames.
//!
//! Whoever forwards packets, and whoever tries it on real networks, asks here; system calls on the network stand nowhere else twice.

pub mod af_packet;
pub mod clock;
mod gather;
pub mod interface;
pub mod link;
pub mod netlink;
pub mod nftables;
pub mod port;
mod request;
pub mod tcp_info;
pub mod traffic_control;
pub mod tun;

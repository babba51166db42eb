//! Ethernet, IP, TCP and UDP headers, to the extent that a fair gateway needs them.
//!
//! The crate does no I/O. No input makes it panic: a truncated or odd frame yields fewer facts, and
//! an inconsistent super-packet is a typed error.
//!
//! ```
//! use fairwire_core::Ecn;
//! use fairwire_wire::{FlowHasher, checksum::checksum, ecn, headers};
//!
//! // Ethernet, IPv4 with ECT(0), UDP from 10.0.0.1:4000 to 10.0.0.2:53, no payload.
//! let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
//! frame.extend([0x45, 0x02, 0, 28, 0, 1, 0x40, 0, 64, 17, 0x26, 0xcc, 10, 0, 0, 1, 10, 0, 0, 2]);
//! frame.extend([0x0f, 0xa0, 0, 53, 0, 8, 0, 0]);
//!
//! let headers = headers::parse(&frame);
//! assert_eq!(headers.ecn(), Ecn::Ect0);
//! assert_eq!(headers.flow_key(&frame).to_string(), "udp 10.0.0.1:4000 -> 10.0.0.2:53");
//!
//! // The discipline's flow: a hash under a secret key, so that no sender can aim for another flow.
//! let flow = FlowHasher::new([7; 16]).hash(&headers.flow_key(&frame));
//!
//! // A congestion mark, with the IPv4 header checksum kept right.
//! ecn::set_ecn(&mut frame, &headers, Ecn::Ce);
//! let marked = headers::parse(&frame);
//! assert_eq!(marked.ecn(), Ecn::Ce);
//! assert_eq!(checksum(&frame[14..34]), 0);
//! assert_eq!(FlowHasher::new([7; 16]).hash(&marked.flow_key(&frame)), flow);
//! ```
#![forbid(unsafe_code)]

pub mod assured;
mod bytes;
pub mod checksum;
mod crc32c;
pub mod ecn;
pub mod flow_key;
pub mod headers;
pub mod join;
pub mod pcap;
pub mod pcapng;
pub mod quic;
mod segment;
pub mod split;
pub mod tcp;
pub mod vnet;
mod way;

pub use ecn::{set_dscp, set_ecn};
pub use flow_key::{FlowHasher, FlowKey, KeyKind, NetworkBits, Number};
pub use headers::{Headers, parse, parse_ip};
pub use split::{SplitError, split, split_parsed};
pub use vnet::VnetHeader;
pub use way::Way;

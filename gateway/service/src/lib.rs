//! Forwards real packets through a fairwire discipline.
//!
//! The [`datapath`] is pure: time is an argument, and frames come through a small
//! [`Port`](io::Port). On [`io::memory`] it runs under a virtual clock. On [`io::af_packet`] the
//! [`driver`] runs it between two interfaces of this machine, a bump in the wire. On [`io::tun`] it
//! runs between two devices of its own, for what is routed.

pub mod account;
pub mod arrivals;
pub mod class_book;
pub mod classify;
pub mod config;
pub mod control;
pub mod datapath;
pub mod direction;
pub mod driver;
pub mod edge;
pub mod hand_over;
pub mod http;
pub mod io;
pub mod leases;
pub mod ledger;
pub mod loops;
pub mod not_ip;
pub mod page;
pub mod pool;
pub mod radius;
pub mod service;
pub mod telemetry;
pub mod trips;

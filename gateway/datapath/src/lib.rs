//! The data path of a gateway: receives, shapes and sends frames, in two
//! [`Direction`](direction::Direction)s.
//!
//! A frame arrives by a [`Port`](fairwire_linux::port::Port). The
//! [`Classifier`](classify::Classifier) finds its class, flow and length on the link. A
//! [`Server`](fairwire_core::Server) with a discipline queues and releases it.
//!
//! Time is an argument everywhere except in [`driver`]. With [`io::memory`], a [`Datapath`] runs on
//! virtual time.
#![forbid(unsafe_code)]

pub mod account;
pub mod arrivals;
pub mod capture;
pub mod class_book;
pub mod classify;
pub mod control;
mod datapath;
pub mod direction;
pub mod driver;
pub mod edge;
pub mod hand_over;
pub mod io;
pub mod ledger;
pub mod loops;
pub mod not_ip;
pub mod pool;
mod probing;
mod shared;
pub mod sojourn;
pub mod trips;

pub use datapath::*;
pub use shared::SharedList;

//! Queue disciplines that share a link fairly: schedulers, droppers, markers, and compositions.
//!
//! A `Spec` holds a discipline's parameters as given. Checking it at a [`Site`] gives a
//! [`BadParameter`] or a `Config`, which builds the discipline.
//!
//! ```
//! use fairwire_core::units::Amount;
//! use fairwire_core::{Ignore, Packet, Rate, Seed, Time};
//! use fairwire_laws::{Site, dropper::faba};
//!
//! let site = Site {
//!     rate: Rate::from_bps(10_000_000).expect("not zero"),
//!     buffer: Amount::Packets(780),
//!     packet_bytes: 512,
//!     seed: Seed(1),
//!     stream: "link/bottleneck",
//! };
//! let mut queue = faba::Spec::default().build(&site)?;
//! queue.enqueue(Packet::new(0, 512, 7.into(), Time::ZERO), Time::ZERO, &mut Ignore);
//! assert_eq!(queue.backlog().packets, 1);
//! # Ok::<(), fairwire_laws::BadParameter>(())
//! ```
//!
//! The crate needs an allocator but no operating system. It reads no clock, does no I/O, and
//! allocates only at construction. With the feature `serde`, parameters can be read from any format
//! and have a schema. With the feature `text`, the module `named` finds a discipline by name and
//! reads its parameters from TOML.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod about;
pub mod autorate;
#[cfg(feature = "serde")]
mod class_number;
pub mod compose;
pub mod dropper;
pub mod error;
pub mod jitter;
#[macro_use]
mod listed;
pub mod marker;
pub mod memory;
#[cfg(feature = "text")]
pub mod named;
pub mod part;
pub mod queueing;
pub mod role;
pub mod scheduler;
pub mod site;
pub mod spec;
mod timer;

pub use error::BadParameter;
pub use site::Site;

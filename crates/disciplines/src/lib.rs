//! Queue disciplines that share a link fairly.
//!
//! Every discipline stands in the [`catalogue`], and being in it subjects the discipline to the conformance suite. One is
//! made by its name, its typed-in [`Parameters`] and the [`Site`] where it will work:
//!
//! ```
//! use fairwire_core::units::Amount;
//! use fairwire_core::{Ignore, Packet, Rate, Seed, Time};
//! use fairwire_disciplines::{Parameters, Site, build};
//!
//! let site = Site {
//!     rate: Rate::from_bps(10_000_000).expect("not zero"),
//!     buffer: Amount::Packets(780),
//!     packet_bytes: 512,
//!     seed: Seed(1),
//!     stream: "link/bottleneck",
//! };
//! let mut queue = build("faba", &Parameters::default(), &site)?;
//! queue.enqueue(Packet::new(0, 512, 7.into(), Time::ZERO), Time::ZERO, &mut Ignore);
//! assert_eq!(queue.backlog().packets, 1);
//! # Ok::<(), fairwire_disciplines::BuildError>(())
//! ```
//!
//! The way is always *what was typed → checked → built*: a `Spec` holds what was typed, each field optional and with a
//! documented default; checking it gives a `Config` or a [`BadParameter`]; a `Config` builds. There are no setters.
//!
//! The crate reads no clock, does no I/O, and holds no `unsafe`. Nothing here allocates after construction.
#![forbid(unsafe_code)]

pub mod catalogue;
pub mod class_tree;
pub mod compose;
pub mod dropper;
pub mod error;
pub mod marker;
mod memory;
pub mod page;
pub mod parameters;
pub mod part;
pub mod scheduler;
pub mod site;
pub mod spec;

pub use catalogue::{UnknownDiscipline, build};
pub use error::{BadParameter, BuildError};
pub use parameters::{DisciplineSpec, Parameters};
pub use site::Site;

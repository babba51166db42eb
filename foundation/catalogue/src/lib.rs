//! Queue disciplines by name.
//!
//! A discipline is built from its name, its [`Parameters`], and its [`Site`]:
//!
//! ```
//! use fairwire_catalogue::{Parameters, Site, build};
//! use fairwire_core::units::Amount;
//! use fairwire_core::{Ignore, Packet, Rate, Seed, Time};
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
//! # Ok::<(), fairwire_catalogue::BuildError>(())
//! ```
//!
//! The algorithms are in `fairwire-laws`. Other crates add disciplines with [`register`].
#![forbid(unsafe_code)]

pub mod choice;
pub mod compose;
mod discipline;
mod error;
mod listed;
pub mod marker;
pub mod nested;
pub mod page;
mod registry;
mod spec;

pub use choice::Choice;
pub use discipline::{build, check, check_base, inherit_ecn, own_buffer, part_mut, with_part};
pub use error::{BuildError, UnknownDiscipline};
pub use fairwire_laws::about::{About, Family};
pub use fairwire_laws::{BadParameter, Site};
pub use fairwire_parameters::NotRegistered;
pub use registry::{Entry, all, allowed, combined, find, key, register, schedulers, shared_parameters};
pub use spec::{DisciplineSpec, Disciplines, Inside, Parameters};

/// The disciplines, and then the markers, that have a parameter called `name`.
pub fn owners(name: &str) -> Vec<&'static str> {
    let markers = marker::all().iter().filter(|marker| marker.has(name)).map(|marker| marker.name);
    registry::with_parameter(name).chain(markers).collect()
}

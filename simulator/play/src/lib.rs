//! A simulation that can be watched while it runs.
//!
//! A [`Player`] runs a scenario under its first two disciplines and one seed. [`answer`] controls
//! the player by byte messages, so a page can have its player in WebAssembly or in another process.
//!
//! ```
//! use fairwire_core::Time;
//! use fairwire_play::{Player, Wanted};
//!
//! let scenario = r#"
//!     format = 2
//!     name = "two"
//!     duration = "2 s"
//!     disciplines = ["tail-drop", "faba"]
//!     [link]
//!     rate = "1 Mbit/s"
//!     delay = "5 ms"
//!     buffer = "20 packets"
//!     [[flow]]
//!     group = "tcp"
//!     count = 2
//!     source = "bulk"
//!     access = { rate = "10 Mbit/s", delay = "1 ms" }
//! "#;
//! let mut player = Player::new(&Wanted::of(scenario))?;
//! let frame = player.advance(Time::from_ns(100_000_000));
//! assert_eq!(frame.sides.len(), 2);
//! assert_eq!(frame.sides[0].samples.len(), 10, "one for each 10 ms");
//! # Ok::<(), fairwire_play::PlayError>(())
//! ```
#![forbid(unsafe_code)]

mod about;
mod frame;
mod judging;
mod messages;
mod objects;
mod player;
mod recorder;

pub use frame::{Frame, Level, Sample, SideFrame};
pub use messages::{Players, answer};
pub use player::{MAX_FLOWS, PlayError, Player, SAMPLE, Wanted};

//! A sans-I/O TCP at segment granularity, for simulations.
//!
//! Sequence numbers count whole segments, as in ns-2's one-way agents, and data never runs out or is read: what is modelled is
//! congestion control, loss recovery and timers. Time is an argument; segments leave through [`Output`]; timers are asked
//! for with [`Sender::deadline`].
//!
//! ```
//! use fairwire_core::Time;
//! use fairwire_tcp::{Config, Output, Profile, Receiver, Segment, Sender};
//!
//! #[derive(Default)]
//! struct Sent(Vec<Segment>);
//! impl Output for Sent {
//!     fn send(&mut self, segment: Segment) {
//!         self.0.push(segment);
//!     }
//! }
//!
//! let config = Config::new(Profile::Ns2In2002, 512);
//! let (mut sender, mut receiver, mut sent) = (Sender::new(&config), Receiver::new(), Sent::default());
//! sender.start(Time::ZERO, &mut sent);
//! assert_eq!(sent.0, [Segment::Syn]);
//! let ack = receiver.on_segment(Segment::Syn);
//! sender.on_ack(ack, Time::from_ns(32_000_000), &mut sent);
//! assert_eq!(sent.0[1..], [Segment::Data(0), Segment::Data(1)]); // the initial window
//! ```
#![forbid(unsafe_code)]

mod config;
pub mod congestion;
mod receiver;
mod rtt;
mod sender;

pub use config::{Config, Profile};
pub use receiver::{Ack, Receiver};
pub use rtt::RttEstimator;
pub use sender::{Output, Segment, Sender};

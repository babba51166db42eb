//! A sans-I/O TCP at segment granularity, for simulations.
//!
//! Sequence numbers count full segments, as in ns-2's one-way agents, and data has no content. Any
//! [`Recovery`] combines with any [`ControlConfig`](congestion::ControlConfig). Time is an
//! argument; segments leave through [`Output`]; timers are read from [`Sender::deadline`] and
//! [`Receiver::deadline`].
//!
//! ```
//! use fairwire_core::Time;
//! use std::sync::Arc;
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
//! let config = Arc::new(Config::new(Profile::Ns2In2002, 512));
//! let (mut sender, mut receiver) = (Sender::new(&config), Receiver::new(&config));
//! let mut sent = Sent::default();
//! sender.start(Time::ZERO, &mut sent);
//! assert_eq!(sent.0, [Segment::SYN]);
//! let ack = receiver.on_segment(Segment::SYN, Time::from_ns(16_000_000));
//! let ack = ack.expect("a SYN is answered at once");
//! sender.on_ack(ack, Time::from_ns(32_000_000), &mut sent);
//! assert_eq!(sent.0[1..], [Segment::data(0), Segment::data(1)]); // the initial window
//! ```
#![forbid(unsafe_code)]

mod config;
pub mod congestion;
mod cut;
mod journal;
mod rack;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;

pub use config::{Config, DelayedAck, EcnMode, Processing, Profile, Quirks, Recovery};
pub use receiver::Receiver;
pub use rtt::RttEstimator;
pub use segment::{Ack, Block, Sack, Segment};
pub use sender::{LossCounts, Output, Sender};

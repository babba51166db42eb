//! The contracts of fairwire, shared by every discipline, the simulator and the gateway.
//!
//! A *discipline* decides which packets wait, which are refused, and which one is sent next
//! ([`Discipline`]). A [`Queue`] is a discipline of one [`Buffer`], [`Scheduler`] and [`Dropper`].
//! [`Signals`] receives the drops and marks.
//!
//! The crate has no dependencies, reads no clock and does no I/O: callers pass the [`Time`] and
//! each [`Packet`].
//!
//! ```
//! use fairwire_core::{Discipline, Ignore, Limit, Packet, Queue, Time, scheduler::Fcfs};
//!
//! struct TailDrop;
//! impl fairwire_core::Dropper for TailDrop {}
//!
//! let mut queue = Queue::new(Limit::packets(2), Fcfs, TailDrop);
//! for frame in 0..3 {
//!     queue.enqueue(Packet::new(frame, 1500, 7.into(), Time::ZERO), Time::ZERO, &mut Ignore);
//! }
//! assert_eq!(queue.backlog().packets, 2); // the third did not fit
//! assert_eq!(queue.dequeue(Time::ZERO, &mut Ignore).map(|p| p.frame), Some(0));
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod buffer;
pub mod capacity;
pub mod class_tree;
mod columns;
mod cycle;
pub mod delays;
pub mod discipline;
pub mod dropper;
pub mod flow;
mod irtt;
pub mod marker;
mod names;
mod needs;
pub mod packet;
pub mod pattern;
pub mod probe;
pub mod queue;
pub mod queues;
pub mod rate;
pub mod rng;
pub mod scheduler;
pub mod server;
pub mod signals;
pub mod spelling;
pub mod time;
pub mod units;
pub mod weight;
pub mod wire;

pub use buffer::{Buffer, FlowKey, Key, Limit};
pub use capacity::{RateLaw, Step, Trace, TraceError};
pub use class_tree::{ClassTerms, ClassTree, ClassTreeError};
pub use columns::Line;
pub use delays::{DelayError, DelayTrace};
pub use discipline::{Backlog, Control, Discipline, Kept, Room, RoundTrip};
pub use dropper::{Dropper, Verdict, Victim};
pub use flow::{FlowHash, FlowIndex, FlowTable};
pub use marker::{Marker, RateRequest};
pub use needs::Needs;
pub use packet::{Ecn, Packet};
pub use pattern::{Pattern, PatternError};
pub use probe::{Probe, Unit};
pub use queue::{EcnPolicy, Queue};
pub use queues::Queues;
pub use rate::{Rate, Rounded, Transmitter};
pub use rng::{Rng, Seed};
pub use scheduler::{Chosen, Left, Scheduler};
pub use server::{Server, Service};
pub use signals::{Acknowledgement, Cause, Ignore, Signals};
pub use time::{Duration, Time};
pub use weight::{SetWeightError, Weight};
pub use wire::{DelayStep, Fate, GilbertElliott, Jitter, Loss, Outage, Wire, WireLaw};

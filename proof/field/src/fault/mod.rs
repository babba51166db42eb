//! Faults with the real process: each with its promise, its outcome, and the counters.

mod cases;
mod happened;
mod hellos;
mod hostile;
mod kinds;
mod live;
mod plain;
mod support;

pub use cases::{FAULTS, Fault, find};
pub use happened::Happened;
pub(crate) use plain::bps;
pub(crate) use support::kernel_count;

//! Disciplines that hold other disciplines, as typed.

pub mod classful;
pub mod conditioner;
pub mod prio;
pub mod queue;
pub mod shaper;

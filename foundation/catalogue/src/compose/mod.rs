//! Disciplines that hold other disciplines, as given.

pub mod classful;
pub mod conditioner;
pub mod prio;
pub mod queue;
pub mod shaper;

//! The disciplines that hold other disciplines.

pub mod classful;
pub mod conditioner;
pub mod prio;
pub mod queue;
pub mod shaper;

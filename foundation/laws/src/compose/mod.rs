//! Disciplines composed of schedulers, droppers or other disciplines.

pub mod autorated;
pub mod cake_like;
pub mod classful;
pub mod conditioner;
pub mod device;
pub mod dual_pi2;
pub mod fair_queueing;
pub mod fq_codel;
pub mod fq_pie;
pub(crate) mod ingress;
pub mod per_flow;
pub mod prio;
pub mod shaper;

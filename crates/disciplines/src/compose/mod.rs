//! Compositions: disciplines made of other parts.

pub mod cake_like;
pub mod dual_pi2;
pub mod fq_codel;
pub mod fq_pie;
pub mod per_flow;

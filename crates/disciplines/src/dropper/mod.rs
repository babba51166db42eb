//! Droppers: which packets are refused, marked, or pushed out. One algorithm per file.

pub mod alqd;
pub mod choke;
pub mod drop_front;
pub mod faba;
pub mod lqd;
pub mod lqd_binned;
pub mod push_out;
pub mod red;
pub mod rnd;
pub mod tail_drop;

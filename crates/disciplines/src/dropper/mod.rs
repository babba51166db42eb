//! Droppers: which packets are refused, marked, or pushed out. One algorithm per file.

pub mod afd;
pub mod alqd;
pub mod avq;
pub mod blue;
pub mod choke;
pub mod cobalt;
pub mod codel;
pub mod drop_front;
pub mod faba;
pub mod fattest;
pub mod fred;
pub mod half_free;
pub mod hfaba;
pub mod law;
pub mod lqd;
pub mod lqd_binned;
pub mod pie;
pub mod push_out;
pub mod red;
pub mod rem;
pub mod rio;
pub mod rnd;
pub mod rqm;
pub mod sfb;
pub mod sfed;
pub mod tail_drop;

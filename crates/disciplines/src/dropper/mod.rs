//! Droppers: which packets are refused, marked, or pushed out. One algorithm per file.

pub mod cobalt;
pub mod codel;
pub mod faba;
pub mod fattest;
pub mod law;
pub mod pie;
pub mod red;
pub mod tail_drop;

//! Droppers: which packets are refused, marked, or pushed out. One algorithm per file.

pub mod afd;
pub mod faba;
pub mod fred;
pub mod red;
pub mod tail_drop;

//! Droppers: which packets are refused, marked, or pushed out. One algorithm per file.

pub mod faba;
pub mod red;
pub mod rio;
pub mod tail_drop;

//! Droppers: which packets are refused, marked, or pushed out. One algorithm per file.

pub mod faba;
pub mod hfaba;
pub mod red;
pub mod sfed;
pub mod tail_drop;

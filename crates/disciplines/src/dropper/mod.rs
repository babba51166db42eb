//! Droppers: which packets are refused, marked, or pushed out. One algorithm per file.

pub mod avq;
pub mod blue;
pub mod faba;
pub mod red;
pub mod rem;
pub mod rqm;
pub mod sfb;
pub mod tail_drop;

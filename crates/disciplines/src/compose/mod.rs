//! Disciplines made of other disciplines. One combination per file.

pub mod classful;
pub mod conditioner;
pub mod nested;
pub mod prio;
pub mod shaper;

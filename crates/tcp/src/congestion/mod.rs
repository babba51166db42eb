//! Congestion control: how the window grows and shrinks. One algorithm, one file.

mod reno;
pub use reno::Reno;

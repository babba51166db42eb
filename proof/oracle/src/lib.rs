//! Compares Linux's queue disciplines, as an oracle, with ours.
//!
//! One trace of arrivals passes through a discipline of the Linux kernel and its counterpart here,
//! with the same rate and limits. The kernel is User Mode Linux with a virtual clock, so
//! disciplines without randomness can be compared packet by packet (`docs/oracles.md`).
#![forbid(unsafe_code)]

pub mod case;
pub mod compare;
pub mod flood;
pub mod frame;
pub mod guest;
pub mod outcome;
pub mod replay;
pub mod report;
pub mod trace;
pub mod wires;

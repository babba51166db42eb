//! Compares Linux's queue disciplines, as an oracle, with ours.
//!
//! One trace of arrivals passes through a discipline of the Linux kernel and through its
//! counterpart here, at the same rate and with the same limits. The fate of each packet is
//! compared.
//!
//! The kernel is User Mode Linux, a separate program of which nothing is copied. Its clock is
//! virtual (see `fairwire_stages::linux`), so times are the same in the kernel and here.
//! Disciplines without randomness can be compared packet by packet. `docs/oracles.md` explains how
//! to run the comparison, and lists the findings.
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

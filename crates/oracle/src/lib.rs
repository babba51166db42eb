//! Linux's own queue disciplines as an oracle.
//!
//! One trace of arrivals goes through a discipline of the Linux kernel and through its counterpart here, at the same rate
//! and with the same limits. What became of each packet is compared.
//!
//! The kernel is User Mode Linux: a program beside ours, of which nothing is copied. Its clock is virtual (see
//! `fairwire_experiment::linux`), so both sides see the same times, and disciplines that draw nothing can be compared packet
//! by packet. `docs/oracles.md` tells how it is run and what it found.
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

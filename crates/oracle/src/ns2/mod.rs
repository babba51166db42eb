//! ns-2 side by side: the same contest in ns-2 2.35 and in our simulator, over a grid of cells.
//!
//! A cell is one queue discipline, some classes of flows, and a number of seeds. Both sides draw start times from the same
//! distribution, run as long, and forget the same warm-up. What each class got and lost is compared, as a mean over the seeds
//! with its 95 % interval. ns-2 is a program beside ours, under a script of our own (`bench/ns2/dumbbell.tcl`).
//! `docs/validation.md` tells what came of it.

pub mod cell;
pub mod exceptions;
pub mod grid;
pub mod judge;
pub mod ours;
pub mod report;
pub mod theirs;

use std::collections::BTreeMap;

/// What one run on one side came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// By the name of the class.
    pub classes: BTreeMap<String, ClassOutcome>,
    /// Packets that reached the bottleneck.
    pub offered: u64,
    /// Packets that it sent.
    pub sent: u64,
}

/// What one class got and lost, all of its flows together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassOutcome {
    /// Bits per second on the wire that arrived in order, once.
    pub throughput_bps: f64,
    /// Packets dropped at the bottleneck.
    pub drops: u64,
}

//! The parameters of a tree of classes.

use alloc::boxed::Box;
use fairwire_core::{ClassTree, Duration, Rate, Transmitter};

/// Priorities are below this.
pub const PRIORITIES: usize = 8;

/// The checked parameters of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The tree. The guarantee of an inner class is at least the sum of its children's guarantees.
    pub tree: ClassTree,
    /// The terms of service of each class, by its place in the tree.
    pub terms: Box<[Terms]>,
    /// The ceiling of the entire tree.
    pub rate: Option<Shape>,
    /// The place of the default leaf, for packets whose class is unlisted or is no leaf.
    pub default: usize,
    /// The number of leaves that share the tree's buffer.
    pub sharing: usize,
}

/// The terms of service of one class, except those in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The time by which the class may fall behind its guarantee and still catch up.
    pub guarantee_burst: Duration,
    /// The maximum time under its ceiling that the class may later make up for.
    pub ceiling_burst: Duration,
    /// The rate limit while the class makes up for time under its ceiling.
    pub peak: Option<Shape>,
    /// Its priority.
    pub priority: u8,
}

/// A rate, and the time by which a sender may fall behind this rate and still catch up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The rate.
    pub rate: Rate,
    /// The burst, given as the time to send it at `rate`.
    pub burst: Duration,
}

impl Shape {
    pub(super) fn bucket(self) -> Transmitter {
        Transmitter::with_catch_up(self.rate, self.burst)
    }
}

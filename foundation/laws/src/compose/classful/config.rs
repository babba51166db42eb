//! What a tree of classes is made of.

use alloc::boxed::Box;
use fairwire_core::{ClassTree, Duration, Rate, Transmitter};

/// Priorities are below this.
pub const PRIORITIES: usize = 8;

/// The checked parameters of a tree: its classes and their terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The tree. The guarantee of a class with classes below it is at least what these are
    /// guaranteed together.
    pub tree: ClassTree,
    /// The terms of service of each class, by its place in the tree.
    pub terms: Box<[Terms]>,
    /// The ceiling of the whole.
    pub rate: Option<Shape>,
    /// The place of the leaf of packets of classes that are not listed, or that are no leaves.
    pub default: usize,
    /// How many leaves share the buffer of the whole.
    pub sharing: usize,
}

/// The terms of service of one class, beside those in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long it may fall behind its guarantee and yet catch up.
    pub guarantee_burst: Duration,
    /// How long it may stay under its ceiling and then make up for it.
    pub ceiling_burst: Duration,
    /// What it never passes while it makes up for it.
    pub peak: Option<Shape>,
    /// Its priority.
    pub priority: u8,
}

/// A rate, and how long it may fall behind and yet catch up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The rate.
    pub rate: Rate,
    /// The burst, as the time in which the rate brings it.
    pub burst: Duration,
}

impl Shape {
    pub(super) fn bucket(self) -> Transmitter {
        Transmitter::with_catch_up(self.rate, self.burst)
    }
}

//! What a tree of classes is made of.

use crate::class_tree::ClassTree;
use alloc::boxed::Box;
use fairwire_core::{Duration, Rate, Transmitter};

/// Priorities are below this.
pub const PRIORITIES: usize = 8;

/// What a tree is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The tree.
    pub tree: ClassTree,
    /// What is promised to and asked of each class, by its place in the tree.
    pub terms: Box<[Terms]>,
    /// The ceiling of the whole.
    pub rate: Option<Shape>,
    /// The place of the leaf of packets of classes that are not listed, or that are no leaves.
    pub default: usize,
    /// How many leaves share the buffer of the whole.
    pub sharing: usize,
}

/// What is promised to and asked of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// What is guaranteed.
    pub guarantee: Option<Shape>,
    /// What it never passes.
    pub ceiling: Option<Shape>,
    /// Its weight in what is left over.
    pub weight: f64,
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

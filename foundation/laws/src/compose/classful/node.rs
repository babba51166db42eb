//! A node of the tree.

use super::ceiling::Ceiling;
use super::config::{PRIORITIES, Shape, Terms};
use super::leaf::Contents;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use fairwire_core::{ClassTerms, Time, Transmitter};

pub(super) const ROOT: usize = 0;

pub(super) fn node_of(place: Option<usize>) -> usize {
    place.map_or(ROOT, |place| place + 1)
}

pub(super) struct Node {
    pub(super) parent: usize,
    pub(super) contents: Contents,
    // Both buckets are boxed, because most of a tree's thousands of classes have neither.
    pub(super) guarantee: Option<Box<Transmitter>>, // free while the class is within its guarantee
    pub(super) ceiling: Option<Box<Ceiling>>,       // free while the class may send
    pub(super) cost: u64,                           // of a byte in virtual time: the inverse of the weight
    pub(super) priority: usize,
    pub(super) tag: u128, // virtual time from which it is owed excess
    /// A virtual time for each priority. Children of that priority use it to share the excess, the
    /// rate beyond their guarantees.
    pub(super) clocks: Box<[u128]>,
    /// The time before which no packet below this node may leave; zero if unknown.
    pub(super) not_before: Time,
    /// The number of the last poll in which the node had nothing to send.
    pub(super) in_vain: u64,
    /// The backlogged children. `place` is this node's index in its parent's list.
    pub(super) active: Vec<usize>,
    pub(super) place: Option<usize>,
    /// The leaves that this class's packets enter by host; `None` if hosts are not distinguished.
    pub(super) hosts: Option<Range<usize>>,
    /// True if a packet has come since this leaf was last considered for release.
    pub(super) is_used: bool,
}

/// Units of virtual time per byte at weight 1. At the greatest weight, 10^6, over 2^20 units per
/// byte remain.
const UNITS: f64 = (1u64 << 40) as f64;

pub(super) fn cost_of(weight: f64) -> u64 {
    (UNITS / weight) as u64
}

impl Node {
    pub(super) fn new(class: &ClassTerms, terms: &Terms, contents: Contents, children: usize) -> Self {
        Node {
            parent: node_of(class.parent.map(|place| place as usize)),
            contents,
            guarantee: class
                .guarantee
                .map(|rate| Box::new(Shape { rate, burst: terms.guarantee_burst }.bucket())),
            ceiling: class.ceiling.map(|rate| Ceiling::new(rate, terms)),
            cost: cost_of(class.weight.get()),
            priority: usize::from(terms.priority),
            tag: 0,
            clocks: vec![0; if children > 0 { PRIORITIES } else { 0 }].into(),
            not_before: Time::ZERO,
            in_vain: 0,
            active: Vec::with_capacity(children),
            place: None,
            hosts: None,
            is_used: false,
        }
    }

    #[inline]
    pub(super) fn opens_at(&self) -> Time {
        self.ceiling.as_ref().map_or(Time::ZERO, |ceiling| ceiling.free_at())
    }

    #[inline]
    pub(super) fn is_within_guarantee(&self, now: Time) -> bool {
        self.guarantee.as_ref().is_some_and(|bucket| bucket.is_free(now))
    }

    /// Takes over the debts of `before`, and unused bursts up to the new limits. `clock` is the
    /// virtual time of the old priority at the old parent. The new `tag` is relative to a clock at
    /// zero.
    pub(super) fn inherit(&mut self, before: &Node, clock: u128) {
        if let (Some(own), Some(before)) = (&mut self.guarantee, &before.guarantee) {
            own.idle_until(before.free_at());
        }
        if let (Some(own), Some(before)) = (&mut self.ceiling, &before.ceiling) {
            own.inherit(before);
        }
        let owed = before.tag.saturating_sub(clock).div_ceil(before.cost.into());
        self.tag = owed * u128::from(self.cost);
    }
}

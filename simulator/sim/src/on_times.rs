//! The times at which flows will stop, and the bytes delivered to each member so far.

use crate::plan::{GroupPlan, Settings};
use fairwire_core::{Duration, Time};
use fairwire_metrics::presence;
use std::ops::Range;

pub(crate) struct OnTimes {
    /// The stops of flows, in descending order of time.
    pub(crate) stops: Vec<(Time, Range<u32>)>,
    pub(crate) slot: Duration,
    pub(crate) slot_ends: Time,
    /// The bytes on the wire that each member received from the start of measuring to the end of
    /// each slot, sorted by slot and then by member.
    pub(crate) delivered: Vec<u64>,
}

impl OnTimes {
    pub(crate) fn of(groups: &[GroupPlan], settings: &Settings) -> Option<Box<Self>> {
        if groups.iter().all(|group| group.on.is_empty()) {
            return None;
        }
        let members = groups.iter().map(|group| group.members.len()).sum();
        let slot = presence::slot(settings.duration - settings.warm_up, members);
        let slot_ends = Time::ZERO + settings.warm_up + slot;
        Some(Box::new(OnTimes { stops: Vec::new(), slot, slot_ends, delivered: Vec::new() }))
    }

    pub(crate) fn sort(&mut self) {
        self.stops.sort_by_key(|(at, flows)| std::cmp::Reverse((*at, flows.start)));
    }
}

//! The link, looked at in even intervals.

use crate::series::{Count, Snapshot};
use fairwire_core::{Duration, FlowHash, Time};
use fairwire_gateway::direction::Direction;

/// The snapshots of a run.
pub(super) struct Samples {
    /// The time between two, and the next one after the start; none where nobody wants them.
    next: Option<(Duration, Duration)>,
    /// The flows, in the order of results.
    flows: Vec<FlowHash>,
    /// Those taken.
    pub(super) taken: Vec<Snapshot>,
}

impl Samples {
    pub(super) fn new(every: Option<Duration>, flows: Vec<FlowHash>) -> Self {
        Samples { next: every.map(|every| (every, every)), flows, taken: Vec::new() }
    }

    /// When the next one is due in a run that began at `start`.
    pub(super) fn due(&self, start: Time) -> Time {
        self.next.map_or(Time::MAX, |(_, next)| start + next)
    }

    /// Takes the one that is due `now`, if one is. Of several that a busy machine missed, the last.
    pub(super) fn take(&mut self, start: Time, now: Time, link: &Direction) {
        let Some((every, mut next)) = self.next.filter(|(_, next)| start + *next <= now) else { return };
        while start + next + every <= now {
            next = next + every;
        }
        self.taken.push(Snapshot { at: next, backlog: link.backlog(), flows: self.counts(link) });
        self.next = Some((every, next + every));
    }

    /// Since the start of the run.
    fn counts(&self, link: &Direction) -> Vec<Count> {
        let count = |flow: &FlowHash| {
            let counted = link.accounts().of(*flow);
            Count { left_bytes: counted.bytes_out, dropped: counted.dropped, marked: counted.marked }
        };
        self.flows.iter().map(count).collect()
    }
}

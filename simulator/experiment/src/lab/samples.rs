//! Snapshots of the link at a fixed interval.

use crate::series::{Count, Rhythm, Snapshot};
use fairwire_core::{Duration, FlowHash, Time};
use fairwire_datapath::direction::Direction;

pub(super) struct Samples {
    rhythm: Rhythm,
    flows: Vec<FlowHash>,
    pub(super) taken: Vec<Snapshot>,
}

impl Samples {
    pub(super) fn new(every: Option<Duration>, until: Duration, flows: Vec<FlowHash>) -> Self {
        Samples { rhythm: Rhythm::new(every, until), flows, taken: Vec::new() }
    }

    pub(super) fn due(&self, start: Time) -> Time {
        self.rhythm.due(start)
    }

    pub(super) fn take(&mut self, start: Time, now: Time, link: &Direction) {
        let Some(at) = self.rhythm.take(start, now) else { return };
        let flows = self.counts(link);
        let all = flows.iter().copied().fold(Count::default(), Count::plus);
        self.taken.push(Snapshot { at, backlog: link.backlog(), link: all, flows });
    }

    fn counts(&self, link: &Direction) -> Vec<Count> {
        let count = |flow: &FlowHash| {
            let counted = link.accounts().of(*flow);
            Count { left_bytes: counted.bytes_out, dropped: counted.dropped, marked: counted.marked }
        };
        self.flows.iter().map(count).collect()
    }
}

//! Snapshots of the link at a fixed interval, from a gateway's answers.

use super::counts::Reading;
use fairwire_core::{Duration, Time};
use fairwire_datapath::account::FlowCount;
use fairwire_experiment::series::{Count, Rhythm, Snapshot};

pub(super) struct Samples {
    rhythm: Rhythm,
    /// The reading with the latest copy of the flows' counters.
    copy: Reading,
    waiting: Vec<Waiting>,
    /// Complete snapshots.
    taken: Vec<Snapshot>,
}

/// A snapshot of the link that waits for the next copy of the flows' counters.
struct Waiting {
    /// The time of the totals, seconds after the gateway's start.
    at_s: f64,
    link: FlowCount,
    /// Without flows.
    snapshot: Snapshot,
}

impl Samples {
    /// The samples end at `until`, although flows continue.
    pub(super) fn new(every: Option<Duration>, until: Duration, flows: usize) -> Self {
        Samples {
            rhythm: Rhythm::new(every, until),
            copy: Reading::before_all(flows),
            waiting: Vec::new(),
            taken: Vec::new(),
        }
    }

    pub(super) fn due(&self, start: Time) -> Time {
        self.rhythm.due(start)
    }

    pub(super) fn take(&mut self, start: Time, now: Time, reading: &Reading) {
        if let Some(at) = self.rhythm.take(start, now) {
            let (backlog, link) = (reading.backlog(), reading.link());
            let snapshot = Snapshot { at, backlog, link: count(&link), flows: Vec::new() };
            self.waiting.push(Waiting { at_s: reading.at_s, link, snapshot });
        }
        if reading.copied_s > self.copy.copied_s {
            let known = self.waiting.partition_point(|one| one.at_s <= reading.copied_s);
            self.settle(known, reading);
            self.copy = reading.clone();
        }
    }

    /// Completes the first `known` waiting snapshots with flow counts, interpolated between the
    /// latest copy and `after`.
    fn settle(&mut self, known: usize, after: &Reading) {
        let whole = self.waiting.drain(..known).map(|Waiting { link, snapshot, .. }| {
            let flows = self.copy.flows_at(after, &link).iter().map(count).collect();
            Snapshot { flows, ..snapshot }
        });
        self.taken.extend(whole);
    }

    /// Snapshots after the last copy get that copy's flow counts.
    pub(super) fn finish(mut self) -> Vec<Snapshot> {
        let last = self.copy.clone();
        self.settle(self.waiting.len(), &last);
        self.taken
    }
}

fn count(FlowCount { bytes_out, dropped, marked, .. }: &FlowCount) -> Count {
    Count { left_bytes: *bytes_out, dropped: *dropped, marked: *marked }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_control::snapshot::{CountsSnapshot, FlowCounts, WayCounts};

    const fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    fn reading(at_ms: f64, [waits, dropped]: [u64; 2], copied_ms: f64, packets: u64) -> Reading {
        let flow = FlowCounts {
            flow: "a".into(),
            at_s: copied_ms / 1e3,
            dropped: packets,
            bytes_out: packets * 100,
            ..FlowCounts::default()
        };
        let mut way = WayCounts {
            way: "upload".into(),
            backlog_packets: waits,
            backlog_bytes: waits * 1500,
            flows: vec![flow],
            ..WayCounts::default()
        };
        way.totals.dropped.insert("overflow".into(), dropped);
        way.totals.bytes_out = dropped * 100;
        let counts = CountsSnapshot { uptime_s: at_ms / 1e3, ways: vec![way], ..CountsSnapshot::default() };
        Reading::of(counts, &["a".into()]).expect("there is an upload")
    }

    #[test]
    fn backlogs_are_exact_and_flow_counts_are_interpolated() {
        // The gateway's uptime is 1000 ms when the contest starts.
        let start = Time::ZERO + ms(3000);
        let mut samples = Samples::new(Some(ms(100)), ms(250), 1);
        let mut take = |after, reading| samples.take(start, start + ms(after), &reading);
        take(50, reading(1050.0, [1, 50], 1000.0, 0));
        take(100, reading(1098.0, [2, 98], 1000.0, 0));
        take(200, reading(1200.0, [3, 200], 1000.0, 0));
        // The flow's counts at 100 and 200 ms are interpolated up to this copy.
        take(210, reading(1209.0, [4, 209], 1205.0, 205));
        take(300, reading(1300.0, [5, 300], 1205.0, 205));
        let taken = samples.finish();
        let times: Vec<u64> = taken.iter().map(|one| one.at.ns() / 1_000_000).collect();
        assert_eq!(times, [100, 200], "the run was over at 250 ms");
        let waits: Vec<(u32, u64)> =
            taken.iter().map(|one| (one.backlog.packets, one.link.dropped)).collect();
        assert_eq!(waits, [(2, 98), (3, 200)]);
        let flows: Vec<Count> = taken.iter().map(|one| one.flows[0]).collect();
        let count = |packets| Count { left_bytes: packets * 100, dropped: packets, marked: 0 };
        assert_eq!(flows, [count(98), count(200)], "all that the link had was this flow's");
    }

    #[test]
    fn before_the_first_copy_flows_have_the_counts_of_the_link() {
        let start = Time::ZERO + ms(3000); // a second after the gateway started
        let mut samples = Samples::new(Some(ms(100)), ms(200), 1);
        samples.take(start, start + ms(100), &reading(1100.0, [0, 100], 0.0, 0));
        samples.take(start, start + ms(200), &reading(1200.0, [0, 200], 1200.0, 200));
        let had: Vec<u64> = samples.finish().iter().map(|one| one.flows[0].dropped).collect();
        assert_eq!(had, [100, 200]);
    }

    #[test]
    fn after_the_last_copy_a_flow_keeps_its_counts() {
        let start = Time::ZERO + ms(1000);
        let mut samples = Samples::new(Some(ms(10)), ms(20), 1);
        samples.take(start, start + ms(5), &reading(5.0, [0, 8], 4.0, 8));
        samples.take(start, start + ms(20), &reading(20.0, [0, 9], 4.0, 8));
        assert_eq!(samples.finish()[0].flows[0].dropped, 8);
        let silent = Samples::new(None, ms(20), 1);
        assert!(silent.due(start) == Time::MAX && silent.finish().is_empty());
    }
}

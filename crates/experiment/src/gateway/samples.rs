//! The link, looked at in even intervals, out of a gateway's answers.
//!
//! What waits, and what the link dropped and marked in all, is as of the gateway's last interval. What each flow had is found between two
//! copies of its counters, so it is known only when the later one has come.

use super::counts::Reading;
use crate::series::{Rhythm, Snapshot};
use fairwire_core::{Duration, Time};

/// The snapshots of a run.
pub(super) struct Samples {
    rhythm: Rhythm,
    /// The end of the run: flows go on for a while after it.
    until: Duration,
    /// When the gateway began to forward, at the latest: an answer is of an instant that is a little past.
    began: Time,
    /// How many flows there are.
    flows: usize,
    /// The latest copy of flows; that of the start, when nothing was counted, until there is another.
    copy: Option<Reading>,
    /// Those whose flows are not known yet.
    waiting: Vec<Snapshot>,
    /// Those that are whole.
    taken: Vec<Snapshot>,
}

impl Samples {
    pub(super) fn new(every: Option<Duration>, until: Duration, flows: usize) -> Self {
        Samples {
            rhythm: Rhythm::new(every),
            until,
            began: Time::MAX,
            flows,
            copy: None,
            waiting: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// When the next one is due in a run that began at `start`.
    pub(super) fn due(&self, start: Time) -> Time {
        self.rhythm.due(start)
    }

    /// Takes the one that is due, if one is, from a `reading` that came `now`.
    pub(super) fn take(&mut self, start: Time, now: Time, reading: &Reading) {
        self.began = self.began.min(reading.began(now));
        if let Some(at) = self.rhythm.take(start, now).filter(|at| *at <= self.until) {
            let (backlog, link) = (reading.backlog(), reading.link());
            self.waiting.push(Snapshot { at, backlog, link, flows: Vec::new() });
        }
        let nothing = || Reading::before_all(self.flows, start.max(self.began).since(self.began));
        if reading.is_copied_after(self.copy.get_or_insert_with(nothing)) {
            let copied = reading.copied(self.began);
            let known = self.waiting.partition_point(|one| start + one.at <= copied);
            self.settle(start, known, reading);
            self.copy = Some(reading.clone());
        }
    }

    /// Finds the flows of the first `count` that wait, between the latest copy and the one `after` it.
    fn settle(&mut self, start: Time, count: usize, after: &Reading) {
        let (began, Some(copy)) = (self.began, &self.copy) else { return };
        let whole = self.waiting.drain(..count).map(|one| {
            let at_s = (start + one.at).since(began).secs();
            Snapshot { flows: copy.counts_at(after, at_s), ..one }
        });
        self.taken.extend(whole);
    }

    /// All of a run that began at `start`. After the last copy nothing more is known of flows.
    pub(super) fn finish(mut self, start: Time) -> Vec<Snapshot> {
        if let Some(last) = self.copy.clone() {
            self.settle(start, self.waiting.len(), &last);
        }
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Count;
    use fairwire_gateway::telemetry::snapshot::{CountsSnapshot, FlowCounts, WayCounts};

    /// What a gateway answers `at_ms` after it began: it has copied a flow's counters at `copied_ms`.
    fn reading(at_ms: f64, waits: u64, copied_ms: f64, packets: u64) -> Reading {
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
        way.totals.dropped.insert("overflow".into(), 7 * waits);
        let counts = CountsSnapshot { uptime_s: at_ms / 1e3, ways: vec![way], ..CountsSnapshot::default() };
        Reading::of(counts, &["a".into()]).expect("there is an upload")
    }

    #[test]
    fn what_waits_is_as_answered_and_what_a_flow_had_lies_between_two_copies() {
        let ms = Duration::from_ms;
        // The gateway began a second before the contest.
        let start = Time::ZERO + ms(3000);
        let mut samples = Samples::new(Some(ms(100)), ms(250), 1);
        let mut take = |after, reading| samples.take(start, start + ms(after), &reading);
        take(50, reading(1050.0, 1, 1000.0, 0));
        take(100, reading(1098.0, 2, 1000.0, 0));
        take(200, reading(1200.0, 3, 1000.0, 0));
        // Another copy: only now is it known what the flow had.
        take(210, reading(1209.0, 4, 1205.0, 205));
        take(300, reading(1300.0, 5, 1205.0, 205));
        let taken = samples.finish(start);
        let times: Vec<u64> = taken.iter().map(|one| one.at.ns() / 1_000_000).collect();
        assert_eq!(times, [100, 200], "the run was over at 250 ms");
        let waits: Vec<(u32, u64)> =
            taken.iter().map(|one| (one.backlog.packets, one.link.dropped)).collect();
        assert_eq!(waits, [(2, 14), (3, 21)]);
        let flows: Vec<Count> = taken.iter().map(|one| one.flows[0]).collect();
        let count = |packets| Count { left_bytes: packets * 100, dropped: packets, marked: 0 };
        assert_eq!(flows, [count(100), count(200)]);
    }

    #[test]
    fn before_the_first_copy_flows_have_sent_since_the_start_and_not_since_the_gateway_began() {
        let ms = Duration::from_ms;
        let start = Time::ZERO + ms(3000); // a second after the gateway began
        let mut samples = Samples::new(Some(ms(100)), ms(200), 1);
        samples.take(start, start + ms(100), &reading(1100.0, 0, 0.0, 0));
        samples.take(start, start + ms(200), &reading(1200.0, 0, 1200.0, 200));
        let had: Vec<u64> = samples.finish(start).iter().map(|one| one.flows[0].dropped).collect();
        assert_eq!(had, [100, 200]);
    }

    #[test]
    fn after_the_last_copy_a_flow_had_what_that_says() {
        let (start, ms) = (Time::ZERO + Duration::from_ms(1000), Duration::from_ms);
        let mut samples = Samples::new(Some(ms(10)), ms(20), 1);
        samples.take(start, start + ms(5), &reading(5.0, 0, 4.0, 8));
        samples.take(start, start + ms(20), &reading(20.0, 0, 4.0, 8));
        assert_eq!(samples.finish(start)[0].flows[0].dropped, 8);
        let silent = Samples::new(None, ms(20), 1);
        assert!(silent.due(start) == Time::MAX && silent.finish(start).is_empty());
    }
}

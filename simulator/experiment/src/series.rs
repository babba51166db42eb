//! Time series of stages with real senders: rows as in the simulator, and the state of the kernel's
//! TCP.

use crate::contest::by_flow;
use crate::dumbbell::Sender;
use crate::stage::CannotRun;
use crate::watch::Watch;
use fairwire_core::{Backlog, Duration, Rate, RateLaw, Time};
use fairwire_scenario::{SampleRow, Subject};
use fairwire_testbed::traffic::{FlowCounts, HostCounts, TcpSample};
use std::collections::BTreeMap;

/// The state of the shared link at an instant, with counts since the start of the run.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The time after the start.
    pub at: Duration,
    /// The queue.
    pub backlog: Backlog,
    /// The counts of all flows on the link.
    pub link: Count,
    /// Per flow.
    pub flows: Vec<Count>,
}

/// Counts of packets at the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Bytes that left.
    pub left_bytes: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
}

impl Count {
    /// The sum of both counts.
    pub fn plus(self, other: Count) -> Count {
        Count {
            left_bytes: self.left_bytes + other.left_bytes,
            dropped: self.dropped + other.dropped,
            marked: self.marked + other.marked,
        }
    }

    /// The counts since `other`.
    pub fn minus(self, other: Count) -> Count {
        Count {
            left_bytes: self.left_bytes.saturating_sub(other.left_bytes),
            dropped: self.dropped.saturating_sub(other.dropped),
            marked: self.marked.saturating_sub(other.marked),
        }
    }
}

/// The times of snapshots: multiples of an interval after the start of a run, until the run's end.
#[derive(Clone, Copy, Debug)]
pub struct Rhythm {
    /// The interval and the time of the next sample; `None` without samples.
    next: Option<(Duration, Duration)>,
    until: Duration,
}

impl Rhythm {
    /// A rhythm of `every`, for a run that ends at `until`.
    pub fn new(every: Option<Duration>, until: Duration) -> Self {
        Rhythm { next: every.map(|every| (every, every)), until }
    }

    fn next(&self) -> Option<(Duration, Duration)> {
        self.next.filter(|(_, next)| *next <= self.until)
    }

    /// The time of the next sample in a run that began at `start`.
    pub fn due(&self, start: Time) -> Time {
        self.next().map_or(Time::MAX, |(_, next)| start + next)
    }

    /// Takes the sample due `now`, and returns its time after `start`. If a busy machine missed
    /// samples, only the last is taken.
    pub fn take(&mut self, start: Time, now: Time) -> Option<Duration> {
        let (every, mut next) = self.next().filter(|(_, next)| start + *next <= now)?;
        while start + next + every <= now && next + every <= self.until {
            next = next + every;
        }
        self.next = Some((every, next + every));
        Some(next)
    }
}

/// The maximum number of samples, all of which stay in memory until the end of the run.
const MAX_SAMPLES: f64 = 2e6;

/// Checks the number of samples.
///
/// # Errors
/// If there are too many.
pub fn check(every: Option<Duration>, flows: usize, duration: Duration) -> Result<(), CannotRun> {
    let Some(every) = every else { return Ok(()) };
    let samples = flows as f64 * duration.secs() / every.secs();
    if samples <= MAX_SAMPLES {
        return Ok(());
    }
    let least = Duration::from_us((duration.secs() * 1e6 * flows as f64 / MAX_SAMPLES).ceil() as u64);
    Err(CannotRun::new(
        format!("samples of {flows} flows every {every}"),
        format!("`--every` of at least {least}"),
    ))
}

/// The data for the time series of a run.
pub struct Series<'a> {
    /// The link's name.
    pub link: &'a str,
    /// Its rate.
    pub rate: Rate,
    /// The changes of the link's rate, from the start.
    pub law: &'a RateLaw,
    /// The senders.
    pub senders: &'a [Sender],
    /// The state of the link at each interval; empty if not sampled.
    pub snapshots: &'a [Snapshot],
    /// The report of the hosts.
    pub seen: &'a HostCounts,
}

impl Series<'_> {
    /// Passes every row to `watch`. Rows are sorted by time; at each time, the link comes first,
    /// then its groups, then its flows.
    pub fn give(&self, watch: &mut dyn Watch) {
        let mut states: BTreeMap<u64, Vec<(usize, &TcpSample, u32)>> = BTreeMap::new();
        for (flow, FlowCounts { tcp, .. }) in self.seen.flows.iter().enumerate() {
            let mut before = 0;
            for sample in tcp {
                let again = sample.retransmissions.wrapping_sub(before);
                before = sample.retransmissions;
                states.entry(sample.at_ns).or_default().push((flow, sample, again));
            }
        }
        let mut before: Option<&Snapshot> = None;
        let mut snapshots = self.snapshots.iter().peekable();
        loop {
            let next = [snapshots.peek().map(|one| one.at.ns()), states.keys().next().copied()];
            let Some(at_ns) = next.into_iter().flatten().min() else { break };
            let at = Duration::from_ns(at_ns);
            let snapshot = snapshots.next_if(|one| one.at == at);
            let states = states.remove(&at_ns).unwrap_or_default();
            let mut write = |row: SampleRow<'_>| watch.sample(at, row);
            if let Some(now) = snapshot {
                self.link(now, before, &mut write);
            }
            self.flows(snapshot.map(|now| (now, before)), &states, &mut write);
            before = snapshot.or(before);
        }
    }

    fn link(&self, now: &Snapshot, before: Option<&Snapshot>, write: &mut dyn FnMut(SampleRow<'_>)) {
        let all = now.link.minus(before.map_or(Count::default(), |before| before.link));
        let of = Subject { kind: "link", name: self.link };
        let mut row = |measure, unit, value| write(of.row(measure, unit, value));
        let from = before.map_or(Duration::ZERO, |before| before.at);
        row("capacity", "bit/s", self.law.mean_bps(self.rate, from, now.at));
        row("backlog", "packets", f64::from(now.backlog.packets));
        row("backlog", "B", now.backlog.bytes as f64);
        row("drops", "packets", all.dropped as f64);
        row("marks", "packets", all.marked as f64);
        let seconds = interval(now, before);
        let mut groups: Vec<(&str, Count)> = Vec::new();
        for (sender, count) in self.senders.iter().zip(since(now, before)) {
            match groups.last_mut() {
                Some((group, sum)) if *group == sender.group => *sum = sum.plus(count),
                _ => groups.push((&sender.group, count)), // the flows of a group are adjacent
            }
        }
        groups
            .into_iter()
            .for_each(|(name, count)| counts(Subject { kind: "group", name }, count, seconds, write));
    }

    fn flows(
        &self,
        snapshot: Option<(&Snapshot, Option<&Snapshot>)>,
        states: &[(usize, &TcpSample, u32)],
        write: &mut dyn FnMut(SampleRow<'_>),
    ) {
        let of_link: Vec<Count> = snapshot.map_or(Vec::new(), |(now, before)| since(now, before).collect());
        let seconds = snapshot.map_or(0.0, |(now, before)| interval(now, before));
        for senders in by_flow(self.senders) {
            let of = Subject { kind: "flow", name: &self.senders[senders.start].name };
            if let Some(all) = of_link.get(senders.clone()) {
                counts(of, all.iter().copied().fold(Count::default(), Count::plus), seconds, write);
            }
            if let Some((_, state, again)) = states.iter().find(|(number, ..)| senders.contains(number)) {
                tcp(of, state, *again, write);
            }
        }
    }
}

fn since<'a>(now: &'a Snapshot, before: Option<&'a Snapshot>) -> impl Iterator<Item = Count> + 'a {
    let earlier = move |flow: usize| before.map_or(Count::default(), |before| before.flows[flow]);
    now.flows.iter().enumerate().map(move |(flow, count)| count.minus(earlier(flow)))
}

fn interval(now: &Snapshot, before: Option<&Snapshot>) -> f64 {
    let earlier = before.map_or(Duration::ZERO, |before| before.at);
    Duration::from_ns(now.at.ns() - earlier.ns()).secs()
}

fn counts(of: Subject<'_>, count: Count, seconds: f64, write: &mut dyn FnMut(SampleRow<'_>)) {
    let mut row = |measure, unit, value| write(of.row(measure, unit, value));
    row("egress", "bit/s", count.left_bytes as f64 * 8.0 / seconds);
    row("drops", "packets", count.dropped as f64);
    row("marks", "packets", count.marked as f64);
}

fn tcp(of: Subject<'_>, state: &TcpSample, again: u32, write: &mut dyn FnMut(SampleRow<'_>)) {
    let mut row = |measure, unit, value| write(of.row(measure, unit, value));
    row("cwnd", "segments", f64::from(state.cwnd));
    if let Some(ssthresh) = state.ssthresh {
        row("ssthresh", "segments", f64::from(ssthresh));
    }
    if let Some(srtt_us) = state.srtt_us {
        row("srtt", "s", f64::from(srtt_us) / 1e6);
    }
    if let Some(bps) = state.delivery_rate_bps {
        row("delivery rate", "bit/s", bps as f64);
    }
    row("retransmissions", "segments", f64::from(again));
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Step;
    use fairwire_testbed::traffic::Sends;

    fn sender(name: &str, group: &str) -> Sender {
        Sender {
            name: name.into(),
            group: group.into(),
            kind: "bulk reno".into(),
            sends: Sends::Tcp("reno".into()),
            stop: None,
            start: Duration::ZERO,
            rtt: Duration::ZERO,
            ecn: false,
        }
    }

    #[derive(Default)]
    struct Kept(Vec<String>);

    impl Watch for Kept {
        fn reached(&mut self, _: f64) {}
        fn sample(&mut self, at: Duration, row: SampleRow<'_>) {
            let SampleRow { kind, name, measure, value, .. } = row;
            self.0.push(format!("{} {kind} {name} {measure} {value}", at.ns()));
        }
    }

    #[test]
    fn rows_are_in_order_of_time_and_cover_the_time_since_the_last_sample() {
        let count = |left_bytes, dropped| Count { left_bytes, dropped, marked: 0 };
        let backlog = Backlog { packets: 3, bytes: 4500 };
        let second = 1_000_000_000;
        let snapshot = |at, link, flows| Snapshot { at: Duration::from_ns(at), backlog, link, flows };
        let snapshots = [
            snapshot(second, count(1500, 4), vec![count(1000, 0), count(500, 1), count(0, 0)]),
            snapshot(2 * second, count(3600, 9), vec![count(3000, 0), count(500, 2), count(100, 0)]),
        ];
        let state = |at_ns, retransmissions| TcpSample {
            at_ns,
            cwnd: 7,
            ssthresh: None,
            srtt_us: Some(20_000),
            retransmissions,
            delivery_rate_bps: None,
        };
        let tcp = vec![state(second, 2), state(2 * second, 5)];
        let seen = HostCounts {
            flows: vec![
                FlowCounts { tcp, ..FlowCounts::default() },
                FlowCounts::default(),
                FlowCounts::default(),
            ],
            ..HostCounts::default()
        };
        let senders = [sender("a.1", "a"), sender("a.2", "a"), sender("b.1", "b")];
        let rate = Rate::from_bps(1_000_000).unwrap();
        let halved = Step { at: Time::from_ns(second * 3 / 2), rate: Rate::from_bps(500_000) };
        let law = &RateLaw::Steps([halved].into());
        let mut kept = Kept::default();
        Series { link: "l", rate, law, senders: &senders, snapshots: &snapshots, seen: &seen }
            .give(&mut kept);
        let of =
            |text: &str| -> Vec<&str> { kept.0.iter().filter_map(|row| row.strip_prefix(text)).collect() };
        assert_eq!(
            of("1000000000 link l "),
            ["capacity 1000000", "backlog 3", "backlog 4500", "drops 4", "marks 0"]
        );
        assert_eq!(
            of("2000000000 link l "),
            ["capacity 750000", "backlog 3", "backlog 4500", "drops 5", "marks 0"]
        );
        assert_eq!(of("2000000000 group a "), ["egress 16000", "drops 1", "marks 0"]);
        assert_eq!(of("2000000000 group b "), ["egress 800", "drops 0", "marks 0"]);
        assert_eq!(
            of("2000000000 flow a.1 "),
            ["egress 16000", "drops 0", "marks 0", "cwnd 7", "srtt 0.02", "retransmissions 3"]
        );
        assert_eq!(of("1000000000 flow a.2 "), ["egress 4000", "drops 1", "marks 0"]);
        let times: Vec<u64> = kept.0.iter().filter_map(|row| row.split(' ').next()?.parse().ok()).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn samples_are_due_at_multiples_and_a_late_one_replaces_the_missed() {
        let (start, ms) = (Time::from_ns(7), Duration::from_ms);
        let mut rhythm = Rhythm::new(Some(ms(10)), ms(65));
        assert_eq!(rhythm.take(start, start + ms(9)), None);
        assert_eq!(rhythm.take(start, start + ms(10)), Some(ms(10)));
        assert_eq!(rhythm.take(start, start + ms(45)), Some(ms(40)));
        assert_eq!(rhythm.due(start), start + ms(50));
        assert_eq!(rhythm.take(start, start + ms(90)), Some(ms(60)), "the run is over at 65 ms");
        assert_eq!((rhythm.due(start), rhythm.take(start, start + ms(99))), (Time::MAX, None));
        assert_eq!(Rhythm::new(None, ms(65)).due(start), Time::MAX);
    }

    #[test]
    fn too_many_samples_are_refused_with_a_suitable_interval() {
        let refused = check(Some(Duration::from_us(1)), 100, Duration::from_secs(10)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "samples of 100 flows every 1 us; allowed: `--every` of at least 500 us"
        );
        assert_eq!(check(Some(Duration::from_ms(1)), 100, Duration::from_secs(10)), Ok(()));
        assert_eq!(check(None, 100, Duration::from_secs(10)), Ok(()));
    }
}

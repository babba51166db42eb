//! Replays the arrivals of the last minute through another discipline.
//!
//! Senders would have reacted to other drops and delays. So the outcome shows how a discipline
//! treats this load, not what would have happened.
//!
//! The discipline in use is replayed too. The difference between that replay and the recorded
//! outcome shows how far replays can be trusted.

use fairwire_core::{Cause, Duration, Packet, Server, Service, Signals, Time, Transmitter};
use fairwire_datapath::arrivals::Arrival;
use fairwire_metrics::jain;
use fairwire_service::config::OtherDiscipline;
use fairwire_wire::Way;
use fairwire_wire::assured::color_of;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

const MINUTE: Duration = Duration::from_secs(60);
/// An outcome names at most this many classes or flows: those that offered the most traffic.
const NAMED: usize = 12;
/// A class or flow that got at least this fraction of its offered traffic did not want more, so
/// Jain's index leaves it out.
const CONTENT: f64 = 0.98;

/// The newest arrivals: at most `max`, and only those of the last minute.
#[derive(Debug)]
pub struct Minute {
    arrivals: VecDeque<Arrival>,
    max: usize,
}

impl Minute {
    /// An empty store with room for `max` arrivals.
    pub fn new(max: usize) -> Self {
        Minute { arrivals: VecDeque::new(), max }
    }

    /// Adds arrivals. If `missed` is not 0, deletes all earlier arrivals, since a gap would change
    /// the load.
    pub fn extend(&mut self, arrivals: &[Arrival], missed: u64) {
        if missed > 0 {
            self.arrivals.clear();
        }
        self.arrivals.extend(arrivals);
        let Some(last) = self.arrivals.back().map(|arrival| arrival.at) else { return };
        let too_many = self.arrivals.len().saturating_sub(self.max);
        let is_old = |arrival: &&Arrival| last.since(arrival.at) > MINUTE;
        let old = self.arrivals.iter().take_while(is_old).count();
        self.arrivals.drain(..old.max(too_many));
    }

    /// Deletes all arrivals. Call this when class numbers have changed.
    pub fn clear(&mut self) {
        self.arrivals.clear();
    }

    /// Copies the arrivals, oldest first.
    pub fn copy(&self) -> Vec<Arrival> {
        self.arrivals.iter().copied().collect()
    }
}

/// The outcome of a replay.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// The discipline.
    pub discipline: String,
    /// Packets that arrived.
    pub packets_in: u64,
    /// Packets that were sent.
    pub packets_out: u64,
    /// The rate of the sent packets, in bit/s.
    pub throughput_bps: f64,
    /// Drops by cause.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Marks.
    pub marked: u64,
    /// The median of the waits, in seconds.
    pub p50_s: f64,
    /// Their 95th percentile.
    pub p95_s: f64,
    /// Their 99th percentile.
    pub p99_s: f64,
    /// Jain's index over the classes or flows that got less than they offered.
    pub jain: f64,
    /// The classes or flows that offered most traffic.
    pub shares: Vec<Share>,
}

/// The traffic of a class or a flow in a replay.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// Bit/s offered.
    pub offered_bps: f64,
    /// Bit/s that the class or flow got.
    pub throughput_bps: f64,
    /// Its dropped packets.
    pub dropped: u64,
}

/// A class or flow whose packets an outcome counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// A class.
    Class(u32),
    /// A flow.
    Flow(u64),
}

#[derive(Default)]
struct Count {
    bytes_in: u64,
    bytes_out: u64,
    dropped: u64,
}

struct Books<'a> {
    arrivals: &'a [Arrival],
    has_classes: bool,
    counts: BTreeMap<Unit, Count>,
    dropped: [u64; Cause::ALL.len()],
    marked: u64,
    waits_ns: Vec<u64>,
    bytes_out: u64,
}

impl Books<'_> {
    fn count(&mut self, place: u32) -> &mut Count {
        let arrival = &self.arrivals[place as usize];
        let unit = match self.has_classes {
            true => Unit::Class(arrival.class),
            false => Unit::Flow(arrival.flow.0),
        };
        self.counts.entry(unit).or_default()
    }

    fn left(&mut self, service: Option<Service>, now: Time) {
        let Some(Service { packet, .. }) = service else { return };
        self.waits_ns.push(now.since(packet.arrived).ns());
        self.bytes_out += u64::from(packet.len);
        self.count(packet.frame).bytes_out += u64::from(packet.len);
    }
}

impl Signals for Books<'_> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.dropped[cause as usize] += 1;
        self.count(packet.frame).dropped += 1;
    }

    fn marked(&mut self, _packet: &Packet, _cause: Cause) {
        self.marked += 1;
    }
}

/// Replays `arrivals` through `other`. Packets are counted by class, or by flow if there are no
/// classes.
pub fn replay(
    other: OtherDiscipline,
    arrivals: &[Arrival],
    has_classes: bool,
    name_of: &dyn Fn(Unit) -> String,
) -> Outcome {
    let OtherDiscipline { discipline, rate, within } = other;
    let mut server = Server::new(discipline, Transmitter::new(rate));
    let mut books = Books {
        arrivals,
        has_classes,
        counts: BTreeMap::new(),
        dropped: Default::default(),
        marked: 0,
        waits_ns: Vec::with_capacity(arrivals.len()),
        bytes_out: 0,
    };
    for (place, arrival) in arrivals.iter().enumerate() {
        while server.next_poll_at() <= arrival.at {
            let now = server.next_poll_at();
            let service = server.poll(now, &mut books);
            books.left(service, now);
        }
        let place = place as u32;
        books.count(place).bytes_in += u64::from(arrival.len);
        let service = server.enqueue(packet(place, arrival, within), arrival.at, &mut books);
        books.left(service, arrival.at);
    }
    outcome(books, name_of)
}

fn packet(place: u32, arrival: &Arrival, within: bool) -> Packet {
    let flow = if within { arrival.conversation } else { arrival.flow };
    let Arrival { class, ecn, dscp, .. } = *arrival;
    let color = color_of(dscp).unwrap_or(0);
    Packet { class, ecn, dscp, color, ..Packet::new(place, arrival.len, flow, arrival.at) }
}

fn outcome(books: Books<'_>, name_of: &dyn Fn(Unit) -> String) -> Outcome {
    let ends = books.arrivals.first().zip(books.arrivals.last());
    let seconds = ends.map_or(0.0, |(first, last)| last.at.since(first.at).secs()).max(1e-3);
    let bps = |bytes: u64| bytes as f64 * 8.0 / seconds;
    let mut waits_ns = books.waits_ns;
    waits_ns.sort_unstable();
    let quantile = |part: f64| {
        let place = (part * waits_ns.len() as f64).ceil() as usize;
        waits_ns.get(place.saturating_sub(1)).map_or(0.0, |ns| *ns as f64 * 1e-9)
    };
    let mut counts: Vec<(Unit, Count)> = books.counts.into_iter().collect();
    let wanting =
        counts.iter().filter(|(_, count)| (count.bytes_out as f64) < CONTENT * count.bytes_in as f64);
    let wanting: Vec<f64> = wanting.map(|(_, count)| bps(count.bytes_out)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(count.bytes_in));
    let share = |(unit, count): &(Unit, Count)| Share {
        name: name_of(*unit),
        offered_bps: bps(count.bytes_in),
        throughput_bps: bps(count.bytes_out),
        dropped: count.dropped,
    };
    let causes = Cause::ALL.iter().zip(books.dropped).filter(|(_, count)| *count > 0);
    Outcome {
        discipline: String::new(),
        packets_in: books.arrivals.len() as u64,
        packets_out: waits_ns.len() as u64,
        throughput_bps: bps(books.bytes_out),
        dropped: causes.map(|(cause, count)| (cause.name(), count)).collect(),
        marked: books.marked,
        p50_s: quantile(0.5),
        p95_s: quantile(0.95),
        p99_s: quantile(0.99),
        jain: if wanting.is_empty() { 1.0 } else { jain::jain(&wanting) },
        shares: counts.iter().take(NAMED).map(share).collect(),
    }
}

/// The outcomes of a replay, as sent to the page.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayAnswer {
    /// The direction.
    pub way: Way,
    /// The replayed time, in seconds.
    pub seconds: f64,
    /// The traffic that the history recorded in the replayed time. Parts of it may be missing.
    pub happened: super::history::Happened,
    /// The discipline in use, replayed.
    pub present: Outcome,
    /// The outcome of the other discipline.
    pub other: Outcome,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Dropper, Ecn, FlowHash, Limit, Queue, Rate};

    struct TailDrop;
    impl Dropper for TailDrop {}

    fn arrival(ms: u64, flow: u64) -> Arrival {
        Arrival {
            at: Time::ZERO + Duration::from_ms(ms),
            flow: FlowHash(flow),
            conversation: FlowHash(flow),
            class: flow as u32,
            len: 1000,
            ecn: Ecn::NotEct,
            dscp: 0,
        }
    }

    /// A link of one packet per millisecond.
    fn link(room: u32) -> OtherDiscipline {
        let discipline = Box::new(Queue::new(Limit::packets(room), Fcfs, TailDrop));
        OtherDiscipline { discipline, rate: Rate::from_bps(8_000_000).expect("not zero"), within: false }
    }

    #[test]
    fn a_replay_has_the_waits_and_drops_that_can_be_computed_by_hand() {
        // Of five packets at 0 ms, one is sent, two wait and two are dropped.
        let arrivals: Vec<Arrival> = [0, 0, 0, 0, 0, 1000].iter().map(|ms| arrival(*ms, 7)).collect();
        let outcome = replay(link(2), &arrivals, false, &|unit| format!("{unit:?}"));
        assert_eq!((outcome.packets_in, outcome.packets_out), (6, 4));
        assert_eq!(outcome.dropped, [("overflow", 2)].into());
        assert_eq!((outcome.p50_s, outcome.p99_s), (0.0, 0.002));
        assert_eq!(outcome.throughput_bps, 32_000.0);
        assert_eq!((outcome.shares[0].name.as_str(), outcome.shares[0].dropped), ("Flow(7)", 2));
    }

    #[test]
    fn a_minute_forgets_old_arrivals_overflow_and_all_before_a_gap() {
        let mut minute = Minute::new(3);
        minute.extend(&[arrival(0, 1), arrival(30_000, 1), arrival(61_000, 1)], 0);
        assert_eq!(minute.copy(), [arrival(30_000, 1), arrival(61_000, 1)]);
        minute.extend(&[arrival(61_001, 1), arrival(61_002, 1)], 0);
        assert_eq!(minute.copy(), [arrival(61_000, 1), arrival(61_001, 1), arrival(61_002, 1)]);
        minute.extend(&[arrival(61_003, 1)], 1);
        assert_eq!(minute.copy(), [arrival(61_003, 1)]);
    }
}

//! A queued link: a discipline in front of a transmitter, and what it did.

use crate::plan::LinkPlan;
use fairwire_core::{Cause, Discipline, Duration, Packet, Signals, Time, Transmitter};
use fairwire_metrics::histogram::DelayHistogram;
use fairwire_metrics::record::{BacklogRecord, LinkRecord};
use fairwire_metrics::series::TimeWeighted;
use std::collections::BTreeMap;

/// A queued link.
///
/// The rule of service: an arrival is offered to the discipline; a free transmitter then asks for a packet; whenever the
/// transmitter becomes free it asks again, also when nothing waits. The gateway's shaper keeps the same rule.
pub struct Link {
    name: String,
    discipline: Box<dyn Discipline>,
    transmitter: Transmitter,
    delay: Duration,
    asks_at: Time, // when the transmitter asks next; MAX when it idles
    stats: Stats,
}

/// A packet that has begun to leave a link.
#[derive(Debug)]
pub struct Departure {
    /// The packet.
    pub packet: Packet,
    /// When its last bit has left, and the transmitter asks again.
    pub sent: Time,
    /// When its last bit reaches the other end.
    pub reaches: Time,
}

impl Link {
    /// An idle link.
    pub fn new(plan: LinkPlan) -> Self {
        Link {
            name: plan.name,
            discipline: plan.discipline,
            transmitter: Transmitter::new(plan.rate),
            delay: plan.delay,
            asks_at: Time::MAX,
            stats: Stats::new(Time::ZERO),
        }
    }

    /// Offers an arrival at `now`; where the transmitter is free, a packet begins to leave.
    pub fn offer(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) -> Option<Departure> {
        self.stats.packets_in += 1;
        let mut counted =
            Counted { inner: signals, drops: &mut self.stats.drops, marks: &mut self.stats.marks };
        self.discipline.enqueue(packet, now, &mut counted);
        if self.transmitter.is_free(now) {
            return self.ask(now, signals);
        }
        self.stats.saw(&*self.discipline, now);
        None
    }

    /// The transmitter is free at `now`, or what waits is ready: asks for the next packet.
    pub fn ask(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Departure> {
        let mut counted =
            Counted { inner: signals, drops: &mut self.stats.drops, marks: &mut self.stats.marks };
        let packet = self.discipline.dequeue(now, &mut counted);
        self.stats.saw(&*self.discipline, now);
        let Some(packet) = packet else {
            self.asks_at = self.discipline.ready_at().map_or(Time::MAX, |ready| ready.max(now));
            return None;
        };
        self.stats.left(&packet, now);
        let sent = self.transmitter.start(packet.len, now);
        self.asks_at = sent;
        Some(Departure { packet, sent, reaches: sent + self.delay })
    }

    /// When [`ask`](Link::ask) is due next without another arrival; [`Time::MAX`] when idle.
    pub fn asks_at(&self) -> Time {
        self.asks_at
    }

    /// Packets waiting, without the one in transmission.
    pub fn backlog(&self) -> fairwire_core::Backlog {
        self.discipline.backlog()
    }

    /// Forgets what was measured up to `now`: the warm-up is over.
    pub fn start_measuring(&mut self, now: Time) {
        self.stats = Stats::new(now);
        self.stats.saw(&*self.discipline, now);
    }

    /// What it did since the warm-up, at `now`.
    pub fn record(&self, now: Time) -> LinkRecord {
        self.stats.record(&self.name, self.transmitter.rate().bps() as f64, now)
    }
}

struct Stats {
    since: Time,
    packets_in: u64,
    packets_out: u64,
    bytes_out: u64,
    drops: [u64; Cause::ALL.len()],
    marks: [u64; Cause::ALL.len()],
    sojourn: DelayHistogram,
    packets: TimeWeighted,
    bytes: TimeWeighted,
}

impl Stats {
    fn new(since: Time) -> Self {
        Stats {
            since,
            packets_in: 0,
            packets_out: 0,
            bytes_out: 0,
            drops: [0; Cause::ALL.len()],
            marks: [0; Cause::ALL.len()],
            sojourn: DelayHistogram::new(),
            packets: TimeWeighted::new(since),
            bytes: TimeWeighted::new(since),
        }
    }

    #[inline]
    fn saw(&mut self, discipline: &dyn Discipline, now: Time) {
        let backlog = discipline.backlog();
        self.packets.set(u64::from(backlog.packets), now);
        self.bytes.set(backlog.bytes, now);
    }

    #[inline]
    fn left(&mut self, packet: &Packet, now: Time) {
        self.packets_out += 1;
        self.bytes_out += u64::from(packet.len);
        self.sojourn.record(now.since(packet.arrived));
    }

    fn record(&self, name: &str, rate_bps: f64, now: Time) -> LinkRecord {
        let seconds = now.since(self.since).secs();
        LinkRecord {
            name: name.into(),
            rate_bps,
            // The last packet may end after `now`: by less than one packet.
            utilization: (self.bytes_out as f64 * 8.0 / (rate_bps * seconds)).min(1.0),
            packets_in: self.packets_in,
            packets_out: self.packets_out,
            drops: by_name(&self.drops),
            marks: by_name(&self.marks),
            sojourn: self.sojourn.sojourn(),
            backlog: BacklogRecord {
                mean_packets: self.packets.mean(now),
                mean_bytes: self.bytes.mean(now),
                max_packets: self.packets.max(),
            },
        }
    }
}

fn by_name(counts: &[u64; Cause::ALL.len()]) -> BTreeMap<String, u64> {
    let named = Cause::ALL.iter().zip(counts);
    named.filter(|(_, count)| **count > 0).map(|(cause, count)| (cause.name().into(), *count)).collect()
}

/// Counts by cause, and passes on.
struct Counted<'a> {
    inner: &'a mut dyn Signals,
    drops: &'a mut [u64; Cause::ALL.len()],
    marks: &'a mut [u64; Cause::ALL.len()],
}

impl Signals for Counted<'_> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.drops[cause as usize] += 1;
        self.inner.dropped(packet, cause);
    }
    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.marks[cause as usize] += 1;
        self.inner.marked(packet, cause);
    }
}

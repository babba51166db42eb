//! A queued link: a discipline in front of a transmitter, and what it did.

use crate::plan::LinkPlan;
use fairwire_core::{Cause, Discipline, Duration, Packet, Signals, Time, Transmitter};
use fairwire_metrics::LinkMeter;
use fairwire_metrics::record::LinkRecord;

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
    meter: LinkMeter,
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
            meter: LinkMeter::new(Time::ZERO),
        }
    }

    /// Offers an arrival at `now`; where the transmitter is free, a packet begins to leave.
    pub fn offer(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) -> Option<Departure> {
        self.meter.offered();
        self.discipline.enqueue(packet, now, &mut Counted { inner: signals, meter: &mut self.meter });
        if self.transmitter.is_free(now) {
            return self.ask(now, signals);
        }
        self.meter.waiting(self.discipline.backlog(), now);
        None
    }

    /// The transmitter is free at `now`, or what waits is ready: asks for the next packet.
    pub fn ask(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Departure> {
        let packet = self.discipline.dequeue(now, &mut Counted { inner: signals, meter: &mut self.meter });
        self.meter.waiting(self.discipline.backlog(), now);
        let Some(packet) = packet else {
            self.asks_at = self.discipline.ready_at().map_or(Time::MAX, |ready| ready.max(now));
            return None;
        };
        self.meter.started(&packet, now);
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
        self.meter.restart(now);
    }

    /// What it did since the warm-up, at `now`.
    pub fn record(&self, now: Time) -> LinkRecord {
        self.meter.record(&self.name, self.transmitter.rate(), now)
    }
}

/// Counts by cause, and passes on.
struct Counted<'a> {
    inner: &'a mut dyn Signals,
    meter: &'a mut LinkMeter,
}

impl Signals for Counted<'_> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.meter.dropped(cause);
        self.inner.dropped(packet, cause);
    }
    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.meter.marked(cause);
        self.inner.marked(packet, cause);
    }
}

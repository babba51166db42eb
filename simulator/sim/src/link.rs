//! A queued link.

use crate::faulty::Faulty;
use crate::plan::LinkPlan;
use fairwire_core::{
    Acknowledgement, Backlog, Cause, Discipline, Duration, Fate, Packet, Rate, RateLaw, RoundTrip, Server,
    Service, Signals, Time, Transmitter,
};
use fairwire_metrics::record::LinkRecord;
use fairwire_metrics::{DelayHistogram, LinkMeter};

/// A queued link: a [`Server`] with a meter and a propagation delay.
pub struct Link {
    name: String,
    server: Server,
    delay: Duration,
    faulty: Option<Box<Faulty>>,
    meter: LinkMeter,
    measured_from: Time,
    law: RateLaw,
    /// True if the rate ever changes. The record then has the mean rate.
    changes: bool,
    /// When the rate was last changed, and the bits that could be sent from the start of measuring
    /// until this change.
    tuned: (Time, f64),
    hears_round_trips: bool,
}

/// A packet that has begun to leave a link.
#[derive(Debug)]
pub struct Departure {
    /// The packet.
    pub packet: Packet,
    /// When the packet's last bit reaches the other end.
    pub reaches: Time,
}

impl Link {
    /// An idle link.
    pub fn new(mut plan: LinkPlan) -> Self {
        Link {
            hears_round_trips: plan.discipline.hears_round_trips(),
            name: plan.name,
            server: Server::new(plan.discipline, Transmitter::new(plan.rate).under(&plan.law)),
            delay: plan.delay,
            faulty: plan.wire.map(|wire| Box::new(Faulty::new(wire))),
            meter: LinkMeter::new(Time::ZERO),
            measured_from: Time::ZERO,
            changes: plan.law != RateLaw::Fixed,
            law: plan.law,
            tuned: (Time::ZERO, 0.0),
        }
    }

    /// Offers an arrival at `now`. If the transmitter is free, a packet begins to leave.
    #[inline(always)]
    pub fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) -> Option<Departure> {
        self.meter.offered();
        let mut counted = Counted { inner: signals, meter: &mut self.meter };
        let service = self.server.enqueue(packet, now, &mut counted);
        self.meter.waiting(self.server.backlog(), now);
        service.map(|service| self.started(service, now))
    }

    /// Polls for the next packet. Call this when the transmitter is free at `now`, or when a
    /// waiting packet is ready.
    #[inline(always)]
    pub fn poll(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Departure> {
        let service = self.server.poll(now, &mut Counted { inner: signals, meter: &mut self.meter });
        self.meter.waiting(self.server.backlog(), now);
        service.map(|service| self.started(service, now))
    }

    #[inline(always)]
    fn started(&mut self, service: Service, now: Time) -> Departure {
        let Service { packet, sent } = service;
        self.meter.started(&packet, now, sent);
        Departure { packet, reaches: sent + self.delay }
    }

    pub(crate) fn change(&mut self, fresh: Box<dyn Discipline>, now: Time, signals: &mut dyn Signals) {
        let mut counted = Counted { inner: signals, meter: &mut self.meter };
        drop(self.server.change(fresh, now, &mut counted));
        self.hears_round_trips = self.server.discipline_mut().hears_round_trips();
        self.meter.waiting(self.server.backlog(), now);
    }

    /// Sets the rate. A packet being sent ends as scheduled.
    pub(crate) fn set_rate(&mut self, rate: Rate, now: Time) {
        let (since, bits) = self.tuned;
        self.tuned = (now, bits + self.server.bits(since, now));
        self.changes = true;
        self.server.set_rate(rate, Duration::ZERO);
    }

    /// When [`poll`](Link::poll) is next due without another arrival; [`Time::MAX`] when only an
    /// arrival can make a packet leave.
    pub fn next_poll_at(&self) -> Time {
        self.server.next_poll_at()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The rate at `now`, and the propagation delay. While the link is down, the rate is the one
    /// before the outage. The rate of a pattern or a trace is its mean.
    pub(crate) fn at(&self, now: Time) -> (Rate, Duration) {
        let rate = match &self.law {
            RateLaw::Fixed => None,
            RateLaw::Steps(steps) => {
                let begun = steps.partition_point(|step| step.at <= now);
                steps[..begun].iter().rev().find_map(|step| step.rate)
            }
            law @ (RateLaw::Pattern(_) | RateLaw::Trace(_)) => law.repeating_mean(),
        };
        (rate.unwrap_or(self.rate()), self.delay)
    }

    pub(crate) fn changes_at(&self) -> impl Iterator<Item = Time> + '_ {
        let steps = if let RateLaw::Steps(steps) = &self.law { &steps[..] } else { &[] };
        steps.iter().map(|step| step.at)
    }

    pub(crate) fn fixed(&self) -> Option<(Rate, Duration)> {
        let delay_changes = self.faulty.as_ref().is_some_and(|wire| wire.has_delays());
        (!self.changes && !delay_changes).then(|| (self.rate(), self.delay))
    }

    #[inline(always)]
    pub(crate) fn has_faults(&self) -> bool {
        self.faulty.is_some()
    }

    /// The fate of a packet that reaches the other end at `reaches` if there are no faults.
    pub(crate) fn carry(&mut self, reaches: Time) -> Fate {
        let plain = Fate::Arrives { at: reaches, is_late: false, twice: false };
        let (delay, sent) = (self.delay, reaches.saturating_sub(self.delay));
        self.faulty.as_mut().map_or(plain, |wire| wire.carry(sent, delay))
    }

    pub(crate) fn rate(&self) -> Rate {
        self.server.rate()
    }

    pub(crate) fn bits(&self, from: Time, to: Time) -> f64 {
        self.server.bits(from, to)
    }

    pub(crate) fn discipline(&self) -> &dyn Discipline {
        self.server.discipline()
    }

    pub(crate) fn hears_round_trips(&self) -> bool {
        self.hears_round_trips
    }

    pub(crate) fn on_round_trip(&mut self, trip: RoundTrip, now: Time) {
        self.server.discipline_mut().on_round_trip(trip, now);
    }

    pub(crate) fn sojourn(&self) -> &DelayHistogram {
        self.meter.sojourn()
    }

    /// Packets waiting, without the one in transmission.
    pub fn backlog(&self) -> Backlog {
        self.server.backlog()
    }

    /// Ends the warm-up at `now`: forgets all measurements.
    pub fn start_measuring(&mut self, now: Time) {
        self.meter.restart(now);
        self.measured_from = now;
        self.tuned = (now, 0.0);
        self.faulty.iter_mut().for_each(|wire| wire.start_measuring());
    }

    /// The measurements since the warm-up, at `now`. The mean of a changing rate is recorded, and
    /// utilization is relative to this mean.
    pub fn record(&self, now: Time) -> LinkRecord {
        let wire = self.faulty.as_ref().map(|wire| wire.record());
        LinkRecord { wire, ..self.meter.record(&self.name, self.mean_rate(now), now) }
    }

    fn mean_rate(&self, now: Time) -> Rate {
        let seconds = now.since(self.measured_from).secs();
        if !self.changes || seconds == 0.0 {
            return self.server.rate();
        }
        let (since, bits) = self.tuned;
        let mean = (bits + self.server.bits(since, now)) / seconds;
        Rate::from_bps((mean + 0.5) as u64).unwrap_or(self.server.rate()) // nothing was sent
    }
}

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
    fn acknowledges(&self, frame: u32) -> Option<Acknowledgement> {
        self.inner.acknowledges(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Control, Dropper, Limit, Probe, Queue, Room};

    struct TailDrop;
    impl Dropper for TailDrop {}

    struct Says(bool, Queue<Fcfs, TailDrop>);

    impl Discipline for Says {
        fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
            self.1.offer(packet, room, now, signals);
        }
        fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
            self.1.dequeue(now, signals)
        }
        fn ready_at(&self) -> Option<Time> {
            self.1.ready_at()
        }
        fn backlog(&self) -> Backlog {
            self.1.backlog()
        }
        fn inspect(&self, probe: &mut dyn Probe) {
            self.1.inspect(probe);
        }
        fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
            self.1.drain(take);
        }
    }

    impl Control for Says {
        fn inside(&mut self, _: Option<u32>, _: &mut dyn FnMut(&mut dyn Discipline)) {}
        fn hears_round_trips(&mut self) -> bool {
            self.0
        }
    }

    #[test]
    fn a_replacing_discipline_is_given_round_trips_too() {
        let says = |hears| Box::new(Says(hears, Queue::new(Limit::packets(9), Fcfs, TailDrop)));
        let mut link = Link::new(LinkPlan {
            wire: None,
            name: "link".into(),
            rate: Rate::from_bps(1_000_000).expect("not zero"),
            law: RateLaw::Fixed,
            delay: Duration::ZERO,
            discipline: says(false),
        });
        assert!(!link.hears_round_trips());
        link.change(says(true), Time::ZERO, &mut fairwire_core::Ignore);
        assert!(link.hears_round_trips());
    }
}

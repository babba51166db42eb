//! The queue: one buffer, one scheduler, one dropper.

use crate::buffer::{Buffer, Key, Limit};
use crate::discipline::{Backlog, Control, Discipline, Room};
use crate::dropper::{Dropper, Verdict, Victim};
use crate::packet::{Ecn, Packet};
use crate::probe::{Probe, Unit};
use crate::queues::Queues;
use crate::scheduler::{Chosen, Left, Scheduler};
use crate::signals::{Cause, Signals};
use crate::time::Time;
use crate::weight::{SetWeightError, Weight, set_weight_in_both};
use core::any::Any;

/// The effect of a [`Verdict::Signal`] on an ECN-capable packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnPolicy {
    /// The packet is dropped.
    #[default]
    Drop,
    /// The packet is marked CE and passes (RFC 3168).
    Mark,
}

/// A discipline composed of one buffer, one scheduler and one dropper.
///
/// Only this type implements packet conservation, byte counts, ECN, and the order of calls to the
/// scheduler and the dropper.
#[derive(Debug)]
pub struct Queue<S, D> {
    buffer: Buffer,
    scheduler: S,
    dropper: D,
    ecn: EcnPolicy,
}

impl<S: Scheduler, D: Dropper> Queue<S, D> {
    /// An empty queue that drops rather than marks.
    pub fn new(limit: Limit, scheduler: S, dropper: D) -> Self {
        Queue::with_queues(limit, Queues::PerFlow, scheduler, dropper)
    }

    /// An empty queue that assigns flows to queues by `queues`.
    pub fn with_queues(limit: Limit, queues: Queues, scheduler: S, dropper: D) -> Self {
        let buffer = Buffer::with(limit, scheduler.needs() | dropper.needs(), queues);
        Queue { buffer, scheduler, dropper, ecn: EcnPolicy::Drop }
    }

    /// Sets the ECN policy.
    pub fn with_ecn(mut self, ecn: EcnPolicy) -> Self {
        self.ecn = ecn;
        self
    }

    /// The buffer, with the backlog.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The dropper, for tests of its invariants.
    pub fn dropper(&self) -> &D {
        &self.dropper
    }

    /// The scheduler, for tests of its invariants.
    pub fn scheduler(&self) -> &S {
        &self.scheduler
    }

    fn marks(&self, packet: &Packet) -> bool {
        self.ecn == EcnPolicy::Mark && packet.ecn.is_capable()
    }

    fn evict(&mut self, key: Key, cause: Cause, signals: &mut dyn Signals) {
        let flow = self.buffer.flow_of(key);
        self.scheduler.evicting(key, flow, &self.buffer);
        let gone = self.buffer.remove(key);
        self.dropper.tracked(&gone, flow, false, &self.buffer);
        signals.dropped(gone, cause);
    }

    /// Pushes out packets until `packet` fits; returns false if the dropper refuses `packet`.
    #[inline]
    fn make_room(&mut self, packet: &Packet, now: Time, signals: &mut dyn Signals) -> bool {
        if self.buffer.fits(packet.len) {
            return true;
        }
        let Victim::Waiting(first) = self.dropper.victim(packet, &self.buffer, now) else { return false };
        self.evict(first, Cause::PushOut, signals);
        let has_room = loop {
            if self.buffer.fits(packet.len) {
                break true;
            }
            match self.dropper.victim(packet, &self.buffer, now) {
                Victim::Arrival => break false,
                Victim::Waiting(key) => self.evict(key, Cause::PushOut, signals),
            }
        };
        self.treat_others(packet, now, signals);
        has_room
    }

    fn treat_others(&mut self, packet: &Packet, now: Time, signals: &mut dyn Signals) {
        while let Some((key, verdict)) = self.dropper.another(packet, &self.buffer, now) {
            match verdict {
                Verdict::Pass => {}
                Verdict::Signal(cause) if self.marks(self.buffer.packet(key)) => {
                    self.mark(key, cause, signals)
                }
                Verdict::Signal(cause) | Verdict::Drop(cause) => self.evict(key, cause, signals),
            }
        }
    }

    /// Pushes out queued packets to make room and queues `packet`, or drops `packet`.
    #[cold]
    fn replace(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        if self.buffer.is_empty() || u64::from(packet.len) > self.buffer.bytes() {
            return signals.dropped(packet, Cause::Overflow);
        }
        self.buffer.close();
        self.enqueue(packet, now, signals);
        self.buffer.open();
    }

    fn mark(&mut self, key: Key, cause: Cause, signals: &mut dyn Signals) {
        let packet = self.buffer.packet_mut(key);
        packet.ecn = Ecn::Ce;
        signals.marked(packet, cause);
    }
}

impl<S: Scheduler, D: Dropper> Discipline for Queue<S, D> {
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        if u64::from(packet.len) > self.buffer.limit().max_bytes() {
            return signals.dropped(packet, Cause::Oversize);
        }
        self.scheduler.clock(now);
        self.buffer.arriving(&packet);
        let verdict = self.dropper.on_arrival(&packet, &self.buffer, now);
        if verdict != Verdict::Pass {
            self.treat_others(&packet, now, signals);
        }
        let mark = match verdict {
            Verdict::Pass => None,
            Verdict::Signal(cause) if self.marks(&packet) => Some(cause),
            Verdict::Signal(cause) | Verdict::Drop(cause) => return signals.dropped(packet, cause),
        };
        if !self.make_room(&packet, now, signals) {
            return signals.dropped(packet, Cause::Overflow);
        }
        let key = self.buffer.admit(&packet);
        let flow = self.buffer.put(key, packet);
        self.dropper.tracked(self.buffer.packet(key), flow, true, &self.buffer);
        self.scheduler.inserted(key, flow, &self.buffer);
        if let Some(cause) = mark {
            self.mark(key, cause, signals);
        }
        if let Some(needless) = self.dropper.made_needless(key, &self.buffer, signals) {
            self.evict(needless, Cause::Superseded, signals);
            self.scheduler.superseded(flow, &self.buffer);
        }
    }

    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        match room {
            Room::Open => self.enqueue(packet, now, signals),
            Room::Full => self.replace(packet, now, signals),
        }
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.scheduler.clock(now);
        while let Some(Chosen { key, polled_empty }) = self.scheduler.choose(&self.buffer) {
            let flow = self.buffer.flow_of(key);
            let mut packet = self.buffer.remove(key);
            self.dropper.tracked(&packet, flow, false, &self.buffer);
            match self.dropper.on_departure(&packet, Left { flow, polled_empty }, &self.buffer, now) {
                Verdict::Pass => {}
                Verdict::Signal(cause) if self.marks(&packet) => {
                    packet.ecn = Ecn::Ce;
                    signals.marked(&packet, cause);
                }
                Verdict::Signal(cause) | Verdict::Drop(cause) => {
                    self.scheduler.skip(&packet, flow, &self.buffer);
                    signals.dropped(packet, cause);
                    continue;
                }
            }
            self.scheduler.charge(&packet, flow, &self.buffer);
            return Some(packet);
        }
        self.dropper.idle(now);
        None
    }

    fn ready_at(&self) -> Option<Time> {
        (!self.buffer.is_empty()).then_some(Time::ZERO)
    }

    fn backlog(&self) -> Backlog {
        self.buffer.backlog()
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("backlog_packets", Unit::Packets, f64::from(self.buffer.len()));
        probe.gauge("backlog_bytes", Unit::Bytes, self.buffer.bytes() as f64);
        if self.buffer.knows_flows() {
            probe.gauge("backlogged_flows", Unit::Flows, f64::from(self.buffer.backlogged_flows()));
        }
        self.scheduler.inspect(probe);
        self.dropper.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        let mut next = self.buffer.by_arrival();
        while let Some(key) = next {
            next = self.buffer.next_by_arrival(key);
            let flow = self.buffer.flow_of(key);
            self.scheduler.evicting(key, flow, &self.buffer);
            let packet = self.buffer.remove(key);
            self.dropper.tracked(&packet, flow, false, &self.buffer);
            take(packet);
        }
    }
}

impl<S: Scheduler, D: Dropper> Control for Queue<S, D> {
    fn inside(&mut self, _: Option<u32>, _: &mut dyn FnMut(&mut dyn Discipline)) {}

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        let Queue { scheduler, dropper, .. } = self;
        set_weight_in_both(
            weight,
            |weight| scheduler.set_weight(class, weight),
            |weight| dropper.set_weight(class, weight),
        )
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let takes = self.buffer.retune(&fresh.buffer)
            && self.scheduler.retune(&fresh.scheduler, now)
            && self.dropper.retune(&fresh.dropper, now);
        if takes {
            self.ecn = fresh.ecn;
        }
        takes
    }

    fn reads_acknowledgements(&mut self) -> bool {
        self.dropper.reads_acknowledgements()
    }

    fn release(&mut self) {
        self.buffer.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::Fcfs;

    #[derive(Default)]
    struct Log {
        dropped: Vec<(u32, Cause)>,
        marked: Vec<(u32, Cause)>,
    }

    impl Signals for Log {
        fn dropped(&mut self, packet: Packet, cause: Cause) {
            self.dropped.push((packet.frame, cause));
        }
        fn marked(&mut self, packet: &Packet, cause: Cause) {
            self.marked.push((packet.frame, cause));
        }
    }

    fn packet(frame: u32, len: u32) -> Packet {
        Packet::new(frame, len, u64::from(frame).into(), Time::ZERO)
    }

    struct Picky;

    impl Dropper for Picky {
        fn on_arrival(&mut self, packet: &Packet, _: &Buffer, _: Time) -> Verdict {
            if packet.frame % 2 == 1 { Verdict::Signal(Cause::Early) } else { Verdict::Pass }
        }
        fn victim(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Victim {
            Victim::Waiting(buffer.oldest().expect("full, so not empty"))
        }
    }

    #[test]
    fn room_is_made_until_the_arrival_fits() {
        let mut queue = Queue::new(Limit::bytes(1000), Fcfs, Picky);
        let mut log = Log::default();
        for frame in [0, 2, 4] {
            queue.enqueue(packet(frame, 300), Time::ZERO, &mut log);
        }
        queue.enqueue(packet(6, 900), Time::ZERO, &mut log);
        assert_eq!(log.dropped, [0, 2, 4].map(|f| (f, Cause::PushOut)));
        assert_eq!(queue.backlog(), Backlog { packets: 1, bytes: 900 });
    }

    #[test]
    fn a_packet_that_can_never_fit_pushes_none_out() {
        let mut queue = Queue::new(Limit::bytes(1000), Fcfs, Picky);
        let mut log = Log::default();
        queue.enqueue(packet(0, 300), Time::ZERO, &mut log);
        queue.enqueue(packet(2, 1001), Time::ZERO, &mut log);
        assert_eq!(log.dropped, [(2, Cause::Oversize)]);
        assert_eq!(queue.backlog().packets, 1);
    }

    #[derive(Default)]
    struct HalfHearted {
        polls: u32,
    }

    impl Dropper for HalfHearted {
        fn victim(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Victim {
            self.polls += 1;
            if self.polls > 1 { Victim::Arrival } else { Victim::Waiting(buffer.oldest().expect("full")) }
        }
        fn another(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Option<(Key, Verdict)> {
            let is_first = self.polls == 2;
            self.polls += 1;
            is_first.then(|| (buffer.oldest().expect("one is left"), Verdict::Drop(Cause::Forced)))
        }
    }

    #[test]
    fn push_outs_stay_dropped_even_if_the_arrival_is_refused_in_the_end() {
        let mut queue = Queue::new(Limit::bytes(1000), Fcfs, HalfHearted::default());
        let mut log = Log::default();
        for frame in [0, 2, 4] {
            queue.enqueue(packet(frame, 300), Time::ZERO, &mut log);
        }
        queue.enqueue(packet(6, 900), Time::ZERO, &mut log);
        assert_eq!(log.dropped, [(0, Cause::PushOut), (2, Cause::Forced), (6, Cause::Overflow)]);
        queue.enqueue(packet(8, 900), Time::ZERO, &mut log);
        assert_eq!(log.dropped[3..], [(8, Cause::Overflow)], "none was pushed out");
    }

    #[test]
    fn without_room_an_arrival_replaces_a_packet_or_is_refused() {
        struct Oldest;
        impl Dropper for Oldest {
            fn victim(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Victim {
                if packet.len > 900 {
                    return Victim::Arrival;
                }
                Victim::Waiting(buffer.oldest().expect("full"))
            }
        }
        let mut queue = Queue::new(Limit::packets(9), Fcfs, Oldest);
        let mut log = Log::default();
        queue.offer(packet(0, 300), Room::Full, Time::ZERO, &mut log);
        assert_eq!(log.dropped, [(0, Cause::Overflow)], "nothing waits that could make room");
        queue.enqueue(packet(2, 300), Time::ZERO, &mut log);
        queue.enqueue(packet(4, 300), Time::ZERO, &mut log);
        queue.offer(packet(6, 300), Room::Full, Time::ZERO, &mut log);
        assert_eq!(log.dropped[1..], [(2, Cause::PushOut)]);
        queue.offer(packet(8, 1000), Room::Full, Time::ZERO, &mut log);
        assert_eq!(log.dropped[2..], [(8, Cause::Overflow)], "its dropper would rather refuse it");
        queue.enqueue(packet(10, 300), Time::ZERO, &mut log);
        assert_eq!(queue.backlog().packets, 3, "it has all its room again");
    }

    #[test]
    fn a_signal_marks_only_where_packet_and_policy_allow_it() {
        for (policy, ecn, marked) in [
            (EcnPolicy::Drop, Ecn::Ect0, false),
            (EcnPolicy::Mark, Ecn::NotEct, false),
            (EcnPolicy::Mark, Ecn::Ect0, true),
            (EcnPolicy::Mark, Ecn::Ect1, true),
        ] {
            let mut queue = Queue::new(Limit::packets(5), Fcfs, Picky).with_ecn(policy);
            let mut log = Log::default();
            queue.enqueue(Packet { ecn, ..packet(1, 100) }, Time::ZERO, &mut log);
            let out = queue.dequeue(Time::ZERO, &mut log);
            assert_eq!(log.marked.len(), usize::from(marked));
            assert_eq!(log.dropped.len(), usize::from(!marked));
            assert_eq!(out.map(|p| p.ecn), marked.then_some(Ecn::Ce));
        }
    }
}

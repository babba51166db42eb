//! One law for each of many queues, in a buffer with a fixed number of queues.
//!
//! Another dropper makes room, and the law of the queue that loses the packet is notified
//! ([`Law::overflowed`]).

use crate::dropper::law::Law;
use alloc::boxed::Box;
use alloc::vec;
use fairwire_core::{
    Backlog, Buffer, Dropper, FlowHash, FlowKey, Key, Left, Needs, Packet, Probe, SetWeightError, Time, Unit,
    Verdict, Victim, Weight,
};

/// A law for each queue, and a dropper `R` that makes room. See the [module](self).
#[derive(Debug)]
pub struct PerFlow<L: Law, R> {
    laws: Box<[L]>,
    common: L::Common,
    room: R,
    sees_all: bool,
}

impl<L: Law, R: Dropper> PerFlow<L, R> {
    /// Laws for `queues` queues.
    pub fn new(queues: u32, common: L::Common, room: R) -> Self {
        PerFlow { laws: vec![L::default(); queues as usize].into(), common, room, sees_all: false }
    }

    /// Judges each departure by the backlog of all queues, as in Linux.
    pub(crate) fn seeing_all(self) -> Self {
        PerFlow { sees_all: true, ..self }
    }

    /// The law of the queue numbered `queue`, for tests of its invariants.
    pub fn law(&self, queue: u32) -> &L {
        &self.laws[queue as usize]
    }

    #[inline]
    fn queue(packet: &Packet, buffer: &Buffer) -> (usize, Backlog) {
        let number = buffer.queue_of(packet);
        let backlog = buffer.find(number).map(|flow| buffer.flow_backlog(flow));
        (place(number), backlog.unwrap_or_default())
    }

    /// The number of the queue that a packet has left, and the queue's backlog. Later packets of
    /// the flow may enter another queue.
    #[inline]
    fn left(flow: FlowKey, buffer: &Buffer) -> (usize, Backlog) {
        (place(buffer.flow_hash(flow)), buffer.flow_backlog(flow))
    }

    fn overflowed(&mut self, key: Key, buffer: &Buffer, now: Time) {
        let flow = buffer.flow_of(key);
        let law = &mut self.laws[place(buffer.flow_hash(flow))];
        law.overflowed(&mut self.common, buffer.flow_backlog(flow), now);
    }
}

fn place(queue: FlowHash) -> usize {
    queue.0 as usize
}

impl<L: Law, R: Dropper> Dropper for PerFlow<L, R> {
    fn needs(&self) -> Needs {
        Needs::QUEUES | self.room.needs()
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        if !L::AT_ARRIVAL || !buffer.fits(packet.len) {
            return Verdict::Pass; // `victim` decides which packet goes
        }
        let (place, backlog) = Self::queue(packet, buffer);
        self.laws[place].on_arrival(&mut self.common, packet, backlog, now)
    }

    #[inline]
    fn on_departure(&mut self, packet: &Packet, left: Left, buffer: &Buffer, now: Time) -> Verdict {
        let (place, backlog) = Self::left(left.flow, buffer);
        let law = &mut self.laws[place];
        if left.polled_empty {
            law.polled_empty(&mut self.common, now);
        }
        L::share(&mut self.common, buffer.backlogged_flows());
        let seen = if self.sees_all { buffer.backlog() } else { backlog };
        let verdict = law.on_departure(&mut self.common, packet, seen, now);
        if backlog.is_empty() {
            law.emptied(&mut self.common, now);
        }
        verdict
    }

    fn victim(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Victim {
        let victim = self.room.victim(packet, buffer, now);
        match victim {
            Victim::Waiting(key) => self.overflowed(key, buffer, now),
            Victim::Arrival => {
                let (place, backlog) = Self::queue(packet, buffer);
                self.laws[place].overflowed(&mut self.common, backlog, now);
            }
        }
        victim
    }

    fn another(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Option<(Key, Verdict)> {
        let another = self.room.another(packet, buffer, now);
        if let Some((key, _)) = another {
            self.overflowed(key, buffer, now);
        }
        another
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        self.room.tracked(packet, flow, inside, buffer);
    }

    fn idle(&mut self, now: Time) {
        self.room.idle(now);
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.room.set_weight(class, weight)
    }

    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        (self.laws.len(), self.sees_all) == (fresh.laws.len(), fresh.sees_all)
            && self.room.retune(&fresh.room, now)
            && L::retune(&mut self.laws, &mut self.common, &fresh.common, now)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("queues", Unit::Flows, self.laws.len() as f64);
        self.room.inspect(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dropper::tail_drop::TailDrop;
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Discipline, Ignore, Limit, Queue, Queues};

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Calls {
        departures: u32,
        left_behind: u32,
        emptied: u32,
    }

    impl Law for Calls {
        type Common = ();

        fn on_departure(&mut self, _: &mut (), _: &Packet, queue: Backlog, _: Time) -> Verdict {
            self.departures += 1;
            self.left_behind = queue.packets;
            Verdict::Pass
        }

        fn emptied(&mut self, _: &mut (), _: Time) {
            self.emptied += 1;
        }
    }

    #[test]
    fn a_departure_is_reported_to_the_queue_where_the_packet_waited() {
        let dropper: PerFlow<Calls, _> = PerFlow::new(2, (), TailDrop);
        let mut queue =
            Queue::with_queues(Limit::packets(9), Queues::set_associative(1, 2, 0), Fcfs, dropper);
        let packet = |flow: u64| Packet::new(0, 100, flow.into(), Time::ZERO);
        // Flow 7 finds no empty queue, so it shares queue 0 with flow 5.
        [5, 6, 7].into_iter().for_each(|flow| queue.enqueue(packet(flow), Time::ZERO, &mut Ignore));
        for flow in [5, 6] {
            assert_eq!(queue.dequeue(Time::ZERO, &mut Ignore), Some(packet(flow)));
        }
        queue.enqueue(packet(7), Time::ZERO, &mut Ignore);
        assert_eq!(queue.buffer().queue_of(&packet(7)), FlowHash(1));
        assert_eq!(queue.dequeue(Time::ZERO, &mut Ignore), Some(packet(7)));
        assert_eq!(queue.dropper().law(0), &Calls { departures: 2, left_behind: 0, emptied: 1 });
        assert_eq!(queue.dropper().law(1), &Calls { departures: 1, left_behind: 0, emptied: 1 });
    }
}

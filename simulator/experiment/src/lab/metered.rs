//! A discipline whose link is measured as in the simulator.

use fairwire_core::{
    Acknowledgement, Backlog, Cause, Control, Discipline, Packet, Probe, Rate, Room, Signals, Time,
};
use fairwire_metrics::LinkMeter;
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard};

/// A meter that the discipline writes and the contest reads.
#[derive(Clone)]
pub(super) struct SharedMeter(Arc<Mutex<LinkMeter>>);

impl SharedMeter {
    pub(super) fn new(start: Time) -> Self {
        SharedMeter(Arc::new(Mutex::new(LinkMeter::new(start))))
    }

    pub(super) fn get(&self) -> MutexGuard<'_, LinkMeter> {
        self.0.lock().expect("one thread has it, and does not panic")
    }
}

pub(super) struct Metered {
    /// The measured discipline.
    pub discipline: Box<dyn Discipline>,
    /// The rate of the link.
    pub rate: Rate,
    /// The meter.
    pub meter: SharedMeter,
}

impl Discipline for Metered {
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        let mut meter = self.meter.get();
        meter.offered();
        self.discipline.offer(packet, room, now, &mut Counted { meter: &mut meter, signals });
        meter.waiting(self.discipline.backlog(), now);
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        let mut meter = self.meter.get();
        let packet = self.discipline.dequeue(now, &mut Counted { meter: &mut meter, signals });
        meter.waiting(self.discipline.backlog(), now);
        if let Some(packet) = &packet {
            // If this process woke late, the packet takes less time than is counted here. Over a
            // contest, these errors add up to less than one packet.
            meter.started(packet, now, now + self.rate.time_to_send(packet.len.into()));
        }
        packet
    }

    fn ready_at(&self) -> Option<Time> {
        self.discipline.ready_at()
    }

    fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        self.discipline.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.discipline.drain(take);
    }
}

impl Control for Metered {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut *self.discipline);
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let metered = (fresh as &dyn Any).downcast_ref::<Self>();
        self.discipline.retune(metered.map_or(fresh, |fresh| &*fresh.discipline), now)
    }
}

struct Counted<'a> {
    meter: &'a mut LinkMeter,
    signals: &'a mut dyn Signals,
}

impl Signals for Counted<'_> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.meter.dropped(cause);
        self.signals.dropped(packet, cause);
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.meter.marked(cause);
        self.signals.marked(packet, cause);
    }

    fn acknowledges(&self, frame: u32) -> Option<Acknowledgement> {
        self.signals.acknowledges(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Dropper, Limit, Queue};
    use fairwire_testing::lost_inside;

    struct TailDrop;
    impl Dropper for TailDrop {
        fn retune(&mut self, _: &Self, _: Time) -> bool {
            true
        }
    }

    #[test]
    fn a_metered_discipline_keeps_all_its_capabilities() {
        let alone = || -> Box<dyn Discipline> { Box::new(Queue::new(Limit::packets(5), Fcfs, TailDrop)) };
        let rate = Rate::from_bps(1_000_000).expect("not zero");
        let metered = |discipline| -> Box<dyn Discipline> {
            Box::new(Metered { discipline, rate, meter: SharedMeter::new(Time::ZERO) })
        };
        assert!(lost_inside(&alone, &metered).is_empty());
    }
}

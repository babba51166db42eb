//! Schedulers decide which waiting packet is sent next.

use crate::buffer::{Buffer, FlowKey, Key};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::time::Time;
use crate::weight::{SetWeightError, Weight};
use alloc::boxed::Box;
use core::any::Any;

/// The packet that a scheduler sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its key.
    pub key: Key,
    /// True if the packet's queue was polled and found empty since the queue's previous packet. Set
    /// only by schedulers whose droppers use it.
    pub polled_empty: bool,
}

impl From<Key> for Chosen {
    #[inline]
    fn from(key: Key) -> Self {
        Chosen { key, polled_empty: false }
    }
}

/// The queue that a packet has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The queue. If it is empty now, its backlog is zero.
    pub flow: FlowKey,
    /// As [`Chosen::polled_empty`].
    pub polled_empty: bool,
}

/// Chooses the packet that is sent next.
pub trait Scheduler: Any + Send {
    /// The indexes that the scheduler reads from the buffer, which maintains no other indexes.
    /// Invoked once, at construction. A scheduler that never reads the order of arrival returns
    /// [`Needs::QUEUES`].
    fn needs(&self) -> Needs {
        Needs::FLOWS
    }

    /// Invoked first at each arrival and each dequeue, for schedulers whose virtual time advances
    /// while a packet is being sent.
    fn clock(&mut self, _now: Time) {}

    /// Invoked after a packet is put into the queue `flow`.
    fn inserted(&mut self, _key: Key, _flow: FlowKey, _buffer: &Buffer) {}

    /// Invoked before a packet that was not [chosen](Scheduler::choose) leaves the queue `flow`.
    /// The scheduler repairs its tags and rings.
    fn evicting(&mut self, _key: Key, _flow: FlowKey, _buffer: &Buffer) {}

    /// Invoked when a packet of the queue `flow` was dropped because a newer packet of this queue
    /// made it needless.
    fn superseded(&mut self, _flow: FlowKey, _buffer: &Buffer) {}

    /// Returns the packet to send; `None` only if the buffer is empty. The caller takes the packet
    /// out, then calls [`charge`](Scheduler::charge) if it is sent, or [`skip`](Scheduler::skip) if
    /// it is dropped.
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen>;

    /// Charges the cost of the chosen packet to the queue `flow`. Invoked after the packet has left
    /// the queue to be sent.
    fn charge(&mut self, _packet: &Packet, _flow: FlowKey, _buffer: &Buffer) {}

    /// Invoked when the chosen packet has left the queue `flow`, but is dropped instead of sent.
    /// The queue pays nothing.
    fn skip(&mut self, _packet: &Packet, _flow: FlowKey, _buffer: &Buffer) {}

    /// Sets the weight of a class, as [`Discipline::set_weight`](crate::Discipline::set_weight).
    fn set_weight(&mut self, _class: u32, _weight: Weight) -> Result<Weight, SetWeightError> {
        Err(SetWeightError::NoWeights)
    }

    /// Takes over the parameters of `fresh`, as [`Discipline::retune`](crate::Discipline::retune).
    fn retune(&mut self, _fresh: &dyn Scheduler, _now: Time) -> bool {
        false
    }

    /// Invoked when a dashboard or trace reads gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

impl Scheduler for Box<dyn Scheduler> {
    fn needs(&self) -> Needs {
        (**self).needs()
    }
    fn clock(&mut self, now: Time) {
        (**self).clock(now);
    }
    fn inserted(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        (**self).inserted(key, flow, buffer);
    }
    fn evicting(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        (**self).evicting(key, flow, buffer);
    }
    fn superseded(&mut self, flow: FlowKey, buffer: &Buffer) {
        (**self).superseded(flow, buffer);
    }
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        (**self).choose(buffer)
    }
    fn charge(&mut self, packet: &Packet, flow: FlowKey, buffer: &Buffer) {
        (**self).charge(packet, flow, buffer);
    }
    fn skip(&mut self, packet: &Packet, flow: FlowKey, buffer: &Buffer) {
        (**self).skip(packet, flow, buffer);
    }
    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        (**self).set_weight(class, weight)
    }
    fn retune(&mut self, fresh: &dyn Scheduler, now: Time) -> bool {
        let boxed = (fresh as &dyn Any).downcast_ref::<Self>();
        (**self).retune(boxed.map_or(fresh, |fresh| &**fresh), now)
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        (**self).inspect(probe);
    }
}

/// First come, first served.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fcfs;

impl Scheduler for Fcfs {
    fn needs(&self) -> Needs {
        Needs::ORDER
    }

    #[inline]
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        buffer.oldest().map(Chosen::from)
    }

    fn retune(&mut self, fresh: &dyn Scheduler, _: Time) -> bool {
        (fresh as &dyn Any).is::<Self>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Limit;
    use crate::probe::Unit;

    #[derive(Default)]
    struct Counts(u32);

    impl Scheduler for Counts {
        fn needs(&self) -> Needs {
            Needs::ORDER
        }
        fn clock(&mut self, _: Time) {
            self.0 += 1;
        }
        fn inserted(&mut self, _: Key, _: FlowKey, _: &Buffer) {
            self.0 += 1;
        }
        fn evicting(&mut self, _: Key, _: FlowKey, _: &Buffer) {
            self.0 += 1;
        }
        fn superseded(&mut self, _: FlowKey, _: &Buffer) {
            self.0 += 1;
        }
        fn choose(&mut self, _: &Buffer) -> Option<Chosen> {
            self.0 += 1;
            None
        }
        fn charge(&mut self, _: &Packet, _: FlowKey, _: &Buffer) {
            self.0 += 1;
        }
        fn skip(&mut self, _: &Packet, _: FlowKey, _: &Buffer) {
            self.0 += 1;
        }
        fn set_weight(&mut self, _: u32, weight: Weight) -> Result<Weight, SetWeightError> {
            self.0 += 1;
            Ok(weight)
        }
        fn inspect(&self, probe: &mut dyn Probe) {
            probe.gauge("calls", Unit::Packets, f64::from(self.0));
        }
    }

    #[test]
    fn a_boxed_scheduler_forwards_every_call() {
        struct Seen(f64);
        impl Probe for Seen {
            fn gauge(&mut self, _: &'static str, _: Unit, value: f64) {
                self.0 = value;
            }
        }
        let mut buffer = Buffer::with(Limit::packets(2), Needs::FLOWS, crate::queues::Queues::PerFlow);
        let packet = Packet::new(0, 100, 7.into(), Time::ZERO);
        buffer.arriving(&packet);
        let key = buffer.push(packet);
        let (flow, packet) = (buffer.flow_of(key), Packet::new(1, 100, 7.into(), Time::ZERO));
        let mut boxed: Box<dyn Scheduler> = Box::new(Counts::default());
        assert_eq!(boxed.needs(), Needs::ORDER);
        let scheduler: &mut Box<dyn Scheduler> = &mut boxed;
        Scheduler::clock(scheduler, Time::ZERO);
        Scheduler::inserted(scheduler, key, flow, &buffer);
        Scheduler::evicting(scheduler, key, flow, &buffer);
        Scheduler::superseded(scheduler, flow, &buffer);
        assert_eq!(Scheduler::choose(scheduler, &buffer), None);
        Scheduler::charge(scheduler, &packet, flow, &buffer);
        Scheduler::skip(scheduler, &packet, flow, &buffer);
        let weight = Weight::new(2.0).expect("above 0");
        assert_eq!(Scheduler::set_weight(scheduler, 1, weight), Ok(weight));
        let mut seen = Seen(0.0);
        Scheduler::inspect(scheduler, &mut seen);
        assert_eq!(seen.0, 8.0);
    }
}

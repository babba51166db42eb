//! Laws: the control of a queue. [`OneQueue`] applies a [`Law`] to the entire buffer, and
//! [`PerFlow`](crate::compose::per_flow::PerFlow) to each of many queues.

use core::fmt::Debug;
use core::slice;
use fairwire_core::{Backlog, Buffer, Dropper, Left, Packet, Probe, Time, Verdict, Victim};

/// The control of one queue. `self` is that queue's state; shared data is passed in.
pub trait Law: Clone + Debug + Default + Send + 'static {
    /// The data that all queues under this law share.
    type Common: Debug + Send;

    /// True if the law judges arrivals. If false, [`on_arrival`](Self::on_arrival) is not called,
    /// which saves finding the arrival's queue.
    const AT_ARRIVAL: bool = false;

    /// Judges an arriving packet that fits into the buffer, before the packet enters the queue.
    fn on_arrival(&mut self, _: &mut Self::Common, _packet: &Packet, _queue: Backlog, _now: Time) -> Verdict {
        Verdict::Pass
    }

    /// Invoked before each departure if the law controls one of many queues, of which `queues` are
    /// backlogged.
    fn share(_: &mut Self::Common, _queues: u32) {}

    /// Judges a packet just taken out to be sent. `queue` is the remaining backlog.
    fn on_departure(
        &mut self,
        _: &mut Self::Common,
        _packet: &Packet,
        _queue: Backlog,
        _now: Time,
    ) -> Verdict {
        Verdict::Pass
    }

    /// Invoked when a packet of this queue is dropped because the buffer is full. If the packet was
    /// queued, `queue` still counts it.
    fn overflowed(&mut self, _: &mut Self::Common, _queue: Backlog, _now: Time) {}

    /// Invoked when the last packet has left this queue.
    fn emptied(&mut self, _: &mut Self::Common, _now: Time) {}

    /// Invoked before a packet departs from this queue, if the scheduler has found the queue empty
    /// since the last departure.
    fn polled_empty(&mut self, _: &mut Self::Common, _now: Time) {}

    /// Takes over the parameters of `fresh` for all `laws`, which share `common`: see
    /// [`Discipline::retune`](fairwire_core::Discipline::retune).
    fn retune(_laws: &mut [Self], _common: &mut Self::Common, _fresh: &Self::Common, _now: Time) -> bool {
        false
    }

    /// Shows gauges.
    fn inspect(&self, _: &Self::Common, _probe: &mut dyn Probe) {}
}

/// Applies one law to the entire buffer; packets that do not fit are refused.
#[derive(Debug)]
pub struct OneQueue<L: Law> {
    law: L,
    common: L::Common,
}

impl<L: Law> OneQueue<L> {
    /// A dropper that controls the buffer.
    pub fn new(common: L::Common) -> Self {
        OneQueue { law: L::default(), common }
    }

    /// The law's state, for tests of its invariants.
    pub fn law(&self) -> &L {
        &self.law
    }
}

impl<L: Law> Dropper for OneQueue<L> {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        if !L::AT_ARRIVAL || !buffer.fits(packet.len) {
            return Verdict::Pass; // `victim` will refuse it and call the law
        }
        self.law.on_arrival(&mut self.common, packet, buffer.backlog(), now)
    }

    #[inline]
    fn on_departure(&mut self, packet: &Packet, _: Left, buffer: &Buffer, now: Time) -> Verdict {
        self.law.on_departure(&mut self.common, packet, buffer.backlog(), now)
    }

    fn victim(&mut self, _: &Packet, buffer: &Buffer, now: Time) -> Victim {
        self.law.overflowed(&mut self.common, buffer.backlog(), now);
        Victim::Arrival
    }

    fn idle(&mut self, now: Time) {
        self.law.emptied(&mut self.common, now);
    }

    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        L::retune(slice::from_mut(&mut self.law), &mut self.common, &fresh.common, now)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        self.law.inspect(&self.common, probe);
    }
}

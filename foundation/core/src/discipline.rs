//! The contract of a queue discipline.

use crate::marker::RateRequest;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::signals::{Cause, Signals};
use crate::time::{Duration, Time};
use crate::weight::{SetWeightError, Weight};
use alloc::boxed::Box;
use core::any::Any;

/// Decides which packets wait, which are refused, and which one is sent next.
///
/// An implementation never reads a clock, never draws from a shared generator, does no I/O, and
/// allocates nothing after construction. `now` never decreases from call to call.
///
/// Conservation: every packet offered leaves exactly once, by [`dequeue`](Discipline::dequeue), by
/// [`Signals::dropped`] or by [`drain`](Discipline::drain).
pub trait Discipline: Any + Send {
    /// Invoked when a packet arrives. The discipline queues it, marks it, or drops it by `signals`.
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals);

    /// Invoked instead of [`enqueue`](Discipline::enqueue) when a shared room is full and the
    /// backlog may not grow. The packet either replaces waiting packets, by the same rule as in a
    /// full buffer, or is dropped. The default drops it.
    fn enqueue_without_room(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        let _ = now;
        signals.dropped(packet, Cause::Overflow);
    }

    /// Invoked when the discipline is empty and may stay so for long. It releases what memory it
    /// can, and allocates again as packets come. Only a caller with thousands of disciplines uses
    /// this; without it nothing is allocated after construction.
    fn release(&mut self) {}

    /// Invoked when the transmitter becomes free: returns the packet to send next. It is also
    /// invoked when nothing waits, since some laws learn in this way that the link is idle.
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet>;

    /// The earliest time at which a dequeue is useful without another enqueue; `None` when empty.
    /// After a dequeue at `now` that returned nothing, it is later than `now`.
    fn ready_at(&self) -> Option<Time>;

    /// The packets and bytes that wait now.
    fn backlog(&self) -> Backlog;

    /// Invoked when a dashboard or trace reads gauges: reports each with its unit. Off the hot
    /// path.
    fn inspect(&self, probe: &mut dyn Probe);

    /// Hands every waiting packet to `take`, so that another discipline can continue with them.
    ///
    /// Packets of one queue keep their order; queues of one buffer are merged by time of arrival.
    /// No law is consulted and no signal given. The discipline is empty afterwards and remains
    /// usable. Off the hot path, but without allocation.
    fn drain(&mut self, take: &mut dyn FnMut(Packet));

    /// Sets the weight of `class` and returns the previous one. O(1) unless the implementation says
    /// otherwise, and without allocation.
    ///
    /// Packets that wait stay where they are. A queue whose weight is stored with its head packet
    /// uses the new weight from its next packet on.
    ///
    /// # Errors
    /// When the discipline has no weights, the class has none of its own, or the weight is out of
    /// range. Nothing has changed then.
    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        let _ = (class, weight);
        Err(SetWeightError::NoWeights)
    }

    /// Invoked when the edge where packets of `class` leave a DiffServ domain reports that it
    /// makes this request until `until`: see [`Marker::on_report`](crate::Marker::on_report). The
    /// default, and every class without a marker of its own, ignores it.
    fn on_report(&mut self, class: u32, request: RateRequest, until: Time, now: Time) {
        let _ = (class, request, until, now);
    }

    /// The rate up to which packets of `class` are green at `now`, in bit/s; `None` where requests
    /// cannot change it, as by default.
    fn target_bps(&self, class: u32, now: Time) -> Option<f64> {
        let _ = (class, now);
        None
    }

    /// Takes over the parameters of `fresh`, which was just built and has seen no packet, and
    /// returns true. What it has learnt stays, and what waits stays too: also above a smaller
    /// limit, until it leaves.
    ///
    /// Returns false where it cannot: `fresh` is of another type, or its parameters shape tables
    /// or change what the state counts in. Some may have been taken over then, so the caller
    /// puts `fresh` in its place and hands over the packets. The default cannot.
    ///
    /// Parameters that are equal to the present ones change nothing. Off the hot path; memory is
    /// taken only where the limit grows.
    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let _ = (fresh, now);
        false
    }

    /// Does it use round trips? Only such a discipline is given any, so that others cost nothing.
    fn hears_round_trips(&self) -> bool {
        false
    }

    /// Invoked when the answer to a segment that left here passes back at `now`.
    fn on_round_trip(&mut self, trip: RoundTrip, now: Time) {
        let _ = (trip, now);
    }
}

/// From the departure of a segment to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Whose: round trips of one peer have one path.
    pub peer: u32,
    /// What it took.
    pub time: Duration,
}

/// What waits in a discipline. The packet in transmission is not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes waiting, as counted on the wire.
    pub bytes: u64,
}

impl Backlog {
    /// Does nothing wait?
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }
}

impl Discipline for Box<dyn Discipline> {
    #[inline]
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        (**self).enqueue(packet, now, signals);
    }
    fn enqueue_without_room(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        (**self).enqueue_without_room(packet, now, signals);
    }
    fn release(&mut self) {
        (**self).release();
    }
    #[inline]
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        (**self).dequeue(now, signals)
    }
    fn ready_at(&self) -> Option<Time> {
        (**self).ready_at()
    }
    #[inline]
    fn backlog(&self) -> Backlog {
        (**self).backlog()
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        (**self).inspect(probe);
    }
    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        (**self).drain(take);
    }
    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        (**self).set_weight(class, weight)
    }
    fn on_report(&mut self, class: u32, request: RateRequest, until: Time, now: Time) {
        (**self).on_report(class, request, until, now);
    }
    fn target_bps(&self, class: u32, now: Time) -> Option<f64> {
        (**self).target_bps(class, now)
    }
    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let boxed = (fresh as &dyn Any).downcast_ref::<Self>();
        (**self).retune(boxed.map_or(fresh, |fresh| &**fresh), now)
    }
    fn hears_round_trips(&self) -> bool {
        (**self).hears_round_trips()
    }
    fn on_round_trip(&mut self, trip: RoundTrip, now: Time) {
        (**self).on_round_trip(trip, now);
    }
}

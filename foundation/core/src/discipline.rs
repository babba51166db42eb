//! The contract of a queue discipline.

use crate::marker::RateRequest;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::signals::Signals;
use crate::time::{Duration, Time};
use crate::weight::{SetInAll, SetWeightError, Weight};
use alloc::boxed::Box;
use core::any::Any;

/// Decides which packets wait, which are refused, and which is sent next.
///
/// An implementation never reads a clock, never uses a shared random generator, does no I/O, and
/// allocates nothing after construction. `now` never decreases. No packet makes it panic.
///
/// Conservation: every packet offered leaves exactly once, by [`dequeue`](Discipline::dequeue), by
/// [`Signals::dropped`] or by [`drain`](Discipline::drain).
///
/// Requests that are not about packets are in [`Control`].
pub trait Discipline: Control + Any + Send {
    /// Queues, marks or drops an arrival.
    ///
    /// If `room` is [`Room::Full`], the backlog may not grow: the packet replaces queued packets,
    /// by the same rule as in a full buffer, or is dropped. A discipline that contains others
    /// passes `room` on.
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals);

    /// Offers a packet for which the enclosing disciplines have room.
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        self.offer(packet, Room::Open, now, signals);
    }

    /// Returns the packet to send. Invoked when the transmitter becomes free, even if the
    /// discipline is empty: some disciplines must know that the link is idle.
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet>;

    /// The earliest time at which a dequeue is useful without another enqueue; `None` when empty.
    /// After a dequeue at `now` that returned nothing, this time is later than `now`.
    fn ready_at(&self) -> Option<Time>;

    /// The current backlog.
    fn backlog(&self) -> Backlog;

    /// Reports each gauge with its unit. Invoked when a dashboard or trace reads gauges, off the
    /// hot path.
    fn inspect(&self, probe: &mut dyn Probe);

    /// Passes all queued packets to `take`, without any signal. Off the hot path, but without
    /// allocation.
    ///
    /// Packets of one queue keep their order; queues of one buffer are merged by arrival. The
    /// discipline is empty afterwards and remains usable.
    fn drain(&mut self, take: &mut dyn FnMut(Packet));
}

/// All other requests to a discipline, off the hot path.
///
/// By default each request is passed on to the inner disciplines, which [`inside`](Control::inside)
/// visits. A discipline that has no inner disciplines and handles no requests implements only
/// `inside`, with the body `{}`.
///
/// ```
/// use fairwire_core::{Backlog, Control, Discipline, Packet, Probe, Room, Signals, Time};
///
/// /// Refuses packets of more than 1500 bytes before they reach the discipline inside.
/// struct Short<D>(D);
///
/// impl<D: Discipline> Discipline for Short<D> {
///     fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
///         match packet.len {
///             0..=1500 => self.0.offer(packet, room, now, signals),
///             _ => signals.dropped(packet, fairwire_core::Cause::Oversize),
///         }
///     }
///     fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
///         self.0.dequeue(now, signals)
///     }
///     fn ready_at(&self) -> Option<Time> {
///         self.0.ready_at()
///     }
///     fn backlog(&self) -> Backlog {
///         self.0.backlog()
///     }
///     fn inspect(&self, probe: &mut dyn Probe) {
///         self.0.inspect(probe);
///     }
///     fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
///         self.0.drain(take);
///     }
/// }
///
/// impl<D: Discipline> Control for Short<D> {
///     fn inside(&mut self, _class: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
///         visit(&mut self.0);
///     }
/// }
/// ```
pub trait Control {
    /// Passes to `visit` each inner discipline that receives packets of `class`. If `class` is
    /// `None`, passes all inner disciplines.
    fn inside(&mut self, class: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline));

    /// Sets the weight of `class` and returns the previous one. O(1) unless the implementation
    /// states otherwise, and without allocation unless several inner disciplines know the class. By
    /// default, if one inner discipline refuses, the others restore their previous weights.
    ///
    /// A queue whose weight is stored with its head packet uses the new weight from its next packet
    /// on.
    ///
    /// # Errors
    /// When the discipline has no weights, the class has no weight, or the given weight is out of
    /// range. Nothing has changed then.
    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        let mut set = SetInAll::default();
        self.inside(Some(class), &mut |inner| set.next(|| inner.set_weight(class, weight)));
        let (result, mut undone) = set.finish();
        if result.is_err() {
            self.inside(Some(class), &mut |inner| {
                if let Some(Some(before)) = undone.next() {
                    let _ = inner.set_weight(class, before); // it was allowed
                }
            });
        }
        result
    }

    /// Reports a rate request, valid until `until`, from the edge at which packets of `class` leave
    /// a DiffServ domain: see [`Marker::on_report`](crate::Marker::on_report).
    fn on_report(&mut self, class: u32, request: RateRequest, until: Time, now: Time) {
        self.inside(Some(class), &mut |inner| inner.on_report(class, request, until, now));
    }

    /// The rate up to which packets of `class` are green at `now`, in bit/s; `None` if requests
    /// cannot change it. By default, the target of the first inner discipline that has a target.
    fn target_bps(&mut self, class: u32, now: Time) -> Option<f64> {
        let mut target = None;
        self.inside(Some(class), &mut |inner| target = target.or_else(|| inner.target_bps(class, now)));
        target
    }

    /// Takes over the parameters of `fresh`, which was just built, and returns true. Learnt state
    /// stays, as does the backlog, even above a smaller limit. Equal parameters change nothing.
    /// Memory is allocated only if the limit grows.
    ///
    /// Returns false if `fresh` is of another type, or its parameters would change the size of a
    /// table or the unit of the state. Some parameters may have changed by then, so the caller
    /// installs `fresh` and transfers the packets. The default returns false.
    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let _ = (fresh, now);
        false
    }

    /// Puts `class` below the class `parent`, with the terms that `class` has in `fresh`. `fresh`
    /// was just built, and may lack other classes.
    ///
    /// The class keeps its savings, debts and backlog. O(1) in the number of classes; memory may be
    /// allocated.
    ///
    /// Returns false if that is impossible. Then at most the parameters of the class's queue have
    /// changed. The default returns false.
    fn retune_class(
        &mut self,
        class: u32,
        parent: Option<u32>,
        fresh: &mut dyn Discipline,
        now: Time,
    ) -> bool {
        let _ = (class, parent, fresh, now);
        false
    }

    /// Replaces `before`, which used the same link until `now`. Classes keep their savings and
    /// debts, and their queues if [`retune`](Control::retune) is possible. All other packets go to
    /// `take`.
    ///
    /// By default, nothing is kept.
    fn succeed(
        &mut self,
        before: &mut dyn Discipline,
        kept: &Kept<'_>,
        now: Time,
        take: &mut dyn FnMut(Packet),
    ) {
        let _ = (kept, now);
        before.drain(take);
    }

    /// True if the discipline uses round trips; otherwise it receives none. Callers read this when
    /// they install a discipline.
    fn hears_round_trips(&mut self) -> bool {
        let mut hears = false;
        self.inside(None, &mut |inner| hears |= inner.hears_round_trips());
        hears
    }

    /// True if the discipline uses [`Signals::acknowledges`]. A caller that cannot recognise
    /// acknowledgements refuses such a discipline.
    fn reads_acknowledgements(&mut self) -> bool {
        let mut reads = false;
        self.inside(None, &mut |inner| reads |= inner.reads_acknowledgements());
        reads
    }

    /// Reports the round trip of a segment that this discipline has sent. `now` is when the answer
    /// passes.
    fn on_round_trip(&mut self, trip: RoundTrip, now: Time) {
        self.inside(None, &mut |inner| inner.on_round_trip(trip, now));
    }

    /// Releases memory if possible; the discipline allocates it again as packets arrive. Callers
    /// with thousands of disciplines invoke this on an empty discipline that may remain empty for
    /// long.
    fn release(&mut self) {
        self.inside(None, &mut |inner| inner.release());
    }
}

/// The state that a discipline can keep of its predecessor.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// The new number of each class, by its old number. Two old classes may have become one.
    pub classes: &'a [u32],
    /// True if queued packets keep their frame and flow; otherwise no queue is kept. Queues of
    /// renumbered classes are not kept either.
    pub names: bool,
}

/// Whether a packet has room in the space that a discipline shares with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Only the discipline's own limit applies.
    Open,
    /// The discipline's backlog may not grow.
    Full,
}

/// The time from the departure of a segment to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// The number of the peer. Round trips of one peer have the same path.
    pub peer: u32,
    /// The time from departure to answer, pauses of the other end included.
    pub time: Duration,
    /// The time from the departure until the other end's last packet before the answer. The round
    /// trip without the other end's pauses takes at least this long.
    pub least: Duration,
    /// Bytes of the peer's traffic since its previous round trip.
    pub bytes: u32,
}

impl RoundTrip {
    /// The round trip of a segment of `bytes` that was answered at once.
    pub fn exact(peer: u32, time: Duration, bytes: u32) -> Self {
        RoundTrip { peer, time, least: time, bytes }
    }
}

/// The backlog of a discipline, without the packet in transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes waiting, as counted on the wire.
    pub bytes: u64,
}

impl Backlog {
    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }
}

impl Discipline for Box<dyn Discipline> {
    #[inline]
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        match room {
            Room::Open => (**self).enqueue(packet, now, signals), // saves a call if the room is known
            Room::Full => (**self).offer(packet, room, now, signals),
        }
    }
    #[inline]
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        (**self).enqueue(packet, now, signals);
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
}

impl Control for Box<dyn Discipline> {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut **self);
    }
    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let boxed = (fresh as &dyn Any).downcast_ref::<Self>();
        (**self).retune(boxed.map_or(fresh, |fresh| &**fresh), now)
    }
    fn retune_class(
        &mut self,
        class: u32,
        parent: Option<u32>,
        fresh: &mut dyn Discipline,
        now: Time,
    ) -> bool {
        (**self).retune_class(class, parent, fresh, now)
    }
    fn succeed(
        &mut self,
        before: &mut dyn Discipline,
        kept: &Kept<'_>,
        now: Time,
        take: &mut dyn FnMut(Packet),
    ) {
        (**self).succeed(before, kept, now, take);
    }
}

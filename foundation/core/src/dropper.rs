//! Droppers decide which packets are refused, marked, or pushed out.

use crate::buffer::{Buffer, FlowKey, Key};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::scheduler::Left;
use crate::signals::{Cause, Signals};
use crate::time::Time;
use crate::weight::{SetWeightError, Weight, set_weight_in_both};
use core::any::Any;

/// Refuses and marks packets, and makes room for arrivals, under any scheduler.
///
/// Every method has a default, so `impl Dropper for TailDrop {}` is a complete tail-drop.
pub trait Dropper: Any + Send {
    /// The indexes that the dropper reads from the buffer, fixed at construction. Reading other
    /// indexes panics. A dropper that reads flows but never the order of arrival returns
    /// [`Needs::QUEUES`].
    fn needs(&self) -> Needs {
        Needs::ORDER
    }

    /// Judges an arrival before it enters the buffer. If the arrival does not fit,
    /// [`victim`](Dropper::victim) decides afterwards.
    fn on_arrival(&mut self, _packet: &Packet, _buffer: &Buffer, _now: Time) -> Verdict {
        Verdict::Pass
    }

    /// Judges `packet` by its sojourn time. The packet was taken out of the queue `left` to be
    /// sent.
    fn on_departure(&mut self, _packet: &Packet, _left: Left, _buffer: &Buffer, _now: Time) -> Verdict {
        Verdict::Pass
    }

    /// Names the packet that makes room for `packet`, which does not fit. Invoked repeatedly, until
    /// `packet` fits or the result is [`Victim::Arrival`].
    fn victim(&mut self, _packet: &Packet, _buffer: &Buffer, _now: Time) -> Victim {
        Victim::Arrival
    }

    /// Names another queued packet to drop or signal. Invoked after an arrival that was signalled,
    /// dropped or refused, or that pushed out other packets.
    ///
    /// Invoked repeatedly, until the result is `None`, so each call must make progress.
    fn another(&mut self, _packet: &Packet, _buffer: &Buffer, _now: Time) -> Option<(Key, Verdict)> {
        None
    }

    /// Records that `packet` has entered (`inside` is true) or left the queue `flow`. `buffer`
    /// already reflects the change. Accounts that must balance, such as tokens, are kept here.
    ///
    /// After the last packet left, `flow` may soon name another flow.
    ///
    /// Use `flow`, not the packet's flow: if queues are taken over, the packet's flow may already
    /// have another queue.
    fn tracked(&mut self, _packet: &Packet, _flow: FlowKey, _inside: bool, _buffer: &Buffer) {}

    /// True if the dropper reads acknowledgements. A caller that cannot recognise them refuses such
    /// a dropper.
    fn reads_acknowledgements(&self) -> bool {
        false
    }

    /// Returns a queued packet that the new packet `key` makes needless. The returned packet is
    /// dropped as superseded. `signals` knows the acknowledgements in packets.
    fn made_needless(&mut self, _key: Key, _buffer: &Buffer, _signals: &dyn Signals) -> Option<Key> {
        None
    }

    /// Records that the link is idle from `now` on, because no packet was found.
    fn idle(&mut self, _now: Time) {}

    /// Sets the weight of a class, as [`Discipline::set_weight`](crate::Discipline::set_weight).
    fn set_weight(&mut self, _class: u32, _weight: Weight) -> Result<Weight, SetWeightError> {
        Err(SetWeightError::NoWeights)
    }

    /// Takes over the parameters of `fresh`, as [`Discipline::retune`](crate::Discipline::retune).
    fn retune(&mut self, _fresh: &Self, _now: Time) -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Invoked when a dashboard or trace reads gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// A dropper's decision on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let it pass.
    Pass,
    /// Signal congestion to the sender: mark the packet if it is ECN-capable and the policy allows,
    /// else drop it.
    Signal(Cause),
    /// Drop it.
    Drop(Cause),
}

/// The packet that is dropped because an arrival does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The arrival is refused.
    Arrival,
    /// This waiting packet is pushed out.
    Waiting(Key),
}

/// A combination: the first dropper judges arrivals and departures, and the second chooses the
/// packet that makes room. CoDel with push-out from the longest queue is `(codel, longest_queue)`.
impl<A: Dropper, O: Dropper> Dropper for (A, O) {
    fn needs(&self) -> Needs {
        self.0.needs() | self.1.needs()
    }
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        self.0.on_arrival(packet, buffer, now)
    }
    fn on_departure(&mut self, packet: &Packet, left: Left, buffer: &Buffer, now: Time) -> Verdict {
        self.0.on_departure(packet, left, buffer, now)
    }
    fn victim(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Victim {
        self.1.victim(packet, buffer, now)
    }
    fn another(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Option<(Key, Verdict)> {
        self.0.another(packet, buffer, now).or_else(|| self.1.another(packet, buffer, now))
    }
    fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        self.0.tracked(packet, flow, inside, buffer);
        self.1.tracked(packet, flow, inside, buffer);
    }
    fn idle(&mut self, now: Time) {
        self.0.idle(now);
        self.1.idle(now);
    }
    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        set_weight_in_both(
            weight,
            |weight| self.0.set_weight(class, weight),
            |weight| self.1.set_weight(class, weight),
        )
    }
    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        self.0.retune(&fresh.0, now) && self.1.retune(&fresh.1, now)
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        self.0.inspect(probe);
        self.1.inspect(probe);
    }
}

//! Droppers: which packets are refused, marked, or pushed out.

use crate::buffer::{Buffer, FlowKey, Key};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::scheduler::Left;
use crate::signals::Cause;
use crate::time::Time;
use crate::weight::{NotReweighed, Weight, reweigh_both};

/// Refuses, marks, and makes room. Knows nothing of the order of service.
///
/// Every method has a default that does nothing, so `impl Dropper for TailDrop {}` is a complete tail-drop.
pub trait Dropper: Send {
    /// What it asks of the buffer. Asked once, at construction; what is not needed is not kept up, and asking for it panics.
    /// Who asks for flows but never for the order of arrival says so by [`Needs::QUEUES`].
    fn needs(&self) -> Needs {
        Needs::ORDER
    }

    /// Judges an arrival, before it is in the buffer. Whether it fits is settled afterwards, by
    /// [`victim`](Dropper::victim).
    fn on_arrival(&mut self, _packet: &Packet, _buffer: &Buffer, _now: Time) -> Verdict {
        Verdict::Pass
    }

    /// Judges a packet that has just been taken out of the queue `left` to be sent: for laws on sojourn time.
    fn on_departure(&mut self, _packet: &Packet, _left: Left, _buffer: &Buffer, _now: Time) -> Verdict {
        Verdict::Pass
    }

    /// `packet` does not fit: who goes? Asked again until it fits or the answer is [`Victim::Arrival`].
    fn victim(&mut self, _packet: &Packet, _buffer: &Buffer, _now: Time) -> Victim {
        Victim::Arrival
    }

    /// Asked after an arrival was signalled or dropped, and after others were pushed out for it, even if it was refused in the
    /// end: which other waiting packet goes the same way? Asked again until the answer is `None`, so each answer must bring that nearer.
    fn another(&mut self, _packet: &Packet, _buffer: &Buffer, _now: Time) -> Option<(Key, Verdict)> {
        None
    }

    /// `packet` has just come into the queue `flow` (`inside`) or gone out of it by any path; `buffer` already shows it. Accounts
    /// that must balance, such as tokens, are kept here. Nothing may wait in that queue any more: then its backlog is zero,
    /// and its key is soon another flow's. Looking the flow of the packet up in the buffer will not do: where queues are
    /// taken over, a flow may have another queue by the time its packet leaves the one that it was put into.
    fn tracked(&mut self, _packet: &Packet, _flow: FlowKey, _inside: bool, _buffer: &Buffer) {}

    /// The transmitter asked for a packet and nothing waited: the link goes idle at `now`.
    fn idle(&mut self, _now: Time) {}

    /// As [`Discipline::reweigh`](crate::Discipline::reweigh).
    fn reweigh(&mut self, _class: u32, _weight: Weight) -> Result<Weight, NotReweighed> {
        Err(NotReweighed::NoWeights)
    }

    /// Shows gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// What a dropper thinks of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let it pass.
    Pass,
    /// Tell its sender of congestion: mark it where it is ECN-capable and the policy allows, else drop it.
    Signal(Cause),
    /// Drop it.
    Drop(Cause),
}

/// Who makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The arrival is refused.
    Arrival,
    /// This waiting packet is pushed out.
    Waiting(Key),
}

/// A combination: the first judges arrivals and departures, the second chooses who makes room. Both keep their accounts.
///
/// CoDel with the longest queue pushed out is `(codel, longest_queue)`.
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
    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        reweigh_both(weight, |weight| self.0.reweigh(class, weight), |weight| self.1.reweigh(class, weight))
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        self.0.inspect(probe);
        self.1.inspect(probe);
    }
}

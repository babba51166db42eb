//! Droppers: which packets are refused, marked, or pushed out.

use crate::buffer::{Buffer, Key};
use crate::packet::Packet;
use crate::probe::Probe;
use crate::signals::Cause;
use crate::time::Time;

/// Refuses, marks, and makes room. Knows nothing of the order of service.
///
/// Every method has a default that does nothing, so `impl Dropper for TailDrop {}` is a complete tail-drop.
pub trait Dropper: Send {
    /// Judges an arrival, before it is in the buffer. Whether it fits is settled afterwards, by
    /// [`victim`](Dropper::victim).
    fn on_arrival(&mut self, _packet: &Packet, _buffer: &Buffer, _now: Time) -> Verdict {
        Verdict::Pass
    }

    /// Judges a packet that has just been taken out to be sent: for laws on sojourn time.
    fn on_departure(&mut self, _packet: &Packet, _buffer: &Buffer, _now: Time) -> Verdict {
        Verdict::Pass
    }

    /// `packet` does not fit: who goes? Asked again until it fits or the answer is [`Victim::Arrival`].
    fn victim(&mut self, _packet: &Packet, _buffer: &Buffer, _now: Time) -> Victim {
        Victim::Arrival
    }

    /// `packet` has just come in (`inside`) or gone out by any path; `buffer` already shows it. Accounts that must
    /// balance, such as tokens, are kept here.
    fn tracked(&mut self, _packet: &Packet, _inside: bool, _buffer: &Buffer) {}

    /// The transmitter asked for a packet and nothing waited: the link goes idle at `now`.
    fn idle(&mut self, _now: Time) {}

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
    /// Drop it and the waiting packet named. Only meaningful on arrival.
    DropBoth(Key, Cause),
}

/// Who makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The arrival is refused.
    Arrival,
    /// This waiting packet is pushed out.
    Waiting(Key),
}

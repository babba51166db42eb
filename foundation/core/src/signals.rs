//! The congestion signals of a discipline.

use crate::packet::Packet;
use alloc::vec::Vec;

/// Receives the congestion signals of a discipline.
pub trait Signals {
    /// Invoked when `packet` is dropped, on arrival or from the queue. `self` now owns the packet.
    fn dropped(&mut self, packet: Packet, cause: Cause);
    /// Invoked when `packet` has been marked.
    fn marked(&mut self, packet: &Packet, cause: Cause);

    /// The acknowledgement in the packet with this frame, for
    /// [droppers](crate::Dropper::made_needless). `None` if the packet is no acknowledgement, has
    /// data, or is unknown.
    fn acknowledges(&self, _frame: u32) -> Option<Acknowledgement> {
        None
    }
}

/// The contents of a TCP acknowledgement without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The next expected sequence number, which wraps. All earlier bytes have arrived.
    pub number: u32,
    /// Marked packets that have arrived so far, if they are counted.
    pub marks: u32,
    /// True if the acknowledgement echoes a mark.
    pub echoes_mark: bool,
    /// True if the acknowledgement reports only `number` and `marks`: no SACK block, no echoed
    /// mark, and no answer to a SYN.
    pub is_plain: bool,
}

/// Why a packet was dropped or marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Cause {
    /// The buffer was full and the arrival was refused.
    Overflow,
    /// This queued packet made room for another.
    PushOut,
    /// A random early decision, before the buffer was full.
    Early,
    /// An early decision that was certain, as when an average is above its upper threshold.
    Forced,
    /// The flow has no tokens left.
    NoTokens,
    /// The packet does not fit even into an empty buffer.
    Oversize,
    /// A later packet makes the acknowledgement in this queued packet redundant.
    Superseded,
}

impl Cause {
    /// All causes, in numeric order. Arrays of counters have this length, so a missing cause panics
    /// at run time. Append new causes, and document them in docs/results-schema.md and
    /// docs/gateway/telemetry.md.
    pub const ALL: [Cause; 7] = [
        Cause::Overflow,
        Cause::PushOut,
        Cause::Early,
        Cause::Forced,
        Cause::NoTokens,
        Cause::Oversize,
        Cause::Superseded,
    ];

    /// The name in results, traces and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Overflow => "overflow",
            Cause::PushOut => "push-out",
            Cause::Early => "early",
            Cause::Forced => "forced",
            Cause::NoTokens => "no-tokens",
            Cause::Oversize => "oversize",
            Cause::Superseded => "superseded",
        }
    }
}

impl Signals for Vec<(Packet, Cause)> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.push((packet, cause));
    }
    fn marked(&mut self, _packet: &Packet, _cause: Cause) {}
}

/// Discards every signal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignore;

impl Signals for Ignore {
    fn dropped(&mut self, _packet: Packet, _cause: Cause) {}
    fn marked(&mut self, _packet: &Packet, _cause: Cause) {}
}

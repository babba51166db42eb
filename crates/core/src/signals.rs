//! The congestion signals of a discipline: drops and marks, each with its cause.

use crate::packet::Packet;

/// The congestion signals of a discipline. The caller frees or counts; a parent may listen in.
pub trait Signals {
    /// Takes back a packet that will not be sent, whether it was just offered or already waiting.
    fn dropped(&mut self, packet: Packet, cause: Cause);
    /// Tells that `packet` now carries a congestion mark; the packet itself goes on.
    fn marked(&mut self, packet: &Packet, cause: Cause);
}

/// Why a packet was dropped or marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// The buffer was full and the arrival was refused.
    Overflow,
    /// The buffer was full and this waiting packet made room for another.
    PushOut,
    /// A random early decision, before the buffer was full.
    Early,
    /// A certain early decision: an average above its upper threshold, or the like.
    Forced,
    /// The flow has no tokens left.
    NoTokens,
    /// Too large ever to fit the buffer.
    Oversize,
}

impl Cause {
    /// Every cause, in the order of its number.
    pub const ALL: [Cause; 6] =
        [Cause::Overflow, Cause::PushOut, Cause::Early, Cause::Forced, Cause::NoTokens, Cause::Oversize];

    /// The name in results, traces and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Overflow => "overflow",
            Cause::PushOut => "push-out",
            Cause::Early => "early",
            Cause::Forced => "forced",
            Cause::NoTokens => "no-tokens",
            Cause::Oversize => "oversize",
        }
    }
}

/// Listens to nothing: for examples, and for callers that keep no accounts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignore;

impl Signals for Ignore {
    fn dropped(&mut self, _packet: Packet, _cause: Cause) {}
    fn marked(&mut self, _packet: &Packet, _cause: Cause) {}
}

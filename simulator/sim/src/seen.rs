//! What an observer receives about packets and senders.

use fairwire_core::{Cause, Duration, Ecn, Time};
use fairwire_tcp::Sack;

/// Something that happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketEvent {
    /// When.
    pub at: Time,
    /// What.
    pub what: What,
    /// The queued link, by its place in the plan; `None` at the ends of the way.
    pub link: Option<u32>,
    /// The flow, or the connection where a flow has several, by its place in
    /// [`View::flows`](crate::View::flows).
    pub flow: u32,
    /// The packet's number while it is in flight; it is given again afterwards.
    pub frame: u32,
    /// Bytes on the wire.
    pub wire_bytes: u32,
    /// What it carries.
    pub content: Content,
    /// Its ECN codepoint, after the event.
    pub ecn: Ecn,
    /// When its source handed it to its own link. Of an acknowledgement it means nothing.
    pub sent: Time,
}

/// Something that was requested and is complete: a transfer, or a page of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferEvent {
    /// When it was complete: a transfer when its receiver had all of it, a page when its senders
    /// knew that all had arrived.
    pub at: Time,
    /// When it was requested.
    pub since: Time,
    /// The flow, or the connection where a flow has several, by its place in
    /// [`View::flows`](crate::View::flows); of a page, the first connection of its user.
    pub flow: u32,
    /// Is it a page?
    pub is_page: bool,
    /// Bytes of payload; `None` where the protocol is another crate's.
    pub bytes: Option<u64>,
    /// The least time that a transfer takes where nothing else is on its way: until the last bit
    /// has crossed all links, each with the rate and the delay that it has. An opening and the
    /// growth of a window are not in it. `None` for a page, for protocols of other crates, and
    /// where the rate or the delay of a link changes.
    pub alone: Option<Duration>,
}

/// The kind of a [`PacketEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It reached a queue.
    Arrive,
    /// A discipline dropped it.
    Drop(Cause),
    /// A discipline marked it.
    Mark(Cause),
    /// It began to be sent by a link.
    Depart,
    /// It was lost on the wire behind a link, where it had been sent.
    Lost,
    /// All of it reached its receiver; of an acknowledgement, the sender of the data.
    Deliver,
}

impl What {
    /// The name in traces and tables.
    pub const fn name(self) -> &'static str {
        match self {
            What::Arrive => "arrive",
            What::Drop(_) => "drop",
            What::Mark(_) => "mark",
            What::Depart => "depart",
            What::Lost => "lost",
            What::Deliver => "deliver",
        }
    }

    /// Why it was dropped or marked.
    pub const fn cause(self) -> Option<Cause> {
        match self {
            What::Drop(cause) | What::Mark(cause) => Some(cause),
            What::Arrive | What::Depart | What::Lost | What::Deliver => None,
        }
    }
}

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The opening of a connection.
    Syn,
    /// A datagram.
    Datagram,
    /// Data, in a segment.
    Data {
        /// Its number, from 0.
        seq: u64,
        /// Was it sent before?
        is_retransmission: bool,
        /// Does it say that the window was reduced (CWR)?
        cwr: bool,
    },
    /// An acknowledgement.
    Ack {
        /// The next segment expected.
        next: u64,
        /// Does it answer the opening of the connection?
        is_for_syn: bool,
        /// Does it echo a mark (ECE)?
        ece: bool,
        /// What has arrived beyond `next`.
        sack: Sack,
    },
}

/// The state of a TCP sender: its windows and its round-trip time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The congestion window, segments.
    pub cwnd: f64,
    /// The slow-start threshold, segments.
    pub ssthresh: f64,
    /// The smoothed round-trip time, once one was measured.
    pub srtt: Option<Duration>,
}

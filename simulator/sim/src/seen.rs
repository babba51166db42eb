//! Packet and sender information for observers.

use fairwire_core::{Cause, Duration, Ecn, Time};
use fairwire_tcp::Sack;

/// An event of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketEvent {
    /// Its time.
    pub at: Time,
    /// Its type.
    pub what: What,
    /// The queued link, by its index in the plan; `None` at the ends of the path.
    pub link: Option<u32>,
    /// The index in [`View::flows`](crate::View::flows) of the flow, or of the connection if the
    /// flow has several.
    pub flow: u32,
    /// The packet's number, reused once the packet is no longer in flight.
    pub frame: u32,
    /// Bytes on the wire.
    pub wire_bytes: u32,
    /// Its content.
    pub content: Content,
    /// The packet's ECN codepoint, after the event.
    pub ecn: Ecn,
    /// When the packet entered its source's own link; meaningless for an acknowledgement.
    pub sent: Time,
}

/// A completed request: a transfer, or a page of several transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferEvent {
    /// When the receiver of a transfer has all data, or the senders of a page know that all data
    /// has arrived.
    pub at: Time,
    /// When the transfer or page was requested.
    pub since: Time,
    /// The index in [`View::flows`](crate::View::flows) of the flow, or of the connection if the
    /// flow has several. For a page, the index of its user's first connection.
    pub flow: u32,
    /// Is the request a page?
    pub is_page: bool,
    /// Bytes of payload; `None` for an external protocol.
    pub bytes: Option<u64>,
    /// The least time for this transfer without other traffic, until its last bit has crossed all
    /// links. Connection opening and window growth are excluded. `None` for a page, for external
    /// protocols, and if a link's rate or delay changes.
    pub alone: Option<Duration>,
}

/// The type of a [`PacketEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The packet reached a queue.
    Arrive,
    /// A discipline dropped the packet.
    Drop(Cause),
    /// A discipline marked the packet.
    Mark(Cause),
    /// A link began to send the packet.
    Depart,
    /// The packet was lost on the wire behind a link, after it had been sent.
    Lost,
    /// The packet has completely reached its receiver, which for an acknowledgement is the sender
    /// of the data.
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

    /// The cause of a drop or mark.
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
        /// The segment's number, from 0.
        seq: u64,
        /// Was the segment sent before?
        is_retransmission: bool,
        /// Does the segment report that the window was reduced (CWR)?
        cwr: bool,
    },
    /// An acknowledgement.
    Ack {
        /// The next segment expected.
        next: u64,
        /// Does the acknowledgement answer the opening of the connection?
        is_for_syn: bool,
        /// Does the acknowledgement echo a mark (ECE)?
        ece: bool,
        /// The blocks received beyond `next`.
        sack: Sack,
    },
}

/// The state of a TCP sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The congestion window, segments.
    pub cwnd: f64,
    /// The slow-start threshold, segments.
    pub ssthresh: f64,
    /// The smoothed round-trip time; `None` before the first measurement.
    pub srtt: Option<Duration>,
}

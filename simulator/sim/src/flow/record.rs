//! The record of a flow. Fields used for each packet come first.

use super::protocol::{Bytes, Protocol};
use crate::event::Lane;
use crate::frames::Frame;
use crate::group::Group;
use crate::line::Line;
use crate::prefetch::{self, LINE};
use crate::seen::Window;
use fairwire_core::{Duration, Rng, Time};
use fairwire_tcp::{LossCounts, Receiver};
use std::mem::offset_of;

/// One flow.
///
/// With many flows, most of the time is spent on loading their records from memory. So a record has
/// two parts, each prefetched at once: two lines of 64 bytes for a delivery, and four for an
/// acknowledgement and the next packet.
#[repr(C, align(64))]
pub(crate) struct Flow {
    pub(super) sink: Sink,
    pub(super) receiver: Receiver,
    seldom: Seldom,
    pub(super) source: Outgoing,
    pub(super) protocol: Protocol,
}

const _: () = assert!(offset_of!(Flow, source) == 2 * LINE && size_of::<Flow>() == 6 * LINE);

pub(super) struct Sink {
    pub(super) down: Line,
    pub(super) access_delay: Duration,
    delivered: u64,
    group: u32,
    /// The lanes for arrivals of acknowledgements at the sender, by the number of packets for which
    /// the acknowledged packet waited on the downlink: 0 or 1.
    pub(super) home: [Lane; 2],
    /// The number of packets for which the latest packet waited on the downlink; 2 for two or more.
    pub(super) queued: u8,
}

/// Rarely needed parts.
struct Seldom {
    dropped: u64,
    marked: u64,
    lost: u32,    // on wires
    session: u32, // to which it belongs, or NO_SESSION
}

const NO_SESSION: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) datagram_bytes: Bytes,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    pub(crate) lost: u64,
    pub(crate) losses: LossCounts, // as its senders found them
}

impl Counts {
    pub(crate) fn sum(flows: &[Flow]) -> Counts {
        flows.iter().map(Flow::counts).fold(Counts::default(), |sum, counts| Counts {
            sent: sum.sent + counts.sent,
            delivered: sum.delivered + counts.delivered,
            datagram_bytes: Bytes {
                sent: sum.datagram_bytes.sent + counts.datagram_bytes.sent,
                delivered: sum.datagram_bytes.delivered + counts.datagram_bytes.delivered,
            },
            dropped: sum.dropped + counts.dropped,
            marked: sum.marked + counts.marked,
            lost: sum.lost + counts.lost,
            losses: sum.losses + counts.losses,
        })
    }
}

pub(super) struct Outgoing {
    pub(super) up: Line,
    pub(super) access_delay: Duration,
    pub(super) sent: u64,
    pub(super) wakes_at: Time, // the one pending wake that counts; MAX when there is none
    pub(super) connection: u16,
    pub(super) out: [Lane; 2],
    pub(super) wake: Lane,
}

/// The lanes of a flow's events, shared with flows of the same delays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    /// The lanes for arrivals of packets at the first queue. The first lane is for packets that did
    /// not wait on the flow's own link. The second is for packets that waited there for one other
    /// packet.
    pub(crate) out: [Lane; 2],
    pub(crate) home: [Lane; 2],
    pub(crate) wake: Lane,
}

#[derive(Clone, Copy)]
pub(crate) struct Membership {
    pub(crate) group: u32,
    pub(crate) member: u32,
    pub(crate) access_delay: Duration,
    pub(crate) lanes: Lanes,
}

impl Flow {
    pub(crate) fn access_delay(&self) -> Duration {
        self.source.access_delay
    }

    pub(crate) fn new(
        group: &Group,
        membership: Membership,
        session: Option<u32>,
        rng: impl FnOnce() -> Rng,
    ) -> Self {
        let Membership { group: number, member, access_delay, lanes } = membership;
        let Lanes { out, home, wake } = lanes;
        Flow {
            sink: Sink { down: Line::default(), access_delay, delivered: 0, group: number, home, queued: 0 },
            receiver: group.tcp.as_deref().map_or_else(Receiver::of_nothing, Receiver::new),
            seldom: Seldom { dropped: 0, marked: 0, lost: 0, session: session.unwrap_or(NO_SESSION) },
            source: Outgoing {
                up: Line::default(),
                access_delay,
                sent: 0,
                wakes_at: Time::MAX,
                connection: 0,
                out,
                wake,
            },
            protocol: Protocol::new(group, member, rng),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        let Seldom { dropped, marked, lost, .. } = self.seldom;
        let (datagram_bytes, losses) = (self.protocol.bytes(), self.protocol.losses());
        let (sent, delivered) = (self.source.sent, self.sink.delivered);
        Counts { sent, delivered, datagram_bytes, dropped, marked, lost: lost.into(), losses }
    }

    /// Starts the measured time and resets the counts, except counts of deliveries. A delivery is
    /// computed before its time, but counts only if that time is measured.
    pub(crate) fn start_measuring(&mut self) {
        self.source.sent = 0;
        (self.seldom.dropped, self.seldom.marked, self.seldom.lost) = (0, 0, 0);
        if let Protocol::Tcp(sender) = &mut self.protocol {
            sender.forget_loss_counts();
        }
        if let Some(bytes) = self.protocol.bytes_mut() {
            bytes.sent = 0;
        }
    }

    #[inline]
    pub(crate) fn delivered(&mut self, packets: u64, datagram_bytes: u64) {
        self.sink.delivered += packets;
        if datagram_bytes > 0
            && let Some(bytes) = self.protocol.bytes_mut()
        {
            bytes.delivered += datagram_bytes;
        }
    }

    pub(crate) fn dropped(&mut self) {
        self.seldom.dropped += 1;
    }

    pub(crate) fn lost(&mut self) {
        self.seldom.lost = self.seldom.lost.saturating_add(1);
    }

    pub(crate) fn marked(&mut self) {
        self.seldom.marked += 1;
    }

    #[inline]
    pub(crate) fn fetch_sink(&self) {
        prefetch::lines(self, 0..2); // the second line has what arrived out of order
    }

    #[inline]
    pub(crate) fn fetch_source(&self) {
        prefetch::lines(self, 2..6); // the last one for losses
    }

    #[inline]
    pub(crate) fn session(&self) -> Option<u32> {
        (self.seldom.session != NO_SESSION).then_some(self.seldom.session)
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(&self.protocol, Protocol::Tcp(sender) if sender.is_finished())
    }

    pub(crate) fn arrived(&self) -> u64 {
        self.receiver.delivered()
    }

    #[inline]
    pub(crate) fn is_stale(&self, frame: Frame, group: &Group) -> bool {
        group.has_sessions() && frame.connection != self.source.connection
    }

    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self.protocol, Protocol::Tcp(_))
    }

    #[inline]
    pub(crate) fn group(&self) -> u32 {
        self.sink.group
    }

    pub(crate) fn window(&self) -> Option<Window> {
        let Protocol::Tcp(sender) = &self.protocol else { return None };
        Some(Window { cwnd: sender.window(), ssthresh: sender.threshold(), srtt: sender.rtt().smoothed() })
    }

    #[inline]
    pub(super) fn connection(&self, group: &Group) -> u16 {
        if group.has_sessions() { self.source.connection } else { 0 }
    }
}

//! A group of flows: what they have in common.

use crate::event::Events;
use crate::frames::Frame;
use crate::line::Pace;
use crate::plan::{GroupPlan, Source};
use crate::route::{self, Leg, Sizes};
use fairwire_core::{Duration, FlowHash, Packet, Time, rng};
use fairwire_tcp::Config;
use std::sync::Arc;

/// A group: what its flows have in common.
pub(crate) struct Group {
    pub(crate) plan: GroupPlan,
    pub(crate) tcp: Option<Arc<Config>>,
    /// The first of the plans that are one group with this one.
    pub(crate) head: u32,
    /// How many members those before this one have.
    pub(crate) before: u32,
    members: u32,
    salt: u64,
    /// Has each packet a size of its own?
    sizes_vary: bool,
    has_sessions: bool,
    is_outside: bool,
    /// Of data packets, on the wire; where sizes vary, what most of them have.
    pub(crate) data_bytes: u32,
    /// Of acknowledgements, and of the packet that opens a connection.
    pub(crate) ack_bytes: u32,
    pub(crate) pace: Pace,
    pub(crate) ack_on_access: Duration,
    /// The first leg there, and the first one back.
    pub(crate) forward: u32,
    pub(crate) back: u32,
}

impl Group {
    pub(crate) fn new(
        number: u32,
        plan: GroupPlan,
        salt: u64,
        legs: &mut Vec<Leg>,
        events: &mut impl Events,
    ) -> Self {
        let (data_bytes, ack_bytes) = match &plan.source {
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => {
                (tcp.segment_bytes + tcp.header_bytes, tcp.ack_bytes)
            }
            Source::Cbr { packet_bytes, header_bytes, dither, .. } => {
                assert!((0.0..=1.0).contains(dither), "a dither of {dither} is not from 0 to 1");
                assert!(
                    header_bytes <= packet_bytes,
                    "{header_bytes} of {packet_bytes} bytes cannot be headers"
                );
                (*packet_bytes, 0)
            }
            Source::Datagrams { traffic, header_bytes } => (traffic.typical_bytes(*header_bytes), 0),
            Source::Endpoints { endpoints, .. } => (endpoints.packet_bytes(), 0),
        };
        let vary = matches!(plan.source, Source::Datagrams { .. } | Source::Endpoints { .. });
        let sizes = Sizes { data: data_bytes, ack: ack_bytes, vary };
        Group {
            head: number,
            before: 0,
            members: 0,
            salt,
            sizes_vary: vary,
            has_sessions: matches!(plan.source, Source::Tcp { .. }),
            is_outside: matches!(plan.source, Source::Endpoints { .. }),
            pace: Pace::new(plan.access_rate, data_bytes),
            ack_on_access: plan.access_rate.time_to_send(ack_bytes.into()),
            tcp: match &plan.source {
                Source::Bulk { tcp } | Source::Tcp { tcp, .. } => Some(Arc::new(tcp.clone())),
                Source::Cbr { .. } | Source::Datagrams { .. } | Source::Endpoints { .. } => None,
            },
            data_bytes,
            ack_bytes,
            forward: route::lay(&plan.forward, number, sizes, legs, events),
            back: route::lay(&plan.back, number, sizes, legs, events),
            plan,
        }
    }

    /// The same with these `members`, after the plan `last`, which it goes on with where both have
    /// one name.
    pub(crate) fn with(self, members: u32, last: Option<&Group>) -> Self {
        match last.filter(|last| last.plan.name == self.plan.name) {
            Some(last) => Group { head: last.head, before: last.before + last.members, members, ..self },
            None => Group { members, ..self },
        }
    }

    /// Is `leg` the first one there?
    pub(crate) fn is_first(&self, leg: u32) -> bool {
        leg == self.forward
    }

    /// Do acknowledgements come back?
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.tcp.is_some()
    }

    /// Are both ends of its flows of another crate?
    #[inline]
    pub(crate) fn is_outside(&self) -> bool {
        self.is_outside
    }

    /// Are its flows connections of sessions?
    #[inline]
    pub(crate) fn has_sessions(&self) -> bool {
        self.has_sessions
    }

    /// The hash of a connection of the flow `index`. It comes round after 65 536 connections.
    #[inline]
    fn hash(&self, index: u32, connection: u16) -> FlowHash {
        FlowHash(rng::mix(self.salt ^ (u64::from(index) + 1) ^ (u64::from(connection) << 48)))
    }

    /// How long a packet takes on the wires of `leg`; `bytes` is called only where sizes vary.
    #[inline]
    pub(crate) fn takes(&self, leg: &Leg, is_data: bool, bytes: u32) -> Duration {
        if self.sizes_vary { leg.takes_bytes(bytes) } else { leg.takes(is_data) }
    }

    /// The descriptor, for a queue, of the packet that `frame`, kept in `slot`, is. Worked out from
    /// the frame alone: its flow is far away in memory.
    #[inline]
    pub(crate) fn packet(&self, frame: Frame, slot: u32, now: Time) -> Packet {
        let len = self.wire_bytes(frame);
        // Acknowledgements are a flow of their own, as they are by their five-tuple.
        let hash = self.hash(frame.flow, frame.connection);
        let flow = if frame.is_ack() { FlowHash(!hash.0) } else { hash };
        Packet {
            class: self.plan.class,
            dscp: self.plan.dscp,
            ecn: frame.ecn,
            color: frame.tag.color(),
            ..Packet::new(slot, len, flow, now)
        }
    }

    /// Bytes on the wire of the packet that `frame` is.
    #[inline]
    pub(crate) fn wire_bytes(&self, frame: Frame) -> u32 {
        if self.sizes_vary {
            return frame.datagram_bytes();
        }
        if frame.is_data() { self.data_bytes } else { self.ack_bytes }
    }
}

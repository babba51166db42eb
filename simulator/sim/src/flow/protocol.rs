//! The sending protocol of a flow.

use crate::app::datagram::{Emission, Generator, cbr};
use crate::endpoint::Start;
use crate::ends::Ends;
use crate::group::Group;
use crate::line::Line;
use crate::plan::Source;
use fairwire_core::Rng;
use fairwire_tcp::{LossCounts, Sender};

/// The protocol of a flow. The TCP sender, the usual case, is not boxed: a box would cost another
/// cache miss per packet.
pub(super) enum Protocol {
    Tcp(Sender),
    Datagrams(Box<Datagrams>),
    Outside(Box<Outside>),
}

pub(super) struct Datagrams {
    pub(super) bytes: Bytes,
    pub(super) generator: Generator,
    pub(super) rng: Rng,
    pub(super) pending: Option<Emission>,
}

pub(super) struct Outside {
    pub(super) bytes: Bytes,
    pub(super) ends: Ends,
    pub(super) up: Line,
    pub(super) down: Line,
}

/// Counts of datagram bytes on the wire. Packet counts do not suffice, because sizes may vary.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bytes {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
}

impl Protocol {
    pub(super) fn new(group: &Group, member: u32, rng: impl FnOnce() -> Rng) -> Self {
        let datagrams = |generator, rng| {
            Protocol::Datagrams(Box::new(Datagrams {
                bytes: Bytes::default(),
                generator,
                rng,
                pending: None,
            }))
        };
        match (&group.tcp, &group.plan.source) {
            (Some(tcp), source) => {
                let tcp = tcp.of_flow(|| rng().next_u64());
                let is_given_data = matches!(source, Source::Tcp { .. });
                Protocol::Tcp(if is_given_data { Sender::without_data(&tcp) } else { Sender::new(&tcp) })
            }
            (None, Source::Cbr { rate, packet_bytes, dither, .. }) => {
                datagrams(Generator::Cbr(cbr::Generator::new(*rate, *packet_bytes, *dither)), rng())
            }
            (None, Source::Datagrams { traffic, header_bytes }) => {
                datagrams(Generator::new(traffic, *header_bytes), rng())
            }
            (None, Source::Endpoints { endpoints, .. }) => {
                let ends = Ends::new(endpoints, Start { number: member, rng: rng() });
                let (bytes, up, down) = (Bytes::default(), Line::default(), Line::default());
                Protocol::Outside(Box::new(Outside { bytes, ends, up, down }))
            }
            (None, Source::Bulk { .. } | Source::Tcp { .. }) => {
                unreachable!("a group of TCP flows has their constants")
            }
        }
    }

    pub(super) fn bytes(&self) -> Bytes {
        match self {
            Protocol::Tcp(_) => Bytes::default(),
            Protocol::Datagrams(source) => source.bytes,
            Protocol::Outside(outside) => outside.bytes,
        }
    }

    pub(super) fn bytes_mut(&mut self) -> Option<&mut Bytes> {
        match self {
            Protocol::Tcp(_) => None,
            Protocol::Datagrams(source) => Some(&mut source.bytes),
            Protocol::Outside(outside) => Some(&mut outside.bytes),
        }
    }

    pub(super) fn losses(&self) -> LossCounts {
        if let Protocol::Tcp(sender) = self { sender.loss_counts() } else { LossCounts::default() }
    }
}

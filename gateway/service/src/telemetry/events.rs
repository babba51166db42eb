//! Drops, marks and losses, with the names of their classes and flows.

use super::about::About;
use super::digest::Digest;
use fairwire_core::{Duration, Time};
use fairwire_datapath::account::FirstPacket;
use fairwire_datapath::capture::{self, CapturedEvent, Incident, class_path};
use fairwire_datapath::ledger::Loss;
use fairwire_wire::Way;
use fairwire_wire::pcapng::LinkType;

/// A drop, a mark or a loss, in readable form.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedEvent {
    /// When.
    pub at: Time,
    /// The fate of the packet.
    pub fate: Incident,
    /// The class with the classes above it; empty if unknown.
    pub class: String,
    /// The flow as the configuration defines it, for example a host.
    pub flow: String,
    /// The conversation.
    pub packet: String,
    /// The packet's wait in the queue.
    pub waited: Duration,
    /// The flow's fraction of the departures in the preceding second, 0 to 1. It is the class's
    /// fraction if the flow is not among the busiest.
    pub share: Option<f64>,
    /// The fair fraction of the class.
    pub fair: Option<f64>,
}

pub(super) struct Names<'a> {
    pub about: &'a About,
    pub digest: &'a Digest,
    pub way: Way,
    /// The time from which the configuration applies. Before that, class numbers had another
    /// meaning.
    pub since: Time,
}

impl Names<'_> {
    pub(super) fn of(&self, kept: &CapturedEvent) -> NamedEvent {
        let capture::Event { at, fate, class, waited } = kept.event;
        let bytes = kept.bytes();
        let link = if self.about.is_headless { LinkType::Ip } else { LinkType::Ethernet };
        let headers = capture::headers(bytes, link);
        let key = headers.flow_key(bytes);
        let packet = key.to_string();
        let first = FirstPacket {
            key,
            class,
            vlan: headers.outer_vlan(bytes).unwrap_or(0),
            dscp: headers.dscp(),
            mac: Default::default(),
        };
        // Packets that are refused or over the MTU have left the discipline, so their class is
        // unknown. Non-IP and looped packets have no class.
        let has_class =
            !matches!(fate, Incident::Lost(Loss::Refused | Loss::OverMtu | Loss::NotIp | Loss::Looped));
        let is_known = at >= self.since && has_class;
        let flow = self.about.flow_name(self.way, &first);
        let of_class = if is_known { self.digest.share_of_class(class) } else { None };
        let has_classes = self.about.book.len() > 1;
        let (share, fair) = match (self.digest.share_of_flow(&flow), of_class) {
            (of_flow, Some((share, fair))) if has_classes => (of_flow.or(Some(share)), Some(fair)),
            (of_flow, _) => (of_flow, None),
        };
        let class = if is_known { class_path(&self.about.book, class) } else { String::new() };
        NamedEvent { at, fate, class, flow, packet, waited, share, fair }
    }
}

//! Converts the source of each group of flows, as entered, to the simulator's source.

pub(crate) mod at;
mod bulk;
mod bursts;
mod call;
mod cbr;
mod codepoint;
pub(crate) mod group;
mod listed;
mod on_off;
mod poisson;
mod replay;
mod sequence;
mod streaming;
mod telnet;
mod transfers;
mod video;
mod voip;
mod web;

pub use at::{About, At, NoOffer, Offer, SourceSpec};
pub use bulk::BulkSpec;
pub use bursts::BurstsSpec;
pub use call::CallSpec;
pub use cbr::CbrSpec;
pub use codepoint::{Codepoint, Marking};
pub use listed::{Entry, SourceChoice, Sources, all, register};
pub use on_off::OnOffSpec;
pub use poisson::PoissonSpec;
pub use replay::ReplaySpec;
pub use sequence::SequenceSpec;
pub use streaming::StreamingSpec;
pub use telnet::TelnetSpec;
pub use transfers::TransfersSpec;
pub use video::VideoSpec;
pub use voip::VoipSpec;
pub use web::WebSpec;

use crate::fault::{Fault, refused};
use crate::files::Files;
use crate::spec::FlowSpec;
use crate::tcp::TcpSpec;
use at::bytes_or;
use fairwire_sim::Source;
use fairwire_sim::app::{Load, Traffic};
use fairwire_tcp::Config;

#[derive(Clone, Debug)]
pub(crate) struct Sends {
    pub(crate) source: Source,
    /// A typical packet of the group's data on the wire, bytes.
    pub(crate) packet_bytes: u32,
}

impl Sends {
    pub(crate) fn ack_bytes(&self) -> u32 {
        match &self.source {
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => tcp.ack_bytes,
            Source::Cbr { .. } | Source::Datagrams { .. } | Source::Endpoints { .. } => 0,
        }
    }

    pub(crate) fn connections(&self) -> u64 {
        match &self.source {
            Source::Tcp { load, .. } => load.connections().into(),
            _ => 1,
        }
    }
}

pub(crate) fn tcp_config(flow: &FlowSpec) -> Config {
    flow.tcp.as_ref().unwrap_or(&TcpSpec::default()).config()
}

pub(crate) fn check_keys(path: &str, flow: &FlowSpec) -> Result<(), Fault> {
    let is_tcp = flow.source.about().is_tcp;
    let foreign = match is_tcp {
        true => ("header", flow.header.is_some()),
        false => ("tcp", flow.tcp.is_some()),
    };
    let (key, true) = foreign else { return Ok(()) };
    let others = all().iter().filter(|source| source.about.is_tcp != is_tcp);
    let named: Vec<String> = others.map(|source| source.name.to_owned()).collect();
    let uses = if is_tcp { "uses" } else { "does not use" };
    let (why, given) = (format!("the source of this group, `{}`, {uses} TCP", flow.source.name()), "given");
    let named = fairwire_document::listed(&named);
    let allowed = format!("leave `{key}` out, or use one of the sources {named}");
    Err(refused(format!("{path}.{key}"), given, why, allowed))
}

pub(crate) fn header_bytes(flow: &FlowSpec) -> u32 {
    bytes_or(flow.header, flow.source.about().header_bytes)
}

/// Converts the source of `flow`, whose TCP constants the caller has checked.
pub(crate) fn sends(path: &str, flow: &FlowSpec, files: &Files) -> Result<Sends, Fault> {
    let header = header_bytes(flow);
    let capture = |name: &str| files.capture(name);
    let at = At { path, key: flow.source.name(), header, access: flow.access.rate, capture: &capture };
    at.sends(flow).map_err(|none| none.placed(at))
}

impl At<'_> {
    fn sends(self, flow: &FlowSpec) -> Result<Sends, NoOffer> {
        let header_bytes = self.header;
        match flow.source.offers(self)? {
            Offer::Datagrams { traffic, packet_bytes } => self.datagrams(traffic, packet_bytes),
            Offer::Constant { rate, packet_bytes, dither } => {
                let source = Source::Cbr { rate, packet_bytes, header_bytes, dither };
                Ok(Sends { source, packet_bytes })
            }
            Offer::Endless => {
                let tcp = tcp_config(flow);
                Ok(Sends { packet_bytes: full_packet(&tcp), source: Source::Bulk { tcp } })
            }
            Offer::Tcp(load) => self.load(load, tcp_config(flow)),
            Offer::Endpoints { endpoints, packet_bytes } => {
                Ok(Sends { source: Source::Endpoints { endpoints, header_bytes }, packet_bytes })
            }
        }
    }

    fn datagrams(self, traffic: Traffic, packet_bytes: u32) -> Result<Sends, NoOffer> {
        let header_bytes = self.header;
        if let Some(problem) = traffic.problem(header_bytes) {
            return Err(self.invalid("", &problem, self.page()));
        }
        Ok(Sends { source: Source::Datagrams { traffic, header_bytes }, packet_bytes })
    }

    fn page(self) -> String {
        format!("the ranges that `fairwire describe {}` shows", self.key)
    }

    fn load(self, load: Load, tcp: Config) -> Result<Sends, NoOffer> {
        if let Some(problem) = load.problem() {
            return Err(self.invalid("", &problem, self.page()));
        }
        Ok(Sends { packet_bytes: full_packet(&tcp), source: Source::Tcp { tcp, load } })
    }
}

fn full_packet(tcp: &Config) -> u32 {
    tcp.segment_bytes.saturating_add(tcp.header_bytes)
}

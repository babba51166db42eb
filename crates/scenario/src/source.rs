//! What each group of flows sends: from its tables as typed to the simulator's source.

pub(crate) mod at;
mod bursts;
pub(crate) mod given;
pub(crate) mod listed;
mod on_off;
mod poisson;
mod replay;
mod sequence;
mod telnet;
mod transfers;
mod video;
mod voip;
mod web;

pub use at::{About, Offer};
pub use bursts::BurstsSpec;
pub use listed::{Entry, SourceKind, SourceSpec, all, register};
pub use on_off::OnOffSpec;
pub use poisson::PoissonSpec;
pub use replay::ReplaySpec;
pub use sequence::SequenceSpec;
pub use telnet::TelnetSpec;
pub use transfers::TransfersSpec;
pub use video::VideoSpec;
pub use voip::VoipSpec;
pub use web::WebSpec;

use crate::fault::{Fault, refused};
use crate::files::Files;
use crate::spec::FlowSpec;
use crate::tcp::TcpSpec;
use at::{At, PACKET, bytes_or};
use fairwire_sim::Source;
use fairwire_sim::app::{Load, Traffic};
use fairwire_tcp::Config;

/// What a group sends.
#[derive(Clone, Debug)]
pub(crate) struct Sends {
    pub(crate) source: Source,
    /// A typical packet of its data on the wire.
    pub(crate) packet_bytes: u32,
}

impl Sends {
    /// An acknowledgement on the wire; 0 where there are none.
    pub(crate) fn ack_bytes(&self) -> u32 {
        match &self.source {
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => tcp.header_bytes,
            Source::Cbr { .. } | Source::Datagrams { .. } => 0,
        }
    }

    /// Flows that each member takes in the simulator.
    pub(crate) fn connections(&self) -> u64 {
        match &self.source {
            Source::Tcp { load, .. } => load.connections().into(),
            _ => 1,
        }
    }
}

/// The constants of the TCP of `flow`.
pub(crate) fn tcp_config(flow: &FlowSpec) -> Config {
    flow.tcp.as_ref().unwrap_or(&TcpSpec::default()).config()
}

/// A key of another source than that of `flow`, which stands at `path`.
pub(crate) fn check_keys(path: &str, flow: &FlowSpec) -> Result<(), Fault> {
    let (is_cbr, is_tcp) = (flow.source == SourceKind::CBR, flow.source.is_tcp());
    let of = |is_its: &dyn Fn(&Entry) -> bool| -> Vec<&str> {
        all().iter().filter(|source| is_its(source)).map(|source| source.name).collect()
    };
    let cbr = SourceKind::CBR.entry().name;
    let keys = [
        ("tcp", flow.tcp.is_some() && !is_tcp, of(&|source| source.about.is_tcp)),
        ("rate", flow.rate.is_some() && !is_cbr, vec![cbr]),
        ("packet", flow.packet.is_some() && !is_cbr, vec![cbr]),
        ("header", flow.header.is_some() && is_tcp, of(&|source| !source.about.is_tcp)),
        ("dither", flow.dither.is_some() && !is_cbr, vec![cbr]),
    ];
    let table = flow.given.foreign(flow.source.place()).map(|place| all()[place].name);
    let tables = table.map(|name| (name, true, vec![name]));
    let Some((key, _, names)) = keys.into_iter().chain(tables).find(|(_, is_foreign, _)| *is_foreign) else {
        return Ok(());
    };
    let named = names.iter().map(|name| format!("`source = \"{name}\"`")).collect::<Vec<_>>().join(" or ");
    let (why, allowed) = (format!("it belongs to {named}"), format!("leave it out, or {named}"));
    Err(refused(format!("{path}.{key}"), "given", &why, &allowed))
}

/// What `flow`, which stands at `path`, sends. Sizes of constant-rate sources and constants of TCP have been checked.
pub(crate) fn sends(path: &str, flow: &FlowSpec, files: &Files) -> Result<Sends, Fault> {
    let header = bytes_or(flow.header, flow.source.entry().about.header_bytes);
    let capture = |name: &str| files.capture(name);
    let at = At { path, key: flow.source.word(), header, access: flow.access.rate, capture: &capture };
    if flow.source == SourceKind::BULK {
        let tcp = tcp_config(flow);
        return Ok(Sends { packet_bytes: full_packet(&tcp), source: Source::Bulk { tcp } });
    }
    if flow.source == SourceKind::CBR {
        let rate = flow.rate.ok_or_else(|| at.missing_beside("rate"))?.0;
        let (packet_bytes, dither) = (bytes_or(flow.packet, PACKET), flow.dither.unwrap_or(0.0));
        let source = Source::Cbr { rate, packet_bytes, header_bytes: header, dither };
        return Ok(Sends { source, packet_bytes });
    }
    let offer = match (flow.given.table(flow.source.place()), flow.source.default_table()) {
        (Some(given), _) => given.offers(at)?,
        (None, Some(default)) => default.offers(at)?,
        (None, None) => return Err(at.missing_beside(at.key)),
    };
    match offer {
        Offer::Datagrams { traffic, packet_bytes } => at.datagrams(traffic, packet_bytes),
        Offer::Tcp(load) => at.load(load, tcp_config(flow)),
    }
}

impl At<'_> {
    /// What remains wrong is said by the simulator.
    fn datagrams(self, traffic: Traffic, packet_bytes: u32) -> Result<Sends, Fault> {
        let header_bytes = self.header;
        if let Some(problem) = traffic.problem(header_bytes) {
            let allowed = format!("packets of 1 to 65535 bytes, {header_bytes} or more of them for headers");
            return Err(self.refuse("", "as it stands", &problem, &allowed));
        }
        Ok(Sends { source: Source::Datagrams { traffic, header_bytes }, packet_bytes })
    }

    fn load(self, load: Load, tcp: Config) -> Result<Sends, Fault> {
        if let Some(problem) = load.problem() {
            return Err(self.refuse("", "as it stands", &problem, "what the table of this source tells"));
        }
        Ok(Sends { packet_bytes: full_packet(&tcp), source: Source::Tcp { tcp, load } })
    }
}

/// A full data packet on the wire.
fn full_packet(tcp: &Config) -> u32 {
    tcp.segment_bytes.saturating_add(tcp.header_bytes)
}

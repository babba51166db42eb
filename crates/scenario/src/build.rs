//! From a checked scenario to what the simulator runs.

use crate::compared::Compared;
use crate::spec::{FlowSpec, ProfileSpec, SourceKind, Spec, TcpSpec, TieRuleSpec};
use fairwire_core::Seed;
use fairwire_core::units::Size;
use fairwire_disciplines::spec::Quantity;
use fairwire_disciplines::{BuildError, Site, catalogue};
use fairwire_sim::{GroupPlan, LinkPlan, Member, Network, Settings, Source, TieRule};
use fairwire_tcp::{Config, Profile};

/// What the shared link is called in results.
const LINK: &str = "bottleneck";
/// The random streams of what works at the shared link.
const LINK_STREAM: &str = "link/bottleneck";

/// Bytes on the wire of a packet, and the headers among them.
pub(crate) struct CbrSizes {
    pub(crate) packet: u32,
    pub(crate) header: u32,
}

/// The plan of one run.
///
/// Starts come from streams named by the flow, and the discipline's draws from a stream named by the link: every discipline
/// meets the same traffic under the same seed, and another flow more changes nothing for the others.
pub(crate) fn network(spec: &Spec, compared: &Compared, seed: Seed) -> Result<Network, BuildError> {
    let bottleneck = LinkPlan {
        name: LINK.into(),
        rate: spec.link.rate.0,
        delay: spec.link.delay.0,
        discipline: catalogue::build(&compared.name, compared.parameters(spec), &site(spec, seed))?,
    };
    Ok(Network::dumbbell(bottleneck, spec.flow.iter().map(|flow| group(flow, seed)).collect()))
}

/// How long, and under which seed.
pub(crate) fn settings(spec: &Spec, seed: Seed) -> Settings {
    Settings {
        duration: spec.duration.0,
        warm_up: spec.warm_up.0,
        seed,
        tie_rule: match spec.tie_rule {
            TieRuleSpec::Random => TieRule::Random,
            TieRuleSpec::Fifo => TieRule::Fifo,
        },
    }
}

/// Can `compared` be built with its parameters? Nothing is, so no memory is taken.
pub(crate) fn check_discipline(spec: &Spec, compared: &Compared) -> Result<(), BuildError> {
    catalogue::check(&compared.name, compared.parameters(spec), &site(spec, Seed(0)))
}

/// The typical packet on the wire: the mean over the flows, each counted once.
pub(crate) fn mean_packet_bytes(spec: &Spec) -> u32 {
    let flows: u64 = spec.flow.iter().map(|flow| u64::from(flow.count)).sum();
    let total: u64 = spec.flow.iter().map(|flow| u64::from(flow.count) * u64::from(packet_bytes(flow))).sum();
    u32::try_from(total / flows.max(1)).unwrap_or(u32::MAX).max(1)
}

/// A full packet of `flow` on the wire.
pub(crate) fn packet_bytes(flow: &FlowSpec) -> u32 {
    match flow.source {
        SourceKind::Bulk => {
            let tcp = tcp_config(flow.tcp.as_ref().unwrap_or(&TcpSpec::default()));
            tcp.segment_bytes.saturating_add(tcp.header_bytes)
        }
        SourceKind::Cbr => cbr_sizes(flow).packet,
    }
}

/// The constants of a TCP: the profile's, where nothing else is said.
pub(crate) fn tcp_config(tcp: &TcpSpec) -> Config {
    let profile = match tcp.profile.unwrap_or_default() {
        ProfileSpec::Ns2In2002 => Profile::Ns2In2002,
        ProfileSpec::Ns2In2006 => Profile::Ns2In2006,
    };
    let base = Config::new(profile, bytes(tcp.segment, 512));
    Config {
        header_bytes: bytes(tcp.header, base.header_bytes),
        window: tcp.window.or(base.window),
        initial_window: tcp.initial_window.unwrap_or(base.initial_window),
        handshake: tcp.handshake.unwrap_or(base.handshake),
        tick: tcp.tick.map_or(base.tick, |tick| tick.0),
        min_rto: tcp.min_rto.map_or(base.min_rto, |rto| rto.0),
        max_rto: tcp.max_rto.map_or(base.max_rto, |rto| rto.0),
        initial_rto: tcp.initial_rto.map_or(base.initial_rto, |rto| rto.0),
        limited_transmit: tcp.limited_transmit.unwrap_or(base.limited_transmit),
        ..base
    }
}

/// The sizes of a constant-rate source's packets: 512 bytes, of which 28 are IPv4 and UDP headers (RFC 791, RFC 768).
pub(crate) fn cbr_sizes(flow: &FlowSpec) -> CbrSizes {
    CbrSizes { packet: bytes(flow.packet, 512), header: bytes(flow.header, 28) }
}

/// Where the discipline works.
fn site(spec: &Spec, seed: Seed) -> Site<'static> {
    Site {
        rate: spec.link.rate.0,
        buffer: spec.link.buffer.0,
        packet_bytes: mean_packet_bytes(spec),
        seed,
        stream: LINK_STREAM,
    }
}

fn group(flow: &FlowSpec, seed: Seed) -> GroupPlan {
    let member = |number| {
        let mut starts = seed.stream(&format!("flow/{}.{number}/start", flow.group));
        Member { start: flow.start.draw(&mut starts), access_delay: flow.access.delay.0 }
    };
    GroupPlan {
        name: flow.group.clone(),
        source: source(flow),
        forward: Vec::new(), // the dumbbell's
        back: Vec::new(),
        access_rate: flow.access.rate.0,
        class: flow.class.unwrap_or(0),
        dscp: flow.dscp.unwrap_or(0),
        members: (1..=flow.count).map(member).collect(),
    }
}

fn source(flow: &FlowSpec) -> Source {
    match (flow.source, flow.rate) {
        (SourceKind::Cbr, Some(rate)) => {
            let sizes = cbr_sizes(flow);
            Source::Cbr {
                rate: rate.0,
                packet_bytes: sizes.packet,
                header_bytes: sizes.header,
                dither: flow.dither.unwrap_or(0.0),
            }
        }
        (SourceKind::Cbr, None) => unreachable!("a checked constant-rate source has its rate"),
        (SourceKind::Bulk, _) => {
            Source::Bulk { tcp: tcp_config(flow.tcp.as_ref().unwrap_or(&TcpSpec::default())) }
        }
    }
}

/// A size in bytes; what is too large for the field is refused by the check, so it may be cut here.
fn bytes(size: Option<Quantity<Size>>, default: u32) -> u32 {
    size.map_or(default, |size| u32::try_from(size.0.0).unwrap_or(u32::MAX))
}

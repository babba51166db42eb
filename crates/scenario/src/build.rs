//! From a checked scenario to what the simulator runs.

use crate::compared::Compared;
use crate::spec::{FlowSpec, SourceKind, Spec, TieRuleSpec};
use crate::tcp::TcpSpec;
use crate::topology::{QueuePlan, Topology, Way};
use fairwire_core::units::Size;
use fairwire_core::{RateLaw, Seed};
use fairwire_disciplines::spec::Quantity;
use fairwire_disciplines::{BuildError, Site, catalogue};
use fairwire_sim::{GroupPlan, LinkPlan, Member, Network, Settings, Source, TieRule};
use fairwire_tcp::Config;

/// Bytes on the wire of a packet, and the headers among them.
pub(crate) struct CbrSizes {
    pub(crate) packet: u32,
    pub(crate) header: u32,
}

/// The plan of one run.
///
/// Starts and delays come from streams named by the flow, and a discipline's draws from a stream named by its link: every
/// discipline meets the same traffic under the same seed, and another flow more changes nothing for the others.
pub(crate) fn network(
    spec: &Spec,
    topology: &Topology,
    compared: &Compared,
    seed: Seed,
) -> Result<Network, BuildError> {
    let link = |(at, queue): (usize, &QueuePlan)| -> Result<LinkPlan, BuildError> {
        let works = queue.own.as_ref().unwrap_or(compared);
        let stream = stream(queue);
        let site = site(spec, topology, at, seed, &stream);
        Ok(LinkPlan {
            name: queue.name.clone(),
            rate: queue.rate,
            delay: queue.delay,
            law: RateLaw::Fixed,
            discipline: catalogue::build(&works.name, works.parameters(spec), &site)?,
        })
    };
    Ok(Network {
        links: topology.queues.iter().enumerate().map(link).collect::<Result<_, _>>()?,
        groups: spec.flow.iter().zip(&topology.ways).map(|(flow, way)| group(flow, way, seed)).collect(),
    })
}

/// The random streams of what works at a link.
fn stream(queue: &QueuePlan) -> String {
    format!("link/{}", queue.name)
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

/// Can `compared` be built with its parameters at queue number `at`? Nothing is, so no memory is taken.
pub(crate) fn check_discipline(
    spec: &Spec,
    topology: &Topology,
    at: usize,
    compared: &Compared,
) -> Result<(), BuildError> {
    let stream = stream(&topology.queues[at]);
    let site = site(spec, topology, at, Seed(0), &stream);
    catalogue::check(&compared.name, compared.parameters(spec), &site)
}

/// The typical packet on the wire at queue number `at`: the mean over the flows whose data goes over it, each counted once; where
/// there are none, over the acknowledgements.
pub(crate) fn mean_packet_bytes(spec: &Spec, topology: &Topology, at: usize) -> u32 {
    let flows = || spec.flow.iter().zip(&topology.ways);
    let there = flows().filter(|(_, way)| way.queues().any(|queue| queue == at));
    let back = flows().filter(|(_, way)| way.queues_back().any(|queue| queue == at));
    let data = mean(there.map(|(flow, _)| (flow.count, packet_bytes(flow))));
    let any = data.or_else(|| mean(back.map(|(flow, _)| (flow.count, ack_bytes(flow)))));
    // Nothing goes there; what works there asks all the same.
    any.or_else(|| mean(spec.flow.iter().map(|flow| (flow.count, packet_bytes(flow))))).unwrap_or(1).max(1)
}

/// The mean of sizes, each counted so often; `None` of nothing.
fn mean(sizes: impl Iterator<Item = (u32, u32)>) -> Option<u32> {
    let add = |(flows, total), (count, bytes)| {
        (flows + u64::from(count), total + u64::from(count) * u64::from(bytes))
    };
    let (flows, total) = sizes.fold((0u64, 0u64), add);
    Some(u32::try_from(total.checked_div(flows)?).unwrap_or(u32::MAX))
}

/// An acknowledgement of `flow` on the wire; 0 where there are none.
pub(crate) fn ack_bytes(flow: &FlowSpec) -> u32 {
    match flow.source {
        SourceKind::Bulk => tcp_config(flow).header_bytes,
        SourceKind::Cbr => 0,
    }
}

/// A full packet of `flow` on the wire.
pub(crate) fn packet_bytes(flow: &FlowSpec) -> u32 {
    match flow.source {
        SourceKind::Bulk => {
            let tcp = tcp_config(flow);
            tcp.segment_bytes.saturating_add(tcp.header_bytes)
        }
        SourceKind::Cbr => cbr_sizes(flow).packet,
    }
}

/// The constants of the TCP of `flow`.
pub(crate) fn tcp_config(flow: &FlowSpec) -> Config {
    flow.tcp.as_ref().unwrap_or(&TcpSpec::default()).config()
}

/// The sizes of a constant-rate source's packets: 512 bytes, of which 28 are IPv4 and UDP headers (RFC 791, RFC 768).
pub(crate) fn cbr_sizes(flow: &FlowSpec) -> CbrSizes {
    CbrSizes { packet: bytes(flow.packet, 512), header: bytes(flow.header, 28) }
}

/// Where a discipline works.
fn site<'a>(spec: &Spec, topology: &Topology, at: usize, seed: Seed, stream: &'a str) -> Site<'a> {
    let QueuePlan { rate, buffer, .. } = topology.queues[at];
    Site { rate, buffer, packet_bytes: mean_packet_bytes(spec, topology, at), seed, stream }
}

fn group(flow: &FlowSpec, way: &Way, seed: Seed) -> GroupPlan {
    let member = |number| {
        let stream = |what| seed.stream(&format!("flow/{}.{number}/{what}", flow.group));
        Member {
            start: flow.start.draw(&mut stream("start")),
            access_delay: flow.access.delay.of(number, || stream("access")),
        }
    };
    GroupPlan {
        name: flow.group.clone(),
        source: source(flow),
        forward: way.forward.clone(),
        back: way.back.clone(),
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
        (SourceKind::Bulk, _) => Source::Bulk { tcp: tcp_config(flow) },
    }
}

/// A size in bytes; what is too large for the field is refused by the check, so it may be cut here.
fn bytes(size: Option<Quantity<Size>>, default: u32) -> u32 {
    size.map_or(default, |size| u32::try_from(size.0.0).unwrap_or(u32::MAX))
}

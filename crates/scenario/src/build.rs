//! From a checked scenario to what the simulator runs.

use crate::aggregate;
use crate::compared::Compared;
use crate::source::Sends;
use crate::spec::{FlowSpec, Spec, TieRuleSpec};
use crate::topology::{QueuePlan, Topology, Way};
use fairwire_catalogue::{self as catalogue, BuildError, Choice, Site};
use fairwire_core::Seed;
use fairwire_laws::part::Part;
use fairwire_sim::{GroupPlan, LinkPlan, Member, Network, Settings, TieRule};

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
            law: queue.law.clone(),
            discipline: catalogue::build(works.name(), &works.parameters(&spec.discipline), &site)?,
        })
    };
    Ok(Network {
        links: topology.queues.iter().enumerate().map(link).collect::<Result<_, _>>()?,
        groups: spec
            .flow
            .iter()
            .zip(&topology.ways)
            .zip(&topology.sends)
            .map(|((flow, way), sends)| group(flow, way, sends, seed))
            .collect(),
        aggregates: aggregate::plans(spec, topology, seed)?,
    })
}

/// What `compared` answers for itself at the first queue.
pub(crate) fn answer<R>(
    spec: &Spec,
    topology: &Topology,
    compared: &Compared,
    answer: impl FnOnce(&dyn Part, &Site<'_>) -> Option<R>,
) -> Option<R> {
    let stream = stream(topology.queues.first()?);
    let site = site(spec, topology, 0, Seed(0), &stream);
    let parameters = compared.parameters(&spec.discipline);
    catalogue::with_part(compared.name(), &parameters, |part| answer(part, &site)).ok()?
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
    catalogue::check(compared.name(), &compared.parameters(&spec.discipline), &site)
}

/// Can what the file has for disciplines be used where disciplines are compared, or at the first queue, also what none of `uses` has as it
/// stands?
pub(crate) fn check_base<'a>(
    spec: &Spec,
    topology: &Topology,
    uses: impl Iterator<Item = &'a Choice> + Clone,
) -> Result<(), BuildError> {
    let at = topology.compared().next().map_or(0, |(at, _)| at);
    let Some(queue) = topology.queues.get(at) else { return Ok(()) };
    let stream = stream(queue);
    catalogue::check_base(&spec.discipline, uses, &site(spec, topology, at, Seed(0), &stream))
}

/// The typical packet on the wire at queue number `at`: the mean over the flows whose data goes over it, each counted once; where
/// there are none, over the acknowledgements.
pub(crate) fn mean_packet_bytes(spec: &Spec, topology: &Topology, at: usize) -> u32 {
    let flows = || spec.flow.iter().map(|flow| flow.count).zip(&topology.sends).zip(&topology.ways);
    let there = flows().filter(|(_, way)| way.queues().any(|queue| queue == at));
    let back = flows().filter(|(_, way)| way.queues_back().any(|queue| queue == at));
    let data = mean_of(there.map(|((count, sends), _)| (count, sends.packet_bytes)));
    let any = data.or_else(|| mean_of(back.map(|((count, sends), _)| (count, sends.ack_bytes()))));
    // Nothing goes there; what works there asks all the same.
    any.or_else(|| mean_of(flows().map(|((count, sends), _)| (count, sends.packet_bytes))))
        .unwrap_or(1)
        .max(1)
}

/// The mean of sizes, each counted so often; `None` of nothing.
pub(crate) fn mean_of(sizes: impl Iterator<Item = (u32, u32)>) -> Option<u32> {
    let add = |(flows, total), (count, bytes)| {
        (flows + u64::from(count), total + u64::from(count) * u64::from(bytes))
    };
    let (flows, total) = sizes.fold((0u64, 0u64), add);
    Some(u32::try_from(total.checked_div(flows)?).unwrap_or(u32::MAX))
}

/// Where a discipline works.
fn site<'a>(spec: &Spec, topology: &Topology, at: usize, seed: Seed, stream: &'a str) -> Site<'a> {
    let QueuePlan { rate, buffer, .. } = topology.queues[at];
    Site { rate, buffer, packet_bytes: mean_packet_bytes(spec, topology, at), seed, stream }
}

fn group(flow: &FlowSpec, way: &Way, sends: &Sends, seed: Seed) -> GroupPlan {
    let streams = seed.numbered(format_args!("flow/{}.", flow.group));
    let member = |number| Member {
        start: flow.start.draw(&mut streams.stream(number, "/start")),
        access_delay: flow.access.delay.of(number, || streams.stream(number, "/access")),
    };
    GroupPlan {
        name: flow.group.clone(),
        source: sends.source.clone(),
        forward: way.forward.clone(),
        back: way.back.clone(),
        access_rate: flow.access.rate.0,
        class: flow.class.unwrap_or(0),
        dscp: flow.dscp.unwrap_or(0),
        members: (1..=flow.count).map(member).collect(),
    }
}

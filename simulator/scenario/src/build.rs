//! Builds the simulator's input from a checked scenario.

use crate::aggregate;
use crate::compared::Compared;
use crate::reach;
use crate::source::Sends;
use crate::spec::{FlowSpec, Spec, TieRuleSpec};
use crate::topology::{QueuePlan, Route, Topology};
use fairwire_catalogue::{self as catalogue, BuildError, Choice, Site};
use fairwire_core::{Discipline, Seed, Wire};
use fairwire_laws::compose::device::Device;
use fairwire_laws::part::Part;
use fairwire_sim::{GroupPlan, LinkPlan, Member, Network, SetUp, Settings, TieRule};

/// The plan of one run; `None` if the set-up was stopped.
///
/// Each flow and each link has a separate random stream. Under one seed, every discipline therefore
/// meets the same traffic. An additional flow does not change other streams.
pub(crate) fn network(
    spec: &Spec,
    topology: &Topology,
    compared: &Compared,
    seed: Seed,
    set_up: &mut SetUp<'_>,
) -> Result<Option<Network>, BuildError> {
    let mut links = Vec::with_capacity(topology.queues.len());
    for (at, queue) in topology.queues.iter().enumerate() {
        let Some(()) = set_up.made() else { return Ok(None) };
        links.push(LinkPlan {
            name: queue.name.clone(),
            rate: queue.rate,
            delay: queue.delay,
            law: queue.law.clone(),
            wire: wire(queue, seed),
            discipline: discipline(spec, topology, at, compared, seed)?,
        });
    }
    let mut plans = Vec::with_capacity(topology.routes.iter().map(Vec::len).sum());
    for ((flow, routes), sends) in spec.flow.iter().zip(&topology.routes).zip(&topology.sends) {
        let Some(groups) = groups(spec, flow, (routes, sends), topology, (seed, &mut *set_up)) else {
            return Ok(None);
        };
        plans.extend(groups);
    }
    Ok(Some(Network { links, groups: plans, aggregates: aggregate::plans(spec, topology, seed)? }))
}

fn wire(queue: &QueuePlan, seed: Seed) -> Option<Wire> {
    let law = (!queue.wire.is_plain()).then(|| queue.wire.clone())?;
    Some(Wire::new(law, seed, &format!("wire/{}", queue.name)))
}

pub(crate) fn discipline(
    spec: &Spec,
    topology: &Topology,
    at: usize,
    compared: &Compared,
    seed: Seed,
) -> Result<Box<dyn Discipline>, BuildError> {
    let queue = &topology.queues[at];
    let works = queue.own.as_ref().unwrap_or(compared);
    let stream = stream(queue);
    let site = site(topology, at, seed, &stream);
    let built = catalogue::build(works.name(), &works.parameters(&spec.discipline), &site)?;
    Ok(if queue.device == 0 { built } else { Box::new(Device::new(built, queue.device)) })
}

pub(crate) fn answer<R>(
    spec: &Spec,
    topology: &Topology,
    compared: &Compared,
    answer: impl FnOnce(&dyn Part, &Site<'_>) -> Option<R>,
) -> Option<R> {
    let stream = stream(topology.queues.first()?);
    let site = site(topology, 0, Seed(0), &stream);
    let parameters = compared.parameters(&spec.discipline);
    catalogue::with_part(compared.name(), &parameters, |part| answer(part, &site)).ok()?
}

fn stream(queue: &QueuePlan) -> String {
    format!("link/{}", queue.name)
}

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

/// Checks that `compared` could be built with its parameters at the queue with index `at`. Nothing
/// is built, so no memory is taken.
pub(crate) fn check_discipline(
    spec: &Spec,
    topology: &Topology,
    at: usize,
    compared: &Compared,
) -> Result<(), BuildError> {
    let stream = stream(&topology.queues[at]);
    let site = site(topology, at, Seed(0), &stream);
    catalogue::check(compared.name(), &compared.parameters(&spec.discipline), &site)
}

/// Checks the `[discipline.<name>]` tables for the first queue with a compared discipline, or else
/// for the first queue. Values that all of `uses` override are checked too.
pub(crate) fn check_base<'a>(
    spec: &Spec,
    topology: &Topology,
    uses: impl Iterator<Item = &'a Choice> + Clone,
) -> Result<(), BuildError> {
    let at = topology.compared().next().map_or(0, |(at, _)| at);
    let Some(queue) = topology.queues.get(at) else { return Ok(()) };
    let stream = stream(queue);
    catalogue::check_base(&spec.discipline, uses, &site(topology, at, Seed(0), &stream))
}

fn site<'a>(topology: &Topology, at: usize, seed: Seed, stream: &'a str) -> Site<'a> {
    let QueuePlan { rate, buffer, .. } = topology.queues[at];
    Site { rate, buffer, packet_bytes: topology.passing[at].packet_bytes, seed, stream }
}

/// A flow group's plans, one per path; `None` if the set-up was stopped.
fn groups(
    spec: &Spec,
    flow: &FlowSpec,
    (routes, sends): (&[Route], &Sends),
    topology: &Topology,
    (seed, set_up): (Seed, &mut SetUp<'_>),
) -> Option<Vec<GroupPlan>> {
    let streams = seed.numbered(format_args!("flow/{}.", flow.group));
    let reach = flow.reach("flow").expect("checked when the scenario was read");
    let on = spec.on_times(flow);
    let first_start = flow.on.is_some().then(|| on.first().map(|on| on.from)).flatten();
    let member = |number, way| Member {
        start: first_start.unwrap_or_else(|| flow.starts().draw(&mut streams.stream(number, "/start"))),
        access_delay: reach.access_delay(number, way, || streams.stream(number, "/access")),
    };
    let mut first = 1;
    let plan = |route: &Route| {
        let numbers = first..first + route.flows;
        first = numbers.end;
        let way = reach::way(route, &topology.queues);
        let members = numbers.map(|number| set_up.made().map(|()| member(number, way)));
        Some(GroupPlan {
            name: flow.group.clone(),
            source: sends.source.clone(),
            forward: route.forward.clone(),
            back: route.back.clone(),
            access_rate: flow.access.rate.0,
            class: flow.class.unwrap_or(0),
            dscp: flow.dscp.unwrap_or(0),
            ecn: flow.source.ecn(),
            members: members.collect::<Option<_>>()?,
            on: on.clone(),
        })
    };
    routes.iter().map(plan).collect()
}

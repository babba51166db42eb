//! Converts the links and flows of a scenario into queues and the routes of each group.

mod network;
pub(crate) mod plan;
mod shared;

pub(crate) use plan::{NOT_SIZED, QueuePlan, Route};

use crate::fault::{Fault, refused};
use crate::files::Files;
use crate::generated::NetworkChoice;
use crate::hosts::Hosts;
use crate::links::Links;
use crate::passing::{Passing, passing};
use crate::source::Sends;
use crate::spec::{FlowSpec, Spec};
use fairwire_core::units::{Amount, Room};
use fairwire_core::{Duration, RateLaw, WireLaw};
use fairwire_parameters::OutOfRange;
use fairwire_sim::Hop;
use plan::{Laid, UNCONTENDED, only_with, tail_drop, wire};

#[derive(Clone, Debug)]
pub(crate) struct Topology {
    /// Queued links, each in one direction. Links marked as the bottleneck come first.
    pub(crate) queues: Vec<QueuePlan>,
    pub(crate) passing: Vec<Passing>,
    /// The paths of each group of flows, in file order, at least one per group. A group's flows are
    /// numbered path by path.
    pub(crate) routes: Vec<Vec<Route>>,
    pub(crate) sends: Vec<Sends>,
}

/// The queues and routes of `spec`, whose values are within their ranges.
pub(crate) fn resolve(spec: &Spec, sends: Vec<Sends>, files: &Files) -> Result<Topology, Fault> {
    let is_network = matches!(spec.link, Some(Links::Network(_)));
    if !spec.nodes.is_empty() && !is_network {
        return Err(only_with("nodes", "`[[link]]`"));
    }
    if spec.return_link.is_some() && !matches!(spec.link, Some(Links::Shared(_))) {
        return Err(only_with("return", "`[link]`"));
    }
    let (mut queues, mut routes) = match (&spec.link, &spec.network) {
        (Some(Links::Shared(link)), _) => shared::laid(spec, link, files),
        (Some(Links::Network(links)), _) => network::laid(spec, links, files),
        (None, Some(network)) => generated(spec, network),
        (None, None) => unreachable!("without links nothing is resolved"),
    }?;
    add_access_wires(spec, &mut queues, &mut routes)?;
    let passing = passing(queues.len(), &routes, &sends);
    Ok(Topology { queues, passing, routes, sends })
}

/// For each group whose access link has impairments, appends a link without a queue to the group's
/// forward paths.
fn add_access_wires(
    spec: &Spec,
    queues: &mut Vec<QueuePlan>,
    routes: &mut [Vec<Route>],
) -> Result<(), Fault> {
    for (at, (flow, routes)) in spec.flow.iter().zip(routes).enumerate() {
        let Some(impair) = flow.access.impair.as_deref() else { continue };
        let (name, path) = (format!("{}-access", flow.group), format!("flow.{at}.access"));
        let wire = wire(&path, Some(impair), WireLaw::default())?;
        if wire.is_plain() {
            continue;
        }
        if queues.iter().any(|queue| queue.name == name) {
            let why = "a link has that name, which results would call the access link";
            return Err(refused(
                format!("flow.{at}.group"),
                format!("`{}`", flow.group),
                why,
                "another name",
            ));
        }
        let link = Hop::Link(queues.len() as u32);
        routes.iter_mut().for_each(|route| route.forward.push(link));
        queues.push(QueuePlan {
            name,
            rate: UNCONTENDED,
            law: RateLaw::Fixed,
            delay: Duration::ZERO,
            wire,
            room: Room::Amount(Amount::Packets(1000)),
            buffer: NOT_SIZED,
            own: Some(tail_drop()),
            device: 0,
            path,
        });
    }
    Ok(())
}

impl Topology {
    /// True if a discipline would behave alike at both queues, apart from random choices.
    fn are_alike(&self, one: usize, other: usize) -> bool {
        let site = |at: usize| {
            let QueuePlan { rate, buffer, .. } = &self.queues[at];
            (*rate, *buffer, self.passing[at].packet_bytes)
        };
        site(one) == site(other)
    }

    pub(crate) fn compared_places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = Vec::new();
        for (at, _) in self.compared() {
            if !places.iter().any(|other| self.are_alike(*other, at)) {
                places.push(at);
            }
        }
        places
    }

    pub(crate) fn compared(&self) -> impl Iterator<Item = (usize, &QueuePlan)> {
        self.queues.iter().enumerate().filter(|(_, queue)| queue.own.is_none())
    }
}

/// The number of flows, each counted once per on-time. A user with several connections is one flow.
pub(crate) fn flows(flow: &FlowSpec, routes: &[Route]) -> u64 {
    let on_times = flow.on.as_ref().map_or(1, |on| on.len().max(1) as u64);
    routes.iter().map(|route| u64::from(route.flows)).sum::<u64>() * on_times
}

fn generated(spec: &Spec, network: &NetworkChoice) -> Result<Laid, Fault> {
    let path = format!("network.{}", network.name());
    let wire = wire(&path, network.impair(), WireLaw::default())?;
    let refuse = |bad: OutOfRange| {
        refused(format!("{path}.{}", bad.name), &bad.given, "that is out of range", &bad.allowed)
    };
    let layout = network.layout().map_err(refuse)?;
    let mut hosts = Hosts::new(&*layout, path);
    for (at, flow) in spec.flow.iter().enumerate() {
        if flow.direction.is_some() {
            return Err(only_with(&format!("flow.{at}.direction"), "`[link]`"));
        }
        hosts.add(at, flow)?;
    }
    Ok(hosts.laid(&wire))
}

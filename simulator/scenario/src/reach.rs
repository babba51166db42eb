//! The distance of flows: the delays of their access links, or their round-trip times.

use crate::delays::Delays;
use crate::fault::{Fault, missing, refused};
use crate::spec::FlowSpec;
use crate::topology::{QueuePlan, Route, Topology};
use fairwire_core::units::{Amount, Room};
use fairwire_core::{Duration, Rng};
use fairwire_sim::Hop;
use fairwire_tcp::Processing;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach<'a> {
    /// The delays of the access links, one way.
    Access(&'a Delays),
    /// The round-trip times.
    RoundTrip(&'a Delays),
}

impl FlowSpec {
    pub(crate) fn reach(&self, path: &str) -> Result<Reach<'_>, Fault> {
        match (&self.access.delay, &self.rtt) {
            (Some(delay), None) => Ok(Reach::Access(delay)),
            (None, Some(rtt)) => Ok(Reach::RoundTrip(rtt)),
            (Some(_), Some(_)) => {
                let why = "`access.delay` already determines the round-trip time";
                Err(refused(format!("{path}.rtt"), "given", why, "one of the two"))
            }
            (None, None) => Err(missing(format!("{path}.access"), "delay", "or `rtt` beside `access`")),
        }
    }
}

impl Reach<'_> {
    /// The one-way delay of each access link of the group's flow `number`. `way` is the round-trip
    /// time of the path without access links.
    pub(crate) fn access_delay(self, number: u32, way: Duration, rng: impl FnOnce() -> Rng) -> Duration {
        match self {
            Reach::Access(delay) => delay.of(number, rng),
            // There is an access link at each end. A round trip crosses each access link twice.
            Reach::RoundTrip(rtt) => Duration::from_ns((rtt.of(number, rng).ns() - way.ns()) / 4),
        }
    }

    /// The mean round-trip time of the flows without queueing. `way` is the round-trip time of the
    /// path without access links.
    fn round_trip(self, way: Duration) -> Duration {
        match self {
            Reach::Access(delay) => way + delay.mean() * 4,
            Reach::RoundTrip(rtt) => rtt.mean(),
        }
    }

    fn shortest_trip(self, way: Duration) -> Duration {
        match self {
            Reach::Access(delay) => way + delay.shortest() * 4,
            Reach::RoundTrip(rtt) => rtt.shortest(),
        }
    }
}

pub(crate) fn shortest_trip(flow: &FlowSpec, route: &Route, queues: &[QueuePlan]) -> Duration {
    let reach = flow.reach("flow").expect("checked when the scenario was read");
    reach.shortest_trip(way(route, queues))
}

/// The mean round-trip time of a packet of `flow` on `route` without queueing: on the access links,
/// and on all other links.
pub(crate) fn mean_trip(flow: &FlowSpec, route: &Route, queues: &[QueuePlan]) -> [Duration; 2] {
    let reach = flow.reach("flow").expect("checked when the scenario was read");
    let way = way(route, queues);
    [Duration::from_ns(reach.round_trip(way).ns().saturating_sub(way.ns())), way]
}

/// The round-trip time on `route` without queueing and without access links: the sum of the links'
/// delays. Without a return path, it is twice the forward delay.
pub(crate) fn way(route: &Route, queues: &[QueuePlan]) -> Duration {
    let delay = |hop: &Hop| match hop {
        Hop::Link(link) => queues[*link as usize].delay,
        Hop::Wire { delay, .. } => *delay,
    };
    let sum = |hops: &[Hop]| hops.iter().fold(Duration::ZERO, |sum, hop| sum + delay(hop));
    let back = if route.back.is_empty() { &route.forward } else { &route.back };
    sum(&route.forward) + sum(back)
}

pub(crate) fn settle(flows: &[FlowSpec], topology: &mut Topology) -> Result<(), Fault> {
    let Topology { queues, routes, .. } = topology;
    check(flows, routes, queues)?;
    for at in 0..queues.len() {
        queues[at].buffer = buffer(at, queues, flows, routes)?;
    }
    Ok(())
}

fn check(flows: &[FlowSpec], routes: &[Vec<Route>], queues: &[QueuePlan]) -> Result<(), Fault> {
    for (at, (flow, routes)) in flows.iter().zip(routes).enumerate() {
        if let Some(Processing::UpTo(most)) = flow.tcp.as_ref().map(|tcp| tcp.config().processing) {
            let ways = routes.iter().map(|route| way(route, queues));
            let reach = flow.reach(&format!("flow.{at}"))?;
            let shortest = reach.shortest_trip(ways.min().unwrap_or_default());
            if most >= shortest {
                return Err(refused(
                    format!("flow.{at}.tcp.processing"),
                    most.to_string(),
                    format!("a round trip takes {shortest} without waiting"),
                    "less than that, \"packet\", or \"0 s\" for none",
                ));
            }
        }
        let Some(rtt) = &flow.rtt else { continue };
        let longest = routes.iter().map(|route| way(route, queues)).max().unwrap_or_default();
        if rtt.shortest() < longest {
            return Err(refused(
                format!("flow.{at}.rtt"),
                rtt.shortest(),
                format!("the links of the route take {longest} there and back"),
                format!("at least {longest}, or links with a shorter `delay`"),
            ));
        }
    }
    Ok(())
}

/// The buffer of the queue with index `at`.
///
/// A bandwidth-delay product is the rate that disciplines use, times a round-trip time without
/// queueing. That time is the mean over the flows whose data passes, or else over those whose
/// acknowledgements pass.
fn buffer(
    at: usize,
    queues: &[QueuePlan],
    flows: &[FlowSpec],
    routes: &[Vec<Route>],
) -> Result<Amount, Fault> {
    let queue = &queues[at];
    if let Room::Amount(amount) = queue.room {
        return Ok(amount);
    }
    let trip = mean_round_trip(at, queues, flows, routes)?;
    let nothing = || refuse_room(queue, "there is no round-trip time that it is made of");
    trip.and_then(|trip| queue.room.amount(trip)).ok_or_else(nothing)
}

fn refuse_room(queue: &QueuePlan, why: &str) -> Fault {
    let allowed = "packets, a size or a time; or flows over the link whose way takes time";
    refused(format!("{}.buffer", queue.path), queue.room, why, allowed)
}

fn mean_round_trip(
    at: usize,
    queues: &[QueuePlan],
    flows: &[FlowSpec],
    routes: &[Vec<Route>],
) -> Result<Option<Duration>, Fault> {
    let (mut there, mut back) = (Mean::default(), Mean::default());
    for (number, (flow, routes)) in flows.iter().zip(routes).enumerate() {
        let reach = flow.reach(&format!("flow.{number}"))?;
        for route in routes {
            let trip = || reach.round_trip(way(route, queues));
            if route.queues().any(|queue| queue == at) {
                there.add(route.flows, trip());
            } else if route.queues_back().any(|queue| queue == at) {
                back.add(route.flows, trip());
            }
        }
    }
    Ok(there.value().or(back.value()))
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    flows: u128,
    ns: u128,
}

impl Mean {
    fn add(&mut self, flows: u32, time: Duration) {
        self.flows += u128::from(flows);
        self.ns += u128::from(flows) * u128::from(time.ns());
    }

    fn value(self) -> Option<Duration> {
        let ns = self.ns.checked_div(self.flows)?;
        Some(Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX)))
    }
}

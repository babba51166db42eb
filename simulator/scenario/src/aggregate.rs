//! Checks, builds and measures aggregates, which are groups of flows with one contract at the edge.

use crate::aggregate_spec::{AggregateSpec, CadenceSpec, EstimatorSpec};
use crate::fault::{Fault, refused, unknown};
use crate::passing::Sizes;
use crate::spec::Spec;
use crate::topology::{Route, Topology};
use fairwire_catalogue::Site;
use fairwire_catalogue::marker::MarkerChoice;
use fairwire_core::{Rate, Seed};
use fairwire_laws::error::BadParameter;
use fairwire_metrics::record::{AggregateRecord, FlowRecord};
use fairwire_sim::{AggregateCount, AggregatePlan, Cadence, EstimatorPlan};
use std::collections::BTreeSet;

/// The maximum window of an estimate, in packets. `docs/scenario/senders.md` also states it. Park
/// and Choi 2003 use 10. At 1 Mbit/s, this maximum lasts minutes.
const MAX_WINDOW: u32 = 65_536;

impl EstimatorSpec {
    fn plan(&self) -> EstimatorPlan {
        let default = EstimatorPlan::default();
        EstimatorPlan {
            cadence: match self.cadence {
                None => default.cadence,
                Some(CadenceSpec::Sliding) => Cadence::Sliding,
                Some(CadenceSpec::Tumbling) => Cadence::Tumbling,
            },
            window: self.window.unwrap_or(default.window),
            weight: self.weight.unwrap_or(default.weight),
            low: self.low.unwrap_or(default.low),
            high: self.high.unwrap_or(default.high),
        }
    }

    fn check(&self, path: &str) -> Result<(), Fault> {
        let EstimatorPlan { window, weight, low, high, .. } = self.plan();
        let within = |key: &str, given: f64, is_within: bool, allowed: &str| {
            let why = "that is out of range";
            let path = format!("{path}.{key}");
            if is_within { Ok(()) } else { Err(refused(path, given, why, allowed)) }
        };
        let windows = 1..=MAX_WINDOW;
        within("window", window.into(), windows.contains(&window), &format!("1 to {MAX_WINDOW}"))?;
        within("weight", weight, weight > 0.0 && weight <= 1.0, "above 0, at most 1")?;
        within("low", low, (0.0..=1.0).contains(&low), "0 to 1")?;
        let default = EstimatorPlan::default().high;
        let allowed = format!("{low}, which is `low`, to 1; the default is {default}");
        within("high", high, (low..=1.0).contains(&high), &allowed)
    }
}

impl AggregateSpec {
    fn marker(&self, spec: &Spec) -> MarkerChoice {
        with_contract(&self.marker.clone().filled(&spec.marker), self.target.0)
    }

    /// Are all packets of the aggregate out of profile?
    pub fn is_all_out(&self, spec: &Spec) -> bool {
        self.marker(spec).is_empty()
    }

    fn groups<'a>(&'a self, spec: &'a Spec) -> impl Iterator<Item = usize> + 'a {
        let flows = spec.flow.iter().enumerate();
        flows.filter(|(_, flow)| flow.aggregate.as_ref() == Some(&self.name)).map(|(at, _)| at)
    }

    fn site<'a>(&self, spec: &Spec, topology: &Topology, seed: Seed, stream: &'a str) -> Site<'a> {
        let fastest = self.groups(spec).map(|at| spec.flow[at].access.rate.0).max();
        let mut sizes = Sizes::default();
        self.groups(spec).for_each(|at| sizes.add(spec.flow[at].count(), topology.sends[at].packet_bytes));
        let packet_bytes = sizes.mean().unwrap_or(1).max(1);
        let buffer = topology.queues[0].buffer; // unused: a marker holds no packets
        Site { rate: fastest.unwrap_or(self.target.0), buffer, packet_bytes, seed, stream }
    }

    /// Checks the aggregate. The seed is arbitrary, because nothing random is used.
    fn check(&self, path: &str, spec: &Spec, topology: &Topology) -> Result<(), Fault> {
        if self.groups(spec).next().is_none() {
            let allowed = format!("`aggregate = \"{}\"` in at least one `[[flow]]`", self.name);
            return Err(refused(format!("{path}.name"), self.given(), "no group belongs to it", allowed));
        }
        self.estimator.check(&format!("{path}.estimator"))?;
        let stream = self.stream();
        let site = self.site(spec, topology, Seed(0), &stream);
        check_base(spec, self.target.0, &site)?;
        check_marker(&self.marker(spec), &format!("{path}.marker"), &site)
    }

    fn given(&self) -> String {
        format!("`{}`", self.name)
    }

    fn stream(&self) -> String {
        format!("aggregate/{}", self.name)
    }
}

fn check_base(spec: &Spec, contract: Rate, site: &Site<'_>) -> Result<(), Fault> {
    spec.marker.given().try_for_each(|marker| check_marker(&with_contract(marker, contract), "marker", site))
}

fn with_contract(marker: &MarkerChoice, rate: Rate) -> MarkerChoice {
    let mut marker = marker.clone();
    marker.default_rate(rate);
    marker
}

fn check_marker(marker: &MarkerChoice, path: &str, site: &Site<'_>) -> Result<(), Fault> {
    marker.check(site).map_err(|bad| {
        let why = format!("`{}` does not accept that", bad.discipline);
        refused(format!("{path}.{}", bad.path()), &bad.given, why, &bad.allowed)
    })
}

/// Checks the aggregates, except the characters of their names.
pub(crate) fn check(spec: &Spec, topology: &Topology) -> Result<(), Fault> {
    for (at, flow) in spec.flow.iter().enumerate() {
        let Some(name) = &flow.aggregate else { continue };
        if spec.aggregate.iter().all(|aggregate| aggregate.name != *name) {
            let allowed = spec.aggregate.iter().map(|aggregate| aggregate.name.clone()).collect();
            return Err(unknown(format!("flow.{at}.aggregate"), "aggregate", name, allowed));
        }
        // On a route without a queue, no edge would colour the group's packets, and no link would
        // limit its share.
        if topology.routes[at].iter().any(|route| route.queues().next().is_none()) {
            let (path, given) = (format!("flow.{at}.aggregate"), format!("`{name}`"));
            let allowed = "leave it out, or a route over a link with a queue";
            return Err(refused(path, given, "this group passes no queue", allowed));
        }
    }
    for (at, aggregate) in spec.aggregate.iter().enumerate() {
        let path = format!("aggregate.{at}");
        if spec.aggregate[..at].iter().any(|other| other.name == aggregate.name) {
            let path = format!("{path}.name");
            return Err(refused(
                path,
                aggregate.given(),
                "another aggregate has that name",
                "each name once",
            ));
        }
        aggregate.check(&path, spec, topology)?;
    }
    // Without aggregates, the `[marker]` tables are checked at the first queue.
    match (&*spec.aggregate, topology.queues.first()) {
        ([], Some(queue)) => {
            let packet_bytes = topology.passing[0].packet_bytes;
            let (rate, buffer) = (queue.rate, queue.buffer);
            check_base(spec, rate, &Site { rate, buffer, packet_bytes, seed: Seed(0), stream: "" })
        }
        _ => Ok(()),
    }
}

pub(crate) fn plans(
    spec: &Spec,
    topology: &Topology,
    seed: Seed,
) -> Result<Vec<AggregatePlan>, BadParameter> {
    // Indices of a group's plans, one per route.
    let group_plans = |group: usize| {
        let first: usize = topology.routes[..group].iter().map(Vec::len).sum();
        first..first + topology.routes[group].len()
    };
    let plan = |aggregate: &AggregateSpec| {
        let stream = aggregate.stream();
        let site = aggregate.site(spec, topology, seed, &stream);
        Ok(AggregatePlan {
            name: aggregate.name.clone(),
            groups: aggregate.groups(spec).flat_map(group_plans).collect(),
            marker: aggregate.marker(spec).build(&site)?,
            estimator: Some(aggregate.estimator.plan()),
        })
    };
    spec.aggregate.iter().map(plan).collect()
}

pub(crate) fn records(
    spec: &Spec,
    topology: &Topology,
    counts: Vec<AggregateCount>,
    flows: &[FlowRecord],
) -> Vec<AggregateRecord> {
    let queues: Vec<_> = spec.aggregate.iter().map(|aggregate| queues(aggregate, spec, topology)).collect();
    let record = |(at, (aggregate, count)): (usize, (&AggregateSpec, AggregateCount))| {
        let groups: Vec<String> = aggregate.groups(spec).map(|at| spec.flow[at].group.clone()).collect();
        let own = flows.iter().filter(|flow| groups.iter().any(|group| **group == *flow.group));
        let throughput_bps: f64 = own.map(|flow| flow.throughput_bps).sum();
        let fair_share_bps = fair_share(at, &queues, spec, topology);
        AggregateRecord {
            name: count.name,
            groups,
            contract_bps: aggregate.target.0.bps() as f64,
            target_bps: count.target_bps,
            throughput_bps,
            fair_share_bps,
            gain: throughput_bps / fair_share_bps,
            packets: count.entered,
            in_profile: count.green,
            in_profile_received: count.green_left,
            in_profile_marked: count.green_marked,
        }
    };
    spec.aggregate.iter().zip(counts).enumerate().map(record).collect()
}

fn queues(aggregate: &AggregateSpec, spec: &Spec, topology: &Topology) -> BTreeSet<usize> {
    let routes = aggregate.groups(spec).flat_map(|at| &topology.routes[at]);
    routes.flat_map(Route::queues).collect()
}

/// The fair share of the aggregate at index `at`, bit/s: R_f of Park and Choi 2003, equation (1).
///
/// Aggregates share a link's mean rate in proportion to their contracts. If this aggregate passes
/// several links, its smallest share counts.
fn fair_share(at: usize, queues: &[BTreeSet<usize>], spec: &Spec, topology: &Topology) -> f64 {
    let part = |queue: &usize| {
        let sharing = spec.aggregate.iter().zip(queues).filter(|(_, queues)| queues.contains(queue));
        let contracts: f64 = sharing.map(|(other, _)| other.target.0.bps() as f64).sum();
        let own = spec.aggregate[at].target.0.bps() as f64;
        own / contracts * topology.queues[*queue].mean_bps(spec.warm_up.0, spec.duration.0)
    };
    queues[at].iter().map(part).fold(f64::INFINITY, f64::min)
}

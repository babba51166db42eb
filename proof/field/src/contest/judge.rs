//! The results of a contest, compared with its promises.

use super::case::{Case, FULL_BYTES};
use super::tree::{Claimant, fair_shares};
use crate::finding::Finding;
use crate::tries::Outcome;
use crate::world::side;
use fairwire_datapath::classify::Prefix;
use fairwire_metrics::jain::jain;
use fairwire_service::config::spec::ClassSpec;
use fairwire_testbed::traffic::{Flow, HostCounts, SLOT, Sends, Traffic};
use fairwire_wire::Way;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// A contest, judged.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// Its name.
    pub case: String,
    /// Each loaded direction.
    pub ways: Vec<WayJudged>,
    /// The promises, and their outcomes.
    pub findings: Vec<Finding>,
    /// Evidence that the machine starved the gateway of CPU time, if any.
    pub starved: Option<String>,
    /// The gateway's CPU time per forwarded packet, in microseconds.
    pub processor_us_per_packet: f64,
}

impl Outcome for Judged {
    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn starved(&self) -> Option<&str> {
        self.starved.as_deref()
    }
}

/// One direction of a contest.
#[derive(Clone, Debug, Serialize)]
pub struct WayJudged {
    /// Its direction.
    pub way: Way,
    /// The number of flows that demanded clearly more than their fair share.
    pub saturated: usize,
    /// The share of the link in use.
    pub utilization: f64,
    /// Jain's index over the rates of saturated flows, each divided by its fair share.
    pub jain: f64,
    /// The largest deviation of a saturated flow from its fair share, relative to the share.
    pub worst_flow: f64,
    /// The largest deviation of a group of flows from its fair share, relative to the share.
    pub worst_group: f64,
    /// The largest deviation of a class's share of the traffic from its fair share, percentage
    /// points. Without classes, the largest deviation of a group's share.
    pub share_error_points: f64,
    /// The part of `share_error_points` that chance alone may cause if each full packet's class is
    /// random: [`CHANCE_SD`] standard deviations.
    pub chance_points: f64,
    /// The part of the worst group's deviation that chance alone may cause, relative to the group's
    /// fair share.
    pub chance_of_group: f64,
    /// The rate of each group, and its fair share, bit/s.
    pub groups: BTreeMap<String, [f64; 2]>,
    /// The delays of pings.
    pub ping: Option<Delay>,
}

/// The one-way delays of pings, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// Pings that arrived.
    pub count: usize,
    /// The median.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
}

impl Delay {
    /// The percentiles of delays in nanoseconds; `None` if there are none.
    pub fn of(mut delays_ns: Vec<u64>) -> Option<Delay> {
        delays_ns.sort_unstable();
        let part = |hundredths: usize| {
            let at = (delays_ns.len() * hundredths / 100).min(delays_ns.len().saturating_sub(1));
            delays_ns.get(at).map(|ns| *ns as f64 / 1e6)
        };
        Some(Delay { count: delays_ns.len(), p50_ms: part(50)?, p95_ms: part(95)?, p99_ms: part(99)? })
    }
}

/// The number of standard deviations that chance may explain. One of 16 000 random values deviates
/// more.
const CHANCE_SD: f64 = 4.0;

/// The minimum demand of a saturated flow, as a multiple of its fair share.
const WANTS_MORE: f64 = 1.05;

/// Judges the observations `seen` of `case`.
pub fn judge(case: &Case, traffic: &Traffic, seen: &HostCounts, processor_s: f64) -> Judged {
    let measured = Measured::new(case, traffic, seen);
    let loaded = Way::ALL.into_iter().filter(|way| case.bps(*way) > 0);
    let ways: Vec<WayJudged> = loaded.map(|way| measured.way(way)).collect();
    let packets: f64 =
        seen.flows.iter().flat_map(|flow| flow.link_bytes.iter().chain(&flow.back_bytes)).sum::<u64>() as f64
            / f64::from(FULL_BYTES);
    let counted =
        Finding::fact(seen.missed == 0, format!("{} frames arrived and were not counted", seen.missed));
    let findings = ways.iter().flat_map(|way| case.findings(way)).chain([counted]).collect();
    Judged {
        case: case.name.clone(),
        ways,
        findings,
        starved: None,
        processor_us_per_packet: processor_s * 1e6 / packets,
    }
}

struct Measured<'a> {
    case: &'a Case,
    traffic: &'a Traffic,
    seen: &'a HostCounts,
    window_s: f64,
    slots: std::ops::Range<usize>,
}

/// One flow in one direction: data, or the acknowledgements of a flow in the other direction.
struct Part<'a> {
    flow: &'a Flow,
    is_data: bool,
    got_bps: f64,
    demand_bps: f64,
}

impl<'a> Measured<'a> {
    fn new(case: &'a Case, traffic: &'a Traffic, seen: &'a HostCounts) -> Self {
        let per_second = 1_000_000_000 / SLOT.ns();
        let slots = (case.warm_up * per_second) as usize..(case.seconds * per_second) as usize;
        let window_s = slots.len() as f64 * SLOT.secs();
        Measured { case, traffic, seen, window_s, slots }
    }

    fn bps(&self, bytes: &[u64]) -> f64 {
        let bytes = bytes.get(self.slots.clone()).map_or(0, |slots| slots.iter().sum::<u64>());
        bytes as f64 * 8.0 / self.window_s
    }

    fn parts(&self, way: Way) -> Vec<Part<'a>> {
        let flows = self.traffic.flows.iter().zip(&self.seen.flows);
        flows
            .map(|(flow, seen)| {
                let is_data = flow.from == side(way);
                let got_bps = self.bps(if is_data { &seen.link_bytes } else { &seen.back_bytes });
                let demand_bps = match &flow.sends {
                    _ if !is_data => got_bps,
                    Sends::Tcp(_) => f64::INFINITY,
                    _ => flow.offered_bps().unwrap_or(got_bps),
                };
                Part { flow, is_data, got_bps, demand_bps }
            })
            .filter(|part| part.is_data || part.got_bps > 0.0)
            .collect()
    }

    fn way(&self, way: Way) -> WayJudged {
        let parts = self.parts(way);
        let used: f64 = parts.iter().map(|part| part.got_bps).sum();
        let inside_of =
            |flow: &Flow| if flow.from == side(Way::Download) { flow.destination } else { flow.source };
        let hosts: BTreeSet<IpAddr> = parts.iter().map(|part| inside_of(part.flow)).collect();
        let leaf = |flow: &Flow| {
            let inside = inside_of(flow);
            match self.case.is_by_host {
                true => hosts.iter().position(|host| *host == inside),
                false => leaf_of(&self.case.classes, inside),
            }
        };
        let claimants: Vec<Claimant> =
            parts.iter().map(|part| Claimant { leaf: leaf(part.flow), demand: part.demand_bps }).collect();
        let fair = fair_shares(&self.case.classes, &claimants, used);
        let saturated: Vec<(f64, f64)> = parts
            .iter()
            .zip(&fair)
            .filter(|(part, fair)| part.is_data && part.demand_bps > **fair * WANTS_MORE)
            .map(|(part, fair)| (part.got_bps, *fair))
            .collect();
        let mut groups: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        let mut classes: BTreeMap<Option<usize>, [f64; 2]> = BTreeMap::new();
        for ((part, fair), claimant) in parts.iter().zip(&fair).zip(&claimants) {
            let name =
                if part.is_data { part.flow.group.clone() } else { format!("acks of {}", part.flow.group) };
            for sums in [groups.entry(name).or_default(), classes.entry(claimant.leaf).or_default()] {
                sums[0] += part.got_bps;
                sums[1] += fair;
            }
        }
        let points = |sums: &[f64; 2]| (sums[0] - sums[1]).abs() / used.max(1.0) * 100.0;
        let of_classes = classes.values().map(points).fold(0.0, f64::max);
        let of_groups = groups.values().map(points).fold(0.0, f64::max);
        let is_flat = self.case.classes.is_empty();
        let packets = (used * self.window_s / 8.0 / f64::from(FULL_BYTES)).max(1.0);
        let chance = |sums: &[f64; 2]| CHANCE_SD * chance_sd(sums[1] / used.max(1.0), packets);
        let wanting = self.wanting(&groups, &parts);
        let normal: Vec<f64> = saturated.iter().map(|(got, fair)| got / fair).collect();
        WayJudged {
            way,
            saturated: saturated.len(),
            utilization: used / self.case.bps(way) as f64,
            jain: jain(&normal),
            worst_flow: normal.iter().map(|share| (share - 1.0).abs()).fold(0.0, f64::max),
            worst_group: wanting.iter().map(|[got, fair]| (got / fair - 1.0).abs()).fold(0.0, f64::max),
            share_error_points: if is_flat { of_groups } else { of_classes },
            chance_points: classes.values().map(|sums| chance(sums) * 100.0).fold(0.0, f64::max),
            chance_of_group: wanting.iter().map(|sums| chance(sums) * used / sums[1]).fold(0.0, f64::max),
            groups,
            ping: self.ping(way),
        }
    }

    fn wanting(&self, groups: &BTreeMap<String, [f64; 2]>, parts: &[Part<'_>]) -> Vec<[f64; 2]> {
        let demand = |name: &str| -> f64 {
            parts
                .iter()
                .filter(|part| part.is_data && part.flow.group == name)
                .map(|part| part.demand_bps)
                .sum()
        };
        let wanting = groups.iter().filter(|(name, sums)| demand(name) > sums[1] * WANTS_MORE);
        wanting.map(|(_, sums)| *sums).collect()
    }

    fn ping(&self, way: Way) -> Option<Delay> {
        let from_ns = self.case.warm_up * 1_000_000_000;
        let flows = self.traffic.flows.iter().zip(&self.seen.flows);
        let pings =
            flows.filter(|(flow, _)| flow.from == side(way) && matches!(flow.sends, Sends::Ping { .. }));
        let delays = pings.flat_map(|(_, seen)| &seen.delays_ns).filter(|(at, _)| *at >= from_ns);
        Delay::of(delays.map(|(_, took)| *took).collect())
    }
}

/// The standard deviation of a class's share of `packets`, if each packet belongs to the class with
/// the probability `part`.
fn chance_sd(part: f64, packets: f64) -> f64 {
    (part * (1.0 - part).max(0.0) / packets).sqrt()
}

fn leaf_of(classes: &[ClassSpec], inside: IpAddr) -> Option<usize> {
    let is_in = |prefix: &String| prefix.parse().is_ok_and(|prefix: Prefix| prefix.contains(inside));
    classes.iter().position(|class| class.matches.inside.iter().any(is_in))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::find;
    use fairwire_testbed::traffic::FlowCounts;

    fn seen(traffic: &Traffic, bps: impl Fn(&Flow) -> f64) -> HostCounts {
        let flow = |flow: &Flow| FlowCounts {
            link_bytes: vec![(bps(flow) / 8.0 * SLOT.secs()) as u64; traffic.slots.count],
            delays_ns: vec![(3_000_000_000, 1_000_000); 100],
            ..FlowCounts::default()
        };
        let flows = traffic.flows.iter().map(flow).collect();
        HostCounts { flows, strange_bytes: vec![0; traffic.slots.count], ..HostCounts::default() }
    }

    fn flat() -> Case {
        find("drr+lqd/reno-10")
    }

    #[test]
    fn even_shares_have_no_faults_and_a_double_share_is_found() {
        let case = &flat();
        let traffic = case.traffic();
        let flows = traffic
            .flows
            .iter()
            .filter(|flow| flow.from == side(Way::Download) && flow.group != "ping")
            .count();
        let even = case.bps(Way::Download) as f64 / flows as f64;
        let of =
            |flow: &Flow| if flow.group == "ping" || flow.from == side(Way::Upload) { 1000.0 } else { even };
        let fair = judge(case, &traffic, &seen(&traffic, of), 0.1);
        let way = &fair.ways[0];
        assert!(way.worst_flow < 0.01 && way.jain > 0.999, "{way:?}");
        assert!(fair.holds(), "{fair:?}");
        let first = traffic.flows[0].clone();
        let greedy = |flow: &Flow| if *flow == first { 2.0 * even } else { of(flow) * 0.9 };
        let judged = judge(case, &traffic, &seen(&traffic, greedy), 0.1);
        assert!(judged.ways[0].worst_flow > 0.5 && !judged.holds(), "{judged:?}");
    }

    #[test]
    fn chance_matches_random_draws_and_shrinks_with_time() {
        // A link of 50 Mbit/s sends 13 000 packets in 3.2 s.
        assert!((chance_sd(0.375, 13_000.0) - 0.00425).abs() < 1e-5);
        assert!((chance_sd(0.125, 13_000.0) / 0.125 - 0.0232).abs() < 1e-4);
        let judged = |seconds: u64| {
            let case = find("hfaba/tree-udp").lasting(1, seconds);
            let traffic = case.traffic();
            judge(&case, &traffic, &seen(&traffic, |_| 2e6), 0.1).ways[0].chance_points
        };
        assert!((judged(5) / judged(17) - 2.0).abs() < 0.01, "four times as long");
    }

    #[test]
    fn percentiles_of_delays_match_the_sorted_list() {
        let delay = Delay::of((1..=100).rev().map(|ms| ms * 1_000_000).collect()).expect("there are some");
        assert_eq!((delay.p50_ms, delay.p95_ms, delay.p99_ms), (51.0, 96.0, 100.0));
        assert_eq!(Delay::of(Vec::new()), None);
    }
}

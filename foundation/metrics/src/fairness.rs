//! The fairness of a run: the flows' throughput compared with the max-min allocation of their
//! offers.

use crate::filling::{Routed, fill};
use crate::jain::jain_of;
use crate::max_min::{Claim, max_min};
use crate::record::{Fairness, FlowRecord};
use std::collections::BTreeMap;
use std::iter::repeat_n;

/// Compares the flows' throughput with the max-min shares of a link of `capacity_bps` bit/s.
///
/// A flow's demand is the rate that it offers or requests; unlimited data is an unbounded demand. A
/// share never exceeds the demand, so a flow with a small demand does not count as starved. A flow
/// or group that offers nothing has the ratio 1. Table 1 of FABA (Kamra et al. 2004) prints
/// `group_share` for nine TCP flows, as the sum of their throughputs / 9 Mbit/s.
///
/// # Panics
/// If the capacity or an offered rate is negative or not a number, or the capacity is infinite.
pub fn assess(flows: &[FlowRecord], capacity_bps: f64) -> Fairness {
    let claims: Vec<Claim> = flows.iter().map(claim).collect();
    against(flows, max_min(&claims, capacity_bps).into_iter())
}

/// The route of flows over shared links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Route<'a> {
    /// The indices of the shared links on the route, each once.
    pub links: &'a [usize],
    /// The lowest rate of the route's other links, in bit/s.
    pub max_bps: f64,
    /// The number of consecutive flows on this route.
    pub flows: usize,
}

/// Like [`assess`], for a network. Writes each flow's max-min share into `fair_bps`. `routes` has
/// the flows' routes in order; `capacities_bps` has the rates of the shared links. The shares
/// ignore acknowledgements.
///
/// # Panics
/// As [`assess`], and if the numbers of routes and flows differ, or a route has an unknown link.
pub fn assess_network<'a>(
    flows: &mut [FlowRecord],
    routes: &[Route<'a>],
    capacities_bps: &[f64],
) -> Fairness {
    let shares = shares(flows, routes, capacities_bps, |_| true);
    flows.iter_mut().zip(&shares).for_each(|(flow, share)| flow.fair_bps = Some(*share));
    against(flows, shares.into_iter())
}

/// The max-min shares of `flows`, by index. A flow for which `is_on` is false has the share 0.
///
/// # Panics
/// As [`assess_network`].
pub(crate) fn shares<'a>(
    flows: &[FlowRecord],
    routes: &[Route<'a>],
    capacities_bps: &[f64],
    is_on: impl Fn(usize) -> bool,
) -> Vec<f64> {
    assert_eq!(flows.len(), routes.iter().map(|route| route.flows).sum::<usize>(), "each flow has a route");
    let mut claims = flows.iter().enumerate();
    let mut claims = || {
        let (at, flow) = claims.next()?;
        Some(if is_on(at) { claim(flow) } else { Claim::up_to(0.0) })
    };
    // Consecutive equal flows are combined: there may be a million flows, mostly equal.
    let mut routed: Vec<Routed<'a>> = Vec::new();
    for Route { links, max_bps, flows } in routes {
        let first = routed.len();
        for Claim { demand, weight } in (0..*flows).filter_map(|_| claims()) {
            let claim = Claim { demand: demand.min(*max_bps), weight };
            match routed[first..].last_mut() {
                Some(last) if last.claim == claim => last.flows += 1,
                _ => routed.push(Routed { claim, links, flows: 1 }),
            }
        }
    }
    let shares = fill(&routed, capacities_bps);
    shares.iter().zip(&routed).flat_map(|(&share, alike)| repeat_n(share, alike.flows)).collect()
}

fn against(flows: &[FlowRecord], fair: impl Iterator<Item = f64> + Clone) -> Fairness {
    compared(flows, fair.map(|fair| (fair, 1.0)))
}

/// Compares `flows` with `fair`: each flow's max-min share and fraction of time on. Skips flows
/// that were never on.
pub(crate) fn compared(flows: &[FlowRecord], fair: impl Iterator<Item = (f64, f64)> + Clone) -> Fairness {
    let present = || flows.iter().zip(fair.clone()).filter(|(_, (_, part))| *part > 0.0);
    let rates = || present().map(|(flow, fair)| Rates::of(flow, fair));
    let total: f64 = rates().map(|flow| flow.got).sum();
    let groups = by_group(present().map(|(flow, _)| flow).zip(rates()));
    Fairness {
        jain: jain_of(rates().map(Rates::share)),
        jain_throughput: jain_of(present().map(|(flow, _)| flow.throughput_bps)),
        worst_share: rates().map(|flow| flow.share()).reduce(f64::min).unwrap_or(1.0),
        group_share: groups.iter().map(|(name, group)| (name.to_string(), group.share())).collect(),
        group_fraction: groups
            .iter()
            .map(|(name, group)| (name.to_string(), group.fraction(total)))
            .collect(),
    }
}

#[derive(Clone, Copy, Default)]
struct Rates {
    got: f64,
    fair: f64,
}

impl Rates {
    fn of(flow: &FlowRecord, (fair, part): (f64, f64)) -> Self {
        Rates { got: flow.throughput_bps * part, fair: fair * part }
    }

    fn share(self) -> f64 {
        if self.fair > 0.0 { self.got / self.fair } else { 1.0 }
    }

    fn fraction(self, total: f64) -> f64 {
        if total > 0.0 { self.got / total } else { 0.0 }
    }
}

fn claim(flow: &FlowRecord) -> Claim {
    flow.offered_bps.map_or(Claim::GREEDY, Claim::up_to)
}

fn by_group<'a>(flows: impl Iterator<Item = (&'a FlowRecord, Rates)>) -> BTreeMap<&'a str, Rates> {
    let mut groups: BTreeMap<&str, Rates> = BTreeMap::new();
    for (flow, rates) in flows {
        let group = groups.entry(&flow.group).or_default();
        group.got += rates.got;
        group.fair += rates.fair;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_name::FlowName;

    fn flow(group: &str, offered_bps: Option<f64>, throughput_bps: f64) -> FlowRecord {
        FlowRecord {
            name: FlowName::numbered(group, 1),
            group: group.into(),
            kind: "a source".into(),
            offered_bps,
            throughput_bps,
            goodput_bps: throughput_bps,
            packets_sent: 0,
            packets_dropped: 0,
            packets_marked: 0,
            packets_lost: None,
            timeouts: None,
            loss_episodes: None,
            timeout_episodes: None,
            start_s: None,
            access_delay_s: None,
            base_rtt_s: None,
            fair_bps: None,
            delivered_bytes: None,
        }
    }

    /// FABA's base scenario, on a link of 10 Mbit/s. Each fair share is 1 Mbit/s.
    fn selfish(each_tcp: f64, cbr: f64) -> Vec<FlowRecord> {
        let mut flows = vec![flow("tcp", None, each_tcp); 9];
        flows.push(flow("cbr", Some(5e6), cbr));
        flows
    }

    #[test]
    fn the_share_of_the_tcp_group_matches_table_1_of_faba() {
        // The rates are those of RED in the ns-2 calibration.
        let actual = assess(&selfish(0.558e6, 4.978e6), 10e6);
        assert!((actual.group_share["tcp"] - 0.558).abs() < 1e-12, "{actual:?}");
        assert!((actual.group_share["cbr"] - 4.978).abs() < 1e-12, "{actual:?}");
        assert!((actual.group_fraction["tcp"] - 0.5022).abs() < 1e-12, "{actual:?}");
        assert!((actual.worst_share - 0.558).abs() < 1e-12, "{actual:?}");
    }

    #[test]
    fn network_shares_are_relative_to_the_fair_rate_of_each_route() {
        // An access link limits `first` to 5 Mbit/s.
        let mut flows = [flow("long", None, 3e6), flow("first", None, 5e6), flow("second", None, 1.5e6)];
        let route = |links, max_bps| Route { links, max_bps, flows: 1 };
        let routes = [route(&[0, 1][..], 1e9), route(&[0], 5e6), route(&[1], 1e9)];
        let actual = assess_network(&mut flows, &routes, &[10e6, 6e6]);
        assert_eq!(flows.map(|flow| flow.fair_bps), [Some(3e6), Some(5e6), Some(3e6)]);
        assert_eq!((actual.group_share["long"], actual.group_share["first"]), (1.0, 1.0));
        assert_eq!((actual.group_share["second"], actual.worst_share), (0.5, 0.5));
    }

    #[test]
    fn equal_fair_shares_are_fair() {
        let actual = assess(&selfish(1e6, 1e6), 10e6);
        assert_eq!((actual.jain, actual.jain_throughput, actual.worst_share), (1.0, 1.0, 1.0));
        assert_eq!(actual.group_share.values().copied().collect::<Vec<_>>(), [1.0, 1.0]);
    }

    #[test]
    fn a_flow_with_a_small_demand_is_compared_with_that_demand() {
        let flows = [flow("tcp", None, 8e6), flow("call", Some(1e6), 0.5e6)];
        let actual = assess(&flows, 10e6);
        assert_eq!(actual.worst_share, 0.5);
        assert!((actual.group_share["tcp"] - 8.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn jain_is_one_when_all_get_their_fair_share_despite_small_demands() {
        // Each `bulk` flow gets half of what the `web` flows leave: (10 - 3 × 0.1) / 2 = 4.85
        // Mbit/s.
        let mut flows = vec![flow("web", Some(0.1e6), 0.1e6); 3];
        flows.extend(vec![flow("bulk", None, 4.85e6); 2]);
        let actual = assess(&flows, 10e6);
        assert!((actual.jain - 1.0).abs() < 1e-12, "{actual:?}"); // rounding
        // Jain's index is sum^2 / (5 × sum of squares), and 4.85^2 is 23.5225.
        assert!(
            (actual.jain_throughput - 100.0 / (5.0 * (2.0 * 23.5225 + 0.03))).abs() < 1e-12,
            "{actual:?}"
        );
        flows[0].throughput_bps = 0.0; // one with a small demand gets nothing
        let starved = assess(&flows, 10e6);
        assert!((starved.jain - 0.8).abs() < 1e-12, "{starved:?}");
        assert!(
            (starved.jain_throughput - actual.jain_throughput).abs() < 0.02,
            "which that one does not see"
        );
    }

    #[test]
    fn one_starved_flow_shows_in_the_worst_share_of_an_otherwise_fair_group() {
        let flows = [flow("tcp", None, 6e6), flow("tcp", None, 0.0)];
        let actual = assess(&flows, 6e6);
        assert_eq!((actual.worst_share, actual.group_share["tcp"], actual.jain), (0.0, 1.0, 0.5));
    }

    #[test]
    fn flows_that_offer_or_get_nothing_leave_no_hole_in_the_record() {
        let silent = assess(&[flow("cbr", Some(0.0), 0.0)], 10e6);
        assert_eq!(
            (silent.worst_share, silent.group_share["cbr"], silent.group_fraction["cbr"]),
            (1.0, 1.0, 0.0)
        );
        let none = assess(&[], 10e6);
        assert_eq!((none.jain, none.worst_share), (1.0, 1.0));
        assert!(none.group_share.is_empty());
    }
}

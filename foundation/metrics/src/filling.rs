//! The max-min allocation over several links, by progressive filling.
//!
//! All rates rise in proportion to weight. A flow stops at its demand, or when a link on its route
//! is full. Source: Bertsekas and Gallager, *Data Networks*, 2nd edition, 1992, section 6.5.2.

use crate::max_min::Claim;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// One or several equal flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Routed<'a> {
    /// The claim of each flow.
    pub claim: Claim,
    /// Indices of the links on the route, each once.
    pub links: &'a [usize],
    /// The number of equal flows.
    pub flows: usize,
}

/// For each entry of `flows`, the max-min share of one flow. The unit is that of `capacities`,
/// which has one entry per link.
///
/// A flow without links gets its demand. The work grows more slowly than flows times links.
///
/// # Panics
/// If a demand is negative or not a number, or a weight is not finite and above zero. If a capacity
/// is negative or not finite, or a flow names an unknown link.
pub fn fill(flows: &[Routed<'_>], capacities: &[f64]) -> Vec<f64> {
    assert!(capacities.iter().all(|c| c.is_finite() && *c >= 0.0), "a capacity cannot be shared");
    for Claim { demand, weight } in flows.iter().map(|flow| flow.claim) {
        assert!(demand >= 0.0, "a demand of {demand} is not zero or more");
        assert!(weight.is_finite() && weight > 0.0, "a weight of {weight} is not finite and above zero");
    }
    let mut filling = Filling::new(flows, capacities);
    let mut wants = Wants::new(flows);
    while let Some(&(Level(level), fullest)) = filling.rising.first() {
        let met = wants.met(level, &filling);
        if met.is_empty() {
            let held = filling.flows_of[fullest].iter().copied();
            let held: Vec<usize> = held.filter(|at| filling.shares[*at].is_none()).collect();
            filling.settle(held.into_iter().map(|at| (at, flows[at].claim.weight * level)));
        } else {
            filling.settle(met.into_iter().map(|at| (at, flows[at].claim.demand)));
        }
    }
    let shares = filling.shares.into_iter().zip(flows);
    shares.map(|(share, flow)| share.unwrap_or(flow.claim.demand)).collect()
}

/// A rate per weight. The rising flows of a link fill the link when they reach the link's level.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Level(f64);

impl Eq for Level {}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Level {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

struct Filling<'a> {
    flows: &'a [Routed<'a>],
    capacities: &'a [f64],
    /// Each link's flows, in order.
    flows_of: Vec<Vec<usize>>,
    /// Each flow's final share; `None` while the flow rises.
    shares: Vec<Option<f64>>,
    /// Each link's level; `None` without a rising flow.
    levels: Vec<Option<Level>>,
    rising: BTreeSet<(Level, usize)>,
}

impl<'a> Filling<'a> {
    fn new(flows: &'a [Routed<'a>], capacities: &'a [f64]) -> Self {
        let mut flows_of = vec![Vec::new(); capacities.len()];
        for (at, flow) in flows.iter().enumerate() {
            flow.links.iter().for_each(|link| flows_of[*link].push(at));
        }
        let (shares, levels) = (vec![None; flows.len()], vec![None; capacities.len()]);
        let mut filling = Filling { flows, capacities, flows_of, shares, levels, rising: BTreeSet::new() };
        (0..capacities.len()).for_each(|link| filling.see(link));
        filling
    }

    fn see(&mut self, link: usize) {
        let (mut left, mut weights) = (self.capacities[link], 0.0);
        // Equal flows, too, are counted one by one, because a product would be rounded differently
        // from a sum.
        for at in &self.flows_of[link] {
            let Routed { claim, flows, .. } = &self.flows[*at];
            for _ in 0..*flows {
                match self.shares[*at] {
                    Some(share) => left -= share,
                    None => weights += claim.weight,
                }
            }
        }
        // Rounding can make `left` negative.
        let level = (weights > 0.0).then(|| Level(left.max(0.0) / weights));
        let before = std::mem::replace(&mut self.levels[link], level);
        before.map(|level| self.rising.remove(&(level, link)));
        level.map(|level| self.rising.insert((level, link)));
    }

    fn settle(&mut self, flows: impl Iterator<Item = (usize, f64)>) {
        let mut touched = BTreeSet::new();
        for (at, share) in flows {
            self.shares[at] = Some(share);
            touched.extend(self.flows[at].links);
        }
        touched.into_iter().for_each(|link| self.see(link));
    }
}

/// The flows with a finite demand, each with the level that meets the demand. The highest level is
/// first.
struct Wants(Vec<(Level, usize)>);

impl Wants {
    fn new(flows: &[Routed<'_>]) -> Self {
        let finite = flows.iter().enumerate().filter(|(_, flow)| flow.claim.demand.is_finite());
        let mut wants: Vec<_> =
            finite.map(|(at, flow)| (Level(flow.claim.demand / flow.claim.weight), at)).collect();
        wants.sort_unstable_by(|one, other| other.cmp(one));
        Wants(wants)
    }

    fn met(&mut self, level: f64, filling: &Filling<'_>) -> Vec<usize> {
        // `enough` is rounded, so the product of weight and level decides.
        let (mut met, mut kept) = (Vec::new(), Vec::new());
        while let Some((enough, at)) = self.0.pop_if(|(enough, _)| enough.0 <= level * (1.0 + 1e-9)) {
            let Claim { demand, weight } = filling.flows[at].claim;
            match filling.shares[at] {
                Some(_) => {}
                None if demand <= weight * level => met.push(at),
                None => kept.push((enough, at)),
            }
        }
        self.0.extend(kept.into_iter().rev());
        met
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::max_min::max_min;
    use proptest::prelude::*;

    const GREEDY: Claim = Claim::GREEDY;

    fn shares(flows: &[(Claim, &[usize])], capacities: &[f64]) -> Vec<f64> {
        let one = |&(claim, links)| Routed { claim, links, flows: 1 };
        let flows: Vec<Routed<'_>> = flows.iter().map(one).collect();
        fill(&flows, capacities)
    }

    #[test]
    fn grouped_flows_get_the_same_shares_as_single_flows() {
        let kinds = [(GREEDY, &[0][..], 7), (Claim::up_to(0.1), &[0, 1], 3), (GREEDY, &[1], 11)];
        let one_by_one: Vec<_> =
            kinds.iter().flat_map(|&(claim, links, flows)| vec![(claim, links); flows]).collect();
        let together: Vec<_> =
            kinds.iter().map(|&(claim, links, flows)| Routed { claim, links, flows }).collect();
        let each = fill(&together, &[1.0, 3.0]).into_iter().zip(kinds);
        let expected: Vec<f64> = each.flat_map(|(share, kind)| vec![share; kind.2]).collect();
        assert_eq!(shares(&one_by_one, &[1.0, 3.0]), expected);
    }

    #[test]
    fn in_a_parking_lot_the_long_flow_gets_half_of_the_slowest_link() {
        let flows = [(GREEDY, &[0, 1, 2][..]), (GREEDY, &[0]), (GREEDY, &[1]), (GREEDY, &[2])];
        assert_eq!(shares(&flows, &[10.0, 6.0, 10.0]), [3.0, 7.0, 3.0, 7.0]);
    }

    #[test]
    fn capacity_that_a_flow_cannot_use_goes_to_its_neighbours() {
        // Bertsekas and Gallager, figure 6.16.
        let flows = [(GREEDY, &[0][..]), (GREEDY, &[0]), (GREEDY, &[0, 1]), (GREEDY, &[1])];
        let third = 1.0 / 3.0;
        assert_eq!(shares(&flows, &[1.0, 1.0]), [third, third, third, 1.0 - third]);
        let small = [(Claim::up_to(0.1), &[0][..]), (GREEDY, &[0, 1]), (Claim::up_to(0.3), &[1])];
        assert_eq!(shares(&small, &[1.0, 1.0]), [0.1, 0.7, 0.3]);
    }

    #[test]
    fn weights_count_and_a_flow_without_links_gets_its_demand() {
        let flows = [(Claim { weight: 3.0, ..GREEDY }, &[0][..]), (GREEDY, &[0]), (Claim::up_to(9.0), &[])];
        assert_eq!(shares(&flows, &[8.0]), [6.0, 2.0, 9.0]);
    }

    fn step_by_step(flows: &[Routed<'_>], capacities: &[f64]) -> Vec<f64> {
        let mut shares: Vec<Option<f64>> = vec![None; flows.len()];
        loop {
            let (mut left, mut weights) = (capacities.to_vec(), vec![0.0; capacities.len()]);
            for (flow, share) in flows.iter().zip(&shares) {
                for _ in 0..flow.flows {
                    for &link in flow.links {
                        match share {
                            Some(share) => left[link] -= share,
                            None => weights[link] += flow.claim.weight,
                        }
                    }
                }
            }
            let levels = left.iter().zip(&weights).enumerate().filter(|(_, (_, weight))| **weight > 0.0);
            let levels = levels.map(|(link, (left, weight))| (link, left.max(0.0) / weight));
            let Some((fullest, level)) = levels.min_by(|one, other| one.1.total_cmp(&other.1)) else { break };
            let is_met = |flow: &Routed<'_>| flow.claim.demand <= flow.claim.weight * level;
            let is_one_met = flows.iter().zip(&shares).any(|(flow, share)| share.is_none() && is_met(flow));
            for (flow, share) in flows.iter().zip(&mut shares).filter(|(_, share)| share.is_none()) {
                if is_one_met && is_met(flow) {
                    *share = Some(flow.claim.demand);
                } else if !is_one_met && flow.links.contains(&fullest) {
                    *share = Some(flow.claim.weight * level);
                }
            }
        }
        shares.iter().zip(flows).map(|(share, flow)| share.unwrap_or(flow.claim.demand)).collect()
    }

    fn claim() -> impl Strategy<Value = Claim> {
        let demand = prop_oneof![2 => 0.0..20.0, 2 => Just(f64::INFINITY), 1 => Just(0.0)];
        (demand, 0.1..10.0).prop_map(|(demand, weight)| Claim { demand, weight })
    }

    proptest! {
        #[test]
        fn it_gives_the_same_bits_as_the_plain_algorithm(
            flows in prop::collection::vec((claim(), prop::collection::btree_set(0..6usize, 0..4), 1..4usize), 0..40),
            capacities in prop::collection::vec(prop_oneof![0.0..50.0, Just(10.0)], 6),
        ) {
            let flows: Vec<(Claim, Vec<usize>, usize)> =
                flows.into_iter().map(|(claim, links, flows)| (claim, links.into_iter().collect(), flows)).collect();
            let routed: Vec<_> =
                flows.iter().map(|(claim, links, flows)| Routed { claim: *claim, links, flows: *flows }).collect();
            prop_assert_eq!(fill(&routed, &capacities), step_by_step(&routed, &capacities));
        }

        #[test]
        fn one_link_is_shared_as_by_water_filling(
            claims in prop::collection::vec(claim(), 0..30), capacity in 0.0..100.0,
        ) {
            let flows: Vec<_> = claims.iter().map(|&claim| (claim, &[0][..])).collect();
            for (ours, theirs) in shares(&flows, &[capacity]).iter().zip(max_min(&claims, capacity)) {
                // The rounding error is far below 1e-9: sums have at most 30 terms, each at most
                // 100.
                prop_assert!((ours - theirs).abs() < 1e-9, "{ours} and {theirs}");
            }
        }

        /// A flow with unmet demand uses a full link on which no flow has a larger share per
        /// weight.
        #[test]
        fn shares_over_links_are_max_min_fair_by_definition(
            flows in prop::collection::vec((claim(), prop::collection::btree_set(0usize..4, 1..4)), 0..20),
            capacities in prop::collection::vec(0.0..50.0, 4),
        ) {
            let ways: Vec<Vec<usize>> = flows.iter().map(|(_, links)| links.iter().copied().collect()).collect();
            let routed: Vec<_> = flows.iter().zip(&ways).map(|((claim, _), way)| (*claim, &way[..])).collect();
            let shares = shares(&routed, &capacities);
            let slack = 1e-9 * 50.0; // rounding, as above
            let on = |link: usize| (0..flows.len()).filter(move |&at| routed[at].1.contains(&link));
            let used: Vec<f64> = (0..4).map(|link| on.clone()(link).map(|at| shares[at]).sum()).collect();
            for (used, capacity) in used.iter().zip(&capacities) {
                prop_assert!(*used <= capacity + slack);
            }
            for (at, (claim, _)) in flows.iter().enumerate() {
                prop_assert!(shares[at] >= 0.0 && shares[at] <= claim.demand + slack);
                let level = shares[at] / claim.weight;
                let is_highest = |link: usize| on.clone()(link).all(|other| {
                    shares[other] / flows[other].0.weight <= level + slack / 0.1
                });
                let is_held = ways[at].iter().any(|&link| used[link] >= capacities[link] - slack && is_highest(link));
                prop_assert!(is_held || shares[at] >= claim.demand - slack, "flow {at} of {shares:?}");
            }
        }
    }
}

//! The max-min allocation over several links, by progressive filling.
//!
//! All flows rise together, each in proportion to its weight, until it has its demand or a link on
//! its route is full. Source: Bertsekas and Gallager, *Data Networks*, 2nd edition, 1992, section
//! 6.5.2.

use crate::max_min::Claim;

/// One flow, or several equal ones: the claim of each, and the indices of the links on its route,
/// each once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Routed<'a> {
    /// The claim of each flow.
    pub claim: Claim,
    /// The links on its route.
    pub links: &'a [usize],
    /// The number of equal flows.
    pub flows: usize,
}

/// The max-min shares of `flows`, in their order and in the unit of `capacities`, which has one
/// entry per link. For several equal flows it is the share of each.
///
/// A flow without links gets its demand. Takes a pass over all flows per link that fills up, and
/// one whenever the level of the fullest link rises because flows there wanted less.
///
/// # Panics
/// When a demand is negative or not a number, a weight is not finite and above zero, or a capacity
/// is negative or not finite. Also when a flow names an unknown link.
pub fn fill(flows: &[Routed<'_>], capacities: &[f64]) -> Vec<f64> {
    assert!(capacities.iter().all(|c| c.is_finite() && *c >= 0.0), "a capacity cannot be shared");
    for Claim { demand, weight } in flows.iter().map(|flow| flow.claim) {
        assert!(demand >= 0.0, "a demand of {demand} is not zero or more");
        assert!(weight.is_finite() && weight > 0.0, "a weight of {weight} is not finite and above zero");
    }
    let mut shares = vec![None; flows.len()];
    loop {
        let levels = levels(flows, capacities, &shares);
        let Some((fullest, level)) = lowest(&levels) else { break };
        let is_met = |flow: &Routed<'_>| flow.claim.demand <= flow.claim.weight * level;
        let open = || shares.iter().zip(flows).enumerate().filter(|(_, (share, _))| share.is_none());
        let met: Vec<usize> = open().filter(|(_, (_, flow))| is_met(flow)).map(|(at, _)| at).collect();
        if met.is_empty() {
            let held = open().filter(|(_, (_, flow))| flow.links.contains(&fullest)).map(|(at, _)| at);
            held.collect::<Vec<_>>()
                .into_iter()
                .for_each(|at| shares[at] = Some(flows[at].claim.weight * level));
        } else {
            met.into_iter().for_each(|at| shares[at] = Some(flows[at].claim.demand));
        }
    }
    shares.iter().zip(flows).map(|(share, flow)| share.unwrap_or(flow.claim.demand)).collect()
}

/// The level, per unit of weight, that the rising flows of each link can reach together; `None`
/// where none is rising.
fn levels(flows: &[Routed<'_>], capacities: &[f64], shares: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut left = capacities.to_vec();
    let mut weights = vec![0.0; capacities.len()];
    // One by one, also for equal flows: a sum of floats depends on its order.
    let each = flows.iter().zip(shares).flat_map(|one| std::iter::repeat_n(one, one.0.flows));
    for (flow, share) in each {
        for &link in flow.links {
            match share {
                Some(share) => left[link] -= share,
                None => weights[link] += flow.claim.weight,
            }
        }
    }
    // Rounding must not lend what is not there.
    let level = |(left, weight): (f64, f64)| (weight > 0.0).then(|| left.max(0.0) / weight);
    left.into_iter().zip(weights).map(level).collect()
}

fn lowest(levels: &[Option<f64>]) -> Option<(usize, f64)> {
    let known = levels.iter().enumerate().filter_map(|(link, level)| Some((link, (*level)?)));
    known.min_by(|(_, a), (_, b)| a.total_cmp(b))
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
    fn several_that_are_alike_get_what_they_get_one_by_one() {
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
    fn what_a_flow_cannot_use_elsewhere_goes_to_those_beside_it() {
        // Bertsekas and Gallager, figure 6.16, in kind: three flows share the first link, one of
        // them and another the second.
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

    fn claim() -> impl Strategy<Value = Claim> {
        let demand = prop_oneof![2 => 0.0..20.0, 2 => Just(f64::INFINITY), 1 => Just(0.0)];
        (demand, 0.1..10.0).prop_map(|(demand, weight)| Claim { demand, weight })
    }

    proptest! {
        #[test]
        fn one_link_is_shared_as_by_water_filling(
            claims in prop::collection::vec(claim(), 0..30), capacity in 0.0..100.0,
        ) {
            let flows: Vec<_> = claims.iter().map(|&claim| (claim, &[0][..])).collect();
            for (ours, theirs) in shares(&flows, &[capacity]).iter().zip(max_min(&claims, capacity)) {
                // Sums of 30 terms, each off by 2^-53, of numbers up to 100.
                prop_assert!((ours - theirs).abs() < 1e-9, "{ours} and {theirs}");
            }
        }

        /// The definition: feasible, and a flow with more demand meets a full link on which no flow
        /// has more per weight.
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

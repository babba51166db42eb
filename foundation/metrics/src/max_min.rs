//! The max-min oracle: the weighted fair share of each flow of a link, by water-filling.
//!
//! Source: Bertsekas and Gallager, *Data Networks*, 2nd edition, 1992, section 6.5.2.

/// The claim of one flow or class on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// The demand, in the unit of the capacity; [`f64::INFINITY`] if greedy.
    pub demand: f64,
    /// The weight among siblings, finite and above zero.
    pub weight: f64,
}

impl Claim {
    /// A greedy claim of weight 1.
    pub const GREEDY: Claim = Claim { demand: f64::INFINITY, weight: 1.0 };

    /// A claim of weight 1 with a `demand`.
    pub const fn up_to(demand: f64) -> Self {
        Claim { demand, weight: 1.0 }
    }
}

/// The max-min shares of `capacity`, in its unit and in the order of `claims`. Takes O(n log n).
///
/// # Panics
/// If a demand is negative or not a number, a weight is not finite and above zero, or the capacity
/// is negative or not finite.
pub fn max_min(claims: &[Claim], capacity: f64) -> Vec<f64> {
    assert!(capacity.is_finite() && capacity >= 0.0, "a capacity of {capacity} cannot be shared");
    let order = by_demand(claims);
    let weight_from = suffix_sums(&order, claims);
    let mut shares = vec![0.0; claims.len()];
    let mut left = capacity;
    for (rank, &i) in order.iter().enumerate() {
        let level = left / weight_from[rank];
        let Claim { demand, weight } = claims[i];
        if demand > weight * level {
            order[rank..].iter().for_each(|&j| shares[j] = claims[j].weight * level);
            break;
        }
        shares[i] = demand;
        left = (left - demand).max(0.0); // rounding must not create capacity
    }
    shares
}

fn by_demand(claims: &[Claim]) -> Vec<usize> {
    let height = |i: usize| claims[i].demand / claims[i].weight;
    for Claim { demand, weight } in claims {
        assert!(*demand >= 0.0, "a demand of {demand} is not zero or more");
        assert!(weight.is_finite() && *weight > 0.0, "a weight of {weight} is not finite and above zero");
    }
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_by(|&a, &b| height(a).total_cmp(&height(b)));
    order
}

/// The sum of the weights from each rank to the last. Summing from the end keeps the rounding
/// errors of earlier weights out.
fn suffix_sums(order: &[usize], claims: &[Claim]) -> Vec<f64> {
    let mut sums = vec![0.0; order.len()];
    let mut sum = 0.0;
    for (rank, &i) in order.iter().enumerate().rev() {
        sum += claims[i].weight;
        sums[rank] = sum;
    }
    sums
}

/// Hierarchical max-min fairness by its recursive definition: the reference for
/// [`class_shares`](crate::class_shares::class_shares).
#[cfg(test)]
pub(crate) mod oracle {
    use super::{Claim, max_min};

    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Node {
        /// Finite and above zero.
        pub weight: f64,
        pub kind: Kind,
    }

    #[derive(Clone, Debug, PartialEq)]
    pub(crate) enum Kind {
        /// A flow.
        Flow {
            /// The demand; [`f64::INFINITY`] if the flow is greedy.
            demand: f64,
        },
        /// A class claims the sum of its members' claims.
        Class(Vec<Node>),
    }

    impl Node {
        pub(crate) const fn flow(demand: f64) -> Self {
            Node { weight: 1.0, kind: Kind::Flow { demand } }
        }

        pub(crate) const fn class(members: Vec<Node>) -> Self {
            Node { weight: 1.0, kind: Kind::Class(members) }
        }

        pub(crate) fn weighing(self, weight: f64) -> Self {
            Node { weight, ..self }
        }

        pub(crate) fn demand(&self) -> f64 {
            match &self.kind {
                Kind::Flow { demand } => *demand,
                Kind::Class(members) => members.iter().map(Node::demand).sum(),
            }
        }
    }

    /// The hierarchical max-min shares of `capacity` among the flows under `root`, in their order.
    ///
    /// # Panics
    /// As [`max_min`] does.
    pub(crate) fn hierarchical(root: &Node, capacity: f64) -> Vec<f64> {
        let mut shares = Vec::new();
        let granted = max_min(&[Claim { demand: root.demand(), weight: root.weight }], capacity);
        pour(root, granted[0], &mut shares);
        shares
    }

    fn pour(node: &Node, granted: f64, shares: &mut Vec<f64>) {
        let Kind::Class(members) = &node.kind else {
            shares.push(granted);
            return;
        };
        let claims: Vec<Claim> =
            members.iter().map(|member| Claim { demand: member.demand(), weight: member.weight }).collect();
        for (member, granted) in members.iter().zip(max_min(&claims, granted)) {
            pour(member, granted, shares);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::oracle::{Kind, Node, hierarchical};
    use super::*;
    use proptest::prelude::*;

    /// Tolerance relative to the capacity, far above the rounding errors.
    const ROUNDING: f64 = 1e-9;

    #[test]
    fn afd_figure_6_gives_325_kbit_per_second_to_the_two_groups_above_the_fair_share() {
        let rates = [50e3, 100e3, 200e3, 400e3, 600e3];
        let claims: Vec<Claim> = rates.iter().flat_map(|&rate| [Claim::up_to(rate); 10]).collect();
        let shares = max_min(&claims, 10e6);
        for (group, expected) in [50e3, 100e3, 200e3, 325e3, 325e3].iter().enumerate() {
            for share in &shares[group * 10..group * 10 + 10] {
                assert!((share - expected).abs() < 10e6 * ROUNDING, "group {group}: {share}");
            }
        }
    }

    #[test]
    fn faba_figure_19_gives_5_5_and_10_mbit_per_second_to_its_classes() {
        let root = Node::class(vec![
            Node::class(vec![Node::flow(50e3); 400]),
            Node::class(vec![
                Node::class(vec![Node::flow(15e3); 400]),
                Node::class(vec![Node::flow(f64::INFINITY); 200]).weighing(2.0),
            ])
            .weighing(3.0),
        ]);
        let shares = hierarchical(&root, 20e6);
        let sums = [&shares[..400], &shares[400..800], &shares[800..]].map(|class| class.iter().sum::<f64>());
        for (sum, expected) in sums.iter().zip([5e6, 5e6, 10e6]) {
            assert!((sum - expected).abs() < 20e6 * ROUNDING, "{sums:?}");
        }
    }

    #[test]
    fn unused_capacity_of_a_class_goes_to_its_siblings() {
        let root = Node::class(vec![
            Node::class(vec![Node::flow(1.0), Node::flow(1.0)]),
            Node::class(vec![Node::flow(f64::INFINITY), Node::flow(2.0)]),
        ]);
        assert_eq!(hierarchical(&root, 10.0), [1.0, 1.0, 6.0, 2.0]);
    }

    #[test]
    fn greedy_claims_share_by_weight_and_small_ones_are_met() {
        let claims = [Claim { weight: 3.0, ..Claim::GREEDY }, Claim::up_to(2.0), Claim::GREEDY];
        assert_eq!(max_min(&claims, 10.0), [6.0, 2.0, 2.0]);
    }

    #[test]
    fn a_link_without_capacity_or_claims_gives_nothing() {
        assert_eq!(max_min(&[Claim::GREEDY, Claim::up_to(0.0)], 0.0), [0.0, 0.0]);
        assert!(max_min(&[], 10.0).is_empty());
        assert!(hierarchical(&Node::class(vec![]), 10.0).is_empty());
    }

    fn claim() -> impl Strategy<Value = Claim> {
        let demand = prop_oneof![3 => 0.0..20.0, 1 => Just(f64::INFINITY), 1 => Just(0.0), 1 => Just(4.0)];
        let weight = prop_oneof![Just(1.0), 0.01..10.0];
        (demand, weight).prop_map(|(demand, weight)| Claim { demand, weight })
    }

    fn node() -> impl Strategy<Value = Node> {
        let flow = claim().prop_map(|c| Node::flow(c.demand).weighing(c.weight));
        flow.prop_recursive(3, 40, 5, |inner| {
            (prop::collection::vec(inner, 0..5), 0.01..10.0)
                .prop_map(|(members, weight)| Node::class(members).weighing(weight))
        })
    }

    /// Checks the definition: shares are feasible and work-conserving, and no claim has a larger
    /// share per weight than a claim with unmet demand.
    fn check_definition(claims: &[Claim], shares: &[f64], capacity: f64) -> Result<(), TestCaseError> {
        let slack = ROUNDING * capacity.max(1.0);
        let given: f64 = shares.iter().sum();
        let wanted: f64 = claims.iter().map(|c| c.demand).sum();
        prop_assert!((given - wanted.min(capacity)).abs() <= slack, "{given} of {capacity} given");
        for (c, &share) in claims.iter().zip(shares) {
            prop_assert!(share >= 0.0 && share <= c.demand + slack);
            if share >= c.demand - slack {
                continue;
            }
            for (other, &richer) in claims.iter().zip(shares) {
                // Dividing by a tiny weight would magnify the rounding error.
                let gain = richer * c.weight - share * other.weight;
                prop_assert!(gain <= slack * (c.weight + other.weight), "{richer} next to {share}");
            }
        }
        Ok(())
    }

    /// Returns the number of flows, and the sum of their shares.
    fn check_tree(node: &Node, shares: &[f64]) -> Result<(usize, f64), TestCaseError> {
        let Kind::Class(members) = &node.kind else {
            return Ok((1, shares[0]));
        };
        let (mut taken, mut sums) = (0, Vec::new());
        for member in members {
            let (flows, sum) = check_tree(member, &shares[taken..])?;
            taken += flows;
            sums.push(sum);
        }
        let claims: Vec<Claim> =
            members.iter().map(|m| Claim { demand: m.demand(), weight: m.weight }).collect();
        let granted = sums.iter().sum();
        check_definition(&claims, &sums, granted)?;
        Ok((taken, granted))
    }

    proptest! {
        #[test]
        fn shares_are_max_min_fair_by_definition(
            claims in prop::collection::vec(claim(), 0..40), capacity in 0.0..200.0,
        ) {
            check_definition(&claims, &max_min(&claims, capacity), capacity)?;
        }

        #[test]
        fn every_class_of_a_tree_is_shared_max_min_fairly(root in node(), capacity in 0.0..200.0) {
            let shares = hierarchical(&root, capacity);
            let (flows, given) = check_tree(&root, &shares)?;
            prop_assert_eq!(flows, shares.len());
            prop_assert!((given - root.demand().min(capacity)).abs() <= ROUNDING * capacity.max(1.0));
        }
    }
}

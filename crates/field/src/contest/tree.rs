//! The oracle's tree: the classes of a contest with its flows in their places.

use crate::config::Branch;
use fairwire_core::{ClassTerms, Weight};
use fairwire_metrics::class_shares::class_shares;
use std::collections::BTreeMap;

/// A flow for the oracle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Claimant {
    /// The leaf that it is in, or the host where hosts share; none under the root.
    pub leaf: Option<usize>,
    /// The most that it can use, bit/s.
    pub demand: f64,
}

/// What weighted max-min fairness gives each of `claimants` of `capacity`.
///
/// Classes share by weight among siblings, and the flows of a leaf evenly. Those without a leaf are together in one class
/// under the root, of weight 1, as the gateway has them; where there are no classes all flows are under the root, or each host with its flows.
pub(super) fn fair_shares(branches: &[Branch], claimants: &[Claimant], capacity: f64) -> Vec<f64> {
    let mut tree: Vec<ClassTerms> = Vec::new();
    let mut names = BTreeMap::new();
    for branch in branches {
        let parent = branch.parent.map(|parent| names[parent]);
        names.insert(branch.name, tree.len() as u32);
        let weight = Weight::new(branch.weight).expect("cases have weights that the gateway allows");
        tree.push(ClassTerms::new(parent).with_weight(weight));
    }
    // Hosts, and what is nobody's beside classes, get classes of their own, of weight 1.
    let mut others = BTreeMap::new();
    let mut class_of = |leaf: Option<usize>, tree: &mut Vec<ClassTerms>| match leaf {
        Some(leaf) if !branches.is_empty() => Some(leaf as u32),
        None if branches.is_empty() => None,
        other => Some(*others.entry(other).or_insert_with(|| {
            tree.push(ClassTerms::new(None));
            tree.len() as u32 - 1
        })),
    };
    let parents: Vec<_> = claimants.iter().map(|claimant| class_of(claimant.leaf, &mut tree)).collect();
    let flows = tree.len();
    tree.extend(parents.into_iter().map(ClassTerms::new));
    let demands = claimants.iter().map(|claimant| claimant.demand);
    let offered: Vec<f64> = std::iter::repeat_n(0.0, flows).chain(demands).collect();
    class_shares(&tree, &offered, capacity).split_off(flows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(
        name: &'static str,
        parent: Option<&'static str>,
        weight: f64,
        subscribers: Option<u8>,
    ) -> Branch {
        Branch { name, parent, weight, subscribers }
    }

    #[test]
    fn a_tree_is_shared_level_by_level_and_nobodys_flows_stand_under_the_root() {
        let branches = [
            branch("a", None, 1.0, Some(1)),
            branch("b", None, 2.0, None),
            branch("b1", Some("b"), 1.0, Some(2)),
            branch("b2", Some("b"), 3.0, Some(3)),
        ];
        let greedy = |leaf| Claimant { leaf, demand: f64::INFINITY };
        let claimants = [greedy(Some(3)), greedy(Some(0)), greedy(Some(2)), greedy(Some(0)), greedy(None)];
        assert_eq!(fair_shares(&branches, &claimants, 80.0), [30.0, 10.0, 10.0, 10.0, 20.0]);
    }

    #[test]
    fn hosts_share_evenly_whatever_the_number_of_their_flows() {
        let greedy = |host| Claimant { leaf: Some(host), demand: f64::INFINITY };
        let light = Claimant { leaf: Some(0), demand: 1.0 };
        let claimants = [greedy(2), light, greedy(1), greedy(1), greedy(1)];
        assert_eq!(fair_shares(&[], &claimants, 73.0), [36.0, 1.0, 12.0, 12.0, 12.0]);
    }

    #[test]
    fn without_classes_flows_share_evenly() {
        let claimants =
            [Claimant { leaf: None, demand: 2.0 }, Claimant { leaf: None, demand: f64::INFINITY }];
        assert_eq!(fair_shares(&[], &claimants, 10.0), [2.0, 8.0]);
    }
}

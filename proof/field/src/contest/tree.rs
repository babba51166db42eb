//! The oracle's tree: the classes of a contest, with its flows.

use fairwire_core::{ClassTerms, Weight};
use fairwire_metrics::class_shares::class_shares;
use fairwire_service::config::spec::ClassSpec;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Claimant {
    /// The claimant's leaf, or its host if each host has a share. `None` for an unclaimed flow, or
    /// if there are neither classes nor shares of hosts.
    pub leaf: Option<usize>,
    /// Its demand, bit/s.
    pub demand: f64,
}

/// The weighted max-min fair share of each of `claimants` in `capacity`.
///
/// As in the gateway, flows without a leaf form one class of weight 1 under the root. Without
/// classes, all flows are under the root, or grouped by host.
pub(super) fn fair_shares(classes: &[ClassSpec], claimants: &[Claimant], capacity: f64) -> Vec<f64> {
    let place = |name: &String| classes.iter().position(|class| class.name == *name).map(|at| at as u32);
    let terms = |class: &ClassSpec| {
        let weight = Weight::new(class.weight.unwrap_or(1.0)).expect("a weight that the gateway allows");
        ClassTerms::new(class.parent.as_ref().and_then(place)).with_weight(weight)
    };
    let mut tree: Vec<ClassTerms> = classes.iter().map(terms).collect();
    // Without classes, each host gets a class of weight 1. Otherwise, all unclaimed flows share one
    // class.
    let mut others = BTreeMap::new();
    let mut class_of = |leaf: Option<usize>| match leaf {
        Some(leaf) if !classes.is_empty() => Some(leaf as u32),
        None if classes.is_empty() => None,
        other => Some(*others.entry(other).or_insert_with(|| {
            tree.push(ClassTerms::new(None));
            tree.len() as u32 - 1
        })),
    };
    let parents: Vec<_> = claimants.iter().map(|claimant| class_of(claimant.leaf)).collect();
    let flows = tree.len();
    tree.extend(parents.into_iter().map(ClassTerms::new));
    let demands = claimants.iter().map(|claimant| claimant.demand);
    let offered: Vec<f64> = std::iter::repeat_n(0.0, flows).chain(demands).collect();
    class_shares(&tree, &offered, capacity).split_off(flows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::class;

    #[test]
    fn a_tree_is_shared_level_by_level_with_unclaimed_flows_under_the_root() {
        let below = |parent: &str, class: ClassSpec| ClassSpec { parent: Some(parent.into()), ..class };
        let classes = [
            class("a".into(), 1.0),
            class("b".into(), 2.0),
            below("b", class("b1".into(), 1.0)),
            below("b", class("b2".into(), 3.0)),
        ];
        let greedy = |leaf| Claimant { leaf, demand: f64::INFINITY };
        let claimants = [greedy(Some(3)), greedy(Some(0)), greedy(Some(2)), greedy(Some(0)), greedy(None)];
        assert_eq!(fair_shares(&classes, &claimants, 80.0), [30.0, 10.0, 10.0, 10.0, 20.0]);
    }

    #[test]
    fn hosts_share_evenly_with_any_number_of_flows() {
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

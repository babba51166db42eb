//! Fair shares of the classes of a tree: weighted max-min fairness at each level, by water-filling.
//!
//! As in the discipline `classful`, guarantees come first, and the rest is shared by weight up to
//! the ceilings.

use crate::max_min::{Claim, max_min};
use fairwire_core::{ClassTerms, Rate};

/// The fair share of `capacity` of each class, in the order of `classes` (parents first, as in
/// [`ClassTree::terms`](fairwire_core::ClassTree::terms)).
///
/// `offered` has each class's offer without its members' offers. Capacity and offers are in bit/s.
/// O(n log n).
pub fn class_shares(classes: &[ClassTerms], offered: &[f64], capacity: f64) -> Vec<f64> {
    let mut nodes: Vec<Node> = offered.iter().map(|&demand| Node { demand, floor: 0.0 }).collect();
    let mut members = vec![Vec::new(); classes.len()];
    let mut top = Vec::new();
    let bps = |rate: Rate| rate.bps() as f64;
    for (class, own) in classes.iter().enumerate().rev() {
        let Node { demand, floor } = nodes[class];
        let demand = demand.min(own.ceiling.map_or(f64::INFINITY, bps));
        let floor = floor.max(own.guarantee.map_or(0.0, bps)).min(demand);
        nodes[class] = Node { demand, floor };
        match own.parent {
            None => top.push(class),
            Some(parent) => {
                nodes[parent as usize].demand += demand;
                nodes[parent as usize].floor += floor;
                members[parent as usize].push(class);
            }
        }
    }
    let mut granted = vec![0.0; classes.len()];
    pour(&top, capacity, &nodes, classes, &mut granted);
    for (class, members) in members.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
        let capacity = granted[class];
        pour(members, capacity, &nodes, classes, &mut granted);
    }
    granted
}

/// The offer (`demand`) and the guaranteed share (`floor`) of a class, its members included.
#[derive(Clone, Copy, Debug)]
struct Node {
    demand: f64,
    floor: f64,
}

fn pour(siblings: &[usize], capacity: f64, nodes: &[Node], classes: &[ClassTerms], granted: &mut [f64]) {
    // If the guarantees exceed the capacity, the classes share the capacity by weight.
    let claim = |demand, class: &usize| Claim { demand, weight: classes[*class].weight.get() };
    let floors: Vec<Claim> = siblings.iter().map(|class| claim(nodes[*class].floor, class)).collect();
    let first = max_min(&floors, capacity);
    let left = (capacity - first.iter().sum::<f64>()).max(0.0);
    let rest: Vec<Claim> =
        siblings.iter().map(|class| claim(nodes[*class].demand - nodes[*class].floor, class)).collect();
    for ((class, first), second) in siblings.iter().zip(first).zip(max_min(&rest, left)) {
        granted[*class] = first + second;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::max_min::oracle::{Kind, Node as Tree, hierarchical};
    use fairwire_core::Weight;
    use proptest::prelude::*;

    fn split(classes: &[(Option<u32>, f64, f64)]) -> (Vec<ClassTerms>, Vec<f64>) {
        let one = |&(parent, weight, offered): &(Option<u32>, f64, f64)| {
            (ClassTerms::new(parent).with_weight(Weight::new(weight).expect("a weight")), offered)
        };
        classes.iter().map(one).unzip()
    }

    #[test]
    fn unused_capacity_of_a_class_goes_to_its_siblings() {
        let (classes, offered) = split(&[
            (None, 1.0, 0.0),
            (None, 1.0, 0.0),
            (Some(0), 1.0, 1.0),
            (Some(0), 1.0, 1.0),
            (Some(1), 1.0, 99.0),
            (Some(1), 1.0, 2.0),
        ]);
        assert_eq!(class_shares(&classes, &offered, 10.0), [2.0, 8.0, 1.0, 1.0, 6.0, 2.0]);
    }

    #[test]
    fn a_guarantee_comes_first_and_a_ceiling_is_never_exceeded() {
        let plain = ClassTerms::new(None);
        let guaranteed = ClassTerms { guarantee: Rate::from_bps(6), ..plain };
        assert_eq!(class_shares(&[guaranteed, plain], &[50.0, 50.0], 10.0), [8.0, 2.0]);
        let held =
            ClassTerms { ceiling: Rate::from_bps(1), weight: Weight::new(9.0).expect("a weight"), ..plain };
        assert_eq!(class_shares(&[held, plain], &[50.0, 50.0], 10.0), [1.0, 9.0]);
        assert_eq!(class_shares(&[guaranteed, plain], &[0.5, 50.0], 10.0), [0.5, 9.5]);
    }

    #[test]
    fn no_offer_or_no_capacity_gives_no_share() {
        let class = [ClassTerms::new(None)];
        assert_eq!(class_shares(&class, &[0.0], 10.0), [0.0]);
        assert_eq!(class_shares(&class, &[3.0], 0.0), [0.0]);
        assert!(class_shares(&[], &[], 10.0).is_empty());
    }

    /// The tree for the oracle, and the classes and offers for `class_shares`. Groups are (weight,
    /// members); members are (weight, demand).
    fn both(groups: &[(f64, Vec<(f64, f64)>)]) -> (Tree, Vec<ClassTerms>, Vec<f64>) {
        let leaf = |(weight, demand): &(f64, f64)| Tree::flow(*demand).weighing(*weight);
        let group = |(weight, members): &(f64, Vec<_>)| Tree {
            weight: *weight,
            kind: Kind::Class(members.iter().map(leaf).collect()),
        };
        let mut classes: Vec<_> = groups.iter().map(|(weight, _)| (None, *weight, 0.0)).collect();
        for (parent, (_, members)) in groups.iter().enumerate() {
            classes.extend(members.iter().map(|(weight, demand)| (Some(parent as u32), *weight, *demand)));
        }
        let (classes, offered) = split(&classes);
        (Tree::class(groups.iter().map(group).collect()), classes, offered)
    }

    proptest! {
        #[test]
        fn without_bounds_it_equals_the_oracle(
            groups in prop::collection::vec((0.1f64..9.0, prop::collection::vec((0.1f64..9.0, 0.0f64..20.0), 1..6)), 1..6),
            capacity in 0.0f64..200.0,
        ) {
            let (tree, classes, offered) = both(&groups);
            let shares = class_shares(&classes, &offered, capacity);
            for (share, truth) in shares[groups.len()..].iter().zip(hierarchical(&tree, capacity)) {
                // The tolerance is far above the rounding errors of sums of at most 30 terms up to
                // 200.
                prop_assert!((share - truth).abs() < 1e-9, "{share} not {truth}");
            }
        }
    }
}

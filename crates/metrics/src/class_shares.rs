//! What each class of a tree ought to get: weighted max-min fairness at each level, by water-filling.
//!
//! Guarantees come first and the rest goes by weight, as the discipline `classful` shares; no class passes its ceiling. Without bounds
//! it is plain hierarchical max-min fairness, to whose recursive definition a test compares it.

use crate::max_min::{Claim, max_min};

/// What one class, or flow, asks of the link. Classes stand after the ones above them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassDemand {
    /// The class above it.
    pub parent: Option<u32>,
    /// Its weight among its siblings, above zero.
    pub weight: f64,
    /// What it offered itself; what its members offered is added to it.
    pub offered: f64,
    /// What it is promised; 0 for nothing.
    pub guaranteed: f64,
    /// What it never passes; [`f64::INFINITY`] without a ceiling.
    pub ceiling: f64,
}

impl ClassDemand {
    /// One of weight 1 that offered this itself, without a guarantee or a ceiling.
    pub const fn new(parent: Option<u32>, offered: f64) -> Self {
        ClassDemand { parent, weight: 1.0, offered, guaranteed: 0.0, ceiling: f64::INFINITY }
    }
}

/// The fair part of `capacity` of each class, in the order and the unit of `classes`. O(n log n).
pub fn class_shares(classes: &[ClassDemand], capacity: f64) -> Vec<f64> {
    let mut nodes: Vec<Node> = classes.iter().map(|own| Node { demand: own.offered, floor: 0.0 }).collect();
    let mut members = vec![Vec::new(); classes.len()];
    let mut top = Vec::new();
    for (class, own) in classes.iter().enumerate().rev() {
        let Node { demand, floor } = nodes[class];
        let demand = demand.min(own.ceiling);
        let floor = floor.max(own.guaranteed).min(demand);
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
        // Parents stand first, so what this class got is known.
        let capacity = granted[class];
        pour(members, capacity, &nodes, classes, &mut granted);
    }
    granted
}

/// What a class can use, and of that what it is promised; with its members'.
#[derive(Clone, Copy, Debug)]
struct Node {
    demand: f64,
    floor: f64,
}

fn pour(siblings: &[usize], capacity: f64, nodes: &[Node], classes: &[ClassDemand], granted: &mut [f64]) {
    // Where promises pass what there is, they are shared by weight as everything else.
    let claim = |demand, class: &usize| Claim { demand, weight: classes[*class].weight };
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
    use proptest::prelude::*;

    fn demand_of(parent: Option<u32>, weight: f64, offered: f64) -> ClassDemand {
        ClassDemand { weight, ..ClassDemand::new(parent, offered) }
    }

    #[test]
    fn what_a_class_cannot_use_goes_to_its_siblings() {
        let classes = [
            demand_of(None, 1.0, 0.0),
            demand_of(None, 1.0, 0.0),
            demand_of(Some(0), 1.0, 1.0),
            demand_of(Some(0), 1.0, 1.0),
            demand_of(Some(1), 1.0, 99.0),
            demand_of(Some(1), 1.0, 2.0),
        ];
        assert_eq!(class_shares(&classes, 10.0), [2.0, 8.0, 1.0, 1.0, 6.0, 2.0]);
    }

    #[test]
    fn a_guarantee_comes_first_and_a_ceiling_is_never_passed() {
        let promised = ClassDemand { guaranteed: 6.0, ..demand_of(None, 1.0, 50.0) };
        assert_eq!(class_shares(&[promised, demand_of(None, 1.0, 50.0)], 10.0), [8.0, 2.0]);
        let held = ClassDemand { ceiling: 1.0, ..demand_of(None, 9.0, 50.0) };
        assert_eq!(class_shares(&[held, demand_of(None, 1.0, 50.0)], 10.0), [1.0, 9.0]);
        // A guarantee that is not asked for holds nobody back.
        let idle = ClassDemand { guaranteed: 6.0, ..demand_of(None, 1.0, 0.5) };
        assert_eq!(class_shares(&[idle, demand_of(None, 1.0, 50.0)], 10.0), [0.5, 9.5]);
    }

    #[test]
    fn nothing_offered_and_nothing_to_share_is_nothing() {
        assert_eq!(class_shares(&[demand_of(None, 1.0, 0.0)], 10.0), [0.0]);
        assert_eq!(class_shares(&[demand_of(None, 1.0, 3.0)], 0.0), [0.0]);
        assert!(class_shares(&[], 10.0).is_empty());
    }

    /// Groups under the root and their members, as a tree for the oracle and as classes.
    fn both(groups: &[(f64, Vec<(f64, f64)>)]) -> (Tree, Vec<ClassDemand>) {
        let leaf = |(weight, demand): &(f64, f64)| Tree::flow(*demand).weighing(*weight);
        let group = |(weight, members): &(f64, Vec<_>)| Tree {
            weight: *weight,
            kind: Kind::Class(members.iter().map(leaf).collect()),
        };
        let mut classes: Vec<ClassDemand> =
            groups.iter().map(|(weight, _)| demand_of(None, *weight, 0.0)).collect();
        for (parent, (_, members)) in groups.iter().enumerate() {
            classes.extend(
                members.iter().map(|(weight, demand)| demand_of(Some(parent as u32), *weight, *demand)),
            );
        }
        (Tree::class(groups.iter().map(group).collect()), classes)
    }

    proptest! {
        #[test]
        fn without_bounds_it_is_what_the_oracle_tells(
            groups in prop::collection::vec((0.1f64..9.0, prop::collection::vec((0.1f64..9.0, 0.0f64..20.0), 1..6)), 1..6),
            capacity in 0.0f64..200.0,
        ) {
            let (tree, classes) = both(&groups);
            let told = class_shares(&classes, capacity);
            for (told, truth) in told[groups.len()..].iter().zip(hierarchical(&tree, capacity)) {
                // Sums of at most 30 terms, each off by 2^-53 of 200.
                prop_assert!((told - truth).abs() < 1e-9, "{} not {}", told, truth);
            }
        }
    }
}

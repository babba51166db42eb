//! The classes of hierarchical FABA.
//!
//! Siblings whose weights lie between the same two powers of two form a group. Each class has a
//! line, on which each active child has a segment as long as the greater power. A draw picks a
//! random point on the line, and picks again if the point lies beyond the child's weight in its
//! segment. So the choice is exactly in proportion to weight, with fewer than two draws on average.
//! The flows of a class form one more group, and take turns in a ring.

use crate::dropper::faba::below;
use alloc::boxed::Box;
use alloc::vec::Vec;
use fairwire_core::{ClassTree, Rng};

/// The weight 1, that of a flow, in units of 2^-22. Weights are integers, so sums are exact. 2^20
/// classes of weight 10^6 sum to below 2^63. `Class::line`, at most twice the sum, stays below
/// 2^64.
const ONE: u64 = 1 << BITS_OF_ONE;
const BITS_OF_ONE: u32 = 22;

/// The root's index. Another class's index is one more than its index in the [`ClassTree`].
pub(super) const ROOT: usize = 0;

const NONE: u32 = u32::MAX;

/// One group for each power of two from 2^2 (a weight of 10^-6) to 2^42 (a weight of 10^6).
const MAX_GROUPS: usize = 41;

#[derive(Debug)]
struct Class {
    /// sigma: the tokens not assigned.
    pool: i64,
    /// All tokens in the subtree: pools and buckets. Not kept for the root.
    holdings: i64,
    weight: u64,
    /// W: the sum of the weights of its active children.
    sum: u64,
    /// One over W.
    per_weight: f64,
    /// The length of the line on which a draw picks a point: W to 2 W.
    line: u64,
    parent: u32,
    group: u32,
    /// Index in `Classes::members`; [`NONE`] while inactive.
    member: u32,
    /// The index of the class's first group. The class has room for one group per child, at most
    /// [`MAX_GROUPS`]; `group_count` groups are in use.
    groups: u32,
    group_count: u32,
    flows: u32,
    /// The flow whose turn is next; meaningless without flows.
    turn: u32,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    /// Weights in the group are above half of 2^bits and at most 2^bits.
    bits: u32,
    /// The start of the group in `Classes::members`. The group has `room` entries there, one per
    /// member, active members first.
    first: u32,
    active: u32,
    room: u32,
}

#[derive(Debug)]
pub(super) struct Classes {
    classes: Box<[Class]>,
    groups: Box<[Group]>,
    members: Box<[u32]>,
    active: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Child {
    Class(usize),
    /// The index of the flow whose turn it is.
    Flow(usize),
}

impl Classes {
    pub(super) fn new(tree: &ClassTree, total: i64) -> Self {
        let mut classes = Vec::with_capacity(tree.len() + 1);
        classes.push(Class::new(NONE, ONE, total));
        for terms in tree.terms() {
            let parent = terms.parent.map_or(ROOT as u32, |parent| parent + 1);
            classes.push(Class::new(parent, counted(terms.weight.get()), 0));
        }
        let mut order: Vec<u32> = (1..classes.len() as u32).collect();
        order.sort_by_key(|&class| (classes[class as usize].parent, bits_of(classes[class as usize].weight)));
        let groups = grouped(&mut classes, &order);
        Classes { classes: classes.into(), groups: groups.into(), members: order.into(), active: 0 }
    }

    /// The number of classes, without the root, that have active flows below them.
    pub(super) fn active(&self) -> u32 {
        self.active
    }

    #[inline]
    pub(super) fn pool(&self, class: usize) -> i64 {
        self.classes[class].pool
    }

    #[inline]
    pub(super) fn pool_mut(&mut self, class: usize) -> &mut i64 {
        &mut self.classes[class].pool
    }

    /// O(classes), for tests and gauges.
    pub(super) fn sum_of_pools(&self) -> i64 {
        self.classes.iter().map(|class| class.pool).sum()
    }

    pub(super) fn give_to_root(&mut self, amount: i64) {
        self.classes[ROOT].pool += amount;
    }

    #[inline]
    pub(super) fn spend(&mut self, mut class: usize, price: i64) {
        while class != ROOT {
            self.classes[class].holdings -= price;
            class = self.parent(class);
        }
    }

    /// A negative amount passes a deficit down.
    #[inline]
    pub(super) fn move_down(&mut self, class: usize, child: usize, amount: i64) {
        self.classes[class].pool -= amount;
        let child = &mut self.classes[child];
        child.pool += amount;
        child.holdings += amount;
    }

    #[inline]
    pub(super) fn overflow(&self, class: usize, height: i64) -> i64 {
        let class = &self.classes[class];
        (class.holdings - height).min(class.pool)
    }

    #[inline]
    pub(super) fn parent(&self, class: usize) -> usize {
        self.classes[class].parent as usize
    }

    /// The height of an active class, as a fraction of its parent's height.
    #[inline]
    pub(super) fn part(&self, class: usize) -> f64 {
        let class = &self.classes[class];
        // A signed number is converted to a float in one instruction; weights stay below 2^63.
        class.weight.cast_signed() as f64 * self.classes[class.parent as usize].per_weight
    }

    /// A flow's fraction of its class's height.
    #[inline]
    pub(super) fn part_of_flow(&self, class: usize) -> f64 {
        ONE as f64 * self.classes[class].per_weight
    }

    /// The height of an active class as a fraction of T, all tokens. O(depth).
    #[inline]
    pub(super) fn part_of_all(&self, mut class: usize) -> f64 {
        let mut part = 1.0;
        while class != ROOT {
            part *= self.part(class);
            class = self.parent(class);
        }
        part
    }

    #[inline]
    pub(super) fn is_idle(&self, class: usize) -> bool {
        self.classes[class].sum == 0
    }

    /// The flow whose turn is next.
    #[inline]
    pub(super) fn ring(&self, class: usize) -> Option<usize> {
        let class = &self.classes[class];
        (class.flows > 0).then_some(class.turn as usize)
    }

    #[inline]
    pub(super) fn set_turn(&mut self, class: usize, flow: usize) {
        self.classes[class].turn = flow as u32;
    }

    #[inline]
    pub(super) fn add_flow(&mut self, class: usize) {
        let class = &mut self.classes[class];
        class.flows += 1;
        class.widen(ONE, BITS_OF_ONE);
    }

    #[inline]
    pub(super) fn remove_flow(&mut self, class: usize) {
        let class = &mut self.classes[class];
        class.flows -= 1;
        class.narrow(ONE, BITS_OF_ONE);
    }

    /// Activates `class` and its inactive ancestors. Each gets its height in tokens from its
    /// parent's pool.
    pub(super) fn activate(&mut self, class: usize, total: f64) {
        if class == ROOT || self.classes[class].member != NONE {
            return;
        }
        let (parent, weight) = (self.parent(class), self.classes[class].weight);
        self.activate(parent, total);
        self.join_group(class, weight);
        self.active += 1;
        let height = (self.part_of_all(class) * total) as i64;
        self.move_down(parent, class, height);
    }

    pub(super) fn retire(&mut self, mut class: usize) {
        while class != ROOT && self.is_idle(class) {
            let parent = self.parent(class);
            let pool = core::mem::take(&mut self.classes[class].pool);
            self.classes[parent].pool += pool;
            self.classes[class].holdings = 0;
            self.leave_group(class);
            self.active -= 1;
            class = parent;
        }
    }

    /// Sets a weight, which changes the heights of the class and its siblings; moves no tokens.
    /// O(groups).
    pub(super) fn set_weight(&mut self, class: usize, weight: f64) {
        let weight = counted(weight);
        let is_active = self.classes[class].member != NONE;
        if is_active {
            self.leave_group(class);
        }
        self.regroup(class, bits_of(weight));
        self.classes[class].weight = weight;
        if is_active {
            self.join_group(class, weight);
        }
    }

    /// Moves an inactive class to the group of `bits`. Groups are adjacent in `members`, so those
    /// between the old and the new group shift by one entry: a member of each moves from one end to
    /// the other.
    fn regroup(&mut self, class: usize, bits: u32) {
        let mut at = self.classes[class].group as usize;
        let to = self.group_for(at, self.parent(class), bits);
        self.groups[to].bits = bits;
        self.groups[at].room -= 1;
        while at < to {
            at += 1;
            let Group { first, active, .. } = self.groups[at];
            self.groups[at].first -= 1;
            if active > 0 {
                self.put(self.members[(first + active - 1) as usize], first - 1);
            }
        }
        while at > to {
            let Group { first, active, .. } = self.groups[at];
            self.groups[at].first += 1;
            if active > 0 {
                self.put(self.members[first as usize], first + active);
            }
            at -= 1;
        }
        self.groups[to].room += 1;
        self.classes[class].group = to as u32;
    }

    /// The group that a class with `bits` enters when it leaves `from`.
    fn group_for(&mut self, from: usize, parent: usize, bits: u32) -> usize {
        let Class { groups: first, group_count: count, .. } = self.classes[parent];
        let all = first as usize..(first + count) as usize;
        let same = all.clone().find(|&group| self.groups[group].bits == bits);
        let own = || (self.groups[from].room == 1).then_some(from);
        let empty = || all.clone().find(|&group| self.groups[group].room == 0);
        same.or_else(own).or_else(empty).unwrap_or_else(|| {
            self.classes[parent].group_count += 1; // there is room: fewer groups than children, and none has these bits
            all.end
        })
    }

    fn join_group(&mut self, class: usize, weight: u64) {
        let index = self.classes[class].group as usize;
        let group = &mut self.groups[index];
        let place = group.first + group.active;
        group.active += 1;
        let bits = group.bits;
        self.put(class as u32, place);
        let parent = self.parent(class);
        self.classes[parent].widen(weight, bits);
    }

    fn leave_group(&mut self, class: usize) {
        let (parent, weight) = (self.parent(class), self.classes[class].weight);
        let group = &mut self.groups[self.classes[class].group as usize];
        group.active -= 1;
        let (last, bits) = (group.first + group.active, group.bits);
        let place = core::mem::replace(&mut self.classes[class].member, NONE);
        let moved = self.members[last as usize];
        if moved != class as u32 {
            self.put(moved, place);
        }
        self.classes[parent].narrow(weight, bits);
    }

    #[inline]
    fn put(&mut self, class: u32, place: u32) {
        self.members[place as usize] = class;
        self.classes[class as usize].member = place;
    }

    /// A random active child in proportion to weight; there must be one. Draws no number if all
    /// children are flows.
    #[inline]
    pub(super) fn draw(&self, class: usize, rng: &mut Rng) -> Child {
        let class = &self.classes[class];
        let flows = u64::from(class.flows) << BITS_OF_ONE;
        loop {
            if class.line == flows {
                return Child::Flow(class.turn as usize);
            }
            let mark = below(rng, class.line);
            if mark < flows {
                return Child::Flow(class.turn as usize);
            }
            if let Some(child) = self.child_at(class, mark - flows) {
                return Child::Class(child);
            }
        }
    }

    #[inline]
    fn child_at(&self, class: &Class, mut mark: u64) -> Option<usize> {
        let groups = &self.groups[class.groups as usize..][..class.group_count as usize];
        for group in groups {
            let width = u64::from(group.active) << group.bits;
            if mark < width {
                let member = self.members[group.first as usize + (mark >> group.bits) as usize] as usize;
                let within = mark & ((1 << group.bits) - 1);
                return (within < self.classes[member].weight).then_some(member);
            }
            mark -= width;
        }
        unreachable!("the line is as long as its groups together")
    }
}

/// `order` lists all classes but the root, by parent and group.
fn grouped(classes: &mut [Class], order: &[u32]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::with_capacity(order.len());
    let mut from = 0;
    while from < order.len() {
        let parent = classes[order[from] as usize].parent as usize;
        let is_sibling = |class: &&u32| classes[**class as usize].parent as usize == parent;
        let children = order[from..].iter().take_while(is_sibling).count();
        let (first, end) = (groups.len(), from + children);
        for (place, &class) in order.iter().enumerate().take(end).skip(from) {
            let class = &mut classes[class as usize];
            let bits = bits_of(class.weight);
            match groups[first..].last_mut() {
                Some(last) if last.bits == bits => last.room += 1,
                _ => groups.push(Group { bits, first: place as u32, active: 0, room: 1 }),
            }
            class.group = groups.len() as u32 - 1;
        }
        let count = groups.len() - first;
        let vacant = || Group { bits: 0, first: end as u32, active: 0, room: 0 };
        groups.resize_with(first + children.min(MAX_GROUPS), vacant);
        (classes[parent].groups, classes[parent].group_count) = (first as u32, count as u32);
        from = end;
    }
    groups
}

fn counted(weight: f64) -> u64 {
    ((weight * ONE as f64 + 0.5) as u64).max(1)
}

fn bits_of(weight: u64) -> u32 {
    weight.next_power_of_two().trailing_zeros()
}

impl Class {
    fn new(parent: u32, weight: u64, pool: i64) -> Self {
        Class {
            pool,
            holdings: 0,
            weight,
            sum: 0,
            per_weight: 0.0,
            line: 0,
            parent,
            group: NONE,
            member: NONE,
            groups: 0,
            group_count: 0,
            flows: 0,
            turn: NONE,
        }
    }

    #[inline]
    fn widen(&mut self, weight: u64, bits: u32) {
        self.sum += weight;
        self.line += 1 << bits;
        self.per_weight = 1.0 / self.sum.cast_signed() as f64;
    }

    #[inline]
    fn narrow(&mut self, weight: u64, bits: u32) {
        self.sum -= weight;
        self.line -= 1 << bits;
        self.per_weight = 1.0 / self.sum.max(1).cast_signed() as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{ClassTerms, Seed, Weight};

    fn classes(weights: &[f64]) -> Classes {
        let class = |(class, &weight): (u32, &f64)| {
            (class, ClassTerms::new(None).with_weight(Weight::new(weight).expect("a weight")))
        };
        let tree = ClassTree::new(&(1..).zip(weights).map(class).collect::<Vec<_>>()).expect("a tree");
        Classes::new(&tree, 1 << 30)
    }

    #[test]
    fn children_are_drawn_in_proportion_to_their_weights() {
        let weights = [1.0, 3.0, 2.0, 0.4, 1.9, 1.1];
        let mut classes = classes(&weights);
        (1..=6).for_each(|class| classes.activate(class, 1e9));
        classes.retire(2); // it has no flows, so it may go again
        classes.add_flow(ROOT);
        classes.add_flow(ROOT);
        let mut counts = [0u32; 7];
        let mut rng = Seed(1).stream("draws");
        for _ in 0..84_000 {
            match classes.draw(ROOT, &mut rng) {
                Child::Class(class) => counts[class] += 1,
                Child::Flow(_) => counts[0] += 1,
            }
        }
        // The weights sum to 8.4, so 84 000 draws are 10 000 per unit of weight.
        for (count, weight) in counts.iter().zip([2.0, 1.0, 0.0, 2.0, 0.4, 1.9, 1.1]) {
            let expected = 10_000.0 * weight;
            let tolerance = 3.9 * f64::sqrt(expected); // sd of a count, at most
            assert!((f64::from(*count) - expected).abs() <= tolerance, "{counts:?}");
        }
    }

    #[test]
    fn the_lightest_class_is_still_drawn_among_the_heaviest() {
        let mut classes = classes(&[1e6, 1e-6]);
        classes.activate(2, 1e9);
        let mut rng = Seed(1).stream("draws");
        assert!(matches!(classes.draw(ROOT, &mut rng), Child::Class(2)));
        classes.activate(1, 1e9);
        assert!(matches!(classes.draw(ROOT, &mut rng), Child::Class(1)));
    }

    #[test]
    fn changed_weights_draw_children_as_newly_built_classes() {
        let mut rng = Seed(2).stream("weights");
        for children in [1, 2, 5, 60] {
            let mut weights = vec![1.0; children];
            let mut classes = classes(&weights);
            for change in 0..400 {
                let class = rng.below(children as u32) as usize;
                match rng.below(3) {
                    0 => classes.activate(class + 1, 1e9),
                    1 if classes.classes[class + 1].member != NONE => classes.retire(class + 1),
                    _ => {
                        weights[class] = libm::exp2(f64::from(rng.below(39)) - 19.0);
                        classes.set_weight(class + 1, weights[class]);
                    }
                }
                assert_consistent(&classes, &weights, change);
            }
        }
    }

    fn assert_consistent(classes: &Classes, weights: &[f64], change: u32) {
        let Class { groups, group_count, sum, line, .. } = classes.classes[ROOT];
        let groups = &classes.groups[groups as usize..][..group_count as usize];
        let mut first = 0;
        for group in groups {
            assert!(group.first == first && group.active <= group.room, "change {change}: {groups:?}");
            first += group.room;
        }
        assert_eq!(first as usize, weights.len());
        let mut sums = (0, 0);
        for (class, weight) in classes.classes.iter().skip(1).zip(weights) {
            let group = &classes.groups[class.group as usize];
            assert_eq!((class.weight, group.bits), (counted(*weight), bits_of(counted(*weight))));
            if class.member != NONE {
                sums = (sums.0 + class.weight, sums.1 + (1 << group.bits));
                assert!((group.first..group.first + group.active).contains(&class.member));
            }
        }
        assert_eq!((sum, line), sums);
        for group in groups {
            for place in group.first..group.first + group.active {
                let class = classes.members[place as usize] as usize;
                assert_eq!(classes.classes[class].member, place);
            }
        }
    }
}

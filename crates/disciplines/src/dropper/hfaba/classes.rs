//! The classes of hierarchical FABA: weights, pools, which children are active, and a draw among these in proportion to weight.
//!
//! Siblings whose weights lie between the same two powers of two form a group. A draw picks a point on a line on which each
//! active member of a group has a stretch of the greater power, and is repeated where the point lies beyond the member's
//! own weight: fewer than two draws on average, and exactly in proportion. The flows of a class are one more group; within
//! it they have their turns in a ring.

use crate::class_tree::ClassTree;
use crate::dropper::faba::below;
use fairwire_core::Rng;

/// The weight 1, and so the weight of a flow. Weights are integers of 2^-22, so that sums are exact: 2^20 classes of weight 10^6
/// stay below 2^63, and twice that below 2^64.
const ONE: u64 = 1 << BITS_OF_ONE;
const BITS_OF_ONE: u32 = 22;

/// The root's place. A class's is one more than its place in its [`ClassTree`].
pub(super) const ROOT: usize = 0;

const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Class {
    /// sigma: what it owns and has not assigned.
    pool: i64,
    /// What it and all below it hold: its pool, theirs, and all buckets. Not kept for the root.
    holdings: i64,
    weight: u64,
    /// W: the weights of its active children.
    sum: u64,
    /// One over W.
    per_weight: f64,
    /// The line that draws are made on: at least W, at most twice that.
    line: u64,
    parent: u32,
    /// Its group among its siblings.
    group: u32,
    /// Its place in that group; [`NONE`] while it is not active.
    member: u32,
    /// The groups of its children: from here so many.
    groups: u32,
    group_count: u32,
    flows: u32,
    /// The flow whose turn is next; of no meaning without flows.
    turn: u32,
}

/// Siblings of nearly the same weight.
#[derive(Debug)]
struct Group {
    /// No weight is above 2^bits, and each is above half of that.
    bits: u32,
    /// Its members stand from here on in `Classes::members`: first the active ones.
    first: u32,
    active: u32,
}

/// All classes, and the root.
#[derive(Debug)]
pub(super) struct Classes {
    classes: Box<[Class]>,
    groups: Box<[Group]>,
    members: Box<[u32]>,
    active: u32,
}

/// What a draw gives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Child {
    /// A class, by its place.
    Class(usize),
    /// The flow whose turn it is, by its number.
    Flow(usize),
}

impl Classes {
    /// None active, and all of `total` with the root. `weights` stand by place in `tree`.
    pub fn new(tree: &ClassTree, weights: &[f64], total: i64) -> Self {
        let mut classes = Vec::with_capacity(tree.len() + 1);
        classes.push(Class::new(NONE, ONE, total));
        for (parent, weight) in tree.parents.iter().zip(weights) {
            let weight = ((weight * ONE as f64 + 0.5) as u64).max(1);
            classes.push(Class::new(parent.map_or(ROOT, |parent| parent + 1) as u32, weight, 0));
        }
        let mut order: Vec<u32> = (1..classes.len() as u32).collect();
        let bits = |class: &Class| class.weight.next_power_of_two().trailing_zeros();
        order.sort_by_key(|&class| (classes[class as usize].parent, bits(&classes[class as usize])));
        let mut groups: Vec<Group> = Vec::new();
        let mut last = None;
        for (at, &class) in order.iter().enumerate() {
            let key = (classes[class as usize].parent, bits(&classes[class as usize]));
            if last.replace(key) != Some(key) {
                let parent = &mut classes[key.0 as usize];
                if parent.group_count == 0 {
                    parent.groups = groups.len() as u32;
                }
                parent.group_count += 1;
                groups.push(Group { bits: key.1, first: at as u32, active: 0 });
            }
            classes[class as usize].group = groups.len() as u32 - 1;
        }
        Classes { classes: classes.into(), groups: groups.into(), members: order.into(), active: 0 }
    }

    /// How many classes have flows somewhere below them, the root not counted.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// sigma of a class.
    #[inline]
    pub fn pool(&self, class: usize) -> i64 {
        self.classes[class].pool
    }

    /// sigma of a class, to change.
    #[inline]
    pub fn pool_mut(&mut self, class: usize) -> &mut i64 {
        &mut self.classes[class].pool
    }

    /// The sum of all pools. O(classes): for tests and gauges.
    pub fn sum_of_pools(&self) -> i64 {
        self.classes.iter().map(|class| class.pool).sum()
    }

    /// A packet of a flow of the class was paid for: it and all above it hold less.
    #[inline]
    pub fn spend(&mut self, mut class: usize, price: i64) {
        while class != ROOT {
            self.classes[class].holdings -= price;
            class = self.parent(class);
        }
    }

    /// An amount goes from the pool of a class to that of one below it; a negative one passes a deficit down.
    #[inline]
    pub fn move_down(&mut self, class: usize, child: usize, amount: i64) {
        self.classes[class].pool -= amount;
        let child = &mut self.classes[child];
        child.pool += amount;
        child.holdings += amount;
    }

    /// By how much a class has more than `height`, as far as that is in its pool.
    #[inline]
    pub fn overflow(&self, class: usize, height: i64) -> i64 {
        let class = &self.classes[class];
        (class.holdings - height).min(class.pool)
    }

    /// The class above one that is not the root.
    #[inline]
    pub fn parent(&self, class: usize) -> usize {
        self.classes[class].parent as usize
    }

    /// The part of the height of its parent that an active class has.
    #[inline]
    pub fn part(&self, class: usize) -> f64 {
        let class = &self.classes[class];
        // Below 2^63 as it is, and the sum too: a signed number is converted in one instruction.
        class.weight as i64 as f64 * self.classes[class.parent as usize].per_weight
    }

    /// The part of the height of its class that a flow has.
    #[inline]
    pub fn part_of_flow(&self, class: usize) -> f64 {
        ONE as f64 * self.classes[class].per_weight
    }

    /// The part of T that is the height of an active class. O(depth).
    #[inline]
    pub fn part_of_all(&self, mut class: usize) -> f64 {
        let mut part = 1.0;
        while class != ROOT {
            part *= self.part(class);
            class = self.parent(class);
        }
        part
    }

    /// Has the class no active children?
    #[inline]
    pub fn is_idle(&self, class: usize) -> bool {
        self.classes[class].sum == 0
    }

    /// Its flows, and the one whose turn is next.
    #[inline]
    pub fn ring(&self, class: usize) -> Option<usize> {
        let class = &self.classes[class];
        (class.flows > 0).then_some(class.turn as usize)
    }

    /// Whose turn is next.
    #[inline]
    pub fn set_turn(&mut self, class: usize, flow: usize) {
        self.classes[class].turn = flow as u32;
    }

    /// A flow of the class becomes active.
    #[inline]
    pub fn add_flow(&mut self, class: usize) {
        let class = &mut self.classes[class];
        class.flows += 1;
        class.widen(ONE, BITS_OF_ONE);
    }

    /// A flow of the class is active no more.
    #[inline]
    pub fn remove_flow(&mut self, class: usize) {
        let class = &mut self.classes[class];
        class.flows -= 1;
        class.narrow(ONE, BITS_OF_ONE);
    }

    /// A class and what is above it become active, each lent its height by its parent.
    pub fn activate(&mut self, class: usize, total: f64) {
        if class == ROOT || self.classes[class].member != NONE {
            return;
        }
        let (parent, weight) = (self.parent(class), self.classes[class].weight);
        self.activate(parent, total);
        let index = self.classes[class].group as usize;
        let group = &mut self.groups[index];
        self.members[(group.first + group.active) as usize] = class as u32;
        self.classes[class].member = group.active;
        group.active += 1;
        self.classes[parent].widen(weight, group.bits);
        self.active += 1;
        let height = (self.part_of_all(class) * total) as i64;
        self.move_down(parent, class, height);
    }

    /// A class that has become idle gives its pool to its parent, and so on upwards.
    pub fn retire(&mut self, mut class: usize) {
        while class != ROOT && self.is_idle(class) {
            let parent = self.parent(class);
            let pool = core::mem::take(&mut self.classes[class].pool);
            self.classes[parent].pool += pool;
            self.classes[class].holdings = 0;
            let weight = self.classes[class].weight;
            let group = &mut self.groups[self.classes[class].group as usize];
            group.active -= 1;
            let (first, end, bits) = (group.first, group.first + group.active, group.bits);
            let place = core::mem::replace(&mut self.classes[class].member, NONE);
            let moved = self.members[end as usize];
            if moved != class as u32 {
                self.members[(first + place) as usize] = moved;
                self.classes[moved as usize].member = place;
            }
            self.classes[parent].narrow(weight, bits);
            self.active -= 1;
            class = parent;
        }
    }

    /// A random active child of a class that has some, in proportion to weight. Where there are only flows nothing is drawn.
    #[inline]
    pub fn draw(&self, class: usize, rng: &mut Rng) -> Child {
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
        self.per_weight = 1.0 / self.sum as i64 as f64;
    }

    #[inline]
    fn narrow(&mut self, weight: u64, bits: u32) {
        self.sum -= weight;
        self.line -= 1 << bits;
        self.per_weight = 1.0 / self.sum.max(1) as i64 as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_tree::Branch;
    use crate::error::Parameter;
    use fairwire_core::Seed;

    fn classes(weights: &[f64]) -> Classes {
        let branches: Vec<_> =
            (1..=weights.len() as u32).map(|class| Branch { class, parent: None }).collect();
        let parameter = Parameter { discipline: "some", name: "class" };
        let tree = ClassTree::check(&branches, parameter).expect("a tree");
        Classes::new(&tree, weights, 1 << 30)
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
        // 10 000 for each unit of weight: two flows, and all classes but the second.
        for (count, weight) in counts.iter().zip([2.0, 1.0, 0.0, 2.0, 0.4, 1.9, 1.1]) {
            let expected = 10_000.0 * weight;
            let tolerance = 3.9 * f64::sqrt(expected); // sd of a count, at most
            assert!((f64::from(*count) - expected).abs() <= tolerance, "{counts:?}");
        }
    }

    #[test]
    fn a_class_of_the_least_weight_among_the_heaviest_is_still_drawn_from() {
        let mut classes = classes(&[1e6, 1e-6]);
        classes.activate(2, 1e9);
        let mut rng = Seed(1).stream("draws");
        assert!(matches!(classes.draw(ROOT, &mut rng), Child::Class(2)));
        classes.activate(1, 1e9);
        assert!(matches!(classes.draw(ROOT, &mut rng), Child::Class(1)));
    }
}

//! Hierarchical FABA: fair adaptive bandwidth allocation over a tree of classes.
//!
//! # What it does
//! Flows are the leaves of a tree of classes. Each active flow has a bucket of tokens as in FABA,
//! and each class has a pool. The root's height is T, the number of all tokens. The height of every
//! other class, and of a bucket, is its weighted share of its parent's height. A departure returns
//! its token to the root. From there the token passes down the tree to one flow; at each class it
//! goes to a child in proportion to weight.
//!
//! Packets of a flow without tokens are always dropped, whatever `ecn` says. In packet mode a
//! buffer in bytes counts as the number of typical packets that it holds.
//!
//! # Why
//! Classes share bandwidth by their weights, with a single first-come-first-served queue. Bandwidth
//! that a class leaves unused is offered to its siblings first.
//!
//! # State and cost
//! Each flow whose bucket is not full takes 40 to 48 bytes, index entry included, up to
//! `max_flows`. Each class takes 140 bytes, and each class number up to the highest takes 4 bytes.
//! All are allocated at construction. O(depth) per packet, amortised; trees have at most 8 levels.
//! One departure makes at most `beta_max` walks of at most `beta_max` moves at each level.
//!
//! # Source (section, equation)
//! A. Kamra, H. Saran, S. Sen and R. Shorey, "Fair adaptive bandwidth allocation: a rate control
//! based active queue management discipline", Computer Networks, 2004: section 6.3, figures 18 and
//! 19. The paper states the required result without pseudo-code: this algorithm is ours.
//!
//! # Where we differ
//! - As under FABA: the full bucket after an idle link, the pool's start, beta, debt, byte mode, no
//!   bucket for a packet that cannot enter, integer units.
//! - In the paper a class weighs as much as its children together. Here weights are set freely, and
//!   a weight only matters among siblings. Flows have weight 1.
//! - Flows within a class get tokens in turn, as in SFED, for less noise at the same rate. Classes
//!   are drawn at random.
//! - Weights are integers in units of 2^-22: below 0.001 they are coarse. Heights are rounded to
//!   2^-20 token.
//! - A flow whose class changes starts anew in the other class.
//! - Each token that the root deals passes all the way down to a flow. If only the last of several
//!   tokens passed down, the pools of classes would fill while the queue runs dry.
//! - Without `cap` a class of many light flows may keep more than its share, and the link may be
//!   idle for a thousandth of the time. With `cap`, a class keeps at most its height.
//! - beta, the number of tokens dealt out at once, is sigma divided by the queue at the root only.
//!   A class deals out its entire pool, in at most `beta_max` moves. With division by the entire
//!   link's queue, a class with a share of 1/7 would deal out its pool seven times too slowly, and
//!   `cap` would give the excess away.
//! - A class of TCP flows may get less than its share if its tokens barely last for a round trip.
//!   Windows rise and fall by more than the buckets hold, and other classes take the unused
//!   bandwidth. Light classes cause this by holding as many tokens as their heights. A larger
//!   buffer helps.
//! - With `cap`, a class with a flood and many light flows loses some of the link while its
//!   siblings come and go. When the class's height rises, the light flows fill their buckets. When
//!   the height falls, the excess moves up a level. Without `cap` the class loses less.
//! - Only the root deals in whole tokens. Classes deal out fractions of tokens too. Otherwise the
//!   fractions left in the pools of many small classes would together exceed the queue.
//!
//! # Example
//! ```toml
//! [discipline.hfaba]
//! buffer = "1000 packets"
//! class = [
//!     { id = 1, weight = 1.0 },
//!     { id = 2, weight = 3.0 },
//!     { id = 3, weight = 1.0, parent = 2 },
//!     { id = 4, weight = 2.0, parent = 2 },
//! ]
//! ```

mod classes;
mod leaves;

use crate::about::{About, Family};
use crate::dropper::faba::tokens::{Supply, steps};
use crate::dropper::faba::{Balance, Knees, Profile, TOKEN};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::memory;
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::role;
use crate::site::Site;
use crate::spec::{CheckedTreeClass, Measure, TreeClass, checked_tree};
use alloc::boxed::Box;
use alloc::vec::Vec;
use classes::{Child, Classes, ROOT};
use fairwire_core::{
    Buffer, Cause, ClassTerms, ClassTree, Discipline, Dropper, FlowHash, FlowKey, Packet, Probe, Rng,
    SetWeightError, Time, Unit, Verdict, Weight,
};
use fairwire_parameters::parameters;
use leaves::{Leaves, Moved};

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "token buckets under a tree of classes with weights; what a class leaves goes to its siblings first",
    state: "48 bytes per active flow with its index entry, bounded by `max_flows`, 140 per class, and 4 per class number up to the highest",
    cost: "O(depth of the tree) amortised",
    marks: true,
    source: "Kamra, Saran, Sen, Shorey 2004, section 6.3",
};

const NAME: &str = "hfaba";

/// Parameters of `hfaba`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit of a token: a packet or a byte.
    #[parameter(is = role::MEASURE, default = Measure::Packets, source = "Section 4.2, \"Operating in byte mode\".")]
    pub measure: Option<Measure>,
    /// Whether the tokens in a class's subtree are limited to the class's height.
    ///
    /// If true, the excess moves to the parent's pool at the class's next turn; if false, once no
    /// flow below the class has a bucket.
    #[parameter(
        default = true,
        source = "Section 6.3 speaks of \"the overflow of tokens from this subtree\"."
    )]
    pub cap: Option<bool>,
    /// The number of tokens, and the number of flows they serve.
    #[parameter(flatten)]
    pub supply: Supply,
    /// The profile.
    #[parameter(flatten)]
    pub knees: Knees,
    /// The maximum number of walks down the tree per departure. Also the maximum number of moves by
    /// each class on a walk.
    #[parameter(default = 16, min = 1, max = 4096, unit = "1", source = "Not in the paper.")]
    pub beta_max: Option<u32>,
    /// The classes, in at most 8 levels.
    ///
    /// A flow has weight 1 in its class. Flows of unlisted classes are under the root.
    #[parameter(is = role::TREE, unset = "none", unit = "list", source = "Section 6.3.")]
    pub class: Option<Vec<TreeClass>>,
}

impl Part for Spec {
    fn table_bytes(&self, packets: u64) -> u64 {
        memory::count(self.supply.max_flows, memory::flows(packets)) * memory::BUCKET
    }

    fn marks_on_a_link(&self) -> bool {
        true
    }
}

/// A checked [`Spec`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The parameters as given, or their defaults.
    pub given: Checked,
    /// T: the number of all tokens, in units of 2^-20 token.
    pub total: i64,
    /// The probability of a drop as a function of a bucket's fill.
    pub profile: Profile,
    /// The maximum number of flows with buckets.
    pub max_flows: u32,
    /// The classes.
    pub tree: ClassTree,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let (total, max_flows) = self.supply.check(NAME, given.measure, &queue.room, site)?;
        let tree = self.checked_classes()?;
        let config = Config { given, total, profile: self.knees.check(NAME)?, max_flows, tree };
        Ok((queue, config))
    }

    fn checked_classes(&self) -> Result<ClassTree, BadParameter> {
        let given = self.class.as_deref().unwrap_or_default();
        let class = |(place, class): (usize, &TreeClass)| {
            let CheckedTreeClass { id, weight } =
                class.checked().of_item(Parameter::of(NAME, "class"), place)?;
            let weight = Weight::new(weight).expect("within its bounds");
            Ok((id, ClassTerms::new(class.parent).with_weight(weight)))
        };
        let classes = given.iter().enumerate().map(class).collect::<Result<Vec<_>, BadParameter>>()?;
        checked_tree(&classes, Parameter::of(NAME, "class"))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Hfaba::new(config, site.rng(NAME))))
    }
}

/// The dropper of [hierarchical FABA](self).
#[derive(Debug)]
pub struct Hfaba {
    config: Config,
    rng: Rng,
    classes: Classes,
    leaves: Leaves,
    /// The bucket of the arrival being judged, stored so that charging needs no second lookup.
    arrival: usize,
    departures: u64,
    moves: u64,
    /// True if the link has gone idle since the last arrival whose flow had a bucket.
    was_idle: bool,
}

impl Hfaba {
    /// Draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        let classes = Classes::new(&config.tree, config.total);
        let leaves = Leaves::new(config.max_flows as usize);
        Hfaba { config, rng, classes, leaves, arrival: 0, departures: 0, moves: 0, was_idle: false }
    }

    /// The terms of the exact invariant buckets + pools + queue = T. The queue is the backlog of
    /// `buffer`.
    pub fn balance(&self, buffer: &Buffer) -> Balance {
        Balance {
            buckets: self.leaves.iter().map(|(_, leaf)| leaf.tokens).sum(),
            pool: self.classes.sum_of_pools(),
            queue: self.config.given.measure.price_of_all(buffer),
        }
    }

    /// The number of flows with buckets.
    pub fn flows(&self) -> usize {
        self.leaves.len()
    }

    /// The number of classes with flows somewhere below them.
    pub fn active_classes(&self) -> usize {
        self.classes.active() as usize
    }

    /// The tokens in the bucket of `flow`, in units of 2^-20 token.
    pub fn tokens_of(&self, flow: FlowHash) -> Option<i64> {
        self.leaves.find(flow).map(|leaf| self.leaves.get(leaf).tokens)
    }

    /// The height of the bucket of `flow`, in units of 2^-20 token.
    pub fn height_of(&self, flow: FlowHash) -> Option<i64> {
        self.leaves.find(flow).map(|leaf| self.height(self.leaves.get(leaf).class as usize))
    }

    /// The pool of a class, or of the root, in units of 2^-20 token; `None` if the class does not
    /// exist.
    pub fn pool_of(&self, class: Option<u32>) -> Option<i64> {
        let place = class.map_or(Some(ROOT), |class| Some(self.config.tree.place(class)? + 1))?;
        Some(self.classes.pool(place))
    }

    /// The height of each bucket of a class, at least 1. O(depth).
    #[inline]
    fn height(&self, class: usize) -> i64 {
        let part = self.classes.part_of_all(class) * self.classes.part_of_flow(class);
        ((part * self.config.total as f64) as i64).max(1)
    }

    #[inline]
    fn class_of(&self, packet: &Packet) -> usize {
        self.config.tree.place(packet.class).map_or(ROOT, |place| place + 1)
    }

    fn open(&mut self, flow: FlowHash, class: usize) -> usize {
        if self.leaves.is_full() {
            let unlucky = self.rng.below(self.leaves.len() as u32) as usize;
            self.delete(unlucky);
        }
        self.classes.activate(class, self.config.total as f64);
        let turn = self.classes.ring(class);
        let leaf = self.leaves.insert(flow, class, turn);
        self.classes.add_flow(class);
        if turn.is_none() {
            self.classes.set_turn(class, leaf);
        }
        // The class's pool pays for the bucket, so the flow's siblings bear the cost first.
        let height = self.height(class);
        *self.classes.pool_mut(class) -= height;
        *self.leaves.tokens_mut(leaf) = height;
        leaf
    }

    /// Returns a bucket's tokens to its class, and retires classes that become idle.
    fn delete(&mut self, leaf: usize) {
        let class = self.leaves.get(leaf).class as usize;
        if self.classes.ring(class) == Some(leaf) {
            self.classes.set_turn(class, self.leaves.next(leaf));
        }
        let (removed, moved) = self.leaves.remove(leaf);
        if let Some(Moved { class, from }) = moved
            && self.classes.ring(class) == Some(from)
        {
            self.classes.set_turn(class, leaf);
        }
        *self.classes.pool_mut(class) += removed.tokens;
        self.classes.remove_flow(class);
        self.classes.retire(class);
    }

    #[inline]
    fn refill(&mut self, price: i64, queue: i64) {
        self.departures += 1;
        *self.classes.pool_mut(ROOT) += price;
        // A packet of no bytes returns no tokens, but its departure deals one out.
        let quantum = price.max(TOKEN);
        let walks = steps(self.classes.pool(ROOT).abs(), queue, quantum, self.config.given.beta_max);
        for walk in 0..walks {
            if walk > 0 && self.classes.pool(ROOT).abs() < TOKEN {
                return;
            }
            self.walk(quantum);
        }
    }

    /// Moves a chunk from the root down to a flow. Each class on the path deals out its pool.
    #[inline]
    fn walk(&mut self, quantum: i64) {
        let (mut at, mut height) = (ROOT, self.config.total as f64);
        let mut moves = 1;
        while let Some(child) = self.deal(at, moves, quantum) {
            if self.config.given.cap && at != ROOT {
                self.pass_overflow_up(at, height as i64);
            }
            (at, height) = (child, height * self.classes.part(child));
            // The entire pool is dealt out, because a class with a small share rarely has a turn,
            // and the cap would take the tokens left in its pool.
            moves = steps(self.classes.pool(at).abs(), quantum, quantum, self.config.given.beta_max);
        }
        if self.config.given.cap && at != ROOT {
            self.pass_overflow_up(at, height as i64);
        }
    }

    /// Returns the child drawn last if it is a class.
    #[inline]
    fn deal(&mut self, class: usize, moves: u32, quantum: i64) -> Option<usize> {
        let mut last = None;
        for _ in 0..moves {
            if self.classes.is_idle(class) {
                return None;
            }
            let pool = self.classes.pool(class);
            let chunk = pool.abs().min(quantum);
            let child = self.classes.draw(class, &mut self.rng);
            last = match child {
                Child::Class(child) => Some(child),
                Child::Flow(_) => None,
            };
            if pool == 0 || class == ROOT && pool.abs() < TOKEN {
                break;
            }
            match child {
                Child::Class(child) => {
                    self.classes.move_down(class, child, if pool > 0 { chunk } else { -chunk });
                    self.moves += 1;
                }
                Child::Flow(leaf) if pool > 0 => self.fill(class, leaf, chunk),
                Child::Flow(leaf) => self.grab(class, leaf, chunk),
            }
        }
        last
    }

    /// Moves the tokens above `height` to the parent's pool. `class` must have dealt out its pool,
    /// so that each full bucket has received the token that deletes it.
    #[inline]
    fn pass_overflow_up(&mut self, class: usize, height: i64) {
        let overflow = self.classes.overflow(class, height);
        if overflow > 0 {
            self.classes.move_down(self.classes.parent(class), class, -overflow);
        }
    }

    #[inline]
    fn fill(&mut self, class: usize, leaf: usize, amount: i64) {
        self.classes.set_turn(class, self.leaves.next(leaf));
        *self.classes.pool_mut(class) -= amount;
        *self.leaves.tokens_mut(leaf) += amount;
        self.moves += 1;
        if self.leaves.get(leaf).tokens > self.height(class) {
            self.delete(leaf);
        }
    }

    #[inline]
    fn grab(&mut self, class: usize, leaf: usize, amount: i64) {
        self.classes.set_turn(class, self.leaves.next(leaf));
        if self.leaves.get(leaf).tokens >= amount {
            *self.leaves.tokens_mut(leaf) -= amount;
            *self.classes.pool_mut(class) += amount;
            self.moves += 1;
        }
    }
}

impl Dropper for Hfaba {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Verdict {
        let class = self.class_of(packet);
        let found = self.leaves.find(packet.flow);
        let Some(leaf) = found.filter(|&leaf| self.leaves.get(leaf).class as usize == class) else {
            // A new bucket starts full of tokens, so its first packet passes unjudged. `victim`
            // refuses a packet that does not fit into the buffer; such a packet opens no bucket.
            if buffer.fits(packet.len) {
                if let Some(elsewhere) = found {
                    self.delete(elsewhere);
                }
                self.arrival = self.open(packet.flow, class);
            }
            return Verdict::Pass;
        };
        self.arrival = leaf;
        let (mut tokens, height) = (self.leaves.get(leaf).tokens, self.height(class));
        if self.was_idle && core::mem::take(&mut self.was_idle) && buffer.is_empty() && tokens < height {
            *self.classes.pool_mut(class) -= height - tokens;
            *self.leaves.tokens_mut(leaf) = height;
            tokens = height;
        }
        if tokens > height {
            *self.classes.pool_mut(class) += tokens - height;
            *self.leaves.tokens_mut(leaf) = height;
            return Verdict::Pass;
        }
        if tokens <= 0 {
            return Verdict::Drop(Cause::NoTokens);
        }
        self.config.profile.verdict(tokens, height, &mut self.rng)
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, _: FlowKey, inside: bool, buffer: &Buffer) {
        let price = self.config.given.measure.price(packet);
        if !inside {
            return self.refill(price, self.config.given.measure.price_of_all(buffer));
        }
        // Push-outs may have refilled buckets, and so moved or deleted the arrival's bucket.
        let at_place = self.leaves.is_at(packet.flow, self.arrival).then_some(self.arrival);
        match at_place.or_else(|| self.leaves.find(packet.flow)) {
            Some(leaf) => {
                *self.leaves.tokens_mut(leaf) -= price;
                self.classes.spend(self.leaves.get(leaf).class as usize, price);
            }
            // The bucket was overfull and deleted. Its class may be idle by now, so the root pays.
            None => *self.classes.pool_mut(ROOT) -= price,
        }
    }

    fn idle(&mut self, _: Time) {
        self.was_idle = true;
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        if self.config.tree.is_empty() {
            return Err(SetWeightError::NoWeights);
        }
        let place = self.config.tree.place(class).ok_or(SetWeightError::NoSuchClass { class })?;
        self.classes.set_weight(place + 1, weight.get());
        Ok(self.config.tree.set_weight(place, weight))
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        let shape = |of: &Config| (of.given.measure, of.max_flows);
        if shape(&self.config) != shape(&fresh.config) || self.config.tree != fresh.config.tree {
            return false;
        }
        self.classes.give_to_root(fresh.config.total - self.config.total);
        self.config.clone_from(&fresh.config);
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let tokens = |raw: i64| raw as f64 / TOKEN as f64;
        probe.gauge("flows", Unit::Flows, self.leaves.len() as f64);
        probe.gauge("active_classes", Unit::One, f64::from(self.classes.active()));
        probe.gauge("root_pool", Unit::Tokens, tokens(self.classes.pool(ROOT)));
        probe.gauge("all_pools", Unit::Tokens, tokens(self.classes.sum_of_pools()));
        let mean = if self.departures == 0 { 0.0 } else { self.moves as f64 / self.departures as f64 };
        probe.gauge("moves_per_departure", Unit::One, mean);
    }
}

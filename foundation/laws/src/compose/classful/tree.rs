//! The running tree of classes.

use super::config::{Config, Shape, Terms};
use super::leaf::{Contents, Inner, Maker, Pool};
use super::node::{Node, ROOT, cost_of, node_of};
use crate::compose::prio::moved;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;
use core::ops::Range;
use fairwire_core::{
    Backlog, ClassTerms, ClassTree, Control, Discipline, Duration, Ignore, Kept, Packet, Probe, Room,
    SetWeightError, Signals, Time, Unit, Weight,
};

/// Shares the link among classes. See the [module](super).
pub struct Classful {
    pub(super) tree: ClassTree,
    /// The node of the default leaf.
    default: usize,
    /// Index 0 is the root, and index p + 1 is the class at place p.
    pub(super) nodes: Box<[Node]>,
    pub(super) backlog: Backlog,
    /// Leaves that became empty and have not been polled since.
    pub(super) emptied: Vec<usize>,
    /// The number of the current poll. Nodes without a packet to send note it in `in_vain`.
    request: u64,
    pool: Option<Pool>,
    /// The terms of the classes and of the tree; `None` if there is a maker, or after `adopt`.
    pub(super) terms: Option<(Box<[Terms]>, Option<Shape>)>,
    pub(super) maker: Option<Box<dyn Maker>>,
    /// Existing leaves that the maker built.
    pub(super) made: Vec<usize>,
    kept: usize,
    /// The index in `made` at which the search for a leaf to release continues.
    hand: usize,
    /// The time of the first poll. A leaf built later is polled as if at this time.
    first_poll: Option<Time>,
}

/// The maximum number of leaves that `let_go` inspects.
const LOOKED_AT: usize = 16;

/// The rank among siblings: the least is served first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_over: bool,
    priority: usize,
    since: u128, // nanoseconds within the guarantee, virtual time over it
    node: usize, // so that no two are equal, whatever the order of the list
}

impl Classful {
    /// Builds the tree of `config`. `contents` is ordered by place.
    pub fn new(config: Config, contents: Vec<Contents>) -> Self {
        let mut children = vec![0; config.tree.len() + 1];
        (0..config.tree.len()).for_each(|place| children[node_of(config.tree.parent(place))] += 1);
        let whole = ClassTerms { ceiling: config.rate.map(|shape| shape.rate), ..ClassTerms::new(None) };
        let ceiling_burst = config.rate.map_or(Duration::ZERO, |shape| shape.burst);
        let terms = Terms { guarantee_burst: Duration::ZERO, ceiling_burst, peak: None, priority: 0 };
        let root = Node::new(&whole, &terms, Contents { label: String::new(), inner: None }, children[ROOT]);
        let classes = config
            .tree
            .terms()
            .iter()
            .zip(&config.terms)
            .zip(contents)
            .zip(&children[1..])
            .map(|(((class, terms), contents), children)| Node::new(class, terms, contents, *children));
        let nodes: Box<[Node]> = core::iter::once(root).chain(classes).collect();
        let is_made = |&at: &usize| matches!(nodes[at].contents.inner, Some(Inner::Made(_)));
        // `emptied` has room for all nodes, so it never grows.
        let mut emptied = Vec::with_capacity(nodes.len());
        emptied.extend((0..nodes.len()).filter(is_made));
        let backlog = Backlog::default();
        let Config { tree, default, terms, rate, .. } = config;
        let default = default + 1;
        Classful {
            tree,
            default,
            nodes,
            backlog,
            emptied,
            request: 0,
            pool: None,
            terms: Some((terms, rate)),
            maker: None,
            made: Vec::new(),
            kept: usize::MAX,
            hand: 0,
            first_poll: None,
        }
    }

    /// This tree, in which `maker` builds each [later](Inner::Later) leaf when its first packet
    /// arrives. Each build allocates memory. This suits thousands of leaves of which few are ever
    /// busy.
    ///
    /// A leaf behaves as if it had existed from the start, but only existing leaves are polled
    /// after a [`drain`](Discipline::drain).
    #[must_use]
    pub fn with_maker(self, maker: Box<dyn Maker>) -> Self {
        Classful { maker: Some(maker), terms: None, ..self }
    }

    /// This tree, in which the packets of `class` enter the leaves below that class by host. The
    /// upper half of the flow hash is the host. Two hosts may share a leaf. This has no effect
    /// unless all children of the class are leaves.
    #[must_use]
    pub fn by_host(mut self, class: u32) -> Self {
        if let Some(at) = self.tree.place(class).map(|place| place + 1) {
            let below: Vec<usize> =
                (1..self.nodes.len()).filter(|&node| self.nodes[node].parent == at).collect();
            let hosts = below.first().map(|&first| first..first + below.len());
            let are_leaves = |hosts: &Range<usize>| {
                hosts.clone().eq(below.iter().copied())
                    && self.nodes[hosts.clone()].iter().all(|node| node.contents.inner.is_some())
            };
            self.nodes[at].hosts = hosts.filter(are_leaves);
        }
        self
    }

    /// This tree, with leaves that share `pool`.
    #[must_use]
    pub fn with_pool(self, pool: Pool) -> Self {
        Classful { pool: Some(pool), ..self }
    }

    /// This tree, which keeps at most `leaves` (at least 1) of the leaves that its maker built, or
    /// more if they are backlogged. Before another leaf is built, a leaf that is empty and long
    /// unused is released. Its next packet builds it again, in its first state.
    ///
    /// The clock algorithm inspects leaves in turn, and releases a leaf without a packet since its
    /// last inspection. A search inspects at most 16 leaves and may release none, so a sixteenth
    /// more may exist. The default leaf is never released.
    #[must_use]
    pub fn keeping(self, leaves: usize) -> Self {
        Classful { kept: leaves.max(1), ..self }
    }

    /// The number of existing leaves that the maker built.
    pub fn leaves_made(&self) -> usize {
        self.made.len()
    }

    /// The backlog in the leaf of `class`, or in the default leaf.
    pub fn backlog_of(&self, class: u32) -> Backlog {
        self.inner(self.leaves_of(class).start).map_or(Backlog::default(), Discipline::backlog)
    }

    #[inline]
    fn leaves_of(&self, class: u32) -> Range<usize> {
        let default = self.default..self.default + 1;
        let Some(at) = self.tree.place(class).map(|place| place + 1) else { return default };
        match &self.nodes[at].contents.inner {
            Some(Inner::Later) if self.maker.is_none() => default,
            Some(_) => at..at + 1,
            None => self.nodes[at].hosts.clone().unwrap_or(default),
        }
    }

    #[inline]
    fn leaf_of(&self, packet: &Packet) -> usize {
        let leaves = self.leaves_of(packet.class);
        match leaves.len() {
            1 => leaves.start,
            hosts => leaves.start + packet.flow.host() as usize % hosts,
        }
    }

    #[inline]
    pub(super) fn inner(&self, at: usize) -> Option<&dyn Discipline> {
        self.nodes[at].contents.inner.as_ref().and_then(Inner::made)
    }

    /// Makes the discipline of the leaf `at`, in its first state.
    pub(super) fn leaf(&self, at: usize) -> Box<dyn Discipline> {
        self.maker.as_ref().expect("a leaf that is made later has a maker").make(at - 1)
    }

    #[cold]
    fn make(&mut self, at: usize, signals: &mut dyn Signals) {
        self.let_go();
        let mut inner = self.leaf(at);
        match self.first_poll {
            Some(first) => assert!(inner.dequeue(first, signals).is_none(), "it begins empty"),
            None => self.emptied.push(at),
        }
        inner.release();
        self.nodes[at].contents.inner = Some(Inner::Made(inner));
        self.made.push(at);
    }

    fn let_go(&mut self) {
        for _ in 0..LOOKED_AT {
            if self.made.len() < self.kept {
                return;
            }
            self.hand = if self.hand < self.made.len() { self.hand } else { 0 };
            let at = self.made[self.hand];
            let was_used = core::mem::take(&mut self.nodes[at].is_used);
            let waits = self.inner(at).is_some_and(|inner| !inner.backlog().is_empty());
            if was_used || waits || at == self.default {
                self.hand += 1;
                continue;
            }
            self.nodes[at].contents.inner = Some(Inner::Later);
            self.made.swap_remove(self.hand);
        }
    }

    #[inline]
    fn with_inner<T>(&mut self, at: usize, act: impl FnOnce(&mut dyn Discipline) -> T) -> T {
        let Some(Inner::Made(inner)) = &mut self.nodes[at].contents.inner else {
            unreachable!("only leaves have a discipline, once they are made");
        };
        let inner = &mut **inner;
        let before = inner.backlog();
        let result = act(inner);
        let after = inner.backlog();
        self.backlog = moved(self.backlog, before, after);
        match (before.is_empty(), after.is_empty()) {
            (true, false) => self.activate(at),
            (false, true) => self.deactivate(at),
            _ => {}
        }
        result
    }

    pub(super) fn activate(&mut self, mut at: usize) {
        while at != ROOT && self.nodes[at].place.is_none() {
            let parent = self.nodes[at].parent;
            self.nodes[at].place = Some(self.nodes[parent].active.len());
            self.nodes[parent].active.push(at);
            at = parent;
        }
    }

    pub(super) fn deactivate(&mut self, mut at: usize) {
        while at != ROOT && self.nodes[at].active.is_empty() {
            let Some(place) = self.nodes[at].place.take() else {
                return;
            };
            let parent = self.nodes[at].parent;
            self.nodes[parent].active.swap_remove(place);
            if let Some(&other) = self.nodes[parent].active.get(place) {
                self.nodes[other].place = Some(place);
            }
            at = parent;
        }
    }

    pub(super) fn forget_times(&mut self, mut at: usize) {
        loop {
            self.nodes[at].not_before = Time::ZERO;
            if at == ROOT {
                return;
            }
            at = self.nodes[at].parent;
        }
    }

    /// Polls the leaves that became empty, because some disciplines must know that a poll found no
    /// packet.
    fn poll_idle(&mut self, now: Time, signals: &mut dyn Signals) {
        self.first_poll.get_or_insert(now);
        while let Some(at) = self.emptied.pop() {
            if self.inner(at).is_some_and(|inner| inner.backlog().is_empty()) {
                let none = self.with_inner(at, |inner| inner.dequeue(now, signals));
                assert!(none.is_none(), "an empty discipline gave a packet");
                if self.maker.is_some() {
                    self.with_inner(at, |inner| inner.release());
                }
            }
        }
    }

    fn serve(&mut self, at: usize, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        if self.nodes[at].contents.inner.is_some() {
            return self.serve_leaf(at, now, signals);
        }
        let mut is_sorted = false;
        while let Some(rank) = self.next_child(at, now) {
            if let Some(packet) = self.serve(rank.node, now, signals) {
                self.charge(rank, packet.len, now);
                return Some(packet);
            }
            if !is_sorted {
                self.put_off_children(at, now);
                is_sorted = true;
            }
        }
        self.nodes[at].in_vain = self.request;
        self.nodes[at].not_before = self.ready_below(at);
        None
    }

    /// Sets `not_before` of all children of `at` that cannot send yet. Otherwise, each child would
    /// cost a poll and a search, which is quadratic time in total.
    fn put_off_children(&mut self, at: usize, now: Time) {
        for place in 0..self.nodes[at].active.len() {
            let child = self.nodes[at].active[place];
            if self.nodes[child].not_before <= now {
                let ready = self.ready_below(child);
                if ready > now {
                    self.nodes[child].not_before = ready;
                }
            }
        }
    }

    fn serve_leaf(&mut self, at: usize, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        let packet = self.with_inner(at, |inner| inner.dequeue(now, signals));
        let ready = self.inner(at).and_then(Discipline::ready_at);
        if packet.is_some() {
            if ready.is_none() {
                self.emptied.push(at);
            }
        } else {
            self.nodes[at].in_vain = self.request;
            self.nodes[at].not_before =
                ready.map_or(Time::ZERO, |ready| ready.max(now + Duration::from_ns(1)));
        }
        packet
    }

    #[inline]
    fn next_child(&self, at: usize, now: Time) -> Option<Rank> {
        let node = &self.nodes[at];
        let mut first = None;
        for &child in &node.active {
            let candidate = &self.nodes[child];
            if candidate.opens_at() > now || candidate.not_before > now || candidate.in_vain == self.request {
                continue;
            }
            let is_over = !candidate.is_within_guarantee(now);
            let priority = candidate.priority;
            let since = match &candidate.guarantee {
                Some(due) if !is_over => u128::from(due.free_at().ns()),
                // A class is owed no excess for the time when it had no packet.
                _ => candidate.tag.max(node.clocks[priority]),
            };
            let rank = Rank { is_over, priority, since, node: child };
            if first.is_none_or(|first| rank < first) {
                first = Some(rank);
            }
        }
        first
    }

    #[inline]
    fn charge(&mut self, rank: Rank, len: u32, now: Time) {
        let node = &mut self.nodes[rank.node];
        let parent = node.parent;
        node.not_before = Time::ZERO;
        if let Some(ceiling) = &mut node.ceiling {
            ceiling.start(len, now);
        }
        if rank.is_over {
            node.tag = rank.since + u128::from(len) * u128::from(node.cost);
            self.nodes[parent].clocks[rank.priority] = rank.since;
        } else if let Some(guarantee) = &mut node.guarantee {
            guarantee.start(len, now);
        }
    }

    /// The earliest time at which a packet under `at` may leave; [`Time::MAX`] without backlog.
    fn ready(&self, at: usize) -> Time {
        let node = &self.nodes[at];
        let below = if node.not_before > Time::ZERO { node.not_before } else { self.ready_below(at) };
        below.max(node.opens_at())
    }

    /// As [`ready`](Self::ready), ignoring the ceiling of `at` itself.
    fn ready_below(&self, at: usize) -> Time {
        match &self.nodes[at].contents.inner {
            Some(inner) => inner.made().and_then(Discipline::ready_at).unwrap_or(Time::MAX),
            None => self.nodes[at].active.iter().map(|&child| self.ready(child)).min().unwrap_or(Time::MAX),
        }
    }
}

impl Discipline for Classful {
    #[inline]
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        let at = self.leaf_of(&packet);
        if self.inner(at).is_none() {
            self.make(at, signals);
        }
        self.nodes[at].is_used = true;
        let (pool, all) = (self.pool, self.backlog);
        self.with_inner(at, |inner| {
            let has_room = pool.is_none_or(|pool| pool.has_room(inner.backlog(), all, packet.len));
            match room {
                Room::Open if has_room => inner.enqueue(packet, now, signals),
                _ => inner.offer(packet, Room::Full, now, signals),
            }
        });
        self.forget_times(at);
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.request += 1;
        self.poll_idle(now, signals);
        let root = &self.nodes[ROOT];
        if root.opens_at() > now || root.not_before > now {
            return None;
        }
        let packet = self.serve(ROOT, now, signals)?;
        let root = &mut self.nodes[ROOT];
        root.not_before = Time::ZERO;
        if let Some(ceiling) = &mut root.ceiling {
            ceiling.start(packet.len, now);
        }
        Some(packet)
    }

    fn ready_at(&self) -> Option<Time> {
        (!self.backlog.is_empty()).then(|| self.ready(ROOT))
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("backlog_packets", Unit::Packets, f64::from(self.backlog.packets));
        probe.gauge("backlog_bytes", Unit::Bytes, self.backlog.bytes as f64);
        if !probe.wants_parts() {
            return;
        }
        // Vacant leaves and leaves of hosts have no label.
        for node in self.nodes[1..].iter().filter(|node| !node.contents.label.is_empty()) {
            probe.enter(&node.contents.label);
            if let Some(guarantee) = &node.guarantee {
                probe.gauge("guaranteed_rate", Unit::BitsPerSecond, guarantee.rate().bps() as f64);
            }
            if let Some(ceiling) = &node.ceiling {
                ceiling.inspect(probe);
            }
            if let Some(inner) = node.contents.inner.as_ref().and_then(Inner::made) {
                inner.inspect(probe);
            }
            probe.leave();
        }
    }

    /// Takes O(classes), in addition to the time for the packets.
    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.emptied.clear();
        for at in 0..self.nodes.len() {
            if self.inner(at).is_some() {
                self.with_inner(at, |inner| inner.drain(take));
                self.emptied.push(at);
            }
            self.nodes[at].not_before = Time::ZERO;
        }
    }
}

impl Control for Classful {
    fn inside(&mut self, class: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        let leaves = class.map_or(0..self.nodes.len(), |class| self.leaves_of(class));
        for node in &mut self.nodes[leaves] {
            if let Some(Inner::Made(inner)) = &mut node.contents.inner {
                visit(&mut **inner);
            }
        }
    }

    /// Sets the weight of the class among its siblings, for the excess. A class that is not in the
    /// tree is looked up in the default leaf. The new weight also applies to bytes that the class
    /// has already sent beyond its turn.
    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        let Some(place) = self.tree.place(class) else {
            let at = self.default;
            if self.inner(at).is_none() {
                self.make(at, &mut Ignore);
            }
            return self.with_inner(at, |inner| inner.set_weight(class, weight));
        };
        let before = self.tree.set_weight(place, weight);
        let node = &self.nodes[place + 1];
        let clock = self.nodes[node.parent].clocks[node.priority];
        let node = &mut self.nodes[place + 1];
        let cost = core::mem::replace(&mut node.cost, cost_of(weight.get()));
        if node.tag > clock {
            node.tag = clock + (node.tag - clock).div_ceil(cost.into()) * u128::from(node.cost);
        }
        Ok(before)
    }

    fn succeed(
        &mut self,
        before: &mut dyn Discipline,
        kept: &Kept<'_>,
        now: Time,
        take: &mut dyn FnMut(Packet),
    ) {
        if let Some(before) = (before as &mut dyn Any).downcast_mut::<Self>() {
            self.inherit(before, kept, now);
        }
        before.drain(take);
    }

    fn retune_class(
        &mut self,
        class: u32,
        parent: Option<u32>,
        fresh: &mut dyn Discipline,
        now: Time,
    ) -> bool {
        let fresh = (fresh as &mut dyn Any).downcast_mut::<Self>();
        fresh.is_some_and(|fresh| self.adopt(class, parent, fresh, now))
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        self.nodes.iter_mut().for_each(|node| node.not_before = Time::ZERO);
        self.terms.is_some()
            && (&self.terms, &self.tree) == (&fresh.terms, &fresh.tree)
            && (self.default, self.pool) == (fresh.default, fresh.pool)
            && self.nodes.iter_mut().zip(&fresh.nodes).all(|(node, fresh)| {
                match (&mut node.contents.inner, &fresh.contents.inner) {
                    (Some(Inner::Made(inner)), Some(Inner::Made(fresh))) => inner.retune(&**fresh, now),
                    _ => true,
                }
            })
    }
}

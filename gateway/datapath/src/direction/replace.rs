//! Replaces a direction's configuration without losing a packet inside.
//!
//! The packet in transmission continues unchanged. A waiting packet that moves to a new discipline
//! gets the flow and the length that the new classifier finds. If it kept its old flow, later
//! packets could overtake it.

use super::departures::Departures;
use super::{Direction, DirectionPlan, Link, opened};
use crate::account::{Accounts, ClassCounts, OTHERS};
use crate::class_book::UNCLAIMED;
use crate::classify::{Classifier, Members};
use crate::edge::Edge;
use crate::hand_over::{Ahead, Scratch, hand_over_in};
use crate::not_ip::NotIpLimit;
use crate::pool::{FramePool, PoolSize};
use fairwire_core::{
    Discipline, Kept, Packet, Probe, RateLaw, SetWeightError, Time, Transmitter, Unit, Weight,
};
use std::any::Any;

/// New components for a direction, built outside the forwarding thread.
pub struct Replacement {
    plan: DirectionPlan,
    pool: Option<Store>,
    accounts: Option<Accounts>,
    classes: ClassCounts,
    scratch: Scratch,
    edge: Edge,
}

struct Store {
    pool: FramePool,
    departures: Departures,
    scratch: Vec<u8>,
    names: Vec<u32>,
}

/// The sizes on which the replacement of a direction depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The size of the direction's pool.
    pub pool: PoolSize,
    /// The number of flows counted one by one.
    pub flows: usize,
}

/// The outcome of a hand-over in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandedOver {
    /// Packets that waited.
    pub packets: u64,
    /// The number of waiting packets sent before all others, because the new discipline would have
    /// refused some of them.
    pub ahead: u64,
    /// Was every packet accounted for, before and after the hand-over?
    pub is_balanced: bool,
}

/// The replaced components, to be dropped where time does not matter.
pub struct Retired {
    _link: Option<Link>,
    _discipline: Option<Box<dyn Discipline>>,
    _store: Option<Store>,
    _accounts: Option<Accounts>,
    _classes: ClassCounts,
    _classifier: Classifier,
    _room: Scratch,
    _edge: Edge,
}

/// The number of packets whose hand-over memory (2.4 MB) is allocated in advance. The memory grows
/// for more packets.
const MAX_ROOM: u32 = 1 << 15;

impl Replacement {
    /// Builds the components of `plan` for a direction of `present` sizes. Flows keep their counts
    /// if `keeps_flows` is true and `plan` counts as many flows as before.
    pub fn new(plan: DirectionPlan, present: Sizes, keeps_flows: bool) -> Self {
        let store = || Store {
            pool: FramePool::new(plan.pool),
            departures: Departures::new(plan.pool.frames as usize),
            scratch: vec![0; plan.pool.frame_bytes as usize],
            names: vec![u32::MAX; present.pool.names()],
        };
        Replacement {
            pool: (plan.pool != present.pool).then(store),
            scratch: Scratch::of(present.pool.frames.min(MAX_ROOM) as usize),
            accounts: (!keeps_flows || plan.flows != present.flows).then(|| Accounts::new(plan.flows)),
            classes: ClassCounts::new(plan.classes),
            plan,
            edge: Edge::default(),
        }
    }

    /// Makes the direction the `edge` of a DiffServ domain.
    #[must_use]
    pub fn at_edge(self, edge: Edge) -> Self {
        Replacement { edge, ..self }
    }
}

impl Direction {
    /// The sizes that a replacement depends on.
    pub fn sizes(&self) -> Sizes {
        Sizes { pool: self.books.pool.size(), flows: self.books.accounts.capacity() }
    }

    /// Installs `replacement` at `now`. `class_map` has the new number of each class.
    ///
    /// If the direction's frames do not fit into a smaller new pool, the old pool stays.
    pub fn replace(
        &mut self,
        replacement: Replacement,
        class_map: &[u32],
        now: Time,
    ) -> (HandedOver, Retired) {
        self.books.now = now;
        let was_balanced = self.is_balanced();
        let packets = u64::from(self.backlog().packets);
        let Replacement { plan, pool, accounts, classes, mut scratch, mut edge } = replacement;
        edge.take_over(&self.edge, class_map);
        let edge = std::mem::replace(&mut self.edge, edge);
        let DirectionPlan { shaper, classifier, .. } = plan;
        let classes = self.replace_classes(classes, class_map);
        let (store, unfit) = match pool {
            Some(store) if store.pool.holds(&self.books.pool) => (Some(self.replace_store(store)), None),
            other => (None, other),
        };
        let old_accounts = accounts.map(|new| std::mem::replace(&mut self.books.accounts, new));
        let classifier = std::mem::replace(&mut self.classifier, classifier);
        let renaming = Renaming {
            names: store.as_ref().map(|store| store.names.as_slice()),
            class_map,
            keeps_flows: classifier.names_as(&self.classifier),
            reopens: old_accounts.is_some(),
        };
        let Relinked { link, discipline, ahead } = self.replace_link(shaper, &renaming, &mut scratch, now);
        let handed = HandedOver { packets, ahead, is_balanced: was_balanced && self.is_balanced() };
        let retired = Retired {
            _link: link,
            _discipline: discipline,
            _store: store.or(unfit),
            _accounts: old_accounts,
            _classes: classes,
            _classifier: classifier,
            _room: scratch,
            _edge: edge,
        };
        (handed, retired)
    }

    /// Sets the weight of `class`; `None` if nothing is shaped.
    pub fn set_weight(&mut self, class: u32, weight: Weight) -> Option<Result<Weight, SetWeightError>> {
        self.link.as_mut().map(|link| link.server.discipline_mut().set_weight(class, weight))
    }

    /// At `now`, replaces the terms of `class` by its terms in `fresh`: see
    /// [`fairwire_core::Control::retune_class`]. Returns false if this is impossible.
    pub fn retune_class(
        &mut self,
        class: u32,
        parent: Option<u32>,
        fresh: &mut dyn Discipline,
        now: Time,
    ) -> bool {
        self.link.as_mut().is_some_and(|link| link.server.retune_class(class, parent, fresh, now))
    }

    /// Are all packets of `class` gone?
    pub fn is_idle(&self, class: u32) -> bool {
        self.books.classes.is_idle(class)
    }

    /// Frees the number of `class`. Waiting packets leave as before.
    pub fn vacate(&mut self, class: u32) {
        self.books.classes.vacate(class);
    }

    /// Swaps the claims and the suspended classes with `members`. Waiting packets keep their class.
    pub fn swap_members(&mut self, members: &mut Members) {
        self.classifier.swap_members(members);
    }

    fn replace_classes(&mut self, new: ClassCounts, class_map: &[u32]) -> ClassCounts {
        let old = std::mem::replace(&mut self.books.classes, new);
        self.books.classes.add_renumbered(&old, class_map);
        old
    }

    /// Moves all packets of this direction to `store`, which has enough room. Returns the old
    /// store, whose `names` has the frames' new names.
    fn replace_store(&mut self, mut store: Store) -> Store {
        std::mem::swap(&mut store.pool, &mut self.books.pool);
        std::mem::swap(&mut store.scratch, &mut self.scratch);
        self.books.pool.take_all(&store.pool, &mut store.names);
        self.departures.move_into(&mut store.departures, &store.names);
        store
    }

    fn replace_link(
        &mut self,
        shaper: Option<super::ShaperPlan>,
        renaming: &Renaming<'_>,
        scratch: &mut Scratch,
        now: Time,
    ) -> Relinked {
        let Some(mut link) = self.link.take() else {
            if let Some(shaper) = shaper {
                self.link = Some(Link::new(shaper));
            }
            return Relinked::default();
        };
        let Some(shaper) = shaper else {
            let mut waiting = Vec::with_capacity(link.server.backlog().packets as usize);
            link.server.discipline_mut().drain(&mut |packet| waiting.push(self.renamed(packet, renaming)));
            waiting.sort_by_key(|packet| packet.arrived);
            self.release_unshaped(waiting);
            return Relinked { link: Some(link), ..Relinked::default() };
        };
        link.not_ip = NotIpLimit::new(shaper.not_ip);
        link.control.set_rate(shaper.control);
        if std::mem::replace(&mut link.follows, false) {
            link.server.follow(&RateLaw::Fixed, now, now);
        }
        let discipline = if renaming.changes_none() && link.server.retune(&*shaper.discipline, now) {
            link.server.set_rate(shaper.rate, shaper.catch_up);
            shaper.discipline
        } else {
            let kept = renaming.kept();
            let succeed = |new: &mut dyn Discipline, take: &mut dyn FnMut(Packet)| {
                let mut take = |packet| take(self.renamed(packet, renaming));
                let before = link.server.discipline_mut();
                let is_behind = (before as &dyn Any).is::<Ahead>();
                let before = match is_behind {
                    true => {
                        let ahead = (before as &mut dyn Any).downcast_mut::<Ahead>();
                        ahead.expect("it is one").behind(&mut take)
                    }
                    false => before,
                };
                // If packets of an earlier hand-over still wait ahead, no queue stays in place. The
                // packets in such a queue would overtake these older packets.
                let kept = Kept { names: kept.names && !is_behind, ..kept };
                new.succeed(before, &kept, now, &mut take);
            };
            let new = hand_over_in(scratch, succeed, shaper.discipline, now);
            link.server.replace(new, Transmitter::with_catch_up(shaper.rate, shaper.catch_up), now)
        };
        let ahead = carried_over(link.server.discipline());
        self.link = Some(link);
        Relinked { link: None, discipline: Some(discipline), ahead }
    }

    fn release_unshaped(&mut self, waiting: Vec<Packet>) {
        self.departures.end_sending();
        for packet in waiting {
            let note = self.books.pool.note(packet.frame);
            self.books.left(note.account, Some(note.class), packet.len);
            self.departures.pass(packet.frame);
        }
    }
}

#[derive(Default)]
struct Relinked {
    link: Option<Link>,
    discipline: Option<Box<dyn Discipline>>,
    ahead: u64,
}

struct Renaming<'a> {
    /// The new name of each frame, if the pool changed.
    names: Option<&'a [u32]>,
    class_map: &'a [u32],
    /// Does every packet keep its flow and length, so that its headers need not be parsed again?
    keeps_flows: bool,
    reopens: bool,
}

impl Renaming<'_> {
    fn kept(&self) -> Kept<'_> {
        Kept { classes: self.class_map, names: self.names.is_none() && self.keeps_flows && !self.reopens }
    }

    /// Does every packet keep its names and its class, so that waiting packets may stay in place?
    fn changes_none(&self) -> bool {
        self.kept().names && (0..).zip(self.class_map).all(|(was, class)| was == *class)
    }
}

impl Direction {
    fn renamed(&mut self, mut packet: Packet, renaming: &Renaming<'_>) -> Packet {
        if let Some(names) = &renaming.names {
            packet.frame = names[packet.frame as usize];
        }
        let was = self.books.pool.note(packet.frame).class;
        let class = renaming.class_map.get(was as usize).copied().unwrap_or(UNCLAIMED);
        self.books.pool.note_mut(packet.frame).class = class;
        if renaming.keeps_flows && !renaming.reopens {
            return Packet { class, ..packet };
        }
        let facts = self.classifier.classify(self.books.pool.bytes(packet.frame));
        if renaming.reopens {
            let frame = self.books.pool.bytes(packet.frame);
            let headers = self.classifier.headers(frame);
            let account = match facts.has_no_host {
                true => OTHERS,
                false => self.books.accounts.open(facts.flow, self.books.now, || {
                    opened(&headers, frame, &facts, self.classifier.way())
                }),
            };
            self.books.accounts.entry(account).packets_in += 1;
            self.books.accounts.entry(account).bytes_in += u64::from(facts.len);
            self.books.pool.note_mut(packet.frame).account = account;
        }
        let facts = crate::classify::Facts { class, ..facts };
        let flow = self.name(&facts, self.books.pool.note(packet.frame).account);
        Packet { class, flow, len: facts.len, ..packet }
    }
}

fn carried_over(discipline: &dyn Discipline) -> u64 {
    let mut carried = Carried(0);
    discipline.inspect(&mut carried);
    carried.0
}

struct Carried(u64);

impl Probe for Carried {
    fn gauge(&mut self, name: &str, _: Unit, value: f64) {
        if name == "carried_over_packets" {
            self.0 = value as u64;
        }
    }
}

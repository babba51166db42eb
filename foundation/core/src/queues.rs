//! The assignment of flows to queues.

use crate::flow::{FlowHash, FlowIndex};
use crate::packet::Packet;
use crate::rng::{Rng, mix};
use alloc::boxed::Box;
use alloc::vec;

/// The assignment of flows to queues.
#[derive(Debug)]
pub enum Queues {
    /// Each flow has its own queue.
    PerFlow,
    /// Each class ([`Packet::class`]) has its own queue.
    PerClass,
    /// A fixed number of queues: a salted hash of the flow picks one, and flows that collide share
    /// it (McKenney 1990).
    Hashed(Hashed),
    /// A fixed number of queues in small sets: a flow takes an empty queue of its set before it
    /// shares one.
    SetAssociative(SetAssociative),
    /// A fixed number of queues: when all are taken, a new flow takes over one of them (Suter et
    /// al. 1998, figure 10).
    Limited(Limited),
}

impl Queues {
    /// `count` queues (at least 1), picked by hash; `salt` decides which flows collide.
    pub fn hashed(count: u32, salt: u64) -> Self {
        Queues::Hashed(Hashed { count: count.max(1), salt })
    }

    /// `sets` sets (at least 1) of `ways` queues each (at least 1).
    pub fn set_associative(sets: u32, ways: u32, salt: u64) -> Self {
        let (sets, ways) = (sets.max(1), ways.max(1));
        let flows = vec![None; sets as usize * ways as usize].into();
        Queues::SetAssociative(SetAssociative { sets: Hashed { count: sets, salt }, ways, flows })
    }

    /// `count` queues (at least 1); the queue whose flow has been idle longest is taken over.
    pub fn least_recently_used(count: u32) -> Self {
        Queues::Limited(Limited::new(count, None))
    }

    /// `count` queues (at least 1); a uniformly random queue is taken over.
    pub fn random_replacement(count: u32, rng: Rng) -> Self {
        Queues::Limited(Limited::new(count, Some(rng)))
    }

    /// The number of queues; `None` if only the buffer limits it.
    pub fn count(&self) -> Option<u32> {
        match self {
            Queues::PerFlow | Queues::PerClass => None,
            Queues::Hashed(hashed) => Some(hashed.count),
            Queues::SetAssociative(sets) => Some(sets.flows.len() as u32),
            Queues::Limited(limited) => Some(limited.slots.len() as u32),
        }
    }

    /// Does `other`, which is unused, assign queues by the same rule?
    pub(crate) fn is_like(&self, other: &Queues) -> bool {
        match (self, other) {
            (Queues::PerFlow, Queues::PerFlow) | (Queues::PerClass, Queues::PerClass) => true,
            (Queues::Hashed(one), Queues::Hashed(other)) => one == other,
            (Queues::SetAssociative(one), Queues::SetAssociative(other)) => {
                one.sets == other.sets && one.ways == other.ways
            }
            (Queues::Limited(one), Queues::Limited(other)) => {
                one.slots.len() == other.slots.len() && one.random.is_some() == other.random.is_some()
            }
            _ => false,
        }
    }

    /// Bytes of memory, all allocated at construction.
    pub fn memory(&self) -> usize {
        match self {
            Queues::PerFlow | Queues::PerClass | Queues::Hashed(_) => 0,
            Queues::SetAssociative(sets) => size_of_val(&*sets.flows),
            Queues::Limited(limited) => size_of_val(&*limited.slots) + limited.index.memory(),
        }
    }

    /// The name of the queue for `packet`. If the number of queues is fixed, names are numbers from
    /// 0.
    #[inline]
    pub(crate) fn of(&self, packet: &Packet) -> FlowHash {
        match self {
            Queues::PerFlow => packet.flow,
            Queues::Hashed(hashed) => FlowHash(hashed.pick(packet.flow).into()),
            _ => self.seldom_of(packet),
        }
    }

    #[inline(never)] // all of them in one place would be a jump through a table for each packet
    fn seldom_of(&self, packet: &Packet) -> FlowHash {
        match self {
            Queues::PerFlow => packet.flow,
            Queues::PerClass => FlowHash(packet.class.into()),
            Queues::Hashed(hashed) => FlowHash(hashed.pick(packet.flow).into()),
            Queues::SetAssociative(sets) => FlowHash(sets.of(packet.flow).into()),
            Queues::Limited(limited) => FlowHash(limited.of(packet.flow).into()),
        }
    }

    /// True if queues are assigned on arrival; false if a packet alone determines its queue.
    #[inline]
    pub(crate) fn are_given(&self) -> bool {
        matches!(self, Queues::SetAssociative(_) | Queues::Limited(_))
    }

    /// Assigns the packet's flow a queue if the flow has none.
    #[inline]
    pub(crate) fn assign(&mut self, packet: &Packet, is_empty: impl Fn(FlowHash) -> bool) {
        match self {
            Queues::PerFlow | Queues::PerClass | Queues::Hashed(_) => {}
            Queues::SetAssociative(sets) => sets.assign(packet.flow, is_empty),
            Queues::Limited(limited) => limited.assign(packet.flow),
        }
    }
}

/// Queues picked by a salted hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashed {
    count: u32,
    salt: u64,
}

impl Hashed {
    #[inline]
    fn pick(&self, flow: FlowHash) -> u32 {
        (((mix(flow.0 ^ self.salt) >> 32) * u64::from(self.count)) >> 32) as u32
    }
}

/// Sets of a few queues each; a queue remembers its flow.
#[derive(Debug)]
pub struct SetAssociative {
    sets: Hashed,
    ways: u32,
    flows: Box<[Option<FlowHash>]>,
}

impl SetAssociative {
    fn of(&self, flow: FlowHash) -> u32 {
        let (first, set) = self.set(flow);
        first + set.iter().position(|&owner| owner == Some(flow)).unwrap_or(0) as u32
    }

    fn assign(&mut self, flow: FlowHash, is_empty: impl Fn(FlowHash) -> bool) {
        let (first, set) = self.set(flow);
        if set.contains(&Some(flow)) {
            return;
        }
        let free = (first..first + self.ways).find(|&queue| is_empty(FlowHash(queue.into())));
        if let Some(queue) = free {
            self.flows[queue as usize] = Some(flow);
        }
    }

    fn set(&self, flow: FlowHash) -> (u32, &[Option<FlowHash>]) {
        let first = self.sets.pick(flow) * self.ways;
        (first, &self.flows[first as usize..][..self.ways as usize])
    }
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    flow: FlowHash,
    /// In the list by last use, the neighbour that was used more recently.
    newer: u32,
    older: u32,
}

/// A bounded number of queues, each assigned to one flow. Packets in a queue that is taken over
/// stay in it: packets of the old and the new flow share the queue until it drains.
#[derive(Debug)]
pub struct Limited {
    slots: Box<[Slot]>,
    index: FlowIndex,
    taken: u32,
    newest: u32,
    oldest: u32,
    /// Picks the queue to take over. If `None`, the queue that has been idle longest is taken over.
    random: Option<Rng>,
}

impl Limited {
    fn new(count: u32, random: Option<Rng>) -> Self {
        let count = count.max(1) as usize;
        let slots = vec![Slot { flow: FlowHash(0), newer: NONE, older: NONE }; count].into();
        Limited { slots, index: FlowIndex::new(count), taken: 0, newest: NONE, oldest: NONE, random }
    }

    fn find(&self, flow: FlowHash) -> Option<u32> {
        self.index.find(flow, |queue| self.slots[queue].flow == flow).map(|queue| queue as u32)
    }

    fn of(&self, flow: FlowHash) -> u32 {
        self.find(flow).unwrap_or(0)
    }

    fn assign(&mut self, flow: FlowHash) {
        let queue = match self.find(flow) {
            Some(queue) if queue == self.newest => return,
            Some(queue) => queue,
            None => self.take(flow),
        };
        self.unlink(queue);
        self.link(queue);
    }

    /// Assigns `flow` a free queue, or else takes over a queue. The caller then moves the queue to
    /// the newest end of the list, which is in order of last use.
    fn take(&mut self, flow: FlowHash) -> u32 {
        let queue = if (self.taken as usize) < self.slots.len() {
            self.taken += 1;
            self.link(self.taken - 1);
            self.taken - 1
        } else {
            let queue = match &mut self.random {
                Some(rng) => rng.below(self.slots.len() as u32),
                None => self.oldest,
            };
            let slots = &self.slots;
            self.index.remove(slots[queue as usize].flow, queue as usize, |queue| slots[queue].flow);
            queue
        };
        self.slots[queue as usize].flow = flow;
        self.index.insert(flow, queue as usize);
        queue
    }

    fn link(&mut self, queue: u32) {
        let older = core::mem::replace(&mut self.newest, queue);
        match older {
            NONE => self.oldest = queue,
            _ => self.slots[older as usize].newer = queue,
        }
        let slot = &mut self.slots[queue as usize];
        (slot.newer, slot.older) = (NONE, older);
    }

    fn unlink(&mut self, queue: u32) {
        let Slot { newer, older, .. } = self.slots[queue as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.slots[older as usize].newer = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;
    use crate::time::Time;

    fn of(flow: u64) -> Packet {
        Packet { class: flow as u32 % 3, ..Packet::new(0, 100, flow.into(), Time::ZERO) }
    }

    fn assigned(queues: &mut Queues, flow: u64) -> u64 {
        queues.assign(&of(flow), |_| true);
        queues.of(&of(flow)).0
    }

    #[test]
    fn each_flow_or_class_has_its_own_queue() {
        assert_eq!(assigned(&mut Queues::PerFlow, 8), 8);
        assert_eq!(assigned(&mut Queues::PerClass, 8), 2);
    }

    #[test]
    fn hashed_queues_are_used_evenly_and_differ_by_salt() {
        let (mut one, mut other) = (Queues::hashed(100, 1), Queues::hashed(100, 2));
        let mut used = [0u32; 100];
        let mut same = 0;
        for flow in 0..10_000 {
            let queue = assigned(&mut one, flow);
            used[queue as usize] += 1;
            same += u32::from(queue == assigned(&mut other, flow));
        }
        assert!(used.iter().all(|n| (50..150).contains(n)), "{used:?}"); // 100 +- 5 sd
        assert!((50..150).contains(&same), "{same}");
    }

    #[test]
    fn within_a_set_a_flow_takes_an_empty_queue_or_shares_the_first() {
        let mut queues = Queues::set_associative(1, 2, 0);
        assert_eq!([assigned(&mut queues, 5), assigned(&mut queues, 5)], [0, 0]);
        queues.assign(&of(6), |queue| queue.0 == 1);
        assert_eq!(queues.of(&of(6)).0, 1);
        queues.assign(&of(7), |_| false);
        assert_eq!((queues.of(&of(7)).0, queues.of(&of(5)).0), (0, 0), "flow 7 shares with flow 5");
        queues.assign(&of(7), |queue| queue.0 == 1);
        assert_eq!(queues.of(&of(7)).0, 1, "flow 6 has nothing waiting and gives way");
    }

    #[test]
    fn the_flow_that_has_been_silent_longest_loses_its_queue() {
        let mut queues = Queues::least_recently_used(3);
        assert_eq!([1, 2, 3, 1].map(|flow| assigned(&mut queues, flow)), [0, 1, 2, 0]);
        assert_eq!(assigned(&mut queues, 4), 1, "flow 2 was silent longest");
        assert_eq!(assigned(&mut queues, 2), 2, "and now flow 3");
        assert_eq!([1, 4, 2].map(|flow| queues.of(&of(flow)).0), [0, 1, 2]);
    }

    #[test]
    fn random_replacement_hits_every_queue_alike_and_each_flow_keeps_one() {
        let mut queues = Queues::random_replacement(4, Seed(1).stream("queues"));
        let mut used = [0u32; 4];
        for flow in 0..4000 {
            let queue = assigned(&mut queues, flow);
            used[queue as usize] += 1;
            assert_eq!(assigned(&mut queues, flow), queue);
        }
        assert!(used.iter().all(|n| (850..1150).contains(n)), "{used:?}"); // 1000 +- 5 sd
    }
}

//! The shared buffer: one slab of packets, linked by flow *and* by order of arrival.
//!
//! Operations on a packet are O(1). Memory is allocated at construction, and later only if the
//! limit rises or a released buffer is used again. Only the indexes that a user [needs](Needs) are
//! maintained. A "flow" here means all packets of a queue, to which [`Queues`] may assign several
//! flows.
mod arrival;
mod limit;
mod read;
mod shared;

pub use limit::Limit;

use crate::discipline::Backlog;
use crate::flow::{FlowHash, MAX_PLACES};
use crate::names::{NONE, Names};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::queues::Queues;
use crate::rng::Rng;
use crate::time::Time;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Names a waiting packet. Valid until that packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u32);

impl Key {
    /// The index into arrays parallel to the buffer; below [`Buffer::slots`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Names a backlogged flow. Valid until that flow's last packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowKey(u32);

impl FlowKey {
    /// The index into arrays parallel to the buffer; below [`Buffer::slots`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

const NO_FLOWS: &str = "flows are not indexed: build the buffer with `Needs::FLOWS`";

/// A packet and its links, in one cache line, because operations need both.
#[derive(Debug)]
#[repr(align(64))]
struct Slot {
    // Not an `Option`, whose tag would make the slot slower to copy.
    packet: Packet,
    older: u32, // VACANT if no packet is here
    newer: u32, // doubles as the free list's link
    dense: u32, // index in `waiting`
    links: Links,
}

const VACANT: u32 = NONE - 1; // replaces a neighbour: the slot holds no packet

fn no_packet() -> Packet {
    Packet::new(0, 0, FlowHash(0), Time::ZERO)
}

/// A packet's neighbours in its flow.
#[derive(Clone, Copy, Debug, Default)]
struct Links {
    older: u32,
    newer: u32,
    flow: u32,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    hash: FlowHash,
    bytes: u64,
    head: u32,
    tail: u32,
    packets: u32,
    dense: u32, // index in `backlogged`; doubles as the free list's link
}

/// The packets that wait in one discipline.
#[derive(Debug)]
pub struct Buffer {
    limit: Limit,
    /// The current bounds: those of the limit, or lower bounds while the buffer is
    /// [closed](Buffer::close).
    max_packets: u32,
    max_bytes: u64,
    needs: Needs,
    len: u32,
    oldest: u32,
    newest: u32,
    /// The oldest free slot. Slots are reused in the order in which they were freed. So packets
    /// that arrive and leave in order lie in order in memory.
    free_slot: u32,
    last_free_slot: u32, // meaningless if none is free
    bytes: u64,
    /// The slots used so far. Reserved memory that is never written costs no time and, on most
    /// systems, occupies no page.
    slots: Vec<Slot>,
    waiting: Vec<u32>,
    free_flow: u32,
    queues: Queues,
    flows: Vec<Flow>, // used so far, as with the slots
    /// The first `active` of these are the backlogged flows.
    backlogged: Box<[u32]>,
    active: u32,
    names: Names,
}

impl Buffer {
    /// An empty buffer that maintains every index, with one queue per flow.
    pub fn new(limit: Limit) -> Self {
        Buffer::with(limit, Needs::ALL, Queues::PerFlow)
    }

    /// An empty buffer that maintains the indexes in `needs`, and assigns flows to queues by
    /// `queues`.
    pub fn with(limit: Limit, needs: Needs, queues: Queues) -> Self {
        let slots = limit.packets;
        // Without flows, draining needs the order of arrival to find every packet.
        let needs = if needs.flows { needs } else { needs | Needs::ORDER };
        let count = if needs.flows { queues.count() } else { Some(0) };
        // There is at most one backlogged flow per packet, and per queue.
        let per_flow = count.map_or(slots, |count| slots.min(count));
        assert!(per_flow as usize <= MAX_PLACES, "{slots} flows are above the bound of {MAX_PLACES}");
        Buffer {
            limit,
            max_packets: limit.packets,
            max_bytes: limit.bytes,
            needs,
            len: 0,
            oldest: NONE,
            newest: NONE,
            free_slot: NONE,
            last_free_slot: NONE,
            bytes: 0,
            slots: Vec::with_capacity(slots as usize),
            waiting: Vec::with_capacity(if needs.random_packet { slots as usize } else { 0 }),
            free_flow: NONE,
            queues,
            flows: Vec::with_capacity(per_flow as usize),
            backlogged: vec![0; per_flow as usize].into(), // zeros are pages that the system has ready
            active: 0,
            names: Names::new(per_flow as usize, count),
        }
    }

    /// Takes over the limit of `fresh`, an empty buffer. The backlog stays, even above the limit.
    /// Returns false without a change if the indexes or the assignment of queues differ.
    pub fn retune(&mut self, fresh: &Buffer) -> bool {
        if self.needs != fresh.needs || !self.queues.is_like(&fresh.queues) {
            return false;
        }
        if fresh.limit.packets > self.limit.packets {
            self.grow(fresh.limit.packets as usize, fresh.backlogged.len());
        }
        self.limit = fresh.limit;
        self.open();
        true
    }

    /// Keys stay valid.
    fn grow(&mut self, packets: usize, flows: usize) {
        self.slots.reserve_exact(packets.saturating_sub(self.slots.len()));
        if self.needs.random_packet {
            self.waiting.reserve_exact(packets.saturating_sub(self.waiting.len()));
        }
        if flows <= self.backlogged.len() {
            return;
        }
        self.flows.reserve_exact(flows.saturating_sub(self.flows.len()));
        let mut backlogged = vec![0; flows];
        backlogged[..self.active as usize].copy_from_slice(&self.backlogged[..self.active as usize]);
        self.backlogged = backlogged.into();
        self.names = Names::new(flows, self.queues.count());
        for &flow in &self.backlogged[..self.active as usize] {
            self.names.insert(self.flows[flow as usize].hash, flow);
        }
    }

    /// The current limit.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// The assignment of flows to queues.
    pub fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The number of slots. Every [`Key`] and [`FlowKey`] index is below this number.
    pub fn slots(&self) -> usize {
        (self.limit.packets as usize).max(self.slots.len())
    }

    /// Packets waiting.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Is it empty?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes waiting.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packets and bytes waiting.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.len(), bytes: self.bytes }
    }

    /// Is there room for another packet of `len` bytes?
    #[inline]
    pub fn fits(&self, len: u32) -> bool {
        self.len() < self.max_packets && self.bytes + u64::from(len) <= self.max_bytes
    }

    /// Assigns the packet's flow a queue if the flow has none. Invoked even for refused arrivals.
    #[inline]
    pub fn arriving(&mut self, packet: &Packet) {
        if self.needs.flows && self.queues.are_given() {
            self.give_queue(packet);
        }
    }

    #[inline(never)] // it would bloat the path of flows with a dedicated queue
    fn give_queue(&mut self, packet: &Packet) {
        let (names, flows) = (&self.names, &self.flows);
        self.queues.assign(packet, |queue| names.find(queue, |i| flows[i].hash) == NONE);
    }

    /// Adds `packet` as the newest of all and of its flow.
    ///
    /// # Panics
    /// When it does not fit.
    #[inline]
    pub fn push(&mut self, packet: Packet) -> Key {
        let key = self.admit(&packet);
        self.put(key, packet);
        key
    }

    /// Reserves a slot for `packet` and reads the packet's fields. The caller moves the packet
    /// afterwards, because reads just after the move would stall the processor.
    #[inline(never)]
    pub(crate) fn admit(&mut self, packet: &Packet) -> Key {
        assert!(self.fits(packet.len), "a packet was pushed into a full buffer");
        if self.free_slot == NONE {
            self.use_another_slot();
        }
        let key = self.free_slot;
        if self.needs.flows {
            self.join_flow(packet, key);
        }
        self.bytes += u64::from(packet.len);
        self.len += 1;
        let slot = &mut self.slots[key as usize];
        self.free_slot = slot.newer;
        slot.older = NONE;
        if self.needs.random_packet {
            slot.dense = self.waiting.len() as u32;
            self.waiting.push(key);
        }
        if self.needs.order {
            let older = core::mem::replace(&mut self.newest, key);
            (slot.older, slot.newer) = (older, NONE);
            match older {
                NONE => self.oldest = key,
                _ => self.slots[older as usize].newer = key,
            }
        }
        Key(key)
    }

    #[inline]
    pub(crate) fn put(&mut self, key: Key, packet: Packet) -> FlowKey {
        let slot = &mut self.slots[key.index()];
        slot.packet = packet;
        FlowKey(slot.links.flow)
    }

    #[cold]
    fn use_another_slot(&mut self) {
        self.free_slot = self.slots.len() as u32;
        let (packet, links) = (no_packet(), Links::default());
        self.slots.push(Slot { packet, older: VACANT, newer: NONE, dense: NONE, links });
    }

    #[cold]
    fn use_another_flow(&mut self) {
        self.free_flow = self.flows.len() as u32;
        let hash = FlowHash(0);
        self.flows.push(Flow { hash, bytes: 0, head: NONE, tail: NONE, packets: 0, dense: NONE });
    }

    #[inline]
    fn join_flow(&mut self, packet: &Packet, key: u32) {
        let hash = self.queues.of(packet);
        let index = self.names.find(hash, |i| self.flows[i].hash);
        if index == NONE {
            return self.begin_flow(hash, packet.len, key);
        }
        let flow = &mut self.flows[index as usize];
        flow.packets += 1;
        flow.bytes += u64::from(packet.len);
        let older = core::mem::replace(&mut flow.tail, key);
        self.slots[older as usize].links.newer = key;
        self.slots[key as usize].links = Links { older, newer: NONE, flow: index };
    }

    #[inline]
    fn begin_flow(&mut self, hash: FlowHash, len: u32, key: u32) {
        if self.free_flow == NONE {
            self.use_another_flow();
        }
        let index = self.free_flow;
        let flow = &mut self.flows[index as usize];
        self.free_flow = flow.dense;
        *flow = Flow { hash, bytes: len.into(), head: key, tail: key, packets: 1, dense: self.active };
        self.backlogged[self.active as usize] = index;
        self.active += 1;
        self.names.insert(hash, index);
        self.slots[key as usize].links = Links { older: NONE, newer: NONE, flow: index };
    }

    /// Removes the packet named by `key`.
    ///
    /// # Panics
    /// When no packet has that key.
    #[inline(never)] // inlined, it would split the packet into its fields
    pub fn remove(&mut self, key: Key) -> Packet {
        let slot = &mut self.slots[key.index()];
        assert!(slot.older != VACANT, "a key names a waiting packet");
        let packet = core::mem::replace(&mut slot.packet, no_packet());
        let Slot { older, newer, dense, .. } = *slot;
        slot.newer = NONE;
        slot.older = VACANT;
        match self.free_slot {
            NONE => self.free_slot = key.0,
            _ => self.slots[self.last_free_slot as usize].newer = key.0,
        }
        self.last_free_slot = key.0;
        if self.needs.order {
            match older {
                NONE => self.oldest = newer,
                _ => self.slots[older as usize].newer = newer,
            }
            match newer {
                NONE => self.newest = older,
                _ => self.slots[newer as usize].older = older,
            }
        }
        self.bytes -= u64::from(packet.len);
        self.len -= 1;
        if self.needs.random_packet {
            self.waiting.swap_remove(dense as usize);
            if let Some(&moved) = self.waiting.get(dense as usize) {
                self.slots[moved as usize].dense = dense;
            }
        }
        if self.needs.flows {
            self.leave_flow(key, packet.len);
        }
        packet
    }

    #[inline]
    fn leave_flow(&mut self, key: Key, len: u32) {
        let Links { older, newer, flow: index } = self.slots[key.index()].links;
        let flow = &mut self.flows[index as usize];
        flow.packets -= 1;
        flow.bytes -= u64::from(len);
        if flow.packets == 0 {
            return self.end_flow(index);
        }
        match older {
            NONE => flow.head = newer,
            _ => self.slots[older as usize].links.newer = newer,
        }
        match newer {
            NONE => self.flows[index as usize].tail = older,
            _ => self.slots[newer as usize].links.older = older,
        }
    }

    #[inline]
    fn end_flow(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let (hash, dense) = (flow.hash, flow.dense);
        self.active -= 1;
        let last = self.backlogged[self.active as usize];
        self.backlogged[dense as usize] = last;
        self.flows[last as usize].dense = dense; // if it is the last, the next line overwrites this
        self.flows[index as usize].dense = core::mem::replace(&mut self.free_flow, index);
        self.names.remove(hash, index);
    }

    pub(crate) fn packet_mut(&mut self, key: Key) -> &mut Packet {
        let slot = &mut self.slots[key.index()];
        assert!(slot.older != VACANT, "a key names a waiting packet");
        &mut slot.packet
    }
}

fn some(link: u32) -> Option<u32> {
    (link != NONE).then_some(link)
}

fn pick(from: &[u32], rng: &mut Rng) -> Option<u32> {
    if from.is_empty() { None } else { Some(from[rng.below(from.len() as u32) as usize]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;

    fn packet(frame: u32, flow: u64, len: u32) -> Packet {
        Packet::new(frame, len, flow.into(), Time::ZERO)
    }

    /// `model` has (frame, flow, len) of each packet, in order of arrival.
    fn assert_matches(buffer: &Buffer, model: &[(u32, u64, u32)]) {
        assert_eq!(buffer.len() as usize, model.len());
        assert_eq!(buffer.bytes(), model.iter().map(|m| u64::from(m.2)).sum::<u64>());
        let mut key = buffer.oldest();
        for m in model {
            let k = key.expect("as many as the model");
            assert_eq!(buffer.packet(k).frame, m.0);
            key = buffer.newer(k);
        }
        assert_eq!(key, None);
        let mut hashes: Vec<u64> = model.iter().map(|m| m.1).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(buffer.backlogged_flows() as usize, hashes.len());
        for hash in hashes {
            let flow = buffer.find(hash.into()).expect("backlogged");
            let of_flow: Vec<_> = model.iter().filter(|m| m.1 == hash).collect();
            assert_eq!(buffer.packet(buffer.flow_head(flow)).frame, of_flow[0].0);
            assert_eq!(buffer.packet(buffer.flow_tail(flow)).frame, of_flow[of_flow.len() - 1].0);
            assert_eq!(buffer.flow_backlog(flow).packets as usize, of_flow.len());
            assert_eq!(buffer.flow_backlog(flow).bytes, of_flow.iter().map(|m| u64::from(m.2)).sum::<u64>());
            assert_eq!(buffer.flow_hash(flow), hash.into());
        }
    }

    #[test]
    fn freed_slots_are_reused_in_the_order_of_their_release() {
        let mut buffer = Buffer::new(Limit::packets(4));
        let push = |buffer: &mut Buffer| buffer.push(packet(0, 1, 100));
        let [a, b, c, d] = [(); 4].map(|()| push(&mut buffer));
        [c, a, d].into_iter().for_each(|key| _ = buffer.remove(key));
        assert_eq!([(); 3].map(|()| push(&mut buffer)), [c, a, d]);
        [b, d].into_iter().for_each(|key| _ = buffer.remove(key));
        assert_eq!(push(&mut buffer), b);
        buffer.remove(a);
        assert_eq!([(); 2].map(|()| push(&mut buffer)), [d, a], "also where one was taken in between");
    }

    #[test]
    fn a_buffer_that_released_its_memory_grows_again_on_demand() {
        let mut buffer = Buffer::new(Limit::packets(1000));
        let taken = buffer.memory();
        buffer.release();
        assert_eq!(taken - buffer.memory(), 1000 * size_of::<Slot>());
        let keys: Vec<Key> = (0..40).map(|frame| buffer.push(packet(frame, 1, 100))).collect();
        buffer.release();
        assert_eq!((buffer.len(), buffer.packet(keys[39]).frame), (40, 39), "not while something waits");
        keys.into_iter().for_each(|key| _ = buffer.remove(key));
        buffer.release();
        let few: Vec<Key> = (0..9).map(|frame| buffer.push(packet(frame, 1, 100))).collect();
        few.into_iter().for_each(|key| _ = buffer.remove(key));
        let kept = buffer.memory();
        buffer.release();
        assert_eq!(buffer.memory(), kept, "a few slots are kept");
        (0..1000).for_each(|frame| _ = buffer.push(packet(frame, 1, 100)));
        assert!(!buffer.fits(1));
        assert!(buffer.memory() <= taken + 24 * size_of::<Slot>(), "a power of two at most");
    }

    #[test]
    fn it_agrees_with_a_plain_list_over_random_operations() {
        let mut rng = Seed(3).stream("buffer");
        let mut buffer = Buffer::new(Limit::both(12, 9_000));
        let mut model: Vec<(u32, u64, u32)> = Vec::new();
        for frame in 0..20_000 {
            let len = 40 + rng.below(1500);
            if rng.chance(0.55) {
                let fits = model.len() < 12 && model.iter().map(|m| m.2).sum::<u32>() + len <= 9_000;
                assert_eq!(buffer.fits(len), fits);
                if fits {
                    let flow = u64::from(rng.below(5));
                    buffer.push(packet(frame, flow, len));
                    model.push((frame, flow, len));
                }
            } else if let Some(key) = match rng.below(3) {
                0 => buffer.oldest(),
                1 => buffer.random_packet(&mut rng),
                _ => buffer.random_flow(&mut rng).map(|flow| buffer.flow_head(flow)),
            } {
                let gone = buffer.remove(key);
                let at = model.iter().position(|m| m.0 == gone.frame).expect("in the model");
                model.remove(at);
            }
            assert_matches(&buffer, &model);
        }
    }

    #[test]
    fn a_random_packet_is_uniform_over_packets_and_a_random_flow_over_flows() {
        let mut buffer = Buffer::new(Limit::packets(10));
        for frame in 0..10 {
            buffer.push(packet(frame, u64::from(frame == 9), 100)); // nine of flow 0, one of flow 1
        }
        let mut rng = Seed(4).stream("uniform");
        let (mut packets, mut flows) = (0, 0);
        for _ in 0..10_000 {
            let key = buffer.random_packet(&mut rng).expect("not empty");
            packets += u32::from(buffer.packet(key).flow == 1.into());
            let flow = buffer.random_flow(&mut rng).expect("not empty");
            flows += u32::from(buffer.flow_hash(flow) == 1.into());
        }
        assert!((900..1100).contains(&packets), "{packets}"); // 1000 +- 3.3 sd
        assert!((4835..5165).contains(&flows), "{flows}"); // 5000 +- 3.3 sd
    }

    #[test]
    fn a_packet_keeps_its_queue_after_a_take_over() {
        let mut buffer = Buffer::with(Limit::packets(4), Needs::FLOWS, Queues::least_recently_used(2));
        let arrive = |buffer: &mut Buffer, flow| {
            buffer.arriving(&packet(0, flow, 100));
            buffer.push(packet(0, flow, 100))
        };
        let first = arrive(&mut buffer, 7);
        let was_in = buffer.flow_of(first);
        let other = arrive(&mut buffer, 8);
        assert_ne!(buffer.flow_of(other), was_in);
        let heir = arrive(&mut buffer, 9); // takes over the queue of flow 7
        assert_eq!(buffer.flow_of(heir), was_in);
        arrive(&mut buffer, 7); // and flow 7 that of flow 8
        assert_eq!(buffer.flow_of(first), was_in);
        let gone = buffer.remove(first);
        assert_ne!(buffer.flow(&gone), Some(was_in));
        assert_eq!(buffer.flow_backlog(was_in).packets, 1);
    }

    #[test]
    fn a_queue_has_no_backlog_once_its_last_packet_has_left() {
        let mut buffer = Buffer::new(Limit::packets(4));
        let only = buffer.push(packet(0, 7, 100));
        buffer.push(packet(1, 8, 100));
        let flow = buffer.flow_of(only);
        buffer.remove(only);
        assert_eq!(buffer.flow_backlog(flow), Backlog::default());
    }

    #[test]
    #[should_panic(expected = "full buffer")]
    fn pushing_into_a_full_buffer_panics() {
        let mut buffer = Buffer::new(Limit::packets(1));
        buffer.push(packet(0, 0, 100));
        buffer.push(packet(1, 0, 100));
    }

    #[test]
    #[should_panic(expected = "a key names a waiting packet")]
    fn removing_a_packet_twice_panics() {
        let mut buffer = Buffer::with(Limit::packets(2), Needs::QUEUES, Queues::PerFlow);
        let gone = buffer.push(packet(0, 0, 100));
        buffer.push(packet(1, 0, 100));
        buffer.remove(gone);
        buffer.remove(gone);
    }

    #[test]
    #[should_panic(expected = "build the buffer with `Needs::ORDER`")]
    fn the_order_of_arrival_panics_where_it_is_not_maintained() {
        let mut buffer = Buffer::with(Limit::packets(2), Needs::QUEUES, Queues::PerFlow);
        buffer.push(packet(0, 0, 100));
        buffer.oldest();
    }

    #[test]
    fn an_unknown_queue_name_is_not_found() {
        let buffer = Buffer::with(Limit::packets(2), Needs::QUEUES, Queues::hashed(3, 0));
        assert_eq!(buffer.find(FlowHash(3)), None);
    }

    #[test]
    fn a_limit_of_zero_still_holds_a_packet() {
        assert_eq!(Limit::packets(0).max_packets(), 1);
        assert_eq!(Limit::bytes(0).max_bytes(), 1);
        assert_eq!(Limit::bytes(2_800).max_packets(), 100);
    }

    #[test]
    fn memory_for_flows_is_bounded_by_the_queues_and_all_may_be_backlogged() {
        let few = |queues| Buffer::with(Limit::packets(32), Needs::ALL, queues);
        let bytes_of = |flows: usize| flows * (size_of::<Flow>() + 2 * size_of::<u32>());
        let [mut few, one_each] = [few(Queues::hashed(4, 7)), few(Queues::PerFlow)];
        assert_eq!(
            few.memory(),
            32 * (size_of::<Slot>() + size_of::<u32>()) + bytes_of(4) + 4 * size_of::<u32>()
        );
        let chains = 64 * size_of::<u32>();
        assert_eq!(one_each.memory(), 32 * (size_of::<Slot>() + size_of::<u32>()) + bytes_of(32) + chains);
        for flow in 0..32 {
            few.push(packet(flow, flow.into(), 100));
        }
        assert_eq!((few.backlogged_flows(), few.len()), (4, 32));
    }

    #[test]
    fn a_buffer_that_grows_and_shrinks_keeps_its_packets_its_flows_and_their_keys() {
        let mut rng = Seed(11).stream("limits");
        for queues in [|| Queues::PerFlow, || Queues::hashed(64, 3), || Queues::least_recently_used(64)] {
            let of = |limit| Buffer::with(Limit::packets(limit), Needs::ALL, queues());
            let (mut buffer, mut held) = (of(4), Vec::new());
            for frame in 0..20_000 {
                if frame % 100 == 0 {
                    assert!(buffer.retune(&of(1 + rng.below(60))));
                }
                if buffer.fits(100) && rng.chance(0.6) {
                    let packet = Packet::new(frame, 100, u64::from(rng.below(200)).into(), Time::ZERO);
                    buffer.arriving(&packet);
                    let key = buffer.push(packet);
                    held.push((frame, key, buffer.flow_hash(buffer.flow_of(key))));
                } else if !held.is_empty() {
                    let (frame, key, queue) = held.swap_remove(rng.below(held.len() as u32) as usize);
                    assert_eq!(buffer.find(queue), Some(buffer.flow_of(key)));
                    assert_eq!(buffer.remove(key).frame, frame);
                }
                assert_eq!(buffer.len() as usize, held.len());
            }
        }
        let other = Buffer::with(Limit::packets(4), Needs::ORDER, Queues::PerFlow);
        assert!(!Buffer::new(Limit::packets(4)).retune(&other), "it has other indexes");
    }
}

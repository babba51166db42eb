//! How schedulers and droppers read a buffer.

use super::{Buffer, Flow, FlowKey, Key, NO_FLOWS, Slot, VACANT, pick, some};
use crate::discipline::Backlog;
use crate::flow::FlowHash;
use crate::packet::Packet;
use crate::rng::Rng;

impl Buffer {
    /// The packet named by `key`.
    ///
    /// # Panics
    /// When no packet has that key.
    #[inline]
    pub fn packet(&self, key: Key) -> &Packet {
        let slot = &self.slots[key.index()];
        assert!(slot.older != VACANT, "a key names a waiting packet");
        &slot.packet
    }

    /// The packet that has waited longest.
    ///
    /// # Panics
    /// When the buffer lacks [`Needs::ORDER`]. The same holds for every method that uses the order
    /// of arrival.
    #[inline]
    pub fn oldest(&self) -> Option<Key> {
        self.assert_order();
        some(self.oldest).map(Key)
    }

    /// The packet that arrived last.
    #[inline]
    pub fn newest(&self) -> Option<Key> {
        self.assert_order();
        some(self.newest).map(Key)
    }

    /// The packet that arrived just after `key`.
    #[inline]
    pub fn newer(&self, key: Key) -> Option<Key> {
        self.assert_order();
        some(self.slots[key.index()].newer).map(Key)
    }

    /// The packet that arrived just before `key`.
    #[inline]
    pub fn older(&self, key: Key) -> Option<Key> {
        self.assert_order();
        some(self.slots[key.index()].older).map(Key)
    }

    #[inline]
    fn assert_order(&self) {
        assert!(
            self.needs.order,
            "the order of arrival is not maintained: build the buffer with `Needs::ORDER`"
        );
    }

    /// A uniformly random waiting packet.
    ///
    /// # Panics
    /// When the buffer was built without [`Needs::RANDOM_PACKET`].
    pub fn random_packet(&self, rng: &mut Rng) -> Option<Key> {
        assert!(
            self.needs.random_packet,
            "random packets are not indexed: build the buffer with `Needs::RANDOM_PACKET`"
        );
        pick(&self.waiting, rng).map(Key)
    }

    /// The name of the queue for this packet's flow. If the number of queues is fixed, as by
    /// [`Queues::hashed`], the name is the queue's number, from 0. Such a name is valid even for an
    /// empty queue.
    #[inline]
    pub fn queue_of(&self, packet: &Packet) -> FlowHash {
        self.queues.of(packet)
    }

    /// The queue for this packet's flow; `None` if the queue is empty.
    #[inline]
    pub fn flow(&self, packet: &Packet) -> Option<FlowKey> {
        self.find(self.queues.of(packet))
    }

    /// The backlogged flow or queue with this name. Methods on flows panic without
    /// [`Needs::FLOWS`].
    #[inline]
    pub fn find(&self, hash: FlowHash) -> Option<FlowKey> {
        assert!(self.needs.flows, "{NO_FLOWS}");
        some(self.names.find(hash, |i| self.flows[i].hash)).map(FlowKey)
    }

    /// The backlogged flow with this [`FlowKey::index`].
    #[inline]
    pub fn flow_at(&self, index: usize) -> FlowKey {
        debug_assert!(self.flows[index].packets > 0, "no flow is backlogged at index {index}");
        FlowKey(index as u32)
    }

    /// The flow that the waiting packet `key` belongs to.
    #[inline]
    pub fn flow_of(&self, key: Key) -> FlowKey {
        FlowKey(self.slots[key.index()].links.flow)
    }

    /// A uniformly random backlogged flow.
    pub fn random_flow(&self, rng: &mut Rng) -> Option<FlowKey> {
        assert!(self.needs.flows, "{NO_FLOWS}");
        pick(&self.backlogged[..self.active as usize], rng).map(FlowKey)
    }

    /// The number of flows with packets waiting.
    #[inline]
    pub fn backlogged_flows(&self) -> u32 {
        assert!(self.needs.flows, "{NO_FLOWS}");
        self.active
    }

    /// Are flows indexed?
    pub fn knows_flows(&self) -> bool {
        self.needs.flows
    }

    /// Every backlogged flow, in no particular order: for scans off the hot path.
    pub fn flows(&self) -> impl Iterator<Item = FlowKey> + '_ {
        self.backlogged[..self.active as usize].iter().map(|&flow| FlowKey(flow))
    }

    /// The hash of a backlogged flow, or the number of its queue if the number of queues is fixed.
    #[inline]
    pub fn flow_hash(&self, flow: FlowKey) -> FlowHash {
        self.flows[flow.index()].hash
    }

    /// The oldest packet of a backlogged flow.
    #[inline]
    pub fn flow_head(&self, flow: FlowKey) -> Key {
        Key(self.flows[flow.index()].head)
    }

    /// The newest packet of a backlogged flow.
    #[inline]
    pub fn flow_tail(&self, flow: FlowKey) -> Key {
        Key(self.flows[flow.index()].tail)
    }

    /// The packet of the same flow that arrived just after `key`.
    #[inline]
    pub fn flow_newer(&self, key: Key) -> Option<Key> {
        some(self.slots[key.index()].links.newer).map(Key)
    }

    /// The backlog of one flow.
    #[inline]
    pub fn flow_backlog(&self, flow: FlowKey) -> Backlog {
        let flow = &self.flows[flow.index()];
        Backlog { packets: flow.packets, bytes: flow.bytes }
    }

    /// The bytes of memory that the buffer has allocated.
    pub fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.flows.capacity() * size_of::<Flow>()
            + self.waiting.capacity() * size_of::<u32>()
            + size_of_val(&*self.backlogged)
            + self.names.memory()
            + self.queues.memory()
    }
}

//! Shows the model to its observer, in observed runs.

use crate::edge::Tag;
use crate::event::Events;
use crate::flow::Delivery;
use crate::model::Model;
use crate::observe::{About, State, Tap};
use crate::seen::What;
use crate::store::Store;
use fairwire_core::Time;

impl<T: Tap, E: Events> Model<T, E> {
    pub(crate) fn show(&mut self, what: impl FnOnce(&mut T, State<'_>), now: Time) {
        let Store { flows, tap, .. } = &mut self.store;
        let edges = self.edges.as_deref();
        what(tap, State { now, flows, groups: &self.groups, links: &self.links, edges });
    }

    #[inline]
    pub(crate) fn note(&mut self, what: What, slot: u32, link: Option<u32>, now: Time) {
        if T::IS_ON {
            let about = self.about(slot);
            self.store.tap.set_place(now, link);
            self.store.tap.happened(what, about);
        }
    }

    /// Reports the delivery of the packet in `slot`. For round trips, also records whether the
    /// packet is answered now or later.
    #[inline(never)]
    pub(crate) fn note_delivery(&mut self, delivery: &Delivery, slot: u32, tag: Option<Tag>) {
        if T::IS_ON {
            let about = self.about(slot);
            self.store.tap.delivers(delivery.at, delivery.packets, about);
        }
        if let Some((edges, tag)) = self.edges.as_mut().zip(tag) {
            edges.reached_receiver(self.store.frames.at(slot).flow, tag);
        }
        if self.hears_trips {
            let frame = self.store.frames.at(slot);
            if delivery.ack.is_some() {
                self.store.frames.answer_all(slot, frame.flow);
            } else if !self.groups[self.store.flows[frame.flow as usize].group() as usize].is_outside() {
                self.store.frames.answer_later(slot);
            }
        }
    }

    fn about(&self, slot: u32) -> About {
        let frame = self.store.frames.at(slot);
        let group = &self.groups[self.store.flows[frame.flow as usize].group() as usize];
        let (wire_bytes, is_tcp) = (group.wire_bytes(frame), group.is_acknowledged());
        let (sent, sack) = (self.store.frames.sent(slot), self.store.frames.blocks(slot));
        About { slot, frame, wire_bytes, is_tcp, sent, sack }
    }
}

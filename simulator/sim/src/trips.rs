//! Round trips of segments, for disciplines that use them: from the departure at their link to the
//! answer at the sender.
//!
//! A gateway sees the answer pass. Here it ends at the sender, whose own links add what is
//! constant. A run without such disciplines has none of it, and tests for that twice per packet.

use crate::event::Events;
use crate::frames::Left;
use crate::model::Model;
use crate::observe::Tap;
use fairwire_core::{RoundTrip, Time};

impl<T: Tap, E: Events> Model<T, E> {
    /// The packet in `slot` begins to leave `link`.
    #[inline(never)]
    pub(crate) fn note_left(&mut self, slot: u32, link: u32, now: Time) {
        let frame = self.store.frames.at(slot);
        if !frame.is_ack() && self.links[link as usize].hears_round_trips() {
            self.store.frames.keep_left(slot, Some(Left { flow: frame.flow, link, at: now }));
        }
    }

    /// The packet in `slot` is the answer to what left in it.
    #[inline(never)]
    pub(crate) fn hear_trip(&mut self, slot: u32, now: Time) {
        let flow = self.store.frames.at(slot).flow;
        let Some(left) = self.store.frames.take_left(slot).filter(|left| left.flow == flow) else { return };
        let trip = RoundTrip { peer: flow, time: now.since(left.at) };
        self.links[left.link as usize].on_round_trip(trip, now);
    }
}

//! Round trips of segments, for disciplines that use them: from the departure at the discipline's
//! link to the answer at the sender.
//!
//! A gateway would exclude the sender's links, which add a constant time. As with timestamps (RFC
//! 7323, section 4.3), a delayed acknowledgement answers the first segment that it acknowledges.

use crate::event::Events;
use crate::frames::Left;
use crate::model::Model;
use crate::observe::Tap;
use fairwire_core::{Packet, RoundTrip, Time};

impl<T: Tap, E: Events> Model<T, E> {
    #[inline(never)]
    pub(crate) fn note_left(&mut self, packet: &Packet, link: u32, now: Time) {
        let frame = self.store.frames.at(packet.frame);
        if !frame.is_ack() && self.links[link as usize].hears_round_trips() {
            let left = Left { flow: frame.flow, link, at: now, bytes: packet.len };
            self.store.frames.keep_left(packet.frame, Some(left));
        }
    }

    #[inline(never)]
    pub(crate) fn hear_trip(&mut self, slot: u32, now: Time) {
        let flow = self.store.frames.at(slot).flow;
        let known = self.heard.len().max(flow as usize + 1);
        self.heard.resize(known, Time::ZERO);
        let before = std::mem::replace(&mut self.heard[flow as usize], now);
        let Some(left) = self.store.frames.take_left(slot).filter(|left| left.flow == flow) else { return };
        let (time, least) = (now.since(left.at), before.since(left.at));
        let trip = RoundTrip { peer: flow, time, least, bytes: left.bytes };
        self.links[left.link as usize].on_round_trip(trip, now);
    }
}

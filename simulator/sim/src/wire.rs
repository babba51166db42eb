//! The wire behind a queued link, if it has faults. Packets on such a wire may be lost, delayed,
//! reordered or duplicated.
//!
//! Packets may overtake others there, so each delivery is an event.

use crate::event::{Event, Events, Lane, Leaving};
use crate::model::Model;
use crate::observe::Tap;
use crate::route::Target;
use crate::seen::What;
use fairwire_core::{Fate, Time};

impl<T: Tap, E: Events> Model<T, E> {
    #[inline(never)] // few links have such a wire
    pub(crate) fn cross_wire(&mut self, link: u32, leaving: Leaving, now: Time) {
        let Leaving { slot, ecn, reaches } = leaving;
        self.note(What::Depart, slot, Some(link), now);
        let frame = self.store.frames.at_mut(slot);
        frame.leg += 1;
        frame.ecn = ecn;
        if T::IS_ON {
            self.report_the_last(slot);
        }
        match self.links[link as usize].carry(reaches) {
            Fate::Lost => {
                self.note(What::Lost, slot, Some(link), now);
                let flow = self.store.frames.at(slot).flow;
                self.store.flows[flow as usize].lost();
                self.store.frames.drop_payload(slot);
                self.store.frames.release(slot);
            }
            Fate::Arrives { at, twice, .. } => {
                let copy = if twice { self.store.frames.copy(slot) } else { None };
                [Some(slot), copy].into_iter().flatten().for_each(|slot| self.reach(slot, at, now));
            }
        }
    }

    fn reach(&mut self, slot: u32, at: Time, now: Time) {
        let frame = self.store.frames.at(slot);
        let leg = &self.legs[frame.leg as usize];
        if leg.to == Target::End && !frame.is_ack() {
            let takes = self.groups[leg.group as usize].takes(leg, frame.is_data(), frame.datagram_bytes());
            // All packets of a leg have the same identity, so packets that arrive at the same
            // instant stay in order.
            self.events.push_at_link(at + takes, Event::Sink(slot), frame.leg, Lane::NONE);
        } else {
            self.go_on(slot, at, now);
        }
    }

    fn report_the_last(&mut self, slot: u32) {
        let frame = self.store.frames.at(slot);
        let leg = &self.legs[frame.leg as usize];
        if leg.to == Target::End && !frame.is_ack() {
            let bytes = self.groups[leg.group as usize].wire_bytes(frame);
            self.store.tap.leaves(frame.flow, bytes);
        }
    }
}

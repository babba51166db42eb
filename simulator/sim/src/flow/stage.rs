//! The components of the model that a flow changes (its stage), and the outlet of the flow's
//! packets.

use super::record::Outgoing;
use crate::edge::Edges;
use crate::event::{Event, Events, Lane};
use crate::frames::{Frame, Frames};
use crate::group::Group;
use crate::route::{Leg, Target};
use fairwire_core::Time;
use fairwire_tcp::{Output, Segment};

pub(crate) struct Stage<'a, E> {
    pub(crate) index: u32,
    pub(crate) group: &'a Group,
    pub(crate) legs: &'a [Leg],
    pub(crate) frames: &'a mut Frames,
    pub(crate) edges: Option<&'a Edges>,
    pub(crate) events: &'a mut E,
    pub(crate) now: Time,
}

pub(super) struct Outlet<'a, 'b, E> {
    pub(super) way: &'a mut Outgoing,
    pub(super) stage: &'a mut Stage<'b, E>,
}

impl<E: Events> Output for Outlet<'_, '_, E> {
    #[inline(always)]
    fn send(&mut self, segment: Segment) {
        let group = self.stage.group;
        let bytes = if segment.is_syn { group.ack_bytes } else { group.data_bytes };
        let frame = Frame::carrying(self.stage.index, self.way.connection, segment, group.forward);
        self.launch(frame, bytes);
    }

    #[inline(always)]
    fn room_from(&self) -> Time {
        let room_from = self.way.up.free_at().saturating_sub(self.stage.group.host_queue);
        if room_from <= self.stage.now { room_from } else { self.room_after_work(room_from) }
    }
}

impl<E: Events> Outlet<'_, '_, E> {
    #[inline(never)]
    fn room_after_work(&self, room_from: Time) -> Time {
        room_from.saturating_sub(self.stage.group.works_at_most(self.way.access_delay, self.stage.now))
    }

    /// Sends `frame`, and returns its slot.
    #[inline(always)]
    pub(super) fn launch(&mut self, mut frame: Frame, bytes: u32) -> u32 {
        let Stage { group, legs, frames, edges, events, now, .. } = self.stage;
        if let Some(edges) = edges {
            frame.tag = edges.of_sender(frame.flow);
        }
        let leg = &legs[group.forward as usize];
        let takes = group.takes(leg, frame.is_data(), bytes);
        let slot = frames.store(frame);
        frames.stamp(slot, *now);
        // A flow's packets that are released at one instant have the same processing time, so they
        // leave back to back.
        let (mut worked_on, mut ready) = (*now, *now);
        if group.takes_time {
            worked_on = *now + group.works(frame.flow, self.way.access_delay, *now);
            let is_free = self.way.up.free_at() <= *now;
            ready = if is_free { worked_on } else { *now };
        }
        // Events of a lane come mostly in order. A packet that waits for the flow's own link
        // arrives after other flows' packets that are sent later. So in groups with
        // acknowledgements, packets that wait for one packet have a second lane. Packets that wait
        // for more have none.
        let queued = self.way.up.queued(worked_on, &group.pace);
        let lane = self.way.out.get(queued).copied().unwrap_or(Lane::NONE);
        let there = self.way.up.start(bytes, ready, &group.pace) + self.way.access_delay + takes;
        let event = match leg.to {
            Target::Queue(_) => Event::Arrival(slot),
            Target::End => Event::Sink(slot),
        };
        events.push_at_link(there, event, frame.identity(), lane);
        self.way.sent += 1;
        slot
    }
}

//! Where packets enter and leave a domain of differentiated services, in runs that have one.

use super::Run;
use crate::edge::Tag;
use crate::event::Events;
use crate::frames::Frame;
use crate::observe::Tap;
use fairwire_core::{Packet, Time};

impl<T: Tap, E: Events> Run<T, E> {
    /// The packet that `frame`, kept in `slot`, is: it enters the domain, where this is its first queue.
    #[inline(never)]
    pub(super) fn enter(&mut self, frame: Frame, slot: u32, now: Time) -> Packet {
        let group = self.group_of(frame);
        let mut packet = self.groups[group as usize].packet(frame, slot, now);
        if let Some(edges) = &mut self.edges
            && !frame.is_ack()
            && self.groups[group as usize].is_first(frame.leg)
        {
            self.ledger.frames.at_mut(slot).tag = edges.enter(group, frame.tag, &mut packet, now);
        }
        packet
    }

    /// `frame` leaves the domain. What its receiver is told.
    #[inline(never)]
    pub(super) fn leave(&mut self, frame: Frame) -> Tag {
        let group = self.group_of(frame);
        self.edges.as_mut().map_or(Tag::default(), |edges| edges.leave(group, frame.tag, frame.ecn))
    }
}

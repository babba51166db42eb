//! The loop: events in their order, at hosts and at links by turns where the two sides are apart.

use super::{DEPARTURES_AHEAD, Run};
use crate::event::{Event, kind};
use crate::ledger::Ledger;
use crate::observe::Tap;
use fairwire_core::{Duration, Ecn, Time};
use std::ops::ControlFlow;

/// A packet that has begun to leave the last queue on its way.
pub(super) struct Leaving {
    pub(super) slot: u32,
    pub(super) ecn: Ecn,
    pub(super) reaches: Time,
}

/// How many events pass between two questions to the watcher.
const WATCH_EVERY: u64 = 1 << 16;

impl<T: Tap> Run<T> {
    /// Handles every event up to `until`; false when the watcher stopped it.
    pub(super) fn go_until(&mut self, until: Time, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        loop {
            let end = if self.is_measuring { until } else { until.min(self.last_unmeasured()) };
            if !self.serve(end, watch) {
                return false;
            }
            if self.is_measuring || self.unscheduled() > until && !self.events.has_next(until) {
                return true;
            }
            self.start_measuring();
        }
    }

    /// Handles every event up to `end`, on both sides by turns where there are two; false when the watcher stopped it.
    fn serve(&mut self, end: Time, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        if !self.events.are_apart() {
            return self.serve_links(end, watch);
        }
        while let Some(until) = self.events.window(self.unscheduled(), end) {
            let before = self.handled;
            self.serve_hosts(until);
            if self.tuning.has_one_link {
                self.serve_link(until);
            } else if !self.serve_links(until, watch) {
                return false;
            }
            self.deliver_all();
            if self.handled / WATCH_EVERY != before / WATCH_EVERY && watch(until).is_break() {
                return false;
            }
        }
        true
    }

    /// When the only link asks next, which is no event.
    fn unscheduled(&self) -> Time {
        if self.tuning.has_one_link { self.links[0].link().next_poll_at() } else { Time::MAX }
    }

    /// Handles every event at hosts up to `until`.
    #[inline(never)] // by itself: what is inlined does not depend on who calls
    fn serve_hosts(&mut self, until: Time) {
        self.events.hosts.set_end(until);
        let mut handled = 0;
        loop {
            let next = self.events.hosts.next();
            if self.tuning.looks_ahead && self.events.hosts.is_time_to_look() {
                self.look_ahead_at_hosts();
            }
            match next.kind() {
                kind::ACK => self.on_ack(next.what(), next.time),
                kind::WAKE => self.on_wake(next.what(), next.time),
                kind::PACKET => self.on_packet(next.what(), next.time),
                _ => break,
            }
            handled += 1;
        }
        self.handled += handled;
    }

    /// Handles every event at links up to `until`, and those at hosts too where there is but one side.
    #[inline(never)] // as above
    fn serve_links(&mut self, until: Time, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        self.events.links.set_end(until);
        loop {
            let next = self.events.links.next();
            if self.tuning.looks_ahead && self.events.links.is_time_to_look() {
                self.look_ahead_at_links();
            }
            if !self.handle(next) {
                return true;
            }
            if self.is_stopped(next.time, watch) {
                return false;
            }
        }
    }

    /// Handles every arrival at the only link up to `until`, and each of its questions.
    #[inline(never)] // as above
    fn serve_link(&mut self, until: Time) {
        self.events.links.set_end(until);
        let mut handled = 0;
        loop {
            let next_poll_at = self.links[0].link().next_poll_at();
            let next = self.events.links.next_or(next_poll_at, Event::LinkFree(0), 0);
            if self.tuning.looks_ahead && self.events.links.is_time_to_look() {
                self.look_ahead_at_link();
            }
            match next.kind() {
                kind::ARRIVAL => self.on_arrival(next.what(), next.time),
                kind::LINK_FREE => self.on_link_free(0, next.time),
                _ => break,
            }
            handled += 1;
        }
        self.handled += handled;
    }

    /// Counts an event, and asks the watcher now and then.
    #[inline(always)]
    fn is_stopped(&mut self, now: Time, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        self.handled += 1;
        self.handled.is_multiple_of(WATCH_EVERY) && watch(now).is_break()
    }

    /// The last instant of the warm-up.
    fn last_unmeasured(&self) -> Time {
        self.measured_from.saturating_sub(Duration::from_ns(1))
    }

    /// Asks for memory that events to come need.
    #[inline(never)]
    fn look_ahead_at_hosts(&mut self) {
        let ledger = &self.ledger;
        self.events.hosts.ahead(|event| ledger.fetch_frame(event), |event| ledger.fetch_flow(event));
    }

    #[inline(never)]
    fn look_ahead_at_links(&mut self) {
        let ledger = &self.ledger;
        self.events.links.ahead(|event| ledger.fetch_frame(event), |event| ledger.fetch_flow(event));
    }

    /// Arrivals need no flow.
    #[inline(never)]
    fn look_ahead_at_link(&mut self) {
        let ledger = &self.ledger;
        self.events.links.ahead(|event| ledger.fetch_frame(event), |_| {});
    }

    /// Delivers what has left the last queues: nobody but its hosts hears of it, and they are behind by now.
    #[inline(never)] // by itself: its packets come one after the other
    fn deliver_all(&mut self) {
        let leaving = std::mem::take(&mut self.leaving);
        for (at, packet) in leaving.iter().enumerate() {
            if self.tuning.looks_ahead {
                let Ledger { frames, flows, .. } = &self.ledger;
                if let Some(later) = leaving.get(at + 2 * DEPARTURES_AHEAD) {
                    frames.fetch(later.slot);
                }
                if let Some(next) = leaving.get(at + DEPARTURES_AHEAD) {
                    flows[frames.at(next.slot).flow as usize].fetch_sink();
                }
            }
            self.deliver_later(packet);
        }
        self.leaving = leaving;
        self.leaving.clear();
    }

    #[inline(always)]
    fn deliver_later(&mut self, packet: &Leaving) {
        let Leaving { slot, ecn, reaches } = *packet;
        let mut frame = self.ledger.frames.at(slot);
        frame.leg += 1;
        frame.ecn = ecn;
        let leg = &self.legs[frame.leg as usize];
        let takes = self.groups[leg.group as usize].takes(leg, frame.is_data(), frame.datagram_bytes());
        self.deliver(frame, slot, reaches + takes, reaches);
    }
}

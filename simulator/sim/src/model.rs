//! The model: the events in the network and their order.
//!
//! Three events carry a packet over a queue and back. The packet arrives at the queue
//! ([`Event::Arrival`]). The link finishes the preceding packet ([`Event::LinkFree`]). The
//! acknowledgement reaches the sender ([`Event::Ack`]), which sends the packets that it allows.
//!
//! Links without contention need no events. A flow's own links, wires, and a return path without
//! queues delay only packets of that flow, in order. So the time of a packet at the first queue is
//! known when it is sent. The time of its acknowledgement is known when the packet begins to leave
//! the last queue.
//!
//! ```text
//! Wake, Ack ─► sender ─ own link, wires ─► Arrival ─► queue ─► LinkFree ─ wires, link ─► receiver
//!                 ▲                                                                         │
//!                 └──────────────────────── Ack ◄─ wires, own links ────────────────────────┘
//! ```
//!
//! Events have one total order: by time, then by the tie rule, then by scheduling order. The tie
//! rule depends on the seed and the events ([`Ties`](crate::ties::Ties)). No event is ever
//! cancelled. Links and flows ignore events at times when the link or flow is not due.
//!
//! The loop runs in turns: events at hosts, then events at links. Hosts may run ahead of links only
//! if the results do not change.

use crate::app::load::Step;
use crate::app::session::{Session, Timed};
use crate::edge::{Edges, Tag};
use crate::event::{Event, Events, Leaving};
use crate::flow::{Flow, Stage};
use crate::frames::Frame;
use crate::group::Group;
use crate::link::{Departure, Link};
use crate::observe::Tap;
use crate::on_times::OnTimes;
use crate::route::{Leg, Target};
use crate::seen::What;
use crate::store::Store;
use fairwire_core::{Duration, Ecn, Packet, Time};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

pub(crate) struct Model<T, E> {
    pub(crate) events: E,
    pub(crate) store: Store<T>,
    pub(crate) links: Vec<Link>,
    pub(crate) legs: Vec<Leg>,
    pub(crate) groups: Vec<Group>,
    pub(crate) edges: Option<Box<Edges>>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) steps: Vec<Step>, // of one session, while they are carried out
    pub(crate) timed: BTreeMap<u32, Timed>,
    pub(crate) on_times: Option<Box<OnTimes>>,
    pub(crate) measured_from: Time,
    pub(crate) end: Time,
    pub(crate) is_measuring: bool,
    pub(crate) hears_trips: bool,
    /// The time of the last answer that reached each flow's sender. The vector grows as needed.
    pub(crate) heard: Vec<Time>,
    /// Events handled before the watcher was last called.
    pub(crate) watched: u64,
    /// Events until the watcher is called again.
    pub(crate) left: u64,
    /// The number of handled events that were stale. It depends on the implementation of `Events`.
    pub(crate) meaningless: u64,
}

/// Events between calls of the watcher.
pub(crate) const WATCH_EVERY: u64 = 1 << 14;

impl<T: Tap, E: Events> Model<T, E> {
    /// Handles every event up to the next sample, the next change ([`Model::next_change`]), the end
    /// of the warm-up or the end of the run, whichever is first. Breaks with true at the end of the
    /// run, and with false if the watcher stopped it.
    pub(crate) fn go_to_pause(
        &mut self,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> ControlFlow<bool> {
        let last_unmeasured = self.measured_from.saturating_sub(Duration::from_ns(1));
        let sample = self.store.tap.next_sample();
        let pause = if self.is_measuring { self.end } else { last_unmeasured };
        let until = pause.min(sample).min(self.next_change());
        if !self.go_until(until, watch) {
            return ControlFlow::Break(false);
        }
        if until == sample {
            self.show(T::sample, until);
            // The watcher is called at each sample too, because few events may lie between samples.
            if watch(until).is_break() {
                return ControlFlow::Break(false);
            }
        }
        if until == self.next_change() {
            self.change(until);
        }
        if !self.is_measuring && until == last_unmeasured {
            self.start_measuring();
        } else if until == self.end {
            self.show(T::finish, until);
            return ControlFlow::Break(true);
        }
        ControlFlow::Continue(())
    }

    fn go_until(&mut self, until: Time, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        while self.events.begin_turn(until) {
            if !(self.go_at_hosts(watch) && self.go_at_links(watch)) {
                return false;
            }
            self.go_on_from_links();
        }
        true
    }

    #[inline(never)] // separate, as the next two are: events of one type come in succession
    fn go_at_hosts(&mut self, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        while let Some((now, event)) = self.events.next_at_hosts(&self.store).event() {
            self.handle(event, now);
            if self.left == 0 && self.is_stopped(watch, now) {
                return false;
            }
        }
        true
    }

    #[inline(never)]
    fn go_at_links(&mut self, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        while let Some((now, event)) = self.events.next_at_links(&self.store).event() {
            self.handle(event, now);
            if self.left == 0 && self.is_stopped(watch, now) {
                return false;
            }
        }
        true
    }

    #[inline(never)]
    fn is_stopped(&mut self, watch: &mut dyn FnMut(Time) -> ControlFlow<()>, now: Time) -> bool {
        (self.watched, self.left) = (self.watched + WATCH_EVERY, WATCH_EVERY);
        watch(now).is_break()
    }

    #[inline(never)]
    fn go_on_from_links(&mut self) {
        while let Some(leaving) = self.events.next_left(&self.store) {
            self.on_departure(leaving, None, leaving.reaches);
        }
    }

    #[inline(always)]
    fn handle(&mut self, event: Event, now: Time) {
        self.left -= 1;
        match event {
            Event::Arrival(slot) => self.on_arrival(slot, now),
            Event::LinkFree(link) => self.on_link_free(link, now),
            Event::Ack(slot) => self.on_ack(slot, now),
            seldom => self.handle_seldom(seldom, now),
        }
    }

    #[inline(never)]
    fn handle_seldom(&mut self, event: Event, now: Time) {
        match event {
            Event::Wake(flow) => self.on_wake(flow, now),
            Event::Sink(slot) => self.on_sink(slot, now),
            Event::Packet(slot) => self.on_packet(slot, now),
            Event::Session(session) => self.on_session(session, now),
            _ => unreachable!("handled above"),
        }
    }

    #[inline(always)]
    fn on_arrival(&mut self, slot: u32, now: Time) {
        let frame = self.store.frames.at(slot);
        let leg = &self.legs[frame.leg as usize];
        let (Target::Queue(link), group) = (leg.to, leg.group) else {
            unreachable!("who arrives at a queue was on a leg that leads there")
        };
        // The descriptor is built where the discipline reads it. Building it elsewhere in pieces
        // and then moving it would stall the processor.
        let packet = match self.edges {
            None => self.groups[group as usize].packet(frame, slot, now),
            Some(_) => self.enter_domain(slot, now),
        };
        self.note(What::Arrive, slot, Some(link), now);
        let queue = &mut self.links[link as usize];
        let free_at = queue.next_poll_at();
        if let Some(departure) = queue.enqueue(packet, now, &mut self.store) {
            self.leave_at_once(link, departure, now);
        } else if queue.next_poll_at() != free_at {
            self.schedule_link(link);
        }
    }

    #[inline(never)] // most arrivals wait
    fn leave_at_once(&mut self, link: u32, departure: Departure, now: Time) {
        self.leave(link, departure, now);
    }

    #[inline(always)]
    fn on_link_free(&mut self, link: u32, now: Time) {
        let queue = &mut self.links[link as usize];
        if queue.next_poll_at() != now {
            self.meaningless += 1;
            return; // deferred or brought forward since this was scheduled
        }
        self.store.tap.set_place(now, Some(link));
        match queue.poll(now, &mut self.store) {
            Some(departure) => self.leave(link, departure, now),
            None if queue.next_poll_at() != now => self.schedule_link(link),
            None => {}
        }
    }

    #[inline(always)]
    pub(crate) fn schedule_link(&mut self, link: u32) {
        let at = self.links[link as usize].next_poll_at();
        if at != Time::MAX {
            self.events.push_link_free(at, link);
        }
    }

    #[inline(always)]
    fn leave(&mut self, link: u32, departure: Departure, now: Time) {
        self.schedule_link(link);
        if self.hears_trips {
            self.note_left(&departure.packet, link, now);
        }
        let Departure { packet, reaches } = departure;
        let leaving = Leaving { slot: packet.frame, ecn: packet.ecn, reaches };
        if self.links[link as usize].has_faults() {
            self.cross_wire(link, leaving, now);
        } else if !self.events.put_off(link, leaving) {
            self.on_departure(leaving, Some(link), now);
        }
    }

    #[inline(always)]
    fn on_departure(&mut self, leaving: Leaving, link: Option<u32>, now: Time) {
        let Leaving { slot, ecn, reaches } = leaving;
        let mut frame = self.store.frames.at(slot);
        frame.leg += 1;
        frame.ecn = ecn;
        self.note(What::Depart, slot, link, now);
        let leg = &self.legs[frame.leg as usize];
        let group = leg.group;
        if leg.to == Target::End && !frame.is_ack() {
            let of_group = &self.groups[group as usize];
            if T::IS_ON {
                self.store.tap.leaves(frame.flow, of_group.wire_bytes(frame));
            }
            let takes = of_group.takes(leg, frame.is_data(), frame.datagram_bytes());
            return self.deliver(frame, slot, reaches + takes, now);
        }
        *self.store.frames.at_mut(slot) = frame;
        self.go_on(slot, reaches, now);
    }

    #[inline(never)] // packets of most networks cross one queue
    pub(crate) fn go_on(&mut self, slot: u32, at: Time, now: Time) {
        let frame = self.store.frames.at(slot);
        let group = self.group_of(frame);
        let (flow, mut stage) = self.stage(frame.flow, group, now);
        if stage.group.is_outside() {
            flow.go_on_back(frame, slot, at, &mut stage);
        } else {
            flow.go_on(frame, slot, at, &mut stage);
        }
    }

    #[inline(never)]
    fn on_sink(&mut self, slot: u32, now: Time) {
        self.deliver(self.store.frames.at(slot), slot, now, now);
    }

    /// Handles the delivery of `frame`, which reaches the sink's access link at `at`. The frame is
    /// kept in `slot`. The receiver's reaction and the return of the acknowledgement are computed
    /// at once, although their times may lie ahead.
    #[inline(always)]
    fn deliver(&mut self, frame: Frame, slot: u32, at: Time, now: Time) {
        let (measured_from, end) = (self.measured_from, self.end);
        let group = self.group_of(frame);
        let tag = self.edges.is_some().then(|| self.leave_domain(group, frame.tag, frame.ecn));
        let is_noted = T::IS_ON || tag.is_some() || self.hears_trips;
        let (flow, mut stage) = self.stage(frame.flow, group, now);
        let delivery = flow.on_delivery(frame, at, &mut stage);
        let (flow, mut stage) = if is_noted {
            self.note_delivery(&delivery, slot, tag);
            self.stage(frame.flow, group, now)
        } else {
            (flow, stage)
        };
        if delivery.at >= measured_from && delivery.at <= end {
            flow.delivered(delivery.packets, delivery.datagram_bytes);
        }
        let has_news = stage.group.has_sessions() && delivery.packets > 0;
        let session = if has_news { flow.session() } else { None };
        match delivery.ack {
            Some(ack) => flow.answer(ack, slot, delivery.at, &mut stage),
            None if stage.group.is_outside() => flow.hand_over(slot, frame.ecn, delivery.at, &mut stage),
            None => self.store.frames.release(slot),
        }
        if let Some(session) = session {
            self.arrived(session, frame.flow, delivery.at);
        }
    }

    fn on_wake(&mut self, flow: u32, now: Time) {
        let group = self.store.flows[flow as usize].group();
        let (flow, mut stage) = self.stage(flow, group, now);
        self.meaningless += u64::from(!flow.on_wake(&mut stage));
    }

    #[inline(always)]
    fn on_ack(&mut self, slot: u32, now: Time) {
        self.note(What::Deliver, slot, None, now);
        if self.hears_trips {
            self.hear_trip(slot, now);
        }
        let frame = self.store.frames.at(slot);
        let ack = self.store.frames.ack(slot);
        self.store.frames.release(slot);
        let group = self.group_of(frame);
        if let Some(edges) = &mut self.edges {
            edges.reached_sender(frame.flow, frame.tag);
        }
        let (flow, mut stage) = self.stage(frame.flow, group, now);
        if flow.is_stale(frame, stage.group) {
            return;
        }
        flow.on_ack(ack, &mut stage);
        if stage.group.has_sessions()
            && let Some(session) = flow.session()
            && flow.is_finished()
        {
            self.finished(session, frame.flow, now);
        }
    }

    #[inline(never)]
    fn on_packet(&mut self, slot: u32, now: Time) {
        let frame = self.store.frames.at(slot);
        if frame.is_ack() {
            self.note(What::Deliver, slot, None, now); // for the others it is already known
        }
        let payload = self.store.frames.take_payload(slot);
        self.store.frames.release(slot);
        let group = self.group_of(frame);
        if let Some(edges) = &mut self.edges
            && frame.is_ack()
        {
            edges.reached_sender(frame.flow, frame.tag);
        }
        let (flow, mut stage) = self.stage(frame.flow, group, now);
        flow.on_packet(frame, payload, &mut stage);
    }

    /// The descriptor of the packet in `slot`, which arrives at a queue. Data enters the
    /// differentiated-services domain at the first queue of its path.
    #[inline(never)]
    fn enter_domain(&mut self, slot: u32, now: Time) -> Packet {
        let frame = self.store.frames.at(slot);
        let group = self.group_of(frame);
        let mut packet = self.groups[group as usize].packet(frame, slot, now);
        if let Some(edges) = &mut self.edges
            && !frame.is_ack()
            && self.groups[group as usize].is_first(frame.leg)
        {
            self.store.frames.at_mut(slot).tag = edges.enter(group, frame.tag, &mut packet, now);
        }
        packet
    }

    #[inline(never)]
    fn leave_domain(&mut self, group: u32, tag: Tag, ecn: Ecn) -> Tag {
        self.edges.as_mut().map_or(Tag::default(), |edges| edges.leave(group, tag, ecn))
    }

    #[inline]
    fn group_of(&self, frame: Frame) -> u32 {
        self.legs[frame.leg as usize].group
    }

    #[inline(always)]
    pub(crate) fn stage(&mut self, index: u32, group: u32, now: Time) -> (&mut Flow, Stage<'_, E>) {
        let flow = &mut self.store.flows[index as usize];
        let stage = Stage {
            index,
            group: &self.groups[group as usize],
            legs: &self.legs,
            frames: &mut self.store.frames,
            edges: self.edges.as_deref(),
            events: &mut self.events,
            now,
        };
        (flow, stage)
    }

    pub(crate) fn start_measuring(&mut self) {
        self.is_measuring = true;
        for link in &mut self.links {
            link.start_measuring(self.measured_from);
        }
        self.store.flows.iter_mut().for_each(Flow::start_measuring);
        for session in &mut self.sessions {
            session.start_measuring(|flow| self.store.flows[flow as usize].arrived());
        }
        if let Some(edges) = &mut self.edges {
            edges.start_measuring(self.measured_from);
        }
    }
}

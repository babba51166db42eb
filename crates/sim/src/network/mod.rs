//! The network at work.
//!
//! Three events carry a packet over one queue: its arrival there, the end of its transmission, and its acknowledgement's
//! arrival at the sender. Hops that nobody contends for are arithmetic, not events.

mod domain;
mod measured;
pub(crate) mod queued;
mod serve;

use crate::app::load::{Cause as Why, Machine, Step};
use crate::app::session::{Order, Session};
use crate::edge::Edges;
use crate::event::{Event, Events, Lane, Next, kind};
use crate::flow::{Flow, Lanes, NO_SESSION, Place, Stage};
use crate::frames::Frame;
use crate::group::Group;
use crate::ledger::Ledger;
use crate::link::{Departure, Link};
use crate::observe::{About, State, Tap};
use crate::plan::{GroupPlan, Member, Network, Settings, Source};
use crate::route::{Leg, Target};
use crate::seen::What;
use crate::sides::Sides;
use crate::tuning::Tuning;
use fairwire_core::{Seed, Time};
use measured::Timed;
use queued::{Queued, Waiting};
use serve::Leaving;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

/// A run. Its events may be kept by whatever orders them as it says: the tuned queue is [`Sides`].
pub(crate) struct Run<T, E = Sides> {
    events: E,
    /// Packets to be delivered once the links have caught up with the hosts.
    leaving: Vec<Leaving>,
    links: Vec<Queued>,
    legs: Vec<Leg>,
    groups: Vec<Group>,
    edges: Option<Box<Edges>>,
    ledger: Ledger<T>,
    sessions: Vec<Session>,
    steps: Vec<Step>, // of one session, while they are taken
    timed: BTreeMap<u32, Timed>,
    measured_from: Time,
    end: Time,
    is_measuring: bool,
    tuning: Tuning,
    handled: u64,
    /// Of those, timers and questions of links that meant nothing: how many come up hangs on the order of sides.
    meaningless: u64,
}

/// Frames of packets that are to leave a link are asked for so many departures ahead.
const DEPARTURES_AHEAD: usize = 16;

impl<T: Tap> Run<T> {
    pub(crate) fn new(plan: Network, settings: &Settings, tap: T) -> Self {
        let tuning = Tuning::of(&plan, settings, T::IS_ON);
        Run::tuned(plan, settings, tap, tuning)
    }

    fn tuned(plan: Network, settings: &Settings, tap: T, tuning: Tuning) -> Self {
        let mut events = Sides::new(settings, tuning.lookahead);
        if tuning.looks_ahead {
            let last = plan.groups.iter().flat_map(|group| &group.members).map(|member| member.start).max();
            events.expect(plan.flow_count(), Time::ZERO + last.unwrap_or_default());
        }
        Run::over(events, plan, settings, tap, tuning)
    }

    /// Handles every event up to the end; false when the watcher stopped it.
    pub(crate) fn go(&mut self, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        if self.measured_from == Time::ZERO {
            self.start_measuring();
        }
        self.tell(T::start, Time::ZERO);
        loop {
            let until = self.end.min(self.ledger.tap.next_sample());
            let goes_on = self.go_until(until, watch);
            self.ledger.count_drops();
            if !goes_on {
                return false;
            }
            if until == self.ledger.tap.next_sample() {
                self.tell(T::sample, until);
            }
            if until == self.end {
                break;
            }
        }
        if !self.is_measuring {
            self.start_measuring(); // nothing happened after the warm-up
        }
        self.tell(T::finish, self.end);
        true
    }
}

impl<T: Tap, E: Events> Run<T, E> {
    /// A run whose events are kept by `events`.
    fn over(mut events: E, plan: Network, settings: &Settings, tap: T, tuning: Tuning) -> Self {
        assert!(
            settings.duration > settings.warm_up,
            "nothing would be measured: the run ends within the warm-up"
        );
        let count = plan.flow_count();
        let links = plan.links.into_iter().enumerate().map(|(at, plan)| Queued {
            is_last: tuning.last_links.get(at) == Some(&true),
            link: Link::new(plan),
            lane: events.lane_at_links(),
            waiting: VecDeque::new(),
        });
        let mut run = Run {
            links: links.collect(),
            leaving: Vec::new(),
            legs: Vec::new(),
            groups: Vec::new(),
            edges: Edges::new(plan.aggregates, plan.groups.len()),
            ledger: Ledger::new(tap),
            sessions: Vec::new(),
            steps: Vec::new(),
            timed: BTreeMap::new(),
            measured_from: Time::ZERO + settings.warm_up,
            end: Time::ZERO + settings.duration,
            is_measuring: false,
            tuning,
            handled: 0,
            meaningless: 0,
            events,
        };
        if T::IS_ON {
            run.ledger.frames.keep_stamps();
        }
        run.ledger.flows.reserve_exact(count);
        if run.tuning.looks_ahead {
            run.ledger.frames.reserve(2 * count); // most begin with two
        }
        plan.groups.into_iter().for_each(|group| run.add(group, settings.seed));
        run
    }

    /// Adds the flows of a group.
    fn add(&mut self, mut plan: GroupPlan, seed: Seed) {
        let events = &mut self.events;
        let number = self.groups.len() as u32;
        let members = std::mem::take(&mut plan.members);
        let salt = seed.stream("flow hash").next_u64();
        let group = Group::new(number, plan, salt, &mut self.legs, events)
            .with(members.len() as u32, self.groups.last());
        let mut lanes = BTreeMap::new();
        let each = group.plan.connections();
        for (at, Member { start, access_delay }) in members.iter().enumerate() {
            let lanes = *lanes.entry(*access_delay).or_insert_with(|| {
                let is_two_way = group.is_acknowledged() || group.is_outside();
                let lane_of_two_way = |lane: fn(&mut E) -> Lane, events: &mut E| {
                    if is_two_way { lane(events) } else { Lane::NONE }
                };
                let out = [events.lane_at_links(), lane_of_two_way(E::lane_at_links, events)];
                let home = [(); 2].map(|()| lane_of_two_way(E::lane_at_hosts, events));
                Lanes { out, home, wake: events.lane_at_hosts() }
            });
            let member = group.before + at as u32 + 1;
            let rng = || seed.stream_of(format_args!("flow/{}.{member}", group.plan.name));
            let (first, start) = (self.ledger.flows.len() as u32, Time::ZERO + *start);
            let mut session = NO_SESSION;
            if let Source::Tcp { tcp, load } = &group.plan.source {
                let machine = Machine::new(load, tcp.segment_bytes);
                session = self.sessions.len() as u32;
                let mut user = Session::new(number, first..first + each as u32, machine, rng());
                user.wake_at(start);
                events.push_at_host(start, Event::Session(session), session, Lane::NONE);
                self.sessions.push(user);
            }
            for index in first..first + each as u32 {
                let place = Place { group: number, session, lanes };
                let flow = Flow::new(place, &group, member, *access_delay, rng);
                self.ledger.flows.push(flow);
                if session == NO_SESSION
                    && let Some(flow) = self.ledger.flows.last_mut()
                {
                    flow.wake_at(start, index, events);
                }
                self.edges.iter_mut().for_each(|edges| edges.add_flow());
            }
        }
        self.groups.push(group);
    }

    /// Asks for the frame of a packet that is to leave `link` some time after the one in `slot`, and for what its delivery needs, where
    /// packets leave in the order in which they came. Where they do not, this asks in vain now and then.
    #[inline(always)]
    fn look_behind(&mut self, link: u32, slot: u32) {
        let waiting = &mut self.links[link as usize].waiting;
        while waiting.pop_front().is_some_and(|first| first.slot != slot) {} // it was dropped, or overtaken
        if let Some(later) = waiting.get(DEPARTURES_AHEAD) {
            self.ledger.frames.fetch(later.slot);
            self.ledger.flows[later.flow as usize].fetch_sink();
        }
    }

    /// Shows the state to whoever watches.
    fn tell(&mut self, what: impl FnOnce(&mut T, State<'_>), now: Time) {
        let Ledger { flows, tap, .. } = &mut self.ledger;
        let edges = self.edges.as_deref();
        what(tap, State { now, flows, groups: &self.groups, links: &self.links, edges });
    }

    /// Tells whoever watches what happened to the packet in `slot` at `link`.
    #[inline]
    fn note(&mut self, what: What, slot: u32, link: Option<u32>, now: Time) {
        if T::IS_ON {
            let about = self.about(slot);
            self.ledger.tap.set_place(now, link);
            self.ledger.tap.happened(what, about);
        }
    }

    fn about(&self, slot: u32) -> About {
        let frame = self.ledger.frames.at(slot);
        let group = &self.groups[self.ledger.flows[frame.flow as usize].group() as usize];
        let (wire_bytes, is_tcp) = (group.wire_bytes(frame), group.is_acknowledged());
        let (sent, sack) = (self.ledger.frames.sent(slot), self.ledger.frames.blocks(slot));
        About { slot, frame, wire_bytes, is_tcp, sent, sack }
    }

    /// Handles an event; false where there is none.
    #[inline(always)]
    fn handle(&mut self, next: Next) -> bool {
        let (now, what) = (next.time, next.what());
        match next.kind() {
            kind::ARRIVAL => self.on_arrival(what, now),
            kind::LINK_FREE => self.on_link_free(what, now),
            kind::ACK => self.on_ack(what, now),
            kind::SINK => self.on_sink(what, now),
            kind::WAKE => self.on_wake(what, now),
            kind::SESSION => {
                if self.sessions[what as usize].is_due(now) {
                    self.react(what, Why::Due, now);
                }
            }
            kind::PACKET => self.on_packet(what, now),
            _ => return false,
        }
        true
    }

    /// The group whose way a frame is on.
    #[inline]
    fn group_of(&self, frame: Frame) -> u32 {
        self.legs[frame.leg as usize].group
    }

    /// A flow and its stage; of which group it is, whoever has a frame of it knows without it.
    #[inline(always)]
    fn stage(&mut self, index: u32, group: u32, now: Time) -> (&mut Flow, Stage<'_, E>) {
        let flow = &mut self.ledger.flows[index as usize];
        let stage = Stage {
            index,
            group: &self.groups[group as usize],
            legs: &self.legs,
            frames: &mut self.ledger.frames,
            edges: self.edges.as_deref(),
            events: &mut self.events,
            now,
        };
        (flow, stage)
    }

    #[inline(always)]
    fn on_arrival(&mut self, slot: u32, now: Time) {
        let frame = self.ledger.frames.at(slot);
        let leg = &self.legs[frame.leg as usize];
        let (Target::Queue(link), group) = (leg.to, leg.group) else {
            unreachable!("who arrives at a queue was on a leg that leads there")
        };
        // Written once and where the discipline reads it: to move it as a whole right after it was written in pieces, the processor would wait.
        let packet = match self.edges {
            None => self.groups[group as usize].packet(frame, slot, now),
            Some(_) => self.enter(frame, slot, now),
        };
        self.note(What::Arrive, slot, Some(link), now);
        let Queued { link: queued, waiting, is_last, .. } = &mut self.links[link as usize];
        if self.tuning.looks_ahead && !*is_last {
            waiting.push_back(Waiting { slot, flow: frame.flow });
        }
        let asked_at = queued.next_poll_at();
        if let Some(departure) = queued.enqueue(packet, now, &mut self.ledger) {
            self.leave_at_once(link, departure, now);
        } else if queued.next_poll_at() != asked_at {
            self.poll_again(link);
        }
    }

    /// The link was free, so the arrival did not have to wait.
    #[inline(never)]
    fn leave_at_once(&mut self, link: u32, departure: Departure, now: Time) {
        self.go_on(link, departure, now);
    }

    #[inline(always)]
    fn on_link_free(&mut self, link: u32, now: Time) {
        let Queued { link: queued, .. } = &mut self.links[link as usize];
        if queued.next_poll_at() != now {
            self.meaningless += 1;
            return; // put off or brought forward since this was scheduled
        }
        self.ledger.tap.set_place(now, Some(link));
        match queued.poll(now, &mut self.ledger) {
            Some(departure) => self.go_on(link, departure, now),
            None if queued.next_poll_at() != now => self.poll_again(link),
            None => {}
        }
    }

    /// Schedules the link's next question, where there is to be one.
    #[inline(always)]
    fn poll_again(&mut self, link: u32) {
        if self.tuning.has_one_link {
            return; // who serves it knows when it asks
        }
        let Queued { link: queued, lane, .. } = &self.links[link as usize];
        let next_poll_at = queued.next_poll_at();
        if next_poll_at != Time::MAX {
            self.events.push_at_link(next_poll_at, Event::LinkFree(link), link, *lane);
        }
    }

    /// Schedules the link's next question, and takes a packet that has begun to leave onward.
    #[inline(always)]
    fn go_on(&mut self, link: u32, departure: Departure, now: Time) {
        self.poll_again(link);
        self.on_departure(departure, link, now);
    }

    #[inline(always)]
    fn on_departure(&mut self, departure: Departure, link: u32, now: Time) {
        let slot = departure.packet.frame;
        if self.links[link as usize].is_last {
            return self.leaving.push(Leaving {
                slot,
                ecn: departure.packet.ecn,
                reaches: departure.reaches,
            });
        }
        if self.tuning.looks_ahead {
            self.look_behind(link, slot);
        }
        let mut frame = self.ledger.frames.at(slot);
        frame.leg += 1;
        frame.ecn = departure.packet.ecn;
        self.note(What::Depart, slot, Some(link), now);
        let leg = &self.legs[frame.leg as usize];
        let group = leg.group;
        if leg.to == Target::End && !frame.is_ack() {
            if T::IS_ON {
                self.ledger.tap.leaves(frame.flow, self.groups[group as usize].wire_bytes(frame));
            }
            let takes = self.groups[group as usize].takes(leg, frame.is_data(), frame.datagram_bytes());
            return self.deliver(frame, slot, departure.reaches + takes, now);
        }
        self.pass_on(frame, slot, departure.reaches, now);
    }

    /// `frame`, kept in `slot`, goes on to another queue, or as an acknowledgement to its sender.
    #[inline(never)]
    fn pass_on(&mut self, frame: Frame, slot: u32, at: Time, now: Time) {
        let group = self.group_of(frame);
        let (flow, mut stage) = self.stage(frame.flow, group, now);
        if stage.group.is_outside() {
            flow.go_on_back(frame, slot, at, &mut stage);
        } else {
            flow.go_on(frame, slot, at, &mut stage);
        }
    }

    /// A packet that crossed no queue reaches its sink's access link.
    #[inline(never)]
    fn on_sink(&mut self, slot: u32, now: Time) {
        self.deliver(self.ledger.frames.at(slot), slot, now, now);
    }

    /// `frame`, kept in `slot`, reaches the sink's access link at `at`.
    #[inline(always)]
    fn deliver(&mut self, frame: Frame, slot: u32, at: Time, now: Time) {
        let (measured_from, end) = (self.measured_from, self.end);
        let group = self.group_of(frame);
        let tag = self.edges.is_some().then(|| self.leave(frame));
        let (flow, mut stage) = self.stage(frame.flow, group, now);
        let delivery = flow.on_delivery(frame, at, &mut stage);
        let (flow, stage) = if T::IS_ON {
            let about = self.about(slot);
            self.ledger.tap.delivers(delivery.at, delivery.packets, about);
            self.stage(frame.flow, group, now)
        } else {
            (flow, stage)
        };
        let (flow, mut stage) = if let Some(tag) = tag {
            self.edges.iter_mut().for_each(|edges| edges.tell_receiver(frame.flow, tag));
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
            None if stage.group.is_outside() => flow.hand_over(frame, slot, delivery.at, &mut stage),
            None => self.ledger.frames.release(slot),
        }
        if let Some(session) = session {
            self.arrived(session, frame.flow, delivery.at);
        }
    }

    /// A connection's receiver has more than before, at `at`.
    #[inline(never)]
    fn arrived(&mut self, session: u32, flow: u32, at: Time) {
        let segments = self.ledger.flows[flow as usize].arrived();
        let user = &mut self.sessions[session as usize];
        if let Some(took) = user.arrived(flow, segments, at)
            && at >= self.measured_from
            && at <= self.end
        {
            let head = self.groups[user.group as usize].head;
            self.timed.entry(head).or_default().transfers.completed(took);
        }
    }

    fn on_wake(&mut self, flow: u32, now: Time) {
        let group = self.ledger.flows[flow as usize].group();
        let (flow, mut stage) = self.stage(flow, group, now);
        self.meaningless += u64::from(!flow.on_wake(&mut stage));
    }

    #[inline(always)]
    fn on_ack(&mut self, slot: u32, now: Time) {
        self.note(What::Deliver, slot, None, now);
        let frame = self.ledger.frames.at(slot);
        let ack = self.ledger.frames.ack(slot);
        self.ledger.frames.release(slot);
        let group = self.group_of(frame);
        if let Some(edges) = &mut self.edges {
            edges.tell_sender(frame.flow, frame.tag);
        }
        let (flow, mut stage) = self.stage(frame.flow, group, now);
        if flow.is_stale(frame, stage.group) {
            return;
        }
        flow.on_ack(ack, &mut stage);
        if stage.group.has_sessions()
            && let Some(session) = flow.session()
            && flow.is_finished()
            && let Some(why) = self.sessions[session as usize].finished(frame.flow)
        {
            self.react(session, why, now);
        }
    }

    /// A packet reaches an endpoint of another crate.
    #[inline(never)]
    fn on_packet(&mut self, slot: u32, now: Time) {
        let frame = self.ledger.frames.at(slot);
        if frame.is_ack() {
            self.note(What::Deliver, slot, None, now); // of the others it is known already
        }
        let payload = self.ledger.frames.take_payload(slot);
        self.ledger.frames.release(slot);
        let group = self.group_of(frame);
        if let Some(edges) = &mut self.edges
            && frame.is_ack()
        {
            edges.tell_sender(frame.flow, frame.tag);
        }
        let (flow, mut stage) = self.stage(frame.flow, group, now);
        flow.on_packet(frame, payload, &mut stage);
    }

    /// Lets a session do what it does for this reason.
    #[inline(never)]
    fn react(&mut self, session: u32, why: Why, now: Time) {
        let mut steps = std::mem::take(&mut self.steps);
        let user = session as usize;
        self.sessions[user].react(why, now, &mut steps);
        for step in steps.drain(..) {
            match step {
                Step::WakeAt(at) => {
                    self.sessions[user].wake_at(at);
                    self.events.push_at_host(at, Event::Session(session), session, Lane::NONE);
                }
                Step::PageSince(since) if now >= self.measured_from => {
                    let head = self.groups[self.sessions[user].group as usize].head;
                    self.timed.entry(head).or_default().pages.completed(now.since(since));
                }
                step => {
                    let Some(order) = self.sessions[user].order(step) else { continue };
                    let Order { flow, segments, is_new } = order;
                    let group = self.sessions[user].group;
                    let (flow, mut stage) = self.stage(flow, group, now);
                    if is_new { flow.open(segments, &mut stage) } else { flow.write(segments, &mut stage) }
                }
            }
        }
        self.steps = steps;
    }

    /// The warm-up is over.
    fn start_measuring(&mut self) {
        self.is_measuring = true;
        for Queued { link, .. } in &mut self.links {
            link.start_measuring(self.measured_from);
        }
        self.ledger.start_measuring();
        for session in &mut self.sessions {
            session.start_measuring(|flow| self.ledger.flows[flow as usize].arrived());
        }
        if let Some(edges) = &mut self.edges {
            edges.start_measuring(self.measured_from);
        }
    }
}

#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;

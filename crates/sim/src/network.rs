//! The network at work.
//!
//! Three events carry a packet over one queue: its arrival there, the end of its transmission, and its acknowledgement's
//! arrival at the sender. Hops that nobody contends for are arithmetic, not events.

use crate::event::{Event, EventQueue, Lane};
use crate::flow::{Counts, Flow, Group, Lanes, Place, Stage};
use crate::frames::Frames;
use crate::link::{Departure, Link};
use crate::observe::{self, About, State, Tap, What};
use crate::plan::{GroupPlan, Measured, Member, Network, Settings, Source};
use crate::route::{Leg, Target};
use fairwire_core::{Cause, FlowHash, Packet, Seed, Signals, Time, rng};
use fairwire_metrics::record::FlowRecord;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

pub(crate) struct Run<T> {
    events: EventQueue,
    links: Vec<Queued>,
    legs: Vec<Leg>,
    groups: Vec<Group>,
    ledger: Ledger<T>,
    measured_from: Time,
    end: Time,
    is_measuring: bool,
    handled: u64,
}

/// A link, and the lane of its questions.
pub(crate) struct Queued {
    link: Link,
    lane: Lane,
}

impl Queued {
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }
}

/// Frames and flows, and who watches: all that a discipline's signals touch.
struct Ledger<T> {
    frames: Frames,
    flows: Vec<Flow>,
    tap: T,
}

/// How many events pass between two questions to the watcher.
const WATCH_EVERY: u64 = 1 << 16;

impl<T: Tap> Run<T> {
    pub(crate) fn new(plan: Network, settings: &Settings, tap: T) -> Self {
        assert!(
            settings.duration > settings.warm_up,
            "nothing would be measured: the run ends within the warm-up"
        );
        let mut events = EventQueue::new(settings.tie_rule, settings.seed);
        let links = plan.links.into_iter().map(|plan| Queued { link: Link::new(plan), lane: events.lane() });
        let mut run = Run {
            links: links.collect(),
            legs: Vec::new(),
            groups: Vec::new(),
            ledger: Ledger { frames: Frames::default(), flows: Vec::new(), tap },
            measured_from: Time::ZERO + settings.warm_up,
            end: Time::ZERO + settings.duration,
            is_measuring: false,
            handled: 0,
            events,
        };
        if T::IS_ON {
            run.ledger.frames.keep_stamps();
        }
        let count = plan.groups.iter().map(|group| group.members.len()).sum();
        run.ledger.flows.reserve_exact(count);
        plan.groups.into_iter().for_each(|group| run.add(group, settings.seed));
        run
    }

    /// Adds the flows of a group.
    fn add(&mut self, mut plan: GroupPlan, seed: Seed) {
        let events = &mut self.events;
        let number = self.groups.len() as u32;
        let members = std::mem::take(&mut plan.members);
        let group = Group::new(plan, &mut self.legs, events);
        let salt = seed.stream("flow hash").next_u64();
        let mut lanes = BTreeMap::new();
        for (at, Member { start, access_delay }) in members.iter().enumerate() {
            let index = self.ledger.flows.len() as u32;
            let hash = FlowHash(rng::mix(salt ^ (u64::from(index) + 1)));
            let lanes = *lanes.entry(*access_delay).or_insert_with(|| Lanes {
                out: events.lane(),
                home: if group.is_acknowledged() { events.lane() } else { Lane::NONE },
                wake: events.lane(),
            });
            let place = Place { index, group: number, hash, lanes };
            let rng = || seed.stream(&format!("flow/{}.{}", group.plan.name, at + 1));
            let mut flow = Flow::new(place, &group, *access_delay, rng);
            flow.wake_at(Time::ZERO + *start, events);
            self.ledger.flows.push(flow);
        }
        self.groups.push(group);
    }

    /// Handles every event up to the end; false when the watcher stopped it.
    pub(crate) fn go(&mut self, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        self.tell(T::start, Time::ZERO);
        loop {
            let until = self.end.min(self.ledger.tap.next_sample());
            if !self.go_until(until, watch) {
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

    /// Handles every event up to `until`; false when the watcher stopped it.
    #[inline]
    fn go_until(&mut self, until: Time, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        while let Some((now, event)) = self.events.pop_until(until) {
            if now >= self.measured_from && !self.is_measuring {
                self.start_measuring();
            }
            self.handle(event, now);
            self.handled += 1;
            if self.handled.is_multiple_of(WATCH_EVERY) && watch(now).is_break() {
                return false;
            }
        }
        true
    }

    /// Shows the state to whoever watches.
    fn tell(&mut self, what: impl FnOnce(&mut T, State<'_>), now: Time) {
        let Ledger { flows, tap, .. } = &mut self.ledger;
        what(tap, State { now, flows, groups: &self.groups, links: &self.links });
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
        About { slot, frame, wire_bytes: group.wire_bytes(frame), sent: self.ledger.frames.sent(slot) }
    }

    #[inline]
    fn handle(&mut self, event: Event, now: Time) {
        match event {
            Event::Arrival(frame) => self.on_arrival(frame, now),
            Event::LinkFree(link) => self.on_link_free(link, now),
            Event::Ack(frame) => self.on_ack(frame, now),
            Event::Sink(frame) => self.deliver(frame, now, now),
            Event::Wake(flow) => {
                let (flow, mut stage) = self.stage(flow, now);
                flow.on_wake(&mut stage);
            }
        }
    }

    #[inline]
    fn stage(&mut self, flow: u32, now: Time) -> (&mut Flow, Stage<'_>) {
        let flow = &mut self.ledger.flows[flow as usize];
        let stage = Stage {
            group: &self.groups[flow.group() as usize],
            legs: &self.legs,
            frames: &mut self.ledger.frames,
            events: &mut self.events,
            now,
        };
        (flow, stage)
    }

    #[inline]
    fn on_arrival(&mut self, slot: u32, now: Time) {
        let frame = self.ledger.frames.at(slot);
        let Target::Queue(link) = self.legs[frame.leg as usize].to else {
            unreachable!("who arrives at a queue was on a leg that leads there")
        };
        let flow = &self.ledger.flows[frame.flow as usize];
        let packet = flow.packet(frame, slot, &self.groups[flow.group() as usize], now);
        self.note(What::Arrive, slot, Some(link), now);
        let Queued { link: queued, .. } = &mut self.links[link as usize];
        let asked_at = queued.asks_at();
        let departure = queued.offer(packet, now, &mut self.ledger);
        self.go_on(link, departure, asked_at, now);
    }

    #[inline]
    fn on_link_free(&mut self, link: u32, now: Time) {
        let Queued { link: queued, .. } = &mut self.links[link as usize];
        if queued.asks_at() != now {
            return; // put off or brought forward since this was scheduled
        }
        self.ledger.tap.set_place(now, Some(link));
        let departure = queued.ask(now, &mut self.ledger);
        self.go_on(link, departure, now, now);
    }

    /// Schedules the link's next question, where it changed, and takes a packet that has begun to leave onward.
    #[inline]
    fn go_on(&mut self, link: u32, departure: Option<Departure>, asked_at: Time, now: Time) {
        let Queued { link: queued, lane } = &self.links[link as usize];
        let asks_at = queued.asks_at();
        if asks_at != Time::MAX && (departure.is_some() || asks_at != asked_at) {
            self.events.push(asks_at, Event::LinkFree(link), *lane);
        }
        if let Some(departure) = departure {
            self.on_departure(departure, link, now);
        }
    }

    #[inline]
    fn on_departure(&mut self, departure: Departure, link: u32, now: Time) {
        let slot = departure.packet.frame;
        let frame = self.ledger.frames.at_mut(slot);
        frame.leg += 1;
        frame.ecn = departure.packet.ecn;
        let (flow, leg) = (frame.flow, frame.leg);
        self.note(What::Depart, slot, Some(link), now);
        let (flow, mut stage) = self.stage(flow, now);
        if let Some(at) = flow.go_on(slot, departure.reaches, leg, &mut stage) {
            self.deliver(slot, at, now);
        }
    }

    /// The frame kept in `slot` reaches the sink's access link at `at`.
    #[inline]
    fn deliver(&mut self, slot: u32, at: Time, now: Time) {
        let (measured_from, end) = (self.measured_from, self.end);
        let frame = self.ledger.frames.at(slot);
        let (flow, mut stage) = self.stage(frame.flow, now);
        let delivery = flow.on_delivery(frame, at, &mut stage);
        let (flow, mut stage) = if T::IS_ON {
            let about = self.about(slot);
            self.ledger.tap.delivers(delivery.at, delivery.packets, about);
            self.stage(frame.flow, now)
        } else {
            (flow, stage)
        };
        if delivery.at >= measured_from && delivery.at <= end {
            flow.counts.delivered += delivery.packets;
        }
        match delivery.ack {
            Some(ack) => flow.answer(ack, slot, delivery.at, &mut stage),
            None => self.ledger.frames.release(slot),
        }
    }

    #[inline]
    fn on_ack(&mut self, slot: u32, now: Time) {
        let flow = self.ledger.frames.at(slot).flow;
        self.note(What::Deliver, slot, None, now);
        let ack = self.ledger.frames.ack(slot);
        self.ledger.frames.release(slot);
        let (flow, mut stage) = self.stage(flow, now);
        flow.on_ack(ack, &mut stage);
    }

    /// The warm-up is over. Deliveries are told apart by their own time, which may lie ahead, and are kept.
    fn start_measuring(&mut self) {
        self.is_measuring = true;
        for Queued { link, .. } in &mut self.links {
            link.start_measuring(self.measured_from);
        }
        for flow in &mut self.ledger.flows {
            flow.counts = Counts { delivered: flow.counts.delivered, ..Counts::default() };
        }
    }

    /// What came out.
    pub(crate) fn measured(&self) -> Measured {
        let seconds = self.end.since(self.measured_from).secs();
        let mut numbers = vec![0; self.groups.len()];
        let record = |flow: &Flow| {
            let number = &mut numbers[flow.group() as usize];
            *number += 1;
            flow_record(&self.groups[flow.group() as usize].plan, *number, &flow.counts, seconds)
        };
        Measured {
            flows: self.ledger.flows.iter().map(record).collect(),
            links: self.links.iter().map(|queued| queued.link.record(self.end)).collect(),
            events: self.handled,
        }
    }
}

fn flow_record(plan: &GroupPlan, number: u32, counts: &Counts, seconds: f64) -> FlowRecord {
    let (kind, offered, wire_bytes, header_bytes) = match &plan.source {
        Source::Bulk { tcp } => {
            (format!("bulk {}", tcp.name()), None, tcp.segment_bytes + tcp.header_bytes, tcp.header_bytes)
        }
        Source::Cbr { rate, packet_bytes, header_bytes, .. } => {
            ("cbr".into(), Some(rate.bps() as f64), *packet_bytes, *header_bytes)
        }
    };
    let rate_of = |bytes: u32| counts.delivered as f64 * f64::from(bytes) * 8.0 / seconds;
    FlowRecord {
        name: format!("{}.{number}", plan.name),
        group: plan.name.clone(),
        kind,
        offered_bps: offered,
        throughput_bps: rate_of(wire_bytes),
        goodput_bps: rate_of(wire_bytes - header_bytes),
        packets_sent: counts.sent,
        packets_dropped: counts.dropped,
        packets_marked: counts.marked,
    }
}

impl<T: Tap> Signals for Ledger<T> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        let frame = self.frames.at(packet.frame);
        self.flows[frame.flow as usize].counts.dropped += 1;
        if T::IS_ON {
            let about = observe::about(&packet, frame, self.frames.sent(packet.frame));
            self.tap.happened(What::Drop(cause), about);
        }
        self.frames.release(packet.frame);
    }
    fn marked(&mut self, packet: &Packet, cause: Cause) {
        let frame = self.frames.at(packet.frame);
        self.flows[frame.flow as usize].counts.marked += 1;
        if T::IS_ON {
            let about = observe::about(packet, frame, self.frames.sent(packet.frame));
            self.tap.happened(What::Mark(cause), about);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Unwatched;
    use crate::plan::{LinkPlan, TieRule};
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Dropper, Duration, Limit, Queue, Rate, Seed};
    use fairwire_tcp::{Config, Profile};

    struct TailDrop;
    impl Dropper for TailDrop {}

    fn rate(bps: u64) -> Rate {
        Rate::from_bps(bps).expect("not zero")
    }

    fn bottleneck(packets: u32) -> LinkPlan {
        LinkPlan {
            name: "bottleneck".into(),
            rate: rate(10_000_000),
            delay: Duration::from_ms(10),
            discipline: Box::new(Queue::new(Limit::packets(packets), Fcfs, TailDrop)),
        }
    }

    fn group(name: &str, source: Source) -> GroupPlan {
        GroupPlan {
            name: name.into(),
            source,
            forward: Vec::new(),
            back: Vec::new(),
            access_rate: rate(100_000_000),
            class: 0,
            dscp: 0,
            members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_ms(3) }],
        }
    }

    fn bulk(name: &str) -> GroupPlan {
        group(name, Source::Bulk { tcp: Config::new(Profile::Ns2In2002, 512) })
    }

    fn cbr(name: &str, bps: u64) -> GroupPlan {
        group(name, Source::Cbr { rate: rate(bps), packet_bytes: 512, header_bytes: 28, dither: 0.0 })
    }

    fn settings(tie_rule: TieRule) -> Settings {
        Settings {
            duration: Duration::from_secs(30),
            warm_up: Duration::from_secs(10),
            seed: Seed(1),
            tie_rule,
        }
    }

    fn run(flows: Vec<GroupPlan>, packets: u32, settings: &Settings) -> Run<Unwatched> {
        let mut run = Run::new(Network::dumbbell(bottleneck(packets), flows), settings, Unwatched);
        assert!(run.go(&mut |_| ControlFlow::Continue(())));
        run
    }

    fn throughput(flows: Vec<GroupPlan>, packets: u32) -> Vec<f64> {
        let run = run(flows, packets, &settings(TieRule::Random));
        run.measured().flows.iter().map(|f| f.throughput_bps).collect()
    }

    #[test]
    fn every_frame_is_queued_or_on_its_way_or_has_been_let_go() {
        let flows: Vec<_> =
            (0..5).map(|i| bulk(&format!("tcp.{i}"))).chain([cbr("udp", 8_000_000)]).collect();
        let mut run = run(flows, 20, &settings(TieRule::Random));
        let mut on_the_way = 0;
        while let Some((_, event)) = run.events.pop_until(Time::MAX) {
            on_the_way += usize::from(matches!(event, Event::Arrival(_) | Event::Ack(_)));
        }
        assert!(run.ledger.flows.iter().any(|f| f.counts.dropped > 0), "the test needs drops");
        assert_eq!(run.ledger.frames.in_flight(), run.links[0].link.backlog().packets as usize + on_the_way);
    }

    #[test]
    fn a_constant_rate_below_the_link_arrives_whole() {
        let got = throughput(vec![cbr("udp", 5_000_000)], 10)[0];
        assert!((got - 5e6).abs() < 512.0 * 8.0, "{got}"); // within one packet in 20 s
    }

    #[test]
    fn a_dithered_source_keeps_its_mean_rate() {
        let mut udp = cbr("udp", 5_000_000);
        if let Source::Cbr { dither, .. } = &mut udp.source {
            *dither = 0.5;
        }
        let got = throughput(vec![udp], 1000)[0];
        // 24 414 gaps, each with a standard deviation of 0.5/sqrt(3) of itself: the mean is within 0.6 % at 3.3 sd.
        assert!((got / 5e6 - 1.0).abs() < 0.006, "{got}");
    }

    #[test]
    fn one_tcp_with_a_buffer_of_its_bandwidth_delay_product_fills_the_link() {
        // 10 Mbit/s x 32 ms = 72 packets of 552 B.
        let got = throughput(vec![bulk("tcp")], 80)[0];
        let one_packet = 552.0 * 8.0 / 20.0; // what counting whole packets in 20 s may add
        assert!(got > 0.98 * 10e6 && got <= 10e6 + one_packet, "{got}");
    }

    #[test]
    fn a_window_limited_tcp_gets_its_window_per_round_trip() {
        let mut tcp = Config::new(Profile::Ns2In2002, 512);
        tcp.window = Some(10);
        let got = throughput(vec![group("tcp", Source::Bulk { tcp })], 100)[0];
        // Propagation 32 ms; data: two access links at 44.16 us and the bottleneck at 441.6 us; ACK: 2 x 3.2 us and 32 us.
        let rtt = 0.032 + 2.0 * 44.16e-6 + 441.6e-6 + 2.0 * 3.2e-6 + 32e-6;
        let expected = 10.0 * 552.0 * 8.0 / rtt;
        assert!((got / expected - 1.0).abs() < 1e-3, "{got} against {expected}");
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_and_another_seed_does_not() {
        let mut dithered = cbr("udp", 6_000_000);
        if let Source::Cbr { dither, .. } = &mut dithered.source {
            *dither = 0.5;
        }
        let flows = || vec![bulk("tcp.0"), bulk("tcp.1"), dithered.clone()];
        let outcome = |seed: u64| {
            let settings = Settings { seed: Seed(seed), ..settings(TieRule::Random) };
            let run = run(flows(), 30, &settings);
            format!("{:?}", run.measured())
        };
        assert_eq!(outcome(1), outcome(1));
        assert_ne!(outcome(1), outcome(2));
    }

    #[test]
    fn a_watcher_can_stop_a_run() {
        let plan = Network::dumbbell(bottleneck(100), vec![cbr("udp", 9_000_000)]);
        let mut asked = 0;
        let stopped = crate::run(
            plan,
            &Settings { duration: Duration::from_secs(100), ..settings(TieRule::Fifo) },
            &mut |_| {
                asked += 1;
                ControlFlow::Break(())
            },
        );
        assert!(stopped.is_none());
        assert_eq!(asked, 1);
    }

    #[test]
    fn the_link_tells_how_busy_it_was() {
        let flows = vec![cbr("udp", 2_500_000)];
        let measured = run(flows, 10, &settings(TieRule::Random)).measured();
        let link = &measured.links[0];
        assert!((link.utilization - 0.25).abs() < 1e-3, "{}", link.utilization);
        assert_eq!(link.sojourn.max_s, 0.0);
        assert_eq!(link.packets_in, link.packets_out);
    }
}

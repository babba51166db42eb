//! The dumbbell at work.
//!
//! Three events carry a packet: its arrival at the bottleneck, the end of its transmission there, and its acknowledgement's
//! arrival at the sender. Hops that nobody contends for are arithmetic, not events.

use crate::event::{Event, EventQueue};
use crate::flow::{Flow, Return, Stage};
use crate::frames::{Frame, Frames};
use crate::link::{Departure, Link};
use crate::plan::{Dumbbell, FlowPlan, Measured, Settings, Source};
use fairwire_core::{Cause, FlowHash, Packet, Signals, Time, rng};
use fairwire_metrics::record::FlowRecord;
use std::ops::ControlFlow;

pub(crate) struct Run {
    events: EventQueue,
    link: Link,
    flows: Vec<Flow>,
    ledger: Ledger,
    measured_from: Time,
    end: Time,
    is_measuring: bool,
    handled: u64,
}

/// Frames and counts: all that the discipline's signals touch.
struct Ledger {
    frames: Frames,
    counts: Vec<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    delivered: u64,
    dropped: u64,
    marked: u64,
}

/// How many events pass between two questions to the watcher.
const WATCH_EVERY: u64 = 1 << 16;

impl Run {
    pub(crate) fn new(plan: Dumbbell, settings: &Settings) -> Self {
        assert!(
            settings.duration > settings.warm_up,
            "nothing would be measured: the run ends within the warm-up"
        );
        let mut events = EventQueue::new(settings.tie_rule, settings.seed);
        let back = Return { rate: plan.bottleneck.rate, delay: plan.bottleneck.delay };
        let salt = settings.seed.stream("flow hash").next_u64();
        let flows: Vec<Flow> = plan
            .flows
            .iter()
            .enumerate()
            .map(|(index, flow)| {
                let hash = FlowHash(rng::mix(salt ^ (index as u64 + 1)));
                let rng = settings.seed.stream(&format!("flow/{}", flow.name));
                let mut made = Flow::new(index as u32, flow, hash, &back, rng);
                made.begin(Time::ZERO + flow.start, &mut events);
                made
            })
            .collect();
        Run {
            events,
            link: Link::new(plan.bottleneck),
            ledger: Ledger { frames: Frames::default(), counts: vec![Counts::default(); flows.len()] },
            flows,
            measured_from: Time::ZERO + settings.warm_up,
            end: Time::ZERO + settings.duration,
            is_measuring: false,
            handled: 0,
        }
    }

    /// Handles every event up to the end; false when the watcher stopped it.
    pub(crate) fn go(&mut self, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        while let Some((now, event)) = self.events.pop_until(self.end) {
            if now >= self.measured_from && !self.is_measuring {
                self.start_measuring();
            }
            self.handle(event, now);
            self.handled += 1;
            if self.handled.is_multiple_of(WATCH_EVERY) && watch(now).is_break() {
                return false;
            }
        }
        if !self.is_measuring {
            self.start_measuring(); // nothing happened after the warm-up
        }
        true
    }

    #[inline]
    fn handle(&mut self, event: Event, now: Time) {
        match event {
            Event::Arrival(frame) => self.on_arrival(frame, now),
            Event::LinkFree => self.on_link_free(now),
            Event::Ack(frame) => self.on_ack(frame, now),
            Event::Wake(flow) => {
                let (flow, mut stage) = self.stage(flow, now);
                flow.on_wake(&mut stage);
            }
        }
    }

    #[inline]
    fn stage(&mut self, flow: u32, now: Time) -> (&mut Flow, Stage<'_>) {
        let sent = &mut self.ledger.counts[flow as usize].sent;
        let stage = Stage { frames: &mut self.ledger.frames, events: &mut self.events, now, sent };
        (&mut self.flows[flow as usize], stage)
    }

    #[inline]
    fn on_arrival(&mut self, slot: u32, now: Time) {
        let frame = self.ledger.frames.at(slot);
        let flow = &self.flows[frame.flow as usize];
        let packet = flow.packet(frame, slot, now);
        let asked_at = self.link.asks_at();
        let departure = self.link.offer(packet, now, &mut self.ledger);
        self.go_on(departure, asked_at);
    }

    #[inline]
    fn on_link_free(&mut self, now: Time) {
        if self.link.asks_at() != now {
            return; // put off or brought forward since this was scheduled
        }
        let departure = self.link.ask(now, &mut self.ledger);
        self.go_on(departure, now);
    }

    /// Schedules the link's next question, where it changed, and takes a packet that has begun to leave onward.
    #[inline]
    fn go_on(&mut self, departure: Option<Departure>, asked_at: Time) {
        let asks_at = self.link.asks_at();
        if asks_at != Time::MAX && (departure.is_some() || asks_at != asked_at) {
            self.events.push(asks_at, Event::LinkFree);
        }
        if let Some(departure) = departure {
            self.on_departure(departure);
        }
    }

    #[inline]
    fn on_departure(&mut self, departure: Departure) {
        let slot = departure.packet.frame;
        let frame = self.ledger.frames.at(slot);
        let delivery = self.flows[frame.flow as usize].on_delivery(frame, departure.reaches);
        if delivery.at >= self.measured_from && delivery.at <= self.end {
            self.ledger.counts[frame.flow as usize].delivered += delivery.packets;
        }
        match delivery.ack {
            Some((at, ack)) => {
                *self.ledger.frames.at_mut(slot) = Frame::answering(frame.flow, ack);
                self.events.push(at, Event::Ack(slot));
            }
            None => self.ledger.frames.release(slot),
        }
    }

    #[inline]
    fn on_ack(&mut self, slot: u32, now: Time) {
        let frame = self.ledger.frames.at(slot);
        self.ledger.frames.release(slot);
        let (flow, mut stage) = self.stage(frame.flow, now);
        flow.on_ack(frame.ack(), &mut stage);
    }

    /// The warm-up is over. Deliveries are told apart by their own time, which may lie ahead, and are kept.
    fn start_measuring(&mut self) {
        self.is_measuring = true;
        self.link.start_measuring(self.measured_from);
        for counts in &mut self.ledger.counts {
            *counts = Counts { delivered: counts.delivered, ..Counts::default() };
        }
    }

    /// What came out.
    pub(crate) fn measured(&self, flows: &[FlowPlan]) -> Measured {
        let seconds = self.end.since(self.measured_from).secs();
        let records = flows.iter().zip(&self.ledger.counts);
        Measured {
            flows: records.map(|(plan, counts)| flow_record(plan, counts, seconds)).collect(),
            links: vec![self.link.record(self.end)],
            events: self.handled,
        }
    }
}

fn flow_record(plan: &FlowPlan, counts: &Counts, seconds: f64) -> FlowRecord {
    let (kind, offered, wire_bytes, header_bytes) = match &plan.source {
        Source::Bulk { tcp } => {
            ("bulk newreno", None, tcp.segment_bytes + tcp.header_bytes, tcp.header_bytes)
        }
        Source::Cbr { rate, packet_bytes, header_bytes, .. } => {
            ("cbr", Some(rate.bps() as f64), *packet_bytes, *header_bytes)
        }
    };
    let rate_of = |bytes: u32| counts.delivered as f64 * f64::from(bytes) * 8.0 / seconds;
    FlowRecord {
        name: plan.name.clone(),
        group: plan.group.clone(),
        kind: kind.into(),
        offered_bps: offered,
        throughput_bps: rate_of(wire_bytes),
        goodput_bps: rate_of(wire_bytes - header_bytes),
        packets_sent: counts.sent,
        packets_dropped: counts.dropped,
        packets_marked: counts.marked,
    }
}

impl Signals for Ledger {
    fn dropped(&mut self, packet: Packet, _cause: Cause) {
        let frame = self.frames.at(packet.frame);
        self.counts[frame.flow as usize].dropped += 1;
        self.frames.release(packet.frame);
    }
    fn marked(&mut self, packet: &Packet, _cause: Cause) {
        let frame = self.frames.at(packet.frame);
        self.counts[frame.flow as usize].marked += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Access, LinkPlan, TieRule};
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

    fn flow(name: &str, source: Source) -> FlowPlan {
        let access = Access { rate: rate(100_000_000), delay: Duration::from_ms(3) };
        FlowPlan {
            name: name.into(),
            group: "all".into(),
            source,
            access,
            start: Duration::ZERO,
            class: 0,
            dscp: 0,
        }
    }

    fn bulk(name: &str) -> FlowPlan {
        flow(name, Source::Bulk { tcp: Config::new(Profile::Ns2In2002, 512) })
    }

    fn cbr(name: &str, bps: u64) -> FlowPlan {
        flow(name, Source::Cbr { rate: rate(bps), packet_bytes: 512, header_bytes: 28, dither: 0.0 })
    }

    fn settings(tie_rule: TieRule) -> Settings {
        Settings {
            duration: Duration::from_secs(30),
            warm_up: Duration::from_secs(10),
            seed: Seed(1),
            tie_rule,
        }
    }

    fn run(flows: Vec<FlowPlan>, packets: u32, settings: &Settings) -> Run {
        let mut run = Run::new(Dumbbell { bottleneck: bottleneck(packets), flows }, settings);
        assert!(run.go(&mut |_| ControlFlow::Continue(())));
        run
    }

    fn throughput(flows: Vec<FlowPlan>, packets: u32) -> Vec<f64> {
        let run = run(flows.clone(), packets, &settings(TieRule::Random));
        run.measured(&flows).flows.iter().map(|f| f.throughput_bps).collect()
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
        assert!(run.ledger.counts.iter().any(|c| c.dropped > 0), "the test needs drops");
        assert_eq!(run.ledger.frames.in_flight(), run.link.backlog().packets as usize + on_the_way);
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
        let got = throughput(vec![flow("tcp", Source::Bulk { tcp })], 100)[0];
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
            format!("{:?}", run.measured(&flows()))
        };
        assert_eq!(outcome(1), outcome(1));
        assert_ne!(outcome(1), outcome(2));
    }

    #[test]
    fn a_watcher_can_stop_a_run() {
        let plan = Dumbbell { bottleneck: bottleneck(100), flows: vec![cbr("udp", 9_000_000)] };
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
        let measured = run(flows.clone(), 10, &settings(TieRule::Random)).measured(&flows);
        let link = &measured.links[0];
        assert!((link.utilization - 0.25).abs() < 1e-3, "{}", link.utilization);
        assert_eq!(link.sojourn.max_s, 0.0);
        assert_eq!(link.packets_in, link.packets_out);
    }
}

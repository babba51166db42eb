//! Observed runs.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Cause, Dropper, Duration, Limit, Queue, Rate, Seed, Time};
use fairwire_sim::{
    Content, GroupPlan, LinkPlan, Measured, Member, Network, Observer, PacketEvent, Settings, Source, Steps,
    TieRule, View, Wait, What, run, run_observed,
};
use fairwire_tcp::{Config, Profile};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

struct TailDrop;
impl Dropper for TailDrop {}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn group(name: &str, source: Source, access_bps: u64) -> GroupPlan {
    GroupPlan {
        name: name.into(),
        source,
        forward: Vec::new(),
        back: Vec::new(),
        access_rate: rate(access_bps),
        class: 0,
        dscp: 0,
        ecn: fairwire_core::Ecn::NotEct,
        members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_ms(1) }],
        on: Vec::new(),
    }
}

fn network(link_bps: u64, packets: u32, groups: Vec<GroupPlan>) -> Network {
    let bottleneck = LinkPlan {
        wire: None,
        name: "bottleneck".into(),
        law: fairwire_core::RateLaw::Fixed,
        rate: rate(link_bps),
        delay: Duration::from_ms(5),
        discipline: Box::new(Queue::new(Limit::packets(packets), Fcfs, TailDrop)),
    };
    Network::dumbbell(bottleneck, groups)
}

fn cbr() -> GroupPlan {
    let source = Source::Cbr { rate: rate(8_000_000), packet_bytes: 1000, header_bytes: 28, dither: 0.0 };
    group("udp", source, 80_000_000)
}

fn settings(ms: u64) -> Settings {
    let (duration, warm_up) = (Duration::from_ms(ms), Duration::ZERO);
    Settings { duration, warm_up, seed: Seed(1), tie_rule: TieRule::Fifo }
}

#[derive(Default)]
struct Log {
    every: Option<Duration>,
    /// The samples: time in us, bytes delivered, packets dropped, backlog in packets.
    samples: Vec<(u64, u64, u64, u32)>,
    windows: Vec<f64>,
    events: Vec<PacketEvent>,
    finished_at: Vec<Time>,
    waits: BTreeMap<u32, (u64, Duration)>,
    /// The number of packets and their mean wait, read from the link's meter at the end of the run.
    metered: (u64, Duration),
}

impl Log {
    fn add_waits(&mut self, view: &View<'_>) {
        for Wait { flow, wait, .. } in view.waits() {
            let sum = self.waits.entry(*flow).or_default();
            *sum = (sum.0 + 1, sum.1 + *wait);
        }
    }
}

impl Observer for Log {
    fn interval(&self) -> Option<Duration> {
        self.every
    }
    fn wants_packets(&self) -> bool {
        true
    }
    fn sample(&mut self, view: &View<'_>) {
        let (delivered, dropped) = view
            .flows()
            .fold((0, 0), |(bytes, drops), flow| (bytes + flow.delivered_bytes, drops + flow.dropped));
        self.add_waits(view);
        let backlog = view.links().map(|link| link.backlog.packets).sum();
        self.samples.push((view.now().ns() / 1000, delivered, dropped, backlog));
        self.windows.extend(view.flows().filter_map(|flow| flow.window).map(|window| window.cwnd));
    }
    fn packet(&mut self, event: &PacketEvent) {
        self.events.push(*event);
    }
    fn finished(&mut self, view: &View<'_>) {
        self.finished_at.push(view.now());
        self.add_waits(view);
        let sojourn = view.links().next().expect("a link").sojourn;
        self.metered = (sojourn.count(), sojourn.mean());
    }
}

fn watched(network: Network, settings: &Settings, every: Option<Duration>) -> (Measured, Log) {
    let mut log = Log { every, ..Log::default() };
    let go_on = &mut |_| ControlFlow::Continue(());
    (run_observed(network, settings, go_on, &mut log).expect("it is not stopped"), log)
}

fn contest() -> Network {
    let tcp = Config::new(Profile::Ns2In2002, 512);
    let tcps = group("tcp", Source::Bulk { tcp }, 100_000_000);
    network(10_000_000, 20, vec![GroupPlan { members: vec![tcps.members[0]; 3], ..tcps }, cbr()])
}

#[test]
fn a_run_gives_the_same_bits_with_and_without_an_observer() {
    for tie_rule in [TieRule::Fifo, TieRule::Random] {
        let settings = Settings { tie_rule, warm_up: Duration::from_secs(1), ..settings(5000) };
        let plain = run(contest(), &settings, &mut |_| ControlFlow::Continue(())).expect("it is not stopped");
        for every in [None, Some(Duration::from_ns(777_777)), Some(Duration::from_secs(1))] {
            let (measured, log) = watched(contest(), &settings, every);
            assert_eq!(format!("{measured:?}"), format!("{plain:?}"));
            assert!(!log.events.is_empty());
        }
    }
}

#[test]
fn samples_are_at_exact_multiples_and_include_all_earlier_events() {
    // Packet n, counted from 0, is delivered at (n + 8.2) ms. Transmission takes 0.1 + 1 + 0.1 ms,
    // propagation 1 + 5 + 1 ms.
    let (_, log) = watched(network(8_000_000, 10, vec![cbr()]), &settings(35), Some(Duration::from_ms(10)));
    assert_eq!(log.samples, [(10_000, 2000, 0, 0), (20_000, 10_000, 0, 0), (30_000, 10_000, 0, 0)]);
    assert_eq!(log.finished_at, [Time::from_ns(35_000_000)]);
}

#[test]
fn a_sample_at_an_event_or_the_end_includes_it() {
    let (_, log) =
        watched(network(8_000_000, 10, vec![cbr()]), &settings(9), Some(Duration::from_ns(4_100_000)));
    assert_eq!(log.samples, [(4100, 0, 0, 0), (8200, 1000, 0, 0)]);
    let (_, log) = watched(network(8_000_000, 10, vec![cbr()]), &settings(20), Some(Duration::from_ms(10)));
    assert_eq!(log.samples.last(), Some(&(20_000, 10_000, 0, 0)));
}

struct Shared(Arc<Mutex<Log>>);

impl Observer for Shared {
    fn interval(&self) -> Option<Duration> {
        self.0.lock().expect("no panic before").interval()
    }
    fn sample(&mut self, view: &View<'_>) {
        self.0.lock().expect("no panic before").sample(view);
    }
    fn finished(&mut self, view: &View<'_>) {
        self.0.lock().expect("no panic before").finished(view);
    }
}

#[test]
fn a_stepped_run_has_the_samples_of_an_unstepped_one_and_one_per_step() {
    let settings = Settings { warm_up: Duration::from_ms(250), ..settings(2000) };
    for every in [Duration::from_ms(100), Duration::from_ns(77_777_777)] {
        let (_, at_once) = watched(contest(), &settings, Some(every));
        let log = Arc::new(Mutex::new(Log { every: Some(every), ..Log::default() }));
        let mut steps = Steps::new(contest(), &settings, Box::new(Shared(log.clone())));
        let seen = || log.lock().expect("no panic before").samples.len();
        let mut count = 0;
        while steps.advance() {
            count += 1;
            assert_eq!(seen(), count);
        }
        assert!(!steps.advance(), "it is over");
        let log = log.lock().expect("no panic before");
        assert_eq!((&log.samples, &log.windows), (&at_once.samples, &at_once.windows));
        assert_eq!(log.finished_at, [Time::from_ns(2_000_000_000)]);
    }
}

#[test]
fn a_packet_is_followed_from_its_arrival_to_its_delivery() {
    let (_, log) = watched(network(8_000_000, 10, vec![cbr()]), &settings(20), None);
    let shown = [What::Arrive, What::Depart, What::Deliver].map(|what| {
        let first = log.events.iter().find(|event| event.what == what).expect("it happened");
        (first.what, first.at.ns() / 1000, first.link)
    });
    let expected =
        [(What::Arrive, 1100, Some(0)), (What::Depart, 1100, Some(0)), (What::Deliver, 8200, None)];
    assert_eq!(shown, expected);
    assert!(log.events.iter().all(|event| event.content == Content::Datagram));
    assert!(log.events.iter().all(|event| event.wire_bytes == 1000 && event.flow == 0));
    assert!(log.samples.is_empty());
}

#[test]
fn drops_are_reported_with_their_cause_and_add_up() {
    let (measured, log) =
        watched(network(4_000_000, 3, vec![cbr()]), &settings(100), Some(Duration::from_ms(50)));
    let count = |what: What| log.events.iter().filter(|event| event.what == what).count() as u64;
    let link = &measured.links[0];
    assert_eq!(count(What::Drop(Cause::Overflow)), link.drops["overflow"]);
    assert!(link.drops["overflow"] > 40);
    assert_eq!((count(What::Arrive), count(What::Depart)), (link.packets_in, link.packets_out));
    assert_eq!(log.samples.iter().map(|sample| sample.2).sum::<u64>(), link.drops["overflow"]);
    assert_eq!(log.samples[1].3, 3, "the buffer is full");
}

#[test]
fn waits_of_all_samples_add_up_to_those_of_the_link() {
    let (_, log) = watched(contest(), &settings(3000), Some(Duration::from_ns(7_777_777)));
    let (count, sum) = log.waits.values().fold((0, Duration::ZERO), |all, of| (all.0 + of.0, all.1 + of.1));
    assert_eq!(count, log.metered.0);
    let (mean, metered) = (sum.ns() as f64 / count as f64, log.metered.1.ns() as f64);
    assert!((mean - metered).abs() <= 1.0, "{mean} and {metered} ns");
    assert_eq!(log.waits.len(), 4, "each flow has its own");
    // The flow is slower than the link, so no packet waits for another.
    let (_, alone) =
        watched(network(10_000_000, 20, vec![cbr()]), &settings(100), Some(Duration::from_ms(9)));
    assert_eq!(alone.waits[&0].1, Duration::ZERO);
    let (_, without) = watched(contest(), &settings(100), None);
    assert!(without.waits.is_empty(), "nothing is kept where nothing is sampled");
}

#[test]
fn times_never_decrease_and_every_delivery_was_a_departure() {
    let (_, log) = watched(contest(), &settings(5000), Some(Duration::from_ms(100)));
    assert!(log.events.is_sorted_by_key(|event| event.at));
    let of_data = |what: What| {
        log.events.iter().filter(|e| e.what == what && !matches!(e.content, Content::Ack { .. })).count()
    };
    let (departed, delivered) = (of_data(What::Depart), of_data(What::Deliver));
    assert!(departed >= delivered && departed - delivered < 30, "{departed} {delivered}");
    assert!(log.windows.iter().any(|cwnd| *cwnd > 2.0), "windows are shown");
    assert_eq!(log.windows.len(), 3 * 50);
}

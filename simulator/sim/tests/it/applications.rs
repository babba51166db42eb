//! Sources and links in a network, against closed forms and against each other.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Backlog, Control, Discipline, Dropper, Duration, Ecn, Limit, Packet, Probe, Queue, Rate, RateLaw, Room,
    Seed, Signals, Step, Time, Trace,
};
use fairwire_metrics::record::LinkRecord;
use fairwire_sim::app::{
    Arrivals, Bursts, Law, Load, Offered, OnOff, Poisson, Replay, Sequence, Telnet, Traffic, Transfers,
    Video, Voip, Web,
};
use fairwire_sim::{GroupPlan, LinkPlan, Measured, Member, Network, Settings, Source, TieRule};
use fairwire_tcp::{Config, Profile};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

struct TailDrop;
impl Dropper for TailDrop {}

const HEADER_BYTES: u32 = 28;

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn link(law: RateLaw) -> LinkPlan {
    LinkPlan {
        wire: None,
        name: "link".into(),
        rate: rate(8_000_000), // 1 byte = 1 us
        law,
        delay: Duration::from_ms(10),
        discipline: Box::new(Queue::new(Limit::packets(100_000), Fcfs, TailDrop)),
    }
}

fn group(name: &str, traffic: Traffic, members: usize) -> GroupPlan {
    GroupPlan {
        name: name.into(),
        source: Source::Datagrams { traffic, header_bytes: HEADER_BYTES },
        forward: Vec::new(),
        back: Vec::new(),
        access_rate: rate(1_000_000_000_000),
        class: 0,
        dscp: 0,
        ecn: fairwire_core::Ecn::NotEct,
        members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_ms(1) }; members],
        on: Vec::new(),
    }
}

fn measured(link: LinkPlan, groups: Vec<GroupPlan>, seconds: u64, seed: u64) -> Measured {
    let settings = Settings {
        duration: Duration::from_secs(seconds),
        warm_up: Duration::from_secs(seconds / 10),
        seed: Seed(seed),
        tie_rule: TieRule::Random,
    };
    let run =
        fairwire_sim::run(Network::dumbbell(link, groups), &settings, &mut |_| ControlFlow::Continue(()));
    run.expect("it was not stopped")
}

/// The mean wait over independent runs, and 3.3 standard errors of this mean.
fn waits(size: &Law) -> (f64, f64) {
    const RUNS: u64 = 12;
    let mean_gap = Duration::from_us(1_250); // 1000 bytes in 1 ms: 80 % of the link
    let wait = |seed| {
        let poisson = Traffic::Poisson(Poisson { mean_gap, size: size.clone() });
        let measured = measured(link(RateLaw::Fixed), vec![group("poisson", poisson, 1)], 400, seed);
        measured.links[0].sojourn.as_ref().expect("it is measured").mean_s
    };
    let waits: Vec<f64> = (1..=RUNS).map(wait).collect();
    let mean = waits.iter().sum::<f64>() / RUNS as f64;
    let variance = waits.iter().map(|wait| (wait - mean).powi(2)).sum::<f64>() / (RUNS - 1) as f64;
    (mean, 3.3 * (variance / RUNS as f64).sqrt())
}

#[test]
fn poisson_packets_of_one_size_wait_as_in_an_m_d_1_queue() {
    let (mean, bound) = waits(&Law::Fixed(1000.0));
    let expected = 0.8 / (2.0 * (1.0 - 0.8)) * 1e-3; // rho / (2 (1 - rho)) service times
    assert!((mean - expected).abs() < bound && bound < 0.05 * expected, "{mean} +- {bound}, not {expected}");
}

#[test]
fn poisson_packets_of_exponential_size_wait_as_in_an_m_m_1_queue() {
    let (mean, bound) = waits(&Law::Exponential { mean: 1000.0 });
    // Packets have at least the size of the headers, so the mean service takes 1.00039 ms.
    let (service, load) = (1.000_39e-3, 0.8 * 1.000_39);
    let expected = load / (1.0 - load) * service;
    assert!((mean - expected).abs() < bound && bound < 0.05 * expected, "{mean} +- {bound}, not {expected}");
}

fn overloaded(law: RateLaw) -> LinkRecord {
    let source = Source::Cbr { rate: rate(20_000_000), packet_bytes: 700, header_bytes: 28, dither: 0.0 };
    let cbr = GroupPlan { source, ..group("cbr", Traffic::Voip(Voip::default()), 1) };
    measured(link(law), vec![cbr], 20, 1).links.remove(0)
}

#[test]
fn a_link_of_opportunities_delivers_exactly_their_bytes() {
    let link = overloaded(RateLaw::Trace(Trace::parse("1\n4\n7\n").expect("a trace").into()));
    let count =
        |ms: u64| (0..).flat_map(|k| [7 * k + 1, 7 * k + 4, 7 * k + 7]).take_while(|at| *at < ms).count();
    let opportunities = count(20_000) - count(2_000);
    let bytes = opportunities as f64 * 1504.0;
    // A packet counts when its transmission begins. The tolerance is one packet at each end.
    assert!((link.packets_out as f64 * 700.0 - bytes).abs() <= 2.0 * 700.0, "{link:?}");
    assert!((link.rate_bps - bytes * 8.0 / 18.0).abs() <= 0.5, "{link:?}");
    assert!(link.utilization > 1.0 - 2.0 * 700.0 / bytes, "{link:?}");
}

#[test]
fn a_link_wastes_opportunities_without_a_backlog() {
    let packets: Vec<_> = (0..500)
        .map(|k| Offered { at: Duration::from_ms(20 * k + 1), bytes: 1000, flow: 0, ecn: Ecn::Ect1 })
        .collect();
    let replay = Traffic::Replay(Replay { packets: packets.into(), speed: 1.0, repeats: false });
    let trace = RateLaw::Trace(Trace::parse("5\n").expect("a trace").into());
    let measured = measured(link(trace), vec![group("replay", replay, 1)], 10, 1);
    let sojourn = measured.links[0].sojourn.as_ref().expect("it is measured");
    // A packet at 22 ms waits for the opportunity at 25 ms. The tolerance covers the packet's 8 ns
    // on the access link.
    assert!((sojourn.mean_s - 0.003).abs() < 1e-7 && (sojourn.max_s - 0.003).abs() < 1e-7, "{sojourn:?}");
}

#[test]
fn a_link_with_steps_delivers_the_sum_of_its_rates() {
    let step =
        |seconds, bps| Step { at: Time::ZERO + Duration::from_secs(seconds), rate: Rate::from_bps(bps) };
    let link = overloaded(RateLaw::Steps([step(5, 2_000_000), step(11, 12_345_678)].into()));
    let bits = 3.0 * 8e6 + 6.0 * 2e6 + 9.0 * 12_345_678.0; // from 2 s on
    assert!((link.packets_out as f64 * 5600.0 - bits).abs() <= 2.0 * 5600.0, "{link:?}");
    assert!((link.rate_bps - bits / 18.0).abs() <= 0.5 && link.utilization > 0.9999, "{link:?}");
}

fn all_sources() -> Vec<GroupPlan> {
    let packets = (0..1000).map(|k| Offered {
        at: Duration::from_ms(7 * k),
        bytes: 60 + k as u32,
        flow: k as u16 % 5,
        ecn: Ecn::NotEct,
    });
    let replay = Replay { packets: packets.collect(), speed: 1.5, repeats: true };
    let burst = Law::Pareto { mean: 15.0, shape: 1.5 };
    let on_off =
        OnOff { rate: rate(4_000_000), packet_bytes: 1000, burst, idle: Law::Exponential { mean: 0.1 } };
    let poisson = Poisson { mean_gap: Duration::from_ms(5), size: Law::Exponential { mean: 800.0 } };
    vec![
        group("on-off", Traffic::OnOff(on_off), 3),
        group("poisson", Traffic::Poisson(poisson), 2),
        group("voip", Traffic::Voip(Voip::default()), 4),
        group("video", Traffic::Video(Video { is_paced: true, ..Video::default() }), 1),
        group("replay", Traffic::Replay(replay), 1),
    ]
}

#[test]
fn a_link_with_spare_capacity_delivers_the_offered_load() {
    let fast = LinkPlan { rate: rate(1_000_000_000), ..link(RateLaw::Fixed) };
    let measured = measured(fast, all_sources(), 60, 3);
    assert_eq!(measured.flows.len(), 11);
    for flow in &measured.flows {
        let offered = flow.offered_bps.expect("of a source that does not respond");
        // At the start and end of measuring, the packets of the last 11 ms and a partial burst may
        // be in flight.
        assert!((flow.throughput_bps / offered - 1.0).abs() < 0.02, "{flow:?}");
        assert!(flow.goodput_bps < flow.throughput_bps && flow.packets_sent > 100, "{flow:?}");
        assert_eq!(flow.packets_dropped, 0);
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_seed_does_not() {
    let outcome = |seed| format!("{:?}", measured(link(RateLaw::Fixed), all_sources(), 20, seed));
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}

fn user(name: &str, load: Load, members: usize) -> GroupPlan {
    let tcp = Config::new(Profile::Ns2In2002, 960); // 1000 bytes on the wire
    GroupPlan { source: Source::Tcp { tcp, load }, ..group(name, Traffic::Voip(Voip::default()), members) }
}

fn transfers(size: f64, arrivals: Arrivals) -> Load {
    Load::Transfers(Transfers { size: Law::Fixed(size), arrivals })
}

#[test]
fn a_transfer_takes_the_round_trips_that_its_windows_need() {
    let load = transfers(9_600.0, Arrivals::Think(Law::Fixed(5.0)));
    let fast = LinkPlan { rate: rate(1_000_000_000_000), ..link(RateLaw::Fixed) };
    let measured = measured(fast, vec![user("file", load, 1)], 1_000, 1);
    let [record] = &measured.transfers[..] else { panic!("{:?}", measured.transfers) };
    // The handshake, the window of 2 and the window of 4 take 24 ms each. The last window takes
    // half. Sending takes microseconds.
    assert!((record.times.mean_s - 3.5 * 0.024).abs() < 2e-6, "{record:?}");
    assert!((record.times.max_s - record.times.mean_s).abs() < 2e-6, "{record:?}");
    assert_eq!((record.group.as_str(), record.kind.as_str()), ("file", "transfer"));
    // A cycle has four round trips, up to the last acknowledgement.
    let cycles = 900.0 / (5.0 + 4.0 * 0.024);
    assert!((record.completed as f64 - cycles).abs() <= 1.0, "{record:?}, not {cycles}");
    // Each cycle sends ten segments of data and a SYN.
    let flow = &measured.flows[0];
    assert!((flow.packets_sent as f64 - 11.0 * cycles).abs() <= 11.0, "{flow:?}");
    assert!((flow.goodput_bps / (9_600.0 * 8.0 * cycles / 900.0) - 1.0).abs() < 1.0 / cycles, "{flow:?}");
}

#[test]
fn random_transfers_deliver_their_load_on_a_link_with_spare_capacity() {
    let arrivals = Arrivals::Poisson { mean_gap: Duration::from_ms(100), connections: 50 };
    let load = Load::Transfers(Transfers { size: Law::Pareto { mean: 48_000.0, shape: 2.5 }, arrivals });
    let measured = measured(link(RateLaw::Fixed), vec![user("files", load, 1)], 1_000, 1);
    let (flow, record) = (&measured.flows[0], &measured.transfers[0]);
    let offered = flow.offered_bps.expect("it does not depend on what becomes of it");
    // Nearly all data arrives, because transfers last about 0.3 s.
    assert!((flow.throughput_bps / offered - 1.0).abs() < 0.01, "{flow:?}");
    assert!((record.completed as f64 - 9_000.0).abs() < 3.3 * 9_000.0_f64.sqrt() + 50.0, "{record:?}");
    let times = &record.times;
    assert!(
        times.p50_s < times.p95_s && times.p95_s < times.p99_s && times.p99_s <= times.max_s,
        "{record:?}"
    );
}

#[test]
fn keystrokes_arrive_at_their_rate() {
    let telnet = Load::Telnet(Telnet { mean_gap: Duration::from_ms(5) });
    let measured = measured(link(RateLaw::Fixed), vec![user("telnet", telnet, 2)], 200, 1);
    for flow in &measured.flows {
        // 36 000 segments leave in 180 s, with a standard deviation of sqrt(36 000).
        let bound = 3.3 / 36_000.0_f64.sqrt();
        assert!((flow.throughput_bps / 1.6e6 - 1.0).abs() < bound, "{flow:?}");
        assert!(
            (flow.throughput_bps / flow.offered_bps.expect("it is reported") - 1.0).abs() < 0.002,
            "{flow:?}"
        );
    }
    assert!(measured.transfers.is_empty());
}

#[test]
fn a_pause_follows_a_burst_that_has_been_delivered() {
    // A cycle is a pause of 100 ms and a round trip of 24 ms. A new connection adds a round trip.
    let load = |renews| Load::Bursts(Bursts { burst: Law::Fixed(1.0), idle: Law::Fixed(0.1), renews });
    let fast = || LinkPlan { rate: rate(1_000_000_000_000), ..link(RateLaw::Fixed) };
    for (renews, cycle) in [(false, 0.124), (true, 0.148)] {
        let measured = measured(fast(), vec![user("bursts", load(renews), 1)], 1_000, 1);
        let completed = measured.transfers[0].completed as f64;
        assert!((completed - 900.0 / cycle).abs() <= 1.0, "{completed}, renews: {renews}");
    }
}

#[test]
fn a_user_who_waits_for_data_gets_only_the_requested_data() {
    // An uncongested link delivers a burst every 124 ms, as above.
    let bursts = Bursts { burst: Law::Fixed(15.0), idle: Law::Fixed(0.1), renews: false };
    let record =
        |link, load, seconds| measured(link, vec![user("user", load, 1)], seconds, 1).flows.remove(0);
    let fast = || LinkPlan { rate: rate(1_000_000_000_000), ..link(RateLaw::Fixed) };
    let free = record(fast(), Load::Bursts(bursts.clone()), 1_000);
    let requested = free.offered_bps.expect("it requests a burst at a time");
    // One burst may be in flight at either end of the 900 s.
    assert!((free.throughput_bps / requested - 1.0).abs() <= 2.0 * 0.124 / 900.0, "{free:?}");
    // At most one burst is missing, because the source waits for the link.
    let slow = LinkPlan { rate: rate(100_000), ..link(RateLaw::Fixed) };
    let slow = record(slow, Load::Bursts(Bursts { idle: Law::Fixed(0.0), ..bursts }), 200);
    let missing = (slow.offered_bps.expect("as above") - slow.throughput_bps) * 180.0 / (8.0 * 1000.0);
    assert!((0.0..=15.0).contains(&missing), "{missing} packets of {slow:?}");
    let endless = Load::Sequence(Sequence { lasts: Duration::from_secs(5) });
    assert_eq!(record(link(RateLaw::Fixed), endless, 20).offered_bps, None, "it takes what it gets");
}

#[test]
fn a_web_client_loads_pages_of_objects() {
    let web = Web { reading: Law::Exponential { mean: 1.0 }, ..Web::default() };
    let measured = measured(link(RateLaw::Fixed), vec![user("web", Load::Web(Box::new(web)), 3)], 2_000, 1);
    assert_eq!(measured.flows.len(), 3, "one record per client, not per connection");
    let of = |kind| measured.transfers.iter().find(|record| record.kind == kind).expect(kind);
    let (objects, pages) = (of("transfer"), of("page"));
    // A page has one main object and up to 53 embedded objects, on average 5.64. So their number
    // has a variance below 53 x 5.64.
    let per_page = objects.completed as f64 / pages.completed as f64;
    let bound = 3.3 * (53.0 * 5.64 / pages.completed as f64).sqrt();
    assert!((per_page - 6.64).abs() < bound, "{per_page} +- {bound}");
    assert!(pages.times.mean_s > objects.times.mean_s && pages.times.p50_s > 0.13, "{pages:?}");
}

#[test]
fn loads_give_the_same_bits_under_the_same_seed() {
    let loads = || {
        vec![
            user("web", Load::Web(Box::default()), 2),
            user("bursts", Load::Bursts(Bursts::default()), 3),
            user("http", Load::Sequence(Sequence { lasts: Duration::from_secs(1) }), 2),
            user(
                "files",
                transfers(50_000.0, Arrivals::Poisson { mean_gap: Duration::from_ms(200), connections: 3 }),
                1,
            ),
        ]
    };
    let outcome = |seed| format!("{:?}", measured(link(RateLaw::Fixed), loads(), 30, seed));
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}

struct Spy {
    queue: Queue<Fcfs, TailDrop>,
    seen: Arc<Mutex<BTreeSet<u64>>>,
}

impl Discipline for Spy {
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        self.seen.lock().expect("no thread panicked").insert(packet.flow.0);
        self.queue.offer(packet, room, now, signals);
    }
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.queue.dequeue(now, signals)
    }
    fn ready_at(&self) -> Option<Time> {
        self.queue.ready_at()
    }
    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
    fn inspect(&self, _: &mut dyn Probe) {}
    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.queue.drain(take);
    }
}

impl Control for Spy {
    fn inside(&mut self, _: Option<u32>, _: &mut dyn FnMut(&mut dyn Discipline)) {}
}

fn flows_seen(group: GroupPlan) -> usize {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let queue = Queue::new(Limit::packets(100_000), Fcfs, TailDrop);
    let spy = Spy { queue, seen: Arc::clone(&seen) };
    measured(LinkPlan { discipline: Box::new(spy), ..link(RateLaw::Fixed) }, vec![group], 30, 1);
    seen.lock().expect("no thread panicked").len()
}

#[test]
fn captured_flows_and_new_connections_have_separate_hashes() {
    let packets = (0..1000).map(|k| Offered {
        at: Duration::from_ms(k),
        bytes: 100,
        flow: k as u16 % 5,
        ecn: Ecn::NotEct,
    });
    let replay = Replay { packets: packets.collect(), speed: 1.0, repeats: true };
    assert_eq!(flows_seen(group("replay", Traffic::Replay(replay), 2)), 10);
    // The run ends before the SYN at 30 s.
    let http = Load::Sequence(Sequence { lasts: Duration::from_secs(2) });
    assert_eq!(flows_seen(user("http", http, 1)), 15);
    let telnet = Load::Telnet(Telnet::default());
    assert_eq!(flows_seen(user("telnet", telnet, 3)), 3);
}

#[test]
fn transfers_waiting_for_a_connection_count_as_offered() {
    // 20 files of 96 kB per second are 16 Mbit/s on the wire.
    let arrivals = Arrivals::Poisson { mean_gap: Duration::from_ms(50), connections: 4 };
    let measured =
        measured(link(RateLaw::Fixed), vec![user("files", transfers(96_000.0, arrivals), 1)], 200, 1);
    let flow = &measured.flows[0];
    let offered = flow.offered_bps.expect("it does not depend on what becomes of it");
    // 3600 files arrive in 180 s, with a standard deviation of 60.
    assert!((offered / 16e6 - 1.0).abs() < 3.3 / 60.0, "{flow:?}");
    assert!(flow.throughput_bps > 0.8 * 8e6 && flow.throughput_bps <= 8.01e6, "{flow:?}");
}

#[test]
fn a_nonsensical_plan_is_refused_with_the_reason_before_the_run() {
    let never = Duration::ZERO;
    let law = || Law::Fixed(1.0);
    let on_off = |packet_bytes, burst| OnOff { rate: rate(1), packet_bytes, burst, idle: law() };
    for traffic in [
        Traffic::OnOff(on_off(27, law())),
        Traffic::OnOff(on_off(0, law())),
        Traffic::OnOff(on_off(65_536, law())),
        Traffic::OnOff(on_off(100, Law::Exponential { mean: -1.0 })),
        Traffic::Poisson(Poisson { mean_gap: never, size: law() }),
        Traffic::Voip(Voip { frame: never, ..Voip::default() }),
        Traffic::Voip(Voip { payload_bytes: u32::MAX, ..Voip::default() }),
        Traffic::Video(Video { group: 0, ..Video::default() }),
        Traffic::Video(Video { packet_bytes: HEADER_BYTES, ..Video::default() }),
    ] {
        assert!(traffic.problem(HEADER_BYTES).is_some(), "{traffic:?}");
    }
    let poisson = |mean_gap, connections| transfers(1.0, Arrivals::Poisson { mean_gap, connections });
    for load in [
        poisson(never, 1),
        poisson(Duration::from_ms(1), 0),
        transfers(1.0, Arrivals::Think(Law::Fixed(-1.0))),
        transfers(-1.0, Arrivals::Think(law())),
        Load::Telnet(Telnet { mean_gap: never }),
        Load::Sequence(Sequence { lasts: never }),
        Load::Bursts(Bursts { burst: Law::Pareto { mean: 1.0, shape: 1.0 }, ..Bursts::default() }),
        Load::Web(Box::new(Web { connections: 0, ..Web::default() })),
        Load::Web(Box::new(Web { reading: Law::Fixed(f64::NAN), ..Web::default() })),
    ] {
        assert!(load.problem().is_some(), "{load:?}");
    }
    assert!(all_sources().iter().all(|group| match &group.source {
        Source::Datagrams { traffic, header_bytes } => traffic.problem(*header_bytes).is_none(),
        _ => false,
    }));
}

//! Wires with faults, against closed forms.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Dropper, Duration, GilbertElliott, Jitter, Limit, Loss, Outage, Queue, Rate, RateLaw, Seed, Time, Wire,
    WireLaw,
};
use fairwire_metrics::record::WireRecord;
use fairwire_sim::{
    Content, GroupPlan, LinkPlan, Measured, Member, Network, Observer, PacketEvent, Settings, Source,
    TieRule, What,
};
use fairwire_tcp::congestion::ControlConfig;
use fairwire_tcp::{Config, Processing, Profile, Recovery};
use std::ops::ControlFlow;
use std::sync::Arc;

struct TailDrop;
impl Dropper for TailDrop {}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

/// The flow's access links add 2 ms to `delay`.
fn network(source: Source, wire: Option<Wire>, delay: Duration) -> Network {
    let link = LinkPlan {
        name: "link".into(),
        rate: rate(1_000_000_000),
        law: RateLaw::Fixed,
        delay,
        wire,
        discipline: Box::new(Queue::new(Limit::packets(100_000), Fcfs, TailDrop)),
    };
    let group = GroupPlan {
        name: "flow".into(),
        source,
        forward: Vec::new(),
        back: Vec::new(),
        access_rate: rate(1_000_000_000),
        class: 0,
        dscp: 0,
        ecn: fairwire_core::Ecn::NotEct,
        members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_ms(1) }],
        on: Vec::new(),
    };
    Network::dumbbell(link, vec![group])
}

fn settings(seconds: u64) -> Settings {
    let (duration, warm_up) = (Duration::from_secs(seconds), Duration::ZERO);
    Settings { duration, warm_up, seed: SEED, tie_rule: TieRule::Random }
}

fn measured(source: Source, law: WireLaw, seconds: u64) -> Measured {
    measured_over(source, Some(Wire::new(law, SEED, "wire/link")), seconds)
}

const SEED: Seed = Seed(1);

fn measured_over(source: Source, wire: Option<Wire>, seconds: u64) -> Measured {
    let network = network(source, wire, Duration::from_ms(18));
    let run = fairwire_sim::run(network, &settings(seconds), &mut |_| ControlFlow::Continue(()));
    run.expect("it was not stopped")
}

fn datagrams() -> Source {
    Source::Cbr { rate: rate(80_000_000), packet_bytes: 1000, header_bytes: 28, dither: 0.0 }
}

fn reno() -> Source {
    let reno = Config::new(Profile::Ns2In2006, 1460);
    let tcp = Config { recovery: Recovery::Sack, control: ControlConfig::default(), ..reno };
    Source::Bulk { tcp }
}

fn jittery(ms: u64) -> WireLaw {
    let jitter: Arc<dyn Jitter> = Arc::new(Duration::from_ms(ms));
    WireLaw { jitter: Some(jitter), ..WireLaw::default() }
}

fn wire(measured: &Measured) -> WireRecord {
    measured.links[0].wire.expect("it has faults")
}

fn delivered(measured: &Measured, seconds: u64) -> f64 {
    measured.flows[0].throughput_bps * seconds as f64 / 8000.0
}

#[test]
fn sent_packets_are_delivered_or_lost_on_the_wire() {
    let law = WireLaw { loss: Some(0.1.into()), duplicate: 0.05, ..jittery(3) };
    let measured = measured(datagrams(), law, 20);
    let (link, flow) = (&measured.links[0], &measured.flows[0]);
    let WireRecord { lost, duplicated, held_back } = wire(&measured);
    assert_eq!((flow.packets_lost, flow.packets_dropped, held_back), (Some(lost), 0, 0));
    assert!(link.drops.is_empty(), "what a wire loses is no drop: {link:?}");
    assert!((lost as f64 - 20_000.0).abs() < 540.0, "{lost}"); // 4 sd of sqrt(200 000 x 0.1 x 0.9)
    // `duplicated` is 5 % of the 180 000 packets that are not lost. The bound is four standard
    // deviations: 4 × 93.
    assert!((duplicated as f64 - 9000.0).abs() < 370.0, "{duplicated}");
    let delivered = delivered(&measured, 20);
    let under_way = (link.packets_out - lost + duplicated) as f64 - delivered;
    // A packet takes 20 to 23 ms, so of 10 000 packets/s, 200 to 230 are in flight.
    assert!((180.0..240.0).contains(&under_way), "{under_way} of {}", link.packets_out);
}

#[test]
fn bursts_come_to_the_stationary_loss() {
    let model = GilbertElliott { to_bad: 0.01, to_good: 0.2, loss_when_good: 0.001, loss_when_bad: 0.8 };
    let law = WireLaw { loss: Some(model.into()), ..WireLaw::default() };
    let measured = measured(datagrams(), law, 50);
    let lost = wire(&measured).lost as f64 / measured.links[0].packets_out as f64;
    // The first term is the variance for independent losses. The second is due to the correlation
    // 0.79 of successive states. It has the factors 2 * 0.79 / 0.21, (0.8 - 0.001)^2, and the
    // state's variance 20/441.
    let sd = (7.5e-8 + 7.52 * 0.638 * 0.0454 / 500_000.0_f64).sqrt();
    let mean = Loss::from(model).mean();
    assert!((lost - mean).abs() < 4.0 * sd && 4.0 * sd < 0.1 * mean, "{lost}, not {mean} ± {sd}");
}

#[test]
fn a_reno_flow_has_the_rate_of_the_square_root_law() {
    for p in [0.0005, 0.002] {
        let law = WireLaw { loss: Some(p.into()), ..WireLaw::default() };
        let measured = measured(reno(), law, 300);
        assert!(measured.links[0].drops.is_empty(), "no queue is in its way");
        let window = measured.flows[0].throughput_bps * 0.040 / (1500.0 * 8.0);
        // The constant is 1.31 for independent losses (T. Ott et al., 1996), and 1.22 for evenly
        // spaced losses (M. Mathis et al., CCR 27(3), 1997). The window hardly grows during a
        // recovery, so a tenth is tolerated.
        let constant = window * p.sqrt();
        assert!((1.22 * 0.9..1.31 * 1.1).contains(&constant), "{constant} at {p}");
    }
}

#[test]
fn jitter_that_keeps_the_order_looks_like_no_loss_to_tcp() {
    let limited = |overtakes| {
        let Source::Bulk { tcp } = reno() else { unreachable!("it is one") };
        let source = Source::Bulk { tcp: Config { window: Some(100), ..tcp } };
        measured(source, WireLaw { overtakes, ..jittery(5) }, 10)
    };
    let in_order = limited(false);
    assert_eq!(in_order.flows[0].loss_episodes, Some(0));
    let out_of_order = limited(true);
    assert!(out_of_order.flows[0].loss_episodes > Some(10), "{:?}", out_of_order.flows[0]);
    assert_eq!(wire(&out_of_order), WireRecord::default(), "nothing is lost, and each packet comes once");
}

#[test]
fn held_packets_arrive_later_by_the_holding_time() {
    let law = WireLaw { reorder: Some((0.25, Duration::from_ms(10))), ..WireLaw::default() };
    let measured = measured(datagrams(), law, 10);
    let held_back = wire(&measured).held_back as f64;
    assert!((held_back - 25_000.0).abs() < 550.0, "{held_back}"); // 4 sd of sqrt(100 000 x 0.25 x 0.75)
    // In flight are the 200 packets of the last 20 ms, and a quarter of the 100 packets before
    // them.
    let under_way = measured.links[0].packets_out as f64 - delivered(&measured, 10);
    assert!((205.0..245.0).contains(&under_way), "{under_way}");
}

fn outage(from: u64, until: u64) -> WireLaw {
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    WireLaw { outages: [Outage { from: at(from), until: at(until) }].into(), ..WireLaw::default() }
}

#[test]
fn an_outage_of_the_wire_loses_sent_packets_and_the_queue_drops_none() {
    let measured = measured(datagrams(), outage(2_000, 2_500), 5);
    let link = &measured.links[0];
    assert!(wire(&measured).lost.abs_diff(5_000) <= 1, "{:?}", wire(&measured));
    assert!(link.packets_out.abs_diff(50_000) <= 20 && link.drops.is_empty(), "{link:?}");
    assert_eq!(measured.flows[0].packets_lost, Some(wire(&measured).lost));
}

/// When each retransmission left the link, ms.
#[derive(Default)]
struct Repairs(Vec<f64>);

impl Observer for Repairs {
    fn wants_packets(&self) -> bool {
        true
    }
    fn packet(&mut self, event: &PacketEvent) {
        if event.what == What::Depart
            && matches!(event.content, Content::Data { is_retransmission: true, .. })
        {
            self.0.push(event.at.secs() * 1e3);
        }
    }
}

#[test]
fn timeouts_of_tcp_double_from_200_ms_during_a_lossy_outage() {
    let processing = Processing::None;
    let modern = Config { window: Some(20), processing, ..Config::new(Profile::Modern, 1448) };
    let wire = Wire::new(outage(5_000, 8_500), SEED, "wire/link");
    let source = Source::Bulk { tcp: modern };
    let mut repairs = Repairs::default();
    let go_on = &mut |_| ControlFlow::Continue(());
    let network = network(source, Some(wire), Duration::ZERO);
    let measured = fairwire_sim::run_observed(network, &settings(10), go_on, &mut repairs);
    let measured = measured.expect("it was not stopped");
    // The tail probe, `at[0]`, leaves after two round trips of 4 ms plus queueing. The timeout,
    // 200 ms plus a round trip, starts with the probe.
    let at: Vec<f64> = repairs.0.iter().map(|at| at - 5_000.0).collect();
    assert!(at.len() == 5 && (8.0..10.0).contains(&at[0]) && (206.0..214.0).contains(&at[1]), "{at:?}");
    let waits = at[1..].windows(2).map(|two| two[1] - two[0]).zip([400.0, 800.0, 1600.0]);
    assert!(waits.into_iter().all(|(wait, plain)| (1.0..1.03).contains(&(wait / plain))), "{at:?}");
    let flow = &measured.flows[0];
    assert_eq!(
        (flow.timeouts, flow.packets_lost),
        (Some(4), Some(20 + 5)),
        "a window, and what was sent again"
    );
    assert!(measured.links[0].drops.is_empty());
}

#[test]
fn a_wire_that_loses_nothing_changes_no_bit() {
    let with = measured(reno(), WireLaw::default(), 5);
    let mut without = measured_over(reno(), None, 5);
    assert_eq!((without.links[0].wire, without.flows[0].packets_lost), (None, None));
    assert_eq!(wire(&with), WireRecord::default());
    (without.links[0].wire, without.flows[0].packets_lost) = (with.links[0].wire, Some(0));
    assert_eq!((with.links, with.flows), (without.links, without.flows));
}

//! Sources and links at work in a network, against closed forms and against each other.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Dropper, Duration, Limit, Queue, Rate, RateLaw, Seed, Step, Time, Trace};
use fairwire_metrics::record::LinkRecord;
use fairwire_sim::app::{Law, Offered, OnOff, Poisson, Replay, Traffic, Video, Voip};
use fairwire_sim::{GroupPlan, LinkPlan, Measured, Member, Network, Settings, Source, TieRule};
use std::ops::ControlFlow;

struct TailDrop;
impl Dropper for TailDrop {}

const HEADER_BYTES: u32 = 28;

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn link(law: RateLaw) -> LinkPlan {
    LinkPlan {
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
        members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_ms(1) }; members],
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
    run.expect("nobody stopped it")
}

/// Means of the waits in independent runs, and 3.3 standard errors of their mean.
fn waits(size: &Law) -> (f64, f64) {
    const RUNS: u64 = 12;
    let mean_gap = Duration::from_us(1_250); // 1000 bytes in 1 ms: 80 % of the link
    let wait = |seed| {
        let poisson = Traffic::Poisson(Poisson { mean_gap, size: size.clone() });
        measured(link(RateLaw::Fixed), vec![group("poisson", poisson, 1)], 400, seed).links[0].sojourn.mean_s
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
    // rho / (1 - rho) service times of 1.00039 ms (sizes below the headers are cut up to them), at a load of that much more.
    let (service, load) = (1.000_39e-3, 0.8 * 1.000_39);
    let expected = load / (1.0 - load) * service;
    assert!((mean - expected).abs() < bound && bound < 0.05 * expected, "{mean} +- {bound}, not {expected}");
}

/// A record of a link that never runs dry: 20 Mbit/s of 700-byte packets are offered.
fn overloaded(law: RateLaw) -> LinkRecord {
    let source = Source::Cbr { rate: rate(20_000_000), packet_bytes: 700, header_bytes: 28, dither: 0.0 };
    let cbr = GroupPlan { source, ..group("cbr", Traffic::Voip(Voip::default()), 1) };
    measured(link(law), vec![cbr], 20, 1).links.remove(0)
}

#[test]
fn a_link_of_opportunities_delivers_exactly_their_bytes() {
    // Three opportunities in 7 ms: 5.157 Mbit/s.
    let link = overloaded(RateLaw::Trace(Trace::parse("1\n4\n7\n").expect("a trace").into()));
    // From 2 s to 20 s: cycle k has its opportunities at 7k + 1, 7k + 4 and 7k + 7 ms.
    let count =
        |ms: u64| (0..).flat_map(|k| [7 * k + 1, 7 * k + 4, 7 * k + 7]).take_while(|at| *at < ms).count();
    let opportunities = count(20_000) - count(2_000);
    let bytes = opportunities as f64 * 1504.0;
    // A packet counts when it begins: one under way at either end.
    assert!((link.packets_out as f64 * 700.0 - bytes).abs() <= 2.0 * 700.0, "{link:?}");
    assert!((link.rate_bps - bytes * 8.0 / 18.0).abs() <= 0.5, "{link:?}");
    assert!(link.utilization > 1.0 - 2.0 * 700.0 / bytes, "{link:?}");
}

#[test]
fn a_link_of_opportunities_loses_those_at_which_nothing_waits() {
    // One opportunity every 5 ms; a packet of 1000 bytes every 20 ms, at 1 ms + access delay.
    let packets: Vec<_> =
        (0..500).map(|k| Offered { at: Duration::from_ms(20 * k + 1), bytes: 1000, flow: 0 }).collect();
    let replay = Traffic::Replay(Replay { packets: packets.into(), speed: 1.0, repeats: false });
    let trace = RateLaw::Trace(Trace::parse("5\n").expect("a trace").into());
    let measured = measured(link(trace), vec![group("replay", replay, 1)], 10, 1);
    let sojourn = &measured.links[0].sojourn;
    // From 2 ms to 5 ms, each: the opportunities at 10, 15 and 20 ms do nothing for the packet that comes at 22 ms. The packet's own
    // 8 ns on its access link are seen.
    assert!((sojourn.mean_s - 0.003).abs() < 1e-7 && (sojourn.max_s - 0.003).abs() < 1e-7, "{sojourn:?}");
}

#[test]
fn a_link_with_steps_delivers_what_its_rates_allow() {
    let step = |seconds, bps| Step { at: Time::ZERO + Duration::from_secs(seconds), rate: rate(bps) };
    let link = overloaded(RateLaw::Steps([step(5, 2_000_000), step(11, 12_345_678)].into()));
    let bits = 3.0 * 8e6 + 6.0 * 2e6 + 9.0 * 12_345_678.0; // from 2 s on
    assert!((link.packets_out as f64 * 5600.0 - bits).abs() <= 2.0 * 5600.0, "{link:?}");
    assert!((link.rate_bps - bits / 18.0).abs() <= 0.5 && link.utilization > 0.9999, "{link:?}");
}

fn all_sources() -> Vec<GroupPlan> {
    let packets =
        (0..1000).map(|k| Offered { at: Duration::from_ms(7 * k), bytes: 60 + k as u32, flow: k as u16 % 5 });
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
fn what_is_offered_to_a_link_with_room_arrives() {
    let fast = LinkPlan { rate: rate(1_000_000_000), ..link(RateLaw::Fixed) };
    let measured = measured(fast, all_sources(), 60, 3);
    assert_eq!(measured.flows.len(), 11);
    for flow in &measured.flows {
        let offered = flow.offered_bps.expect("of a source that does not respond");
        // Under way at either end of the measurement: 11 ms and what a burst may add, in 54 s.
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

//! One TCP flow that loses each packet independently with probability p, against closed forms for
//! its throughput.
//!
//! The square-root law (Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP
//! congestion avoidance algorithm", 1997) gives `C / sqrt(p)` segments per round trip. For random
//! losses C is 1.31, or 0.93 if every other segment is acknowledged. The law ignores timeouts, slow
//! start and second losses in a window.
//!
//! PFTK (Padhye, Firoiu, Towsley and Kurose, "Modeling TCP throughput: a simple model and its
//! empirical validation", 1998, equation 30) adds timeouts. Its Reno sender loses the rest of a
//! window after the first loss.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Buffer, Cause, Dropper, Duration, Limit, Packet, Queue, Rate, RateLaw, Rng, Seed, Time, Verdict,
};
use fairwire_sim::{
    GroupPlan, LinkPlan, Member, Network, Observer, Settings, Source, TieRule, View, run_observed,
};
use fairwire_tcp::congestion::ControlConfig;
use fairwire_tcp::{Config, DelayedAck, Profile, Quirks, Recovery};
use std::ops::ControlFlow;

struct Lossy {
    probability: f64,
    then: Duration,
    lossy_until: Time,
    rng: Rng,
}

impl Dropper for Lossy {
    fn on_arrival(&mut self, _: &Packet, _: &Buffer, now: Time) -> Verdict {
        if now < self.lossy_until {
            return Verdict::Drop(Cause::Forced);
        }
        if self.rng.uniform() < self.probability {
            self.lossy_until = now + self.then;
            return Verdict::Drop(Cause::Early);
        }
        Verdict::Pass
    }
}

#[derive(Default)]
struct RoundTrips {
    sum_s: f64,
    samples: u32,
}

impl Observer for RoundTrips {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }
    fn sample(&mut self, view: &View<'_>) {
        for rtt in view.flows().filter_map(|flow| flow.window?.srtt) {
            self.sum_s += rtt.secs();
            self.samples += 1;
        }
    }
}

const SEGMENT_BYTES: u32 = 1460;
const HEADER_BYTES: u32 = 40;
/// The minimum timeout. At a nearly constant round trip of 0.1 s the estimator's timeout is lower,
/// so the minimum applies.
const TIMEOUT: Duration = Duration::from_ms(400);
/// The approximate number of losses in each run.
const LOSSES: f64 = 1000.0;
/// Three standard deviations of a run's relative throughput. Over 12 seeds with SACK, they were 3.6
/// to 6.0 % at the first test's loss probabilities.
const CHANCE: f64 = 0.06;

#[derive(Clone, Copy, PartialEq)]
enum Acks {
    /// Each segment.
    Each,
    /// The window grows with each acknowledgement, as the laws assume.
    EveryOther,
    /// The window grows with each acknowledged segment.
    EveryOtherCounted,
}

fn tcp(recovery: Recovery, acks: Acks) -> Config {
    let delay = DelayedAck { segments: 2, timeout: Duration::from_ms(40), quick_acks: 0 };
    let delayed_ack = (acks != Acks::Each).then_some(delay);
    Config {
        counts_segments: acks == Acks::EveryOtherCounted,
        control: ControlConfig::Reno,
        recovery,
        delayed_ack,
        min_rto: TIMEOUT,
        quirks: Quirks::default(),
        ..Config::new(Profile::Modern, SEGMENT_BYTES)
    }
}

struct Got {
    /// Segments per round trip that arrived in order, each counted once.
    through: f64,
    sent: f64,
    rtt_s: f64,
}

fn measured(tcp: Config, probability: f64, then: Duration) -> Got {
    let rate = |bps| Rate::from_bps(bps).expect("not zero");
    let lossy = Lossy { probability, then, lossy_until: Time::ZERO, rng: Seed(1).stream("losses") };
    let link = LinkPlan {
        wire: None,
        name: "lossy".into(),
        rate: rate(10_000_000_000), // no queue forms
        law: RateLaw::Fixed,
        delay: Duration::from_ms(49),
        discipline: Box::new(Queue::new(Limit::packets(10_000), Fcfs, lossy)),
    };
    let flow = GroupPlan {
        name: "tcp".into(),
        source: Source::Bulk { tcp },
        forward: Vec::new(), // set by the dumbbell
        back: Vec::new(),
        access_rate: rate(10_000_000_000),
        class: 0,
        dscp: 0,
        ecn: fairwire_core::Ecn::NotEct,
        members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_us(500) }],
        on: Vec::new(),
    };
    let measured_s = (LOSSES * 0.1 / probability.sqrt()).round();
    let settings = Settings {
        duration: Duration::from_secs(20 + measured_s as u64),
        warm_up: Duration::from_secs(20),
        seed: Seed(1),
        tie_rule: TieRule::Random,
    };
    let mut rtts = RoundTrips::default();
    let go_on = &mut |_| ControlFlow::Continue(());
    let measured = run_observed(Network::dumbbell(link, vec![flow]), &settings, go_on, &mut rtts);
    let flow = measured.expect("it is not stopped").flows.remove(0);
    let rtt_s = rtts.sum_s / f64::from(rtts.samples);
    Got {
        through: flow.throughput_bps / f64::from((SEGMENT_BYTES + HEADER_BYTES) * 8) * rtt_s,
        sent: flow.packets_sent as f64 / measured_s * rtt_s,
        rtt_s,
    }
}

fn square_root(p: f64, segments_per_ack: f64) -> f64 {
    1.31 / (segments_per_ack * p).sqrt()
}

/// The result is in segments per round trip; `timeout` is in round trips.
fn pftk(p: f64, segments_per_ack: f64, timeout: f64) -> f64 {
    let b = segments_per_ack;
    let repairs = (2.0 * b * p / 3.0).sqrt();
    let timeouts = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    1.0 / (repairs + timeout * timeouts)
}

struct Point {
    p: f64,
    over_square_root: f64,
    over_pftk: f64,
}

const INDEPENDENT: Duration = Duration::ZERO;
/// All packets within this time after a loss are lost too. They are the rest of the window, which
/// leaves within a few milliseconds. Windows are 100 ms apart.
const REST_OF_ROUND: Duration = Duration::from_ms(50);

fn points(tcp: &Config, then: Duration) -> Vec<Point> {
    let delayed = tcp.delayed_ack.filter(|_| !tcp.counts_segments);
    let b = delayed.map_or(1.0, |delayed| f64::from(delayed.segments));
    let point = |p| {
        let Got { through, sent, rtt_s } = measured(tcp.clone(), p, then);
        let (root, pftk) = (square_root(p, b), pftk(p, b, TIMEOUT.secs() / rtt_s));
        let point = Point { p, over_square_root: through / root, over_pftk: sent / pftk };
        println!(
            "| {} | {b} | {} | {p} | {:.1} | {through:.2} | {root:.2} | {:+.1} | {sent:.2} | {pftk:.2} | {:+.1} |",
            tcp.name(),
            if then.ns() == 0 { "alone" } else { "the round" },
            rtt_s * 1e3,
            (point.over_square_root - 1.0) * 100.0,
            (point.over_pftk - 1.0) * 100.0
        );
        point
    };
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05].map(point).into()
}

fn receivers() -> impl Iterator<Item = Config> {
    let repairs = [Recovery::NewReno, Recovery::Sack];
    let acks = [Acks::Each, Acks::EveryOther, Acks::EveryOtherCounted];
    repairs.into_iter().flat_map(move |recovery| acks.map(|acks| tcp(recovery, acks)))
}

#[test]
fn the_square_root_law_holds_up_to_losses_of_one_percent_and_is_never_exceeded() {
    for tcp in receivers() {
        for Point { p, over_square_root: over, .. } in points(&tcp, INDEPENDENT) {
            assert!(over <= 1.0 + CHANCE, "{} at {p}: {over} of an ideal window", tcp.name());
            // The law neglects a second loss in a window, which occurs in 12 % of the windows of 13
            // segments at p = 0.01.
            assert!(p > 0.01 || over >= 1.0 - CHANCE - 0.12, "{} at {p}: {over}", tcp.name());
        }
    }
}

#[test]
fn pftk_holds_within_a_quarter_up_to_losses_of_two_percent() {
    for tcp in receivers() {
        for Point { p, over_pftk: over, .. } in points(&tcp, INDEPENDENT) {
            assert!(p > 0.02 || (over - 1.0).abs() <= 0.25, "{} at {p}: {over}", tcp.name());
        }
    }
}

#[test]
fn pftk_lies_between_single_losses_and_lost_rounds() {
    // PFTK's Reno repairs the lost rest of a window in one round trip. Our Reno repairs one loss
    // per round trip, so it mostly times out. Single losses leave less to repair than PFTK assumes.
    for acks in [Acks::Each, Acks::EveryOther] {
        let alone = points(&tcp(Recovery::Sack, acks), INDEPENDENT);
        let reno = Config { limited_transmit: false, ..tcp(Recovery::Reno, acks) };
        for (alone, round) in alone.iter().zip(points(&reno, REST_OF_ROUND)) {
            assert!(alone.over_pftk > 1.0 - CHANCE, "{} at {}", alone.over_pftk, alone.p);
            assert!(round.over_pftk < 1.0 + CHANCE, "{} at {}", round.over_pftk, round.p);
        }
    }
}

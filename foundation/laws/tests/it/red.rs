//! RED: the numbers of the paper and of ns-2, and a straight-line transcription of the pseudo-code.

use crate::beside::{Event, Line, Met, Offer, Reading, Traffic, add, assert_met, assert_near, compare};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::{Amount, Size};
use fairwire_core::{
    Buffer, Cause, Dropper, Duration, EcnPolicy, Limit, Packet, Queue, Rate, Rng, Seed, Time, Verdict,
};
use fairwire_laws::Site;
use fairwire_laws::dropper::red::{Adaptation, Checked, Config, IdleRule, Ramp, Red, Spec, Spreading};
use fairwire_laws::spec::Measure;

fn site() -> Site<'static> {
    crate::site(Amount::Packets(40))
}

fn config() -> Config {
    Spec::default().check(&site()).expect("the defaults are allowed").1
}

#[test]
fn the_ramp_goes_through_its_corners_and_half_way_between_them() {
    let ramp = Ramp { min: 20.0, max: 40.0, max_probability: 0.02, gentle: true };
    for (average, p) in [(19.0, 0.0), (30.0, 0.01), (40.0, 0.02), (60.0, 0.51), (80.0, 1.0)] {
        // The tolerance is a few units in the last place near 1.
        assert!((ramp.probability(average) - p).abs() < 1e-15, "{average}: {}", ramp.probability(average));
    }
    let steep = Ramp { gentle: false, ..ramp };
    assert_eq!(steep.probability(39.0), ramp.probability(39.0));
    assert_eq!(steep.probability(40.0), 1.0);
}

#[test]
fn the_defaults_are_those_of_fabas_paper() {
    let config = config();
    assert_eq!(config.ramp, Ramp { min: 10.0, max: 20.0, max_probability: 0.02, gentle: true });
    assert_eq!(config.given.weight, 0.002);
    assert_eq!(config.spreading, Spreading::AtLeast);
}

/// The number of gaps of each length between two signals, at p_b = 1/64.
fn gaps(spreading: Spreading) -> Vec<usize> {
    let ramp = Ramp { min: 10.0, max: 20.0, max_probability: 1.0 / 32.0, gentle: true };
    let config = Config { ramp, spreading, given: Checked { weight: 1.0, ..Checked::default() }, ..config() };
    let mut red = Red::new(config, Seed(3).stream("gaps"));
    let mut buffer = Buffer::new(Limit::packets(40));
    for frame in 0..15 {
        buffer.push(Packet::new(frame, 512, 0.into(), Time::ZERO));
    }
    let (mut gaps, mut gap) = (vec![0; 200], 0);
    for frame in 0..2_000_000 {
        gap += 1;
        let arrival = Packet::new(frame, 512, 0.into(), Time::ZERO);
        if red.on_arrival(&arrival, &buffer, Time::ZERO) == Verdict::Signal(Cause::Early) {
            gaps[gap] += 1;
            gap = 0;
        }
    }
    gaps
}

fn assert_uniform(gaps: &[usize], range: core::ops::RangeInclusive<usize>) {
    let total: usize = gaps.iter().sum();
    let inside = &gaps[range.clone()];
    // One gap may be outside: the first gap includes the first arrival, which RED spares.
    assert!(total - inside.iter().sum::<usize>() <= 1, "gaps outside {range:?}");
    let expected = total as f64 / inside.len() as f64;
    let chi2: f64 = inside.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
    // With 62 or 63 degrees of freedom, a chi-square above 103.4 has probability 0.001.
    assert!(chi2 < 103.4, "chi-square {chi2}");
}

#[test]
fn under_the_rule_of_1993_gaps_are_uniform_up_to_the_inverse_of_p() {
    // With p = 1/64, the probability p / (1 - n p) reaches 1 at the 63rd arrival after a signal.
    assert_uniform(&gaps(Spreading::AtMost), 1..=63);
}

#[test]
fn under_ns2s_rule_gaps_are_uniform_between_once_and_twice_the_inverse_of_p() {
    assert_uniform(&gaps(Spreading::AtLeast), 64..=127);
}

#[test]
fn the_first_arrival_above_the_threshold_is_never_dropped() {
    // At the average of 29, p is 25/26. RED spares the first arrival but counts it, so p reaches 1
    // for the second arrival.
    let ramp = Ramp { min: 4.0, max: 30.0, max_probability: 1.0, gentle: true };
    let given = Checked { weight: 1.0, ..Checked::default() };
    let config = Config { ramp, spreading: Spreading::AtMost, given, ..config() };
    let mut red = Red::new(config, Seed(1).stream("first"));
    let mut buffer = Buffer::new(Limit::packets(40));
    for frame in 0..29 {
        buffer.push(Packet::new(frame, 512, 0.into(), Time::ZERO));
    }
    let mut judge = || red.on_arrival(&Packet::new(99, 512, 0.into(), Time::ZERO), &buffer, Time::ZERO);
    assert_eq!(judge(), Verdict::Pass);
    assert_eq!(judge(), Verdict::Signal(Cause::Early));
}

/// Arrivals since the last signal.
#[derive(Clone, Copy, Default)]
pub(crate) struct Since {
    packets: f64,
    bytes: f64,
}

impl Since {
    pub(crate) fn count(&mut self, len: u32) {
        self.packets += 1.0;
        self.bytes += f64::from(len);
    }

    /// Restarts the count with the first packet above the threshold.
    pub(crate) fn begin(&mut self, len: u32) {
        *self = Since::default();
        self.count(len);
    }

    /// p_a, given p_b. If bytes are counted, `mean` is the mean packet length.
    pub(crate) fn chance(&self, pb: f64, spreading: Spreading, len: u32, mean: Option<f64>) -> f64 {
        let n = mean.map_or(self.packets, |mean| (self.bytes / mean).floor());
        let pa = match spreading {
            Spreading::AtMost if n * pb < 1.0 => pb / (1.0 - n * pb),
            Spreading::AtLeast if n * pb < 1.0 => 0.0,
            Spreading::AtLeast if n * pb < 2.0 => pb / (2.0 - n * pb),
            _ => 1.0,
        };
        mean.filter(|_| pa < 1.0).map_or(pa, |mean| pa * f64::from(len) / mean)
    }
}

/// p_b, as printed.
pub(crate) fn printed(ramp: Ramp, avg: f64) -> f64 {
    let Ramp { min, max, max_probability, gentle } = ramp;
    if avg < max {
        max_probability * (avg - min) / (max - min)
    } else if gentle {
        (max_probability + (1.0 - max_probability) * (avg - max) / max).min(1.0)
    } else {
        1.0
    }
}

/// The average at which the probability reaches 1.
pub(crate) fn ceiling(ramp: Ramp) -> f64 {
    if ramp.gentle { 2.0 * ramp.max } else { ramp.max }
}

struct Reference {
    config: Config,
    rng: Rng,
    line: Line,
    avg: f64,
    since: Since,
    is_above: bool,
    idle_since: Option<u64>,
    max_p: f64,
    adapts: u64,
}

impl Reference {
    fn average(&mut self, q: f64, now: u64) {
        let Config { rate, packet_bytes, given, .. } = self.config;
        let Checked { weight: w, idle_rule, .. } = given;
        let Some(since) = self.idle_since.take() else {
            self.avg = (1.0 - w) * self.avg + w * q;
            return;
        };
        let missed = rate.bps() as f64 / (8.0 * f64::from(packet_bytes)) * (now - since) as f64 / 1e9;
        self.avg = match idle_rule {
            IdleRule::Ns2 => self.avg * (1.0 - w).powf(missed.floor() + 1.0) + w * q,
            IdleRule::Floyd1993 => self.avg * (1.0 - w).powf(missed),
        };
    }

    fn adapt(&mut self, now: u64) {
        let Some(rule) = self.config.adaptation else { return };
        while now >= self.adapts + rule.interval.ns() {
            self.adapts += rule.interval.ns();
            if self.avg > rule.target_to && self.max_p <= 0.5 {
                self.max_p += f64::min(rule.increase, self.max_p / 4.0);
            } else if self.avg < rule.target_from && self.max_p >= 0.01 {
                self.max_p *= rule.decrease;
            }
        }
    }
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        let c = self.config;
        let bytes = c.given.measure == Measure::Bytes;
        let q = self.line.held(bytes);
        self.average(q, now);
        self.adapt(now);
        self.since.count(offer.len);
        let (mut cause, mut can_mark) = (None, false);
        if self.avg < c.ramp.min || (q <= 1.0 && c.given.spare_short_queue) {
            self.is_above = false;
        } else if c.given.mark_limit.is_none() && self.avg >= ceiling(c.ramp) {
            cause = Some(Cause::Forced);
        } else if !self.is_above {
            self.since.begin(offer.len);
            self.is_above = true;
        } else {
            let pb = printed(Ramp { max_probability: self.max_p, ..c.ramp }, self.avg);
            let mean = bytes.then_some(f64::from(c.packet_bytes));
            let pa = self.since.chance(pb, c.spreading, offer.len, mean);
            if pa >= 1.0 || (pa > 0.0 && self.rng.uniform() < pa) {
                cause = Some(Cause::Early);
                can_mark = self.line.can_mark(offer) && c.given.mark_limit.is_none_or(|limit| pb <= limit);
            }
        }
        if self.line.is_full(offer.len) {
            (cause, can_mark) = (Some(Cause::Overflow), false);
        }
        if cause.is_some() {
            self.since = Since::default();
        }
        self.line.admit(offer, cause, can_mark, events);
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        if !self.line.send(events) {
            self.idle_since.get_or_insert(now);
        }
    }
}

fn side_by_side(limit: Limit, config: Config, policy: EcnPolicy, seed: u64) -> Met {
    let red = Red::new(config, Seed(seed).stream("red"));
    let mut queue = Queue::new(limit, Fcfs, red).with_ecn(policy);
    let mut plain = Reference {
        config,
        rng: Seed(seed).stream("red"),
        line: Line::new(limit, policy),
        avg: 0.0,
        since: Since::default(),
        is_above: false,
        idle_since: None,
        max_p: config.ramp.max_probability,
        adapts: 0,
    };
    compare(&mut queue, &mut plain, &Traffic::default(), (20_000, seed), |queue, plain| {
        assert_near(queue.dropper().average(), plain.avg);
        assert_eq!(queue.dropper().max_probability(), plain.max_p);
    })
}

#[test]
fn it_decides_as_the_pseudo_code_does_under_every_switch() {
    let mut met = Met::new();
    for switches in 0..64u64 {
        let on = |bit: u32| switches >> bit & 1 == 1;
        let base = config();
        let scale = if on(0) { 512.0 } else { 1.0 };
        let limit = if on(0) { Limit::bytes(20_480) } else { Limit::packets(40) };
        let given = Checked {
            measure: if on(0) { Measure::Bytes } else { Measure::Packets },
            weight: 0.02, // ten times the default, so a short run takes all branches
            idle_rule: if on(3) { IdleRule::Ns2 } else { IdleRule::Floyd1993 },
            spare_short_queue: on(4),
            mark_limit: on(5).then_some(0.1),
            ..Checked::default()
        };
        let config = Config {
            given,
            ramp: Ramp { min: 6.0 * scale, max: 15.0 * scale, max_probability: 0.1, gentle: on(1) },
            spreading: if on(2) { Spreading::AtLeast } else { Spreading::AtMost },
            // Frequent steps let a short run cover rises and falls. RED makes at most 64 due steps
            // at once, but no pause lasts 64 intervals.
            adaptation: switches.is_multiple_of(3).then_some(Adaptation {
                interval: Duration::from_ms(20),
                increase: 0.01,
                decrease: 0.9,
                target_from: 9.6 * scale,
                target_to: 11.4 * scale,
            }),
            ..base
        };
        for policy in [EcnPolicy::Drop, EcnPolicy::Mark] {
            add(&mut met, side_by_side(limit, config, policy, switches));
        }
    }
    assert_met(&met, &["sent", "marked", "early", "forced", "overflow"], 1000);
}

#[test]
fn the_adaptive_variant_finds_the_probability_that_the_load_needs() {
    // The queue is constant at p = 0.1. At the target average of 15, p is half of
    // `max_probability`, which must therefore reach 0.2.
    let spec = Spec { adaptive: Some(true), weight: Some(1.0), ..Spec::default() };
    let config = spec.check(&site()).expect("allowed").1;
    assert_eq!(config.adaptation.map(|rule| (rule.target_from, rule.target_to)), Some((14.0, 16.0)));
    for start in [0.011, 0.5] {
        let ramp = Ramp { max_probability: start, ..config.ramp };
        let mut red = Red::new(Config { ramp, ..config }, Seed(1).stream("loop"));
        let mut queue = 15.0f64;
        for round in 0..400u64 {
            let p = Ramp { max_probability: red.max_probability(), ..ramp }.probability(queue);
            queue = (queue + 5.0 * (0.1 - p)).clamp(0.0, 39.0);
            let mut buffer = Buffer::new(Limit::packets(40));
            (0..queue.round() as u32).for_each(|frame| {
                buffer.push(Packet::new(frame, 512, 0.into(), Time::ZERO));
            });
            let now = Time::from_ns(round * 500_000_000);
            red.on_arrival(&Packet::new(99, 512, 0.into(), now), &buffer, now);
        }
        // Rounding to packets extends the band to 13.5..16.5, where p is 0.35 to 0.65 of
        // `max_probability`. So p is 0.1 at a `max_probability` of 0.15 to 0.29. One step may add
        // 0.01 or subtract a tenth.
        assert!((0.13..0.32).contains(&red.max_probability()), "{start}: {}", red.max_probability());
        assert!((13.0..17.0).contains(&queue), "{start}: {queue}");
    }
}

#[test]
fn the_adaptive_variant_keeps_its_bounds_and_makes_few_steps_after_a_long_silence() {
    let spec = Spec { adaptive: Some(true), max_probability: Some(0.5), ..Spec::default() };
    let mut red = Red::new(spec.check(&site()).expect("allowed").1, Seed(1).stream("bounds"));
    let empty = Buffer::new(Limit::packets(40));
    let mut at = |s: u64| {
        let now = Time::from_ns(s * 1_000_000_000);
        red.on_arrival(&Packet::new(0, 512, 0.into(), now), &empty, now);
        red.max_probability()
    };
    assert_eq!(at(0), 0.5);
    assert_eq!(at(1), 0.5 * 0.9 * 0.9);
    let low = at(1_000_000_000);
    assert!((0.009..0.01).contains(&low), "{low}"); // the first value below 0.01
    assert_eq!(at(2_000_000_000), low);
}

#[test]
fn an_idle_link_decays_the_average() {
    // The link idles for 40.96 ms, the time of 100 packets.
    let averages = [IdleRule::Ns2, IdleRule::Floyd1993].map(|idle_rule| {
        let given = Checked { weight: 0.01, idle_rule, ..Checked::default() };
        let mut red = Red::new(Config { given, ..config() }, Seed(1).stream("idle"));
        let mut full = Buffer::new(Limit::packets(40));
        full.push(Packet::new(0, 512, 0.into(), Time::ZERO));
        let arrival = Packet::new(1, 512, 0.into(), Time::ZERO);
        red.on_arrival(&arrival, &full, Time::ZERO); // average 0.01
        red.idle(Time::ZERO);
        red.idle(Time::from_ns(20_000_000)); // polled again: idle since the first time
        red.on_arrival(&arrival, &Buffer::new(Limit::packets(40)), Time::from_ns(40_960_000));
        red.average()
    });
    assert!((averages[0] - 0.01 * 0.99f64.powi(101)).abs() < 1e-16, "{averages:?}");
    assert!((averages[1] - 0.01 * 0.99f64.powi(100)).abs() < 1e-16, "{averages:?}");
}

#[test]
fn thresholds_in_the_wrong_order_are_refused() {
    let site = site();
    let amount = |packets| Some(Amount::Packets(packets).into());
    for (spec, message) in [
        (
            Spec { min_threshold: amount(30), ..Spec::default() },
            "`min_threshold` of `red` is 30 packets; allowed: less than max_threshold, which is 20 packets",
        ),
        (
            Spec { max_threshold: amount(5), ..Spec::default() },
            "`max_threshold` of `red` is 5 packets; allowed: more than min_threshold, which is 10 packets",
        ),
    ] {
        assert_eq!(spec.check(&site).unwrap_err().to_string(), message);
    }
}

#[test]
fn thresholds_typed_in_bytes_or_time_count_in_the_measure_chosen() {
    let rate = Rate::from_bps(4_096_000).expect("not zero"); // 1 ms for a packet of 512 bytes
    let site = Site { rate, ..site() };
    let ramp = |measure| {
        let spec = Spec {
            measure: Some(measure),
            min_threshold: Some(Amount::Bytes(2560).into()),
            max_threshold: Some(Amount::Time(fairwire_core::Duration::from_ms(10)).into()),
            ..Spec::default()
        };
        let ramp = spec.check(&site).expect("allowed").1.ramp;
        (ramp.min, ramp.max)
    };
    assert_eq!(ramp(Measure::Packets), (5.0, 10.0));
    assert_eq!(ramp(Measure::Bytes), (2560.0, 5120.0));
}

/// Signals per million packets under RED's rule of 1993, at p_b = 1/64.
fn signals_in_a_million(mean_packet: Option<u64>, len: u32) -> f64 {
    let spec = Spec {
        measure: Some(Measure::Bytes),
        mean_packet: mean_packet.map(|bytes| Size(bytes).into()),
        min_threshold: Some(Amount::Bytes(5_000).into()),
        max_threshold: Some(Amount::Bytes(15_000).into()),
        max_probability: Some(1.0 / 32.0),
        weight: Some(1.0),
        wait: Some(false),
        ..Spec::default()
    };
    let mut red = Red::new(spec.check(&site()).expect("allowed").1, Seed(3).stream("mean"));
    let mut buffer = Buffer::new(Limit::bytes(40_000));
    for frame in 0..10 {
        buffer.push(Packet::new(frame, 1000, 0.into(), Time::ZERO)); // 10 000 bytes: halfway up
    }
    let arrival = |frame| Packet::new(frame, len, 0.into(), Time::ZERO);
    let is_signalled =
        |frame| red.on_arrival(&arrival(frame), &buffer, Time::ZERO) == Verdict::Signal(Cause::Early);
    (0..1_000_000).map(is_signalled).filter(|&signalled| signalled).count() as f64
}

#[test]
fn in_bytes_a_packet_is_signalled_by_its_length_over_the_mean_packets() {
    // Gaps are uniform from 1 to 63 packets, so one packet in 32 is signalled. The tolerance is 5
    // standard deviations.
    let of_mean = signals_in_a_million(Some(1000), 1000);
    assert!((of_mean - 31_250.0).abs() < 500.0, "{of_mean}");
    // The site's typical packet has 512 bytes.
    assert_eq!(signals_in_a_million(None, 512), signals_in_a_million(Some(512), 512));
    assert!(signals_in_a_million(None, 1000) > 1.5 * of_mean, "1000 bytes are two typical packets");
}

#[test]
fn the_probabilities_after_a_signal_follow_the_formula_with_the_mean_packet() {
    // p_b is 1/4. After a spared packet of 500 bytes, the next is signalled with probability p_b /
    // (1 - n p_b) * len / mean. Here n is (500 + len) / mean, rounded down. As in ns-2, spreading
    // comes before scaling.
    for (mean_packet, len, chance) in [
        (500, 250, 0.25 / (1.0 - 0.25) * 0.5),  // n = 750 / 500 = 1
        (500, 500, 0.25 / (1.0 - 0.5)),         // n = 2
        (1000, 500, 0.25 / (1.0 - 0.25) * 0.5), // n = 1
        (250, 125, 0.25 / (1.0 - 0.5) * 0.5),   // n = 625 / 250 = 2
    ] {
        let ramp = Ramp { min: 5_000.0, max: 15_000.0, max_probability: 0.5, gentle: true };
        let spec = Spec { mean_packet: Some(Size(mean_packet).into()), ..Spec::default() };
        let config = Config {
            ramp,
            given: Checked { measure: Measure::Bytes, weight: 1.0, ..Checked::default() },
            spreading: Spreading::AtMost,
            ..spec.check(&site()).expect("allowed").1
        };
        let mut buffer = Buffer::new(Limit::bytes(40_000));
        for frame in 0..10 {
            buffer.push(Packet::new(frame, 1000, 0.into(), Time::ZERO));
        }
        let is_signalled = |seed| {
            let mut red = Red::new(config, Seed(seed).stream("chance"));
            let mut judge =
                |len| red.on_arrival(&Packet::new(99, len, 0.into(), Time::ZERO), &buffer, Time::ZERO);
            assert_eq!(judge(500), Verdict::Pass, "the first one above the threshold");
            judge(len) == Verdict::Signal(Cause::Early)
        };
        let met = (0..40_000).filter(|&seed| is_signalled(seed)).count() as f64 / 40_000.0;
        // The tolerance is 4 standard deviations.
        assert!((met - chance).abs() < 0.01, "{mean_packet} {len}: {met} for {chance}");
    }
}

#[test]
fn a_mean_packet_scales_thresholds_but_not_the_buffer() {
    let spec = Spec {
        measure: Some(Measure::Bytes),
        mean_packet: Some(Size(1000).into()),
        max_threshold: Some(Amount::Packets(15).into()),
        ..Spec::default()
    };
    let (whole, config) = spec.check(&site()).expect("allowed");
    // The lower threshold is a quarter of 40 packets of 512 bytes.
    assert_eq!((config.ramp.min, config.ramp.max), (10.0 * 512.0, 15_000.0));
    assert_eq!(whole.room.limit, Limit::packets(40));
    let packets = Spec { measure: None, ..spec }.check(&site()).expect("allowed").1;
    assert_eq!((packets.ramp.min, packets.ramp.max), (10.0, 15.0));
}

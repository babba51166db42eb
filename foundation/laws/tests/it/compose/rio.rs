//! RIO against a straight-line transcription, and a test of RIO's purpose.

use super::{packet, site};
use crate::beside::{Event, Line, Met, Offer, Reading, Traffic, add, assert_met, assert_near, compare};
use crate::fate::Events;
use crate::red::{Since, ceiling, printed};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Ecn, EcnPolicy, Limit, Packet, Queue, Rng, Seed, Time, Verdict,
};
use fairwire_laws::dropper::red::{Ramp, Spreading};
use fairwire_laws::dropper::rio::{AboveMax, Checked, Config, Coupling, OutRule, Rio, Spec};
use fairwire_laws::spec::Measure;

fn config() -> Config {
    Spec::default().check(&site()).expect("the defaults are allowed").1
}

#[test]
fn the_defaults_are_those_of_atb_for_a_buffer_of_100_packets() {
    let hundred = "100 packets".parse().expect("an amount");
    let config =
        Spec::default().check(&fairwire_laws::Site { buffer: hundred, ..site() }).expect("allowed").1;
    let ramp = |min, max, max_probability| Ramp { min, max, max_probability, gentle: false };
    assert_eq!(config.ramps[..2], [ramp(50.0, 80.0, 0.02), ramp(10.0, 50.0, 0.1)]);
    assert_eq!((config.colors, config.given.coupling, config.given.weight), (2, Coupling::Coupled, 0.002));
    // Edge routers with the adaptive token bucket (ATB) expect more marks than `AtLeast` gives.
    assert_eq!(config.spreading, Spreading::AtMost);
}

/// A transcription of RIO that counts waiting packets at each arrival.
struct Reference {
    c: Config,
    rng: Rng,
    line: Line,
    avg: [f64; 3],
    since: [Since; 3],
    above: [bool; 3],
    idle_since: Option<u64>,
}

impl Reference {
    fn colour(&self, offer: &Offer) -> usize {
        usize::from(offer.color).min(self.c.colors - 1)
    }

    fn counts(&self, k: usize, of: usize) -> bool {
        match self.c.given.coupling {
            Coupling::Coupled => of <= k,
            Coupling::Decoupled => of == k,
            Coupling::Total => true,
        }
    }

    fn held(&self, k: usize) -> f64 {
        let counted = self.line.waiting.iter().filter(|offer| self.counts(k, self.colour(offer)));
        match self.c.given.measure {
            Measure::Packets => counted.count() as f64,
            Measure::Bytes => counted.map(|offer| f64::from(offer.len)).sum(),
        }
    }
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        let colour = self.colour(&offer);
        let w = self.c.given.weight;
        if let Some(since) = self.idle_since.take() {
            let missed = u128::from(now - since) * u128::from(self.c.rate.bps()) / (8_000_000_000 * 1000);
            self.avg = self.avg.map(|avg| avg * (1.0 - w).powf(missed as f64));
        }
        for k in 0..self.c.colors {
            if self.counts(k, colour) {
                self.avg[k] = (1.0 - w) * self.avg[k] + w * self.held(k);
            }
        }
        self.since[colour].count(offer.len);
        let (avg, ramp) = (self.avg[colour], self.c.ramps[colour]);
        let (mut cause, mut can_mark) = (None, false);
        if avg < ramp.min || self.held(colour) <= 1.0 {
            self.above[colour] = false;
        } else if avg >= ceiling(ramp) {
            cause = Some(Cause::Forced);
        } else if !self.above[colour] {
            self.above[colour] = true;
            self.since[colour].begin(offer.len);
        } else {
            let mean = (self.c.given.measure == Measure::Bytes).then_some(f64::from(self.c.packet_bytes));
            let pb = printed(ramp, avg);
            let pa = self.since[colour].chance(pb, self.c.spreading, offer.len, mean);
            if pa >= 1.0 || (pa > 0.0 && self.rng.uniform() < pa) {
                (cause, can_mark) = (Some(Cause::Early), self.line.can_mark(offer));
            }
        }
        if self.line.is_full(offer.len) {
            (cause, can_mark) = (Some(Cause::Overflow), false);
        }
        if cause.is_some() {
            self.since[colour] = Since::default();
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
    let rio = Rio::new(config, Seed(seed).stream("rio"));
    let mut queue = Queue::new(limit, Fcfs, rio).with_ecn(policy);
    let mut plain = Reference {
        c: config,
        rng: Seed(seed).stream("rio"),
        line: Line::new(limit, policy),
        avg: [0.0; 3],
        since: [Since::default(); 3],
        above: [false; 3],
        idle_since: None,
    };
    let len = |rng: &mut Rng| 40 + rng.below(1461);
    let traffic = Traffic { turn: 300, two_packets: 1_600_000.0, len, ..Traffic::default() };
    compare(&mut queue, &mut plain, &traffic, (4000, seed), |queue, plain| {
        let averages = queue.dropper().averages().into_iter().zip(plain.avg);
        averages.for_each(|(ours, theirs)| assert_near(ours, theirs));
    })
}

#[test]
fn it_agrees_with_the_second_implementation_under_every_switch() {
    let mut met = Met::new();
    for switches in 0..32u64 {
        let on = |bit: u32| switches >> bit & 1 == 1;
        let scale = if on(0) { 1000.0 } else { 1.0 };
        let ramp = |min: f64, max: f64, max_probability| Ramp {
            min: min * scale,
            max: max * scale,
            max_probability,
            gentle: on(1),
        };
        for coupling in [Coupling::Coupled, Coupling::Decoupled, Coupling::Total] {
            let limit = if on(0) { Limit::bytes(40_000) } else { Limit::packets(40) };
            let measure = if on(0) { Measure::Bytes } else { Measure::Packets };
            // The weight is ten times the default, so a short run takes all branches.
            let config = Config {
                given: Checked { measure, coupling, weight: 0.02, ..Checked::default() },
                colors: if on(3) { 3 } else { 2 },
                ramps: [ramp(8.0, 20.0, 0.05), ramp(4.0, 14.0, 0.1), ramp(2.0, 8.0, 0.2)],
                spreading: if on(2) { Spreading::AtLeast } else { Spreading::AtMost },
                ..config()
            };
            let policy = if on(4) { EcnPolicy::Mark } else { EcnPolicy::Drop };
            add(&mut met, side_by_side(limit, config, policy, switches));
        }
    }
    assert_met(&met, &["sent", "marked", "early", "forced", "overflow"], 500);
}

/// The averages after arrivals of `color`, with 10 green and 20 yellow packets in the buffer.
fn averages(coupling: Coupling, color: u8) -> [f64; 3] {
    let given = Checked { coupling, weight: 0.05, ..Checked::default() };
    let config = Config { given, colors: 2, ..config() };
    let mut rio = Rio::new(config, Seed(1).stream("rio"));
    let buffer = half_full(&mut rio);
    for frame in 0..500 {
        rio.on_arrival(&Packet { color, ..packet(frame, 1000, 0, Time::ZERO) }, &buffer, Time::ZERO);
    }
    rio.averages().map(f64::round)
}

#[test]
fn every_arrival_updates_the_total_and_each_coupling_counts_its_colours() {
    // Unlike ns-2's rio.cc, RIO updates the average of all packets when a yellow packet arrives.
    assert_eq!(averages(Coupling::Coupled, 1), [0.0, 30.0, 0.0]);
    assert_eq!(averages(Coupling::Coupled, 0), [10.0, 30.0, 0.0]);
    assert_eq!(averages(Coupling::Decoupled, 1), [0.0, 20.0, 0.0]);
    assert_eq!(averages(Coupling::Decoupled, 0), [10.0, 0.0, 0.0]);
    assert_eq!(averages(Coupling::Total, 1), [30.0, 30.0, 0.0]);
}

fn half_full(rio: &mut Rio) -> Buffer {
    let mut buffer = Buffer::new(Limit::packets(40));
    for frame in 0..30 {
        let key = buffer.push(Packet { color: u8::from(frame >= 10), ..packet(frame, 1000, 0, Time::ZERO) });
        rio.tracked(buffer.packet(key), buffer.flow_of(key), true, &buffer);
    }
    buffer
}

#[test]
fn under_ns2s_rule_only_green_updates_averages_and_yellow_ends_idling() {
    let given = Checked { out_rule: OutRule::Ns2, weight: 0.05, ..Checked::default() };
    let config = Config { given, colors: 2, ..config() };
    let mut rio = Rio::new(config, Seed(1).stream("rio"));
    let buffer = half_full(&mut rio);
    let arrive = |rio: &mut Rio, color: u8, at: Time| {
        rio.on_arrival(&Packet { color, ..packet(99, 1000, 0, at) }, &buffer, at);
        rio.averages().map(|average| (average * 1e6).round() / 1e6)
    };
    for _ in 0..500 {
        assert_eq!(arrive(&mut rio, 1, Time::ZERO), [0.0; 3], "a yellow arrival updated an average");
    }
    assert_eq!(arrive(&mut rio, 0, Time::ZERO), [0.5, 1.5, 0.0]); // a twentieth of 10 and of 30
    let later = Time::from_ns(1_000_000_000); // long enough for the averages to decay to nothing
    rio.idle(Time::ZERO);
    assert_eq!(arrive(&mut rio, 0, later), [0.5, 1.5, 0.0]);
    rio.idle(later);
    let later = Time::from_ns(2_000_000_000);
    assert_eq!(arrive(&mut rio, 1, later), [0.5, 1.5, 0.0]);
    assert_eq!(arrive(&mut rio, 0, later), [0.5, 2.925, 0.0]); // 0.95 times 1.5, and 1.5
}

#[test]
fn under_ns2s_rule_a_forced_drop_out_of_profile_leaves_the_count_running() {
    let signals = |out_rule| {
        let ramps = [Ramp { min: 35.0, max: 39.0, max_probability: 0.1, gentle: false }, YELLOW, YELLOW];
        let given = Checked { out_rule, weight: 0.05, ..Checked::default() };
        let config = Config { given, ramps, colors: 2, spreading: Spreading::AtLeast, ..config() };
        let mut rio = Rio::new(config, Seed(1).stream("rio"));
        let buffer = half_full(&mut rio);
        let arrive = |rio: &mut Rio, color: u8, at: Time| {
            rio.on_arrival(&Packet { color, ..packet(99, 1000, 0, at) }, &buffer, at)
        };
        for _ in 0..40 {
            arrive(&mut rio, 0, Time::ZERO);
            arrive(&mut rio, 1, Time::ZERO);
        }
        for _ in 0..60 {
            assert_eq!(arrive(&mut rio, 1, Time::ZERO), Verdict::Drop(Cause::Forced));
        }
        // An idle time of eight packet transmissions lowers the average from nearly 30 to 20.
        rio.idle(Time::ZERO);
        let later = Time::from_ns(8 * 800_000);
        arrive(&mut rio, 0, later);
        arrive(&mut rio, 1, later)
    };
    // Under ns-2's rule the count now exceeds 2/p, so a signal is certain.
    assert_eq!(signals(OutRule::Ns2), Verdict::Signal(Cause::Early));
    assert_eq!(signals(OutRule::Paper), Verdict::Pass);
}

const YELLOW: Ramp = Ramp { min: 5.0, max: 25.0, max_probability: 0.1, gentle: false };

#[test]
fn above_its_upper_threshold_even_a_capable_packet_is_dropped() {
    let config = Config { given: Checked { weight: 0.5, ..Checked::default() }, ..config() };
    let mut queue = Queue::new(Limit::packets(40), Fcfs, Rio::new(config, Seed(1).stream("rio")))
        .with_ecn(EcnPolicy::Mark);
    let mut counts = Events::default();
    for frame in 0..200 {
        let arrival = Packet { ecn: Ecn::Ect0, color: 1, ..packet(frame, 1000, 0, Time::ZERO) };
        queue.enqueue(arrival, Time::ZERO, &mut counts);
    }
    // Yellow's upper threshold is 20 packets. The average lags, so a few more enter.
    assert!((20..25).contains(&queue.backlog().packets), "{}", queue.backlog().packets);
    assert!(
        counts.dropped().len() > 150 && counts.dropped().iter().all(|(_, cause)| *cause == Cause::Forced)
    );
    assert!(!counts.marked().is_empty(), "early ones mark");
}

#[test]
fn above_its_upper_threshold_a_capable_packet_is_marked_where_that_is_configured() {
    // With a weight of 1, the average is the backlog. The 21st yellow packet meets 20 packets,
    // yellow's upper threshold.
    let fates = |above_max, ecn| {
        let config = Config { given: Checked { weight: 1.0, above_max, ..Checked::default() }, ..config() };
        let rio = Rio::new(config, Seed(1).stream("rio"));
        let mut queue = Queue::new(Limit::packets(40), Fcfs, rio).with_ecn(EcnPolicy::Mark);
        let mut counts = Events::default();
        for frame in 0..200 {
            let arrival = Packet { ecn, color: 1, ..packet(frame, 1000, 0, Time::ZERO) };
            queue.enqueue(arrival, Time::ZERO, &mut counts);
        }
        let marked = counts.marked().iter().filter(|(_, cause)| *cause == Cause::Forced).count();
        [marked, counts.dropped_by(Cause::Forced), counts.dropped_by(Cause::Overflow)]
    };
    assert_eq!(fates(AboveMax::Mark, Ecn::Ect0), [20, 0, 160]);
    assert_eq!(fates(AboveMax::Drop, Ecn::Ect0), [0, 180, 0]);
    let deaf = fates(AboveMax::Drop, Ecn::NotEct);
    assert_eq!(fates(AboveMax::Mark, Ecn::NotEct), deaf);
    assert!(deaf[1] > 150, "{deaf:?}");
}

#[test]
fn while_thresholds_do_not_overlap_green_is_spared() {
    // Five of eight packets are sent, so 7500 of 20000 are dropped or wait.
    let config = Config { given: Checked { weight: 0.02, ..Checked::default() }, ..config() };
    let mut queue = Queue::new(Limit::packets(40), Fcfs, Rio::new(config, Seed(1).stream("rio")));
    let mut counts = Events::default();
    for frame in 0..20_000u32 {
        let now = Time::from_ns(u64::from(frame) * 500_000);
        let color = (frame % 2) as u8;
        queue.enqueue(Packet { color, ..packet(frame, 1000, 0, now) }, now, &mut counts);
        if frame % 8 < 5 {
            queue.dequeue(now, &mut counts);
        }
    }
    let green = counts.dropped().iter().filter(|(frame, _)| frame % 2 == 0).count();
    assert_eq!(green, 0, "of {} dropped", counts.dropped().len());
    assert!(counts.dropped().len() > 7000, "{}", counts.dropped().len());
}

#[test]
fn thresholds_of_a_colour_in_the_wrong_order_are_refused() {
    for (typed, message) in [
        (
            "green = { min_threshold = '30 packets', max_threshold = '20 packets' }",
            "`green` of `rio` is a min_threshold of 30 and a max_threshold of 20 packets; allowed: a min_threshold below the max_threshold",
        ),
        (
            "measure = 'bytes'\nred = { max_threshold = '1 kB' }",
            "`red` of `rio` is a min_threshold of 4000 and a max_threshold of 1000 bytes; allowed: a min_threshold below the max_threshold",
        ),
    ] {
        let spec: Spec = toml::from_str(typed).expect("well-formed");
        assert_eq!(spec.check(&site()).unwrap_err().to_string(), message);
    }
}

#[test]
fn a_third_colour_inherits_omitted_parameters_from_yellow() {
    let spec: Spec =
        toml::from_str("yellow = { max_probability = 0.3 }\nred = { min_threshold = '1 packet' }")
            .expect("well-formed");
    let config = spec.check(&site()).expect("allowed").1;
    assert_eq!(config.colors, 3);
    assert_eq!(config.ramps[2], Ramp { min: 1.0, ..config.ramps[1] });
    assert_eq!(config.ramps[1].max_probability, 0.3);
}

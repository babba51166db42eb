//! RIO against a second, straight-line reading, and what it is for.

use super::{Counts, packet, site};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Ecn, EcnPolicy, Ignore, Limit, Packet, Queue, Rng, Seed, Signals,
    Time, Verdict,
};
use fairwire_laws::dropper::red::{Ramp, Spreading};
use fairwire_laws::dropper::rio::{AboveMax, Config, Coupling, OutRule, Rio, Spec};
use fairwire_laws::spec::Measure;
use std::collections::VecDeque;

fn config() -> Config {
    Spec::default().check(&site()).expect("the defaults are allowed")
}

#[test]
fn the_defaults_are_those_of_atb_for_a_buffer_of_100_packets() {
    let hundred = "100 packets".parse().expect("an amount");
    let config = Spec::default().check(&fairwire_laws::Site { buffer: hundred, ..site() }).expect("allowed");
    let ramp = |min, max, max_probability| Ramp { min, max, max_probability, gentle: false };
    assert_eq!(config.ramps[..2], [ramp(50.0, 80.0, 0.02), ramp(10.0, 50.0, 0.1)]);
    assert_eq!((config.colors, config.coupling, config.weight), (2, Coupling::Coupled, 0.002));
    // With the other rule ATB's edges never see their threshold.
    assert_eq!(config.spreading, Spreading::AtMost);
}

/// RIO once more, with a list of what waits and nothing else, counted anew for each arrival.
struct Plain {
    c: Config,
    rng: Rng,
    marks: bool,
    waiting: VecDeque<(usize, u32)>,
    avg: [f64; 3],
    count: [f64; 3],
    count_bytes: [f64; 3],
    above: [bool; 3],
    idle_since: Option<u64>,
}

#[derive(Debug, PartialEq)]
enum Fate {
    In,
    Marked,
    Early,
    Forced,
    Full,
}

impl Plain {
    /// Does the average of colour `k` count packets of colour `of`?
    fn counts(&self, k: usize, of: usize) -> bool {
        match self.c.coupling {
            Coupling::Coupled => of <= k,
            Coupling::Decoupled => of == k,
            Coupling::Total => true,
        }
    }

    fn held(&self, k: usize) -> f64 {
        let counted = self.waiting.iter().filter(|(of, _)| self.counts(k, *of));
        match self.c.measure {
            Measure::Packets => counted.count() as f64,
            Measure::Bytes => counted.map(|(_, len)| f64::from(*len)).sum(),
        }
    }

    fn arrival(&mut self, color: u8, len: u32, capable: bool, now: u64) -> Fate {
        let colour = usize::from(color).min(self.c.colors - 1);
        let (w, mean, bytes) = (self.c.weight, f64::from(self.c.packet_bytes), f64::from(len));
        if let Some(since) = self.idle_since.take() {
            let missed = u128::from(now - since) * u128::from(self.c.rate.bps()) / (8_000_000_000 * 1000);
            self.avg = self.avg.map(|avg| avg * (1.0 - w).powf(missed as f64));
        }
        for k in 0..self.c.colors {
            if self.counts(k, colour) {
                self.avg[k] = (1.0 - w) * self.avg[k] + w * self.held(k);
            }
        }
        self.count[colour] += 1.0;
        self.count_bytes[colour] += bytes;
        let (avg, ramp, q) = (self.avg[colour], self.c.ramps[colour], self.held(colour));
        let top = if ramp.gentle { 2.0 * ramp.max } else { ramp.max };
        let mut fate = Fate::In;
        if avg < ramp.min || q <= 1.0 {
            self.above[colour] = false;
        } else if avg >= top {
            fate = Fate::Forced;
        } else if !self.above[colour] {
            self.above[colour] = true;
            (self.count[colour], self.count_bytes[colour]) = (1.0, bytes);
        } else {
            let pb = if avg >= ramp.max {
                ramp.max_probability + (1.0 - ramp.max_probability) * (avg - ramp.max) / ramp.max
            } else {
                ramp.max_probability * (avg - ramp.min) / (ramp.max - ramp.min)
            };
            let in_bytes = self.c.measure == Measure::Bytes;
            let n = if in_bytes { (self.count_bytes[colour] / mean).floor() } else { self.count[colour] };
            let mut pa = match (self.c.spreading, n * pb) {
                (Spreading::AtMost, x) if x < 1.0 => pb / (1.0 - x),
                (Spreading::AtLeast, x) if x < 1.0 => 0.0,
                (Spreading::AtLeast, x) if x < 2.0 => pb / (2.0 - x),
                _ => 1.0,
            };
            if in_bytes && pa < 1.0 {
                pa *= bytes / mean;
            }
            if pa >= 1.0 || (pa > 0.0 && self.rng.uniform() < pa) {
                fate = if self.marks && capable { Fate::Marked } else { Fate::Early };
            }
        }
        let sum: u32 = self.waiting.iter().map(|(_, len)| len).sum();
        if self.waiting.len() as u32 >= self.c.limit.max_packets()
            || u64::from(sum + len) > self.c.limit.max_bytes()
        {
            fate = Fate::Full;
        }
        if fate != Fate::In {
            (self.count[colour], self.count_bytes[colour]) = (0.0, 0.0);
        }
        if matches!(fate, Fate::In | Fate::Marked) {
            self.waiting.push_back((colour, len));
        }
        fate
    }

    fn departure(&mut self, now: u64) {
        if self.waiting.pop_front().is_none() {
            self.idle_since.get_or_insert(now);
        }
    }
}

#[derive(Default)]
struct Last(Option<Fate>);

impl Signals for Last {
    fn dropped(&mut self, _: Packet, cause: Cause) {
        self.0 = Some(match cause {
            Cause::Early => Fate::Early,
            Cause::Forced => Fate::Forced,
            Cause::Overflow => Fate::Full,
            other => panic!("RIO has no {other:?}"),
        });
    }
    fn marked(&mut self, _: &Packet, _: Cause) {
        self.0 = Some(Fate::Marked);
    }
}

fn plain(c: Config, policy: EcnPolicy, seed: u64) -> Plain {
    Plain {
        c,
        rng: Seed(seed).stream("rio"),
        marks: policy == EcnPolicy::Mark,
        waiting: VecDeque::new(),
        avg: [0.0; 3],
        count: [0.0; 3],
        count_bytes: [0.0; 3],
        above: [false; 3],
        idle_since: None,
    }
}

/// Runs both readings side by side; returns how often each fate was met.
fn compare(config: Config, policy: EcnPolicy, seed: u64) -> [u32; 5] {
    let rio = Rio::new(config, Seed(seed).stream("rio"));
    let mut queue = Queue::new(config.limit, Fcfs, rio).with_ecn(policy);
    let mut plain = plain(config, policy, seed);
    let (mut now, mut fates) = (0, [0; 5]);
    let mut traffic = Seed(seed).stream("traffic");
    for frame in 0..4000u32 {
        let load = [3.0, 1.1, 0.5, 1.6, 1.0][(frame / 300) as usize % 5];
        now += (1_600_000.0 * traffic.uniform() / load) as u64;
        if traffic.chance(0.002) {
            now += u64::from(traffic.below(200_000_000));
        }
        if traffic.chance(1.0 / load) {
            plain.departure(now);
            queue.dequeue(Time::from_ns(now), &mut Ignore);
        }
        let (len, color) = (40 + traffic.below(1461), traffic.below(3) as u8);
        let ecn = if traffic.chance(0.5) { Ecn::Ect0 } else { Ecn::NotEct };
        let (mut last, at) = (Last::default(), Time::from_ns(now));
        queue.enqueue(Packet { ecn, color, ..packet(frame, len, 0, at) }, at, &mut last);
        let fate = plain.arrival(color, len, ecn.is_capable(), now);
        assert_eq!(last.0.unwrap_or(Fate::In), fate, "frame {frame}, averages {:?}", plain.avg);
        for (ours, theirs) in queue.dropper().averages().into_iter().zip(plain.avg) {
            // The power of the idle decay comes from two libraries, each right to a unit or so in
            // the last place.
            assert!((ours - theirs).abs() <= 1e-11 * theirs.max(1.0), "{ours} {theirs}");
        }
        fates[fate as usize] += 1;
    }
    fates
}

#[test]
fn it_decides_as_the_second_reading_does_under_every_switch() {
    let mut met = [0; 5];
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
            let config = Config {
                limit: if on(0) { Limit::bytes(40_000) } else { Limit::packets(40) },
                measure: if on(0) { Measure::Bytes } else { Measure::Packets },
                coupling,
                colors: if on(3) { 3 } else { 2 },
                ramps: [ramp(8.0, 20.0, 0.05), ramp(4.0, 14.0, 0.1), ramp(2.0, 8.0, 0.2)],
                weight: 0.02, // ten times the default, so that a short run goes through all branches
                spreading: if on(2) { Spreading::AtLeast } else { Spreading::AtMost },
                ..config()
            };
            let policy = if on(4) { EcnPolicy::Mark } else { EcnPolicy::Drop };
            for (total, fate) in met.iter_mut().zip(compare(config, policy, switches)) {
                *total += fate;
            }
        }
    }
    assert!(met.iter().all(|&n| n > 500), "some branch was hardly met: {met:?}");
}

/// Averages after 500 arrivals of `color` at a buffer that holds 10 green and 20 yellow packets.
fn averages(coupling: Coupling, color: u8) -> [f64; 3] {
    let config = Config { coupling, weight: 0.05, colors: 2, ..config() };
    let mut rio = Rio::new(config, Seed(1).stream("rio"));
    let mut buffer = Buffer::new(Limit::packets(40));
    for frame in 0..30 {
        let key = buffer.push(Packet { color: u8::from(frame >= 10), ..packet(frame, 1000, 0, Time::ZERO) });
        rio.tracked(buffer.packet(key), buffer.flow_of(key), true, &buffer);
    }
    for frame in 0..500 {
        rio.on_arrival(&Packet { color, ..packet(frame, 1000, 0, Time::ZERO) }, &buffer, Time::ZERO);
    }
    rio.averages().map(f64::round)
}

#[test]
fn the_total_is_averaged_over_every_arrival_and_each_coupling_counts_its_own() {
    // ns-2's rio.cc would leave the total alone on the arrival of a yellow packet.
    assert_eq!(averages(Coupling::Coupled, 1), [0.0, 30.0, 0.0]);
    assert_eq!(averages(Coupling::Coupled, 0), [10.0, 30.0, 0.0]);
    assert_eq!(averages(Coupling::Decoupled, 1), [0.0, 20.0, 0.0]);
    assert_eq!(averages(Coupling::Decoupled, 0), [10.0, 0.0, 0.0]);
    assert_eq!(averages(Coupling::Total, 1), [30.0, 30.0, 0.0]);
}

/// As many packets of either colour wait as [`averages`] has.
fn half_full(rio: &mut Rio) -> Buffer {
    let mut buffer = Buffer::new(Limit::packets(40));
    for frame in 0..30 {
        let key = buffer.push(Packet { color: u8::from(frame >= 10), ..packet(frame, 1000, 0, Time::ZERO) });
        rio.tracked(buffer.packet(key), buffer.flow_of(key), true, &buffer);
    }
    buffer
}

#[test]
fn under_ns2s_rule_averages_wait_for_green_and_yellow_ends_the_idle_time_of_the_total() {
    let config = Config { out_rule: OutRule::Ns2, weight: 0.05, colors: 2, ..config() };
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
    let later = Time::from_ns(1_000_000_000); // long enough for what was to decay to nothing
    rio.idle(Time::ZERO);
    assert_eq!(arrive(&mut rio, 0, later), [0.5, 1.5, 0.0]);
    rio.idle(later);
    let later = Time::from_ns(2_000_000_000);
    assert_eq!(arrive(&mut rio, 1, later), [0.5, 1.5, 0.0]);
    assert_eq!(arrive(&mut rio, 0, later), [0.5, 2.925, 0.0]); // 0.95 times 1.5, and 1.5
}

#[test]
fn under_ns2s_rule_a_forced_drop_out_of_profile_leaves_the_count_running() {
    // Yellow's average is raised above its threshold, where 60 arrivals are forced out, and falls
    // below it by one idle second.
    let signals = |out_rule| {
        let ramps = [Ramp { min: 35.0, max: 39.0, max_probability: 0.1, gentle: false }, YELLOW, YELLOW];
        let config =
            Config { out_rule, ramps, weight: 0.05, colors: 2, spreading: Spreading::AtLeast, ..config() };
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
        // Idle for eight packets: from nearly 30 to 20.
        rio.idle(Time::ZERO);
        let later = Time::from_ns(8 * 800_000);
        arrive(&mut rio, 0, later);
        arrive(&mut rio, 1, later)
    };
    // With a count of more than 2/p, the next one is certain.
    assert_eq!(signals(OutRule::Ns2), Verdict::Signal(Cause::Early));
    assert_eq!(signals(OutRule::Paper), Verdict::Pass);
}

const YELLOW: Ramp = Ramp { min: 5.0, max: 25.0, max_probability: 0.1, gentle: false };

#[test]
fn above_its_upper_threshold_even_a_capable_packet_is_dropped() {
    let config = Config { weight: 0.5, ..config() };
    let mut queue =
        Queue::new(config.limit, Fcfs, Rio::new(config, Seed(1).stream("rio"))).with_ecn(EcnPolicy::Mark);
    let mut counts = Counts::default();
    for frame in 0..200 {
        let arrival = Packet { ecn: Ecn::Ect0, color: 1, ..packet(frame, 1000, 0, Time::ZERO) };
        queue.enqueue(arrival, Time::ZERO, &mut counts);
    }
    // Yellow's upper threshold is half of the buffer, so it never fills it.
    assert!((20..25).contains(&queue.backlog().packets), "{}", queue.backlog().packets);
    assert!(counts.dropped.len() > 150 && counts.dropped.iter().all(|(_, cause)| *cause == Cause::Forced));
    assert!(!counts.marked.is_empty(), "early ones mark");
}

#[test]
fn above_its_upper_threshold_a_capable_packet_is_marked_where_that_is_configured() {
    // With a weight of 1 the average is what an arrival meets: the 21st yellow packet meets 20,
    // which is yellow's threshold.
    let fates = |above_max, ecn| {
        let config = Config { weight: 1.0, above_max, ..config() };
        let rio = Rio::new(config, Seed(1).stream("rio"));
        let mut queue = Queue::new(config.limit, Fcfs, rio).with_ecn(EcnPolicy::Mark);
        let mut counts = Counts::default();
        for frame in 0..200 {
            let arrival = Packet { ecn, color: 1, ..packet(frame, 1000, 0, Time::ZERO) };
            queue.enqueue(arrival, Time::ZERO, &mut counts);
        }
        let of = |fates: &[(u32, Cause)], cause| fates.iter().filter(|fate| fate.1 == cause).count();
        [
            of(&counts.marked, Cause::Forced),
            of(&counts.dropped, Cause::Forced),
            of(&counts.dropped, Cause::Overflow),
        ]
    };
    // The 20 that fill the buffer are marked, and the 160 after them find no room.
    assert_eq!(fates(AboveMax::Mark, Ecn::Ect0), [20, 0, 160]);
    assert_eq!(fates(AboveMax::Drop, Ecn::Ect0), [0, 180, 0]);
    let deaf = fates(AboveMax::Drop, Ecn::NotEct);
    assert_eq!(fates(AboveMax::Mark, Ecn::NotEct), deaf);
    assert!(deaf[1] > 150, "{deaf:?}");
}

#[test]
fn while_thresholds_do_not_overlap_green_is_spared() {
    // Half of the load is green and below the link's rate; all of it is 1.6 times that.
    let config = Config { weight: 0.02, ..config() };
    let mut queue = Queue::new(config.limit, Fcfs, Rio::new(config, Seed(1).stream("rio")));
    let mut counts = Counts::default();
    for frame in 0..20_000u32 {
        let now = Time::from_ns(u64::from(frame) * 500_000);
        let color = (frame % 2) as u8;
        queue.enqueue(Packet { color, ..packet(frame, 1000, 0, now) }, now, &mut counts);
        if frame % 8 < 5 {
            queue.dequeue(now, &mut counts);
        }
    }
    let green = counts.dropped.iter().filter(|(frame, _)| frame % 2 == 0).count();
    assert_eq!(green, 0, "of {} dropped", counts.dropped.len());
    assert!(counts.dropped.len() > 7000, "{}", counts.dropped.len());
}

#[test]
fn what_is_not_allowed_is_refused() {
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
fn a_third_colour_takes_from_yellow_what_it_leaves_out() {
    let spec: Spec =
        toml::from_str("yellow = { max_probability = 0.3 }\nred = { min_threshold = '1 packet' }")
            .expect("well-formed");
    let config = spec.check(&site()).expect("allowed");
    assert_eq!(config.colors, 3);
    assert_eq!(config.ramps[2], Ramp { min: 1.0, ..config.ramps[1] });
    assert_eq!(config.ramps[1].max_probability, 0.3);
}

//! CHOKe against its pseudo-code, and its draws.

use super::{Log, packet, site};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Buffer, Cause, Discipline, Ecn, EcnPolicy, Limit, Packet, Queue, Rng, Seed, Time};
use fairwire_laws::dropper::choke::{Choke, Compare, Config, Draws, Spec};
use fairwire_laws::dropper::red::{self, Ramp, Spreading};
use fairwire_laws::spec::Measure;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    frame: u32,
    flow: u64,
    len: u32,
}

/// CHOKe from the pseudo-code: RED's average; a match drops both; then the upper threshold; then
/// RED's test.
struct Plain {
    config: Config,
    marks: bool,
    draw: Rng,
    coin: Rng,
    /// In order of arrival.
    waiting: Vec<Waiting>,
    /// The frames as the buffer keeps them for random draws: the last takes the place of one that
    /// leaves.
    dense: Vec<u32>,
    avg: f64,
    count: f64,
    count_bytes: f64,
    was_below: bool,
    idle_since: Option<u64>,
}

/// What happened at an arrival: the dropped frames with causes, sorted, and whether the arrival was
/// marked.
type Outcome = (Vec<(u32, Cause)>, bool);

impl Plain {
    fn remove(&mut self, frame: u32) {
        self.waiting.retain(|waiting| waiting.frame != frame);
        let at = self.dense.iter().position(|&other| other == frame).expect("it waits");
        self.dense.swap_remove(at);
    }

    fn update_average(&mut self, q: f64, now: u64) {
        let red = self.config.red;
        let mut m = 0.0;
        if let Some(since) = self.idle_since.take() {
            m = (red.rate.bps() as f64 / (8.0 * f64::from(red.packet_bytes)) * (now - since) as f64 / 1e9)
                .floor();
        }
        self.avg = self.avg * (1.0 - red.weight).powf(m + 1.0) + red.weight * q;
    }

    fn matches(&mut self, flow: u64) -> Vec<u32> {
        let Ramp { min, max, .. } = self.config.red.ramp;
        let m = match self.config.draws {
            Draws::Fixed(m) => m as usize,
            Draws::Regions(k) => {
                let width = (max - min) / f64::from(k);
                let above = (1..k).filter(|&i| self.avg >= min + f64::from(i) * width).count();
                2 * (above + 1)
            }
        };
        let drawn: Vec<u32> = match self.config.compare {
            Compare::Random if self.dense.is_empty() => Vec::new(),
            Compare::Random => {
                (0..m).map(|_| self.dense[self.draw.below(self.dense.len() as u32) as usize]).collect()
            }
            Compare::Front => self.waiting.iter().take(m).map(|waiting| waiting.frame).collect(),
            Compare::Back => self.waiting.iter().rev().take(m).map(|waiting| waiting.frame).collect(),
        };
        let same = |frame: &u32| self.waiting.iter().any(|w| w.frame == *frame && w.flow == flow);
        let mut matches = Vec::new();
        for frame in drawn.into_iter().filter(same) {
            if !matches.contains(&frame) {
                matches.push(frame);
            }
        }
        matches
    }

    fn arrival(&mut self, arrival: Waiting, capable: bool, now: u64) -> Outcome {
        let red = self.config.red;
        let held: u32 = self.waiting.iter().map(|waiting| waiting.len).sum();
        let bytes = red.measure == Measure::Bytes;
        let q = if bytes { f64::from(held) } else { self.waiting.len() as f64 };
        self.update_average(q, now);
        let spared = self.avg < red.ramp.min || (red.spare_short_queue && q <= 1.0);
        if !spared {
            let matches = self.matches(arrival.flow);
            if !matches.is_empty() {
                let mut dropped: Vec<_> = matches.iter().map(|&frame| (frame, Cause::Forced)).collect();
                // The last drawn goes first: that matters to the order of `dense` alone.
                matches.into_iter().rev().for_each(|frame| self.remove(frame));
                dropped.push((arrival.frame, Cause::Forced));
                return (dropped, false);
            }
        }
        let full = self.waiting.len() as u32 >= red.limit.max_packets()
            || u64::from(held + arrival.len) > red.limit.max_bytes();
        let early = self.early(arrival.len, spared);
        let capable = self.marks && capable;
        let cause = match early {
            _ if full => Some(Cause::Overflow),
            Some(Cause::Early) if capable => None,
            early => early,
        };
        if cause.is_some() || early.is_some() {
            (self.count, self.count_bytes) = (0.0, 0.0);
        }
        if let Some(cause) = cause {
            return (vec![(arrival.frame, cause)], false);
        }
        self.waiting.push(arrival);
        self.dense.push(arrival.frame);
        (Vec::new(), early.is_some())
    }

    /// RED's test: certain above the upper threshold, else by chance.
    fn early(&mut self, len: u32, spared: bool) -> Option<Cause> {
        let red = self.config.red;
        let Ramp { min, max, max_probability, gentle } = red.ramp;
        self.count += 1.0;
        self.count_bytes += f64::from(len);
        if spared {
            self.was_below = true;
            return None;
        }
        if self.avg >= if gentle { 2.0 * max } else { max } {
            return Some(Cause::Forced);
        }
        if core::mem::replace(&mut self.was_below, false) {
            (self.count, self.count_bytes) = (1.0, f64::from(len));
            return None;
        }
        let pb = if self.avg < max {
            max_probability * (self.avg - min) / (max - min)
        } else {
            max_probability + (1.0 - max_probability) * (self.avg - max) / max
        };
        let (bytes, mean) = (red.measure == Measure::Bytes, f64::from(red.packet_bytes));
        let n = if bytes { (self.count_bytes / mean).floor() } else { self.count };
        let mut pa = match red.spreading {
            Spreading::AtMost if n * pb < 1.0 => pb / (1.0 - n * pb),
            Spreading::AtLeast if n * pb < 1.0 => 0.0,
            Spreading::AtLeast if n * pb < 2.0 => pb / (2.0 - n * pb),
            _ => 1.0,
        };
        if bytes && pa < 1.0 {
            pa *= f64::from(len) / mean;
        }
        (pa >= 1.0 || (pa > 0.0 && self.coin.uniform() < pa)).then_some(Cause::Early)
    }

    fn departure(&mut self, now: u64) {
        match self.waiting.first() {
            Some(&Waiting { frame, .. }) => self.remove(frame),
            None => {
                self.idle_since.get_or_insert(now);
            }
        }
    }
}

/// Runs both side by side; how often a match, an early signal, a certain drop and an overflow were
/// met.
fn compare(config: Config, policy: EcnPolicy, seed: u64) -> [u32; 4] {
    let stream = |name| Seed(seed).stream(name);
    let choke = Choke::new(config.clone(), stream("draw"), stream("coin"));
    let mut queue = Queue::new(config.red.limit, Fcfs, choke).with_ecn(policy);
    let mut plain = Plain {
        config,
        marks: policy == EcnPolicy::Mark,
        draw: stream("draw"),
        coin: stream("coin"),
        waiting: Vec::new(),
        dense: Vec::new(),
        avg: 0.0,
        count: 0.0,
        count_bytes: 0.0,
        was_below: true,
        idle_since: None,
    };
    let (mut now, mut met) = (0, [0; 4]);
    let mut traffic = stream("traffic");
    for frame in 0..4_000u32 {
        // The load swings between half and thrice the link's rate; at times it pauses.
        let load = [3.0, 1.3, 0.5, 1.8, 1.1][(frame / 300) as usize % 5];
        now += (819_200.0 * traffic.uniform() / load) as u64;
        if traffic.chance(0.001) {
            now += u64::from(traffic.below(200_000_000));
        }
        if traffic.chance(1.0 / load) {
            plain.departure(now);
            queue.dequeue(Time::from_ns(now), &mut Log::default());
        }
        let flow = if traffic.chance(0.4) { 0 } else { u64::from(traffic.below(12)) };
        let len = if traffic.chance(0.5) { 512 } else { 40 + traffic.below(960) };
        let ecn = if traffic.chance(0.5) { Ecn::Ect0 } else { Ecn::NotEct };
        let mut log = Log::default();
        queue.enqueue(Packet { ecn, ..packet(frame, flow, len) }, Time::from_ns(now), &mut log);
        let (mut dropped, marked) = plain.arrival(Waiting { frame, flow, len }, ecn.is_capable(), now);
        log.dropped.sort_unstable();
        dropped.sort_unstable();
        assert_eq!(log.dropped, dropped, "average {}", plain.avg);
        assert_eq!(log.marked, if marked { vec![frame] } else { vec![] });
        assert_eq!(queue.backlog().packets as usize, plain.waiting.len());
        // Two libraries' powers, each right to a unit or so in the last place, over four thousand
        // steps.
        let average = queue.dropper().average();
        assert!((average - plain.avg).abs() <= 1e-11 * plain.avg.max(1.0), "{average} {}", plain.avg);
        met[0] += u32::from(dropped.len() > 1);
        for (_, cause) in dropped.iter().filter(|_| dropped.len() == 1) {
            match cause {
                Cause::Early => met[1] += 1,
                Cause::Forced => met[2] += 1,
                Cause::Overflow => met[3] += 1,
                other => panic!("CHOKe has no {other:?}"),
            }
        }
        met[1] += u32::from(marked);
    }
    met
}

#[test]
fn it_decides_as_the_pseudo_code_does_in_every_variant() {
    let defaults = Spec::default().check(&site(Amount::Packets(40))).expect("allowed");
    let mut met = [0; 4];
    for switches in 0..8u64 {
        let on = |bit: u32| switches >> bit & 1 == 1;
        let scale = if on(0) { 512.0 } else { 1.0 };
        let red = red::Config {
            limit: if on(0) { Limit::bytes(20_480) } else { Limit::packets(40) },
            measure: if on(0) { Measure::Bytes } else { Measure::Packets },
            ramp: Ramp { min: 6.0 * scale, max: 25.0 * scale, max_probability: 0.1, gentle: on(1) },
            weight: 0.02, // ten times the default, so that a short run goes through all branches
            spreading: if on(2) { Spreading::AtLeast } else { Spreading::AtMost },
            ..defaults.red
        };
        for compare_with in [Compare::Random, Compare::Front, Compare::Back] {
            for draws in [Draws::Fixed(1), Draws::Fixed(3), Draws::Regions(4)] {
                let config = Config { red, draws, compare: compare_with };
                let policy = if on(1) == on(2) { EcnPolicy::Drop } else { EcnPolicy::Mark };
                for (total, n) in met.iter_mut().zip(compare(config, policy, switches)) {
                    *total += n;
                }
            }
        }
    }
    assert!(met.iter().all(|&n| n > 300), "some branch was hardly met: {met:?}");
}

#[test]
fn the_defaults_are_reds_thresholds_and_one_draw() {
    let config = Spec::default().check(&site(Amount::Packets(40))).expect("allowed");
    assert_eq!(config.red.ramp, Ramp { min: 10.0, max: 20.0, max_probability: 0.02, gentle: false });
    assert_eq!((config.draws, config.compare), (Draws::Fixed(1), Compare::Random));
    assert_eq!((config.red.weight, config.red.spreading), (0.002, Spreading::AtMost));
}

#[test]
fn a_flow_is_hit_in_proportion_to_its_share_of_the_queue() {
    // Average at once the queue of 20, between the thresholds; probability of RED's own test next
    // to nothing.
    let spec = Spec { weight: Some(1.0), max_probability: Some(1e-9), ..Spec::default() };
    let config = Spec { max_threshold: Some(Amount::Packets(30).into()), ..spec }
        .check(&site(Amount::Packets(40)))
        .expect("allowed");
    let mut buffer = Buffer::new(config.red.limit);
    for frame in 0..20 {
        buffer.push(packet(frame, u64::from(frame % 4 == 0), 512)); // flow 1 has a quarter
    }
    let mut choke = Choke::new(config, Seed(5).stream("draw"), Seed(5).stream("coin"));
    use fairwire_core::{Dropper, Verdict};
    let mut hits = 0;
    for _ in 0..10_000 {
        let arrival = packet(99, 1, 512);
        if choke.on_arrival(&arrival, &buffer, Time::ZERO) == Verdict::Drop(Cause::Forced) {
            hits += 1;
            let (key, verdict) = choke.another(&arrival, &buffer, Time::ZERO).expect("the match goes too");
            assert_eq!((buffer.packet(key).flow, verdict), (1.into(), Verdict::Drop(Cause::Forced)));
            assert_eq!(choke.another(&arrival, &buffer, Time::ZERO), None);
        }
    }
    assert!((2357..2643).contains(&hits), "{hits}"); // 2500 +- 3.3 sd
}

//! CHOKe against its pseudo-code, and its random hits.

use super::{packet, site};
use crate::beside::{Event, Line, Met, Offer, Reading, Traffic, add, assert_met, assert_near, compare};
use crate::red::{Since, ceiling, printed};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Buffer, Cause, Dropper, EcnPolicy, Limit, Queue, Rng, Seed, Time, Verdict};
use fairwire_laws::dropper::choke::{Choke, Compare, Config, Draws, Spec};
use fairwire_laws::dropper::red::{self, Ramp, Spreading};
use fairwire_laws::spec::Measure;

struct Reference {
    config: Config,
    line: Line,
    draw: Rng,
    coin: Rng,
    /// The waiting frames, in the order in which random draws index them. When a frame leaves, the
    /// last frame takes its index.
    dense: Vec<u32>,
    avg: f64,
    since: Since,
    is_above: bool,
    idle_since: Option<u64>,
    /// Matches and certain drops.
    met: [u32; 2],
}

impl Reference {
    fn remove(&mut self, frame: u32) {
        self.line.waiting.retain(|waiting| waiting.frame != frame);
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
        self.avg = self.avg * (1.0 - red.given.weight).powf(m + 1.0) + red.given.weight * q;
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
        let waiting = &self.line.waiting;
        let drawn: Vec<u32> = match self.config.compare {
            Compare::Random if self.dense.is_empty() => Vec::new(),
            Compare::Random => {
                (0..m).map(|_| self.dense[self.draw.below(self.dense.len() as u32) as usize]).collect()
            }
            Compare::Front => waiting.iter().take(m).map(|waiting| waiting.frame).collect(),
            Compare::Back => waiting.iter().rev().take(m).map(|waiting| waiting.frame).collect(),
        };
        let same = |frame: &u32| waiting.iter().any(|w| w.frame == *frame && w.flow == flow);
        let mut matches = Vec::new();
        for frame in drawn.into_iter().filter(same) {
            if !matches.contains(&frame) {
                matches.push(frame);
            }
        }
        matches
    }
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        let red = self.config.red;
        let bytes = red.given.measure == Measure::Bytes;
        let q = self.line.held(bytes);
        self.update_average(q, now);
        let is_spared = self.avg < red.ramp.min || (red.given.spare_short_queue && q <= 1.0);
        let matches = if is_spared { Vec::new() } else { self.matches(offer.flow) };
        if !matches.is_empty() {
            self.met[0] += 1;
            // The packet drawn last leaves first, which matters only to the order of `dense`.
            matches.iter().rev().for_each(|&frame| self.remove(frame));
            let gone = matches.into_iter().chain([offer.frame]);
            return events.extend(gone.map(|frame| Event::Dropped(frame, Cause::Forced)));
        }
        self.since.count(offer.len);
        let (mut cause, mut can_mark) = (None, false);
        if is_spared {
            self.is_above = false;
        } else if self.avg >= ceiling(red.ramp) {
            cause = Some(Cause::Forced);
            self.met[1] += 1;
        } else if !self.is_above {
            self.is_above = true;
            self.since.begin(offer.len);
        } else {
            let mean = bytes.then_some(f64::from(red.packet_bytes));
            let pa = self.since.chance(printed(red.ramp, self.avg), red.spreading, offer.len, mean);
            if pa >= 1.0 || (pa > 0.0 && self.coin.uniform() < pa) {
                (cause, can_mark) = (Some(Cause::Early), self.line.can_mark(offer));
            }
        }
        if self.line.is_full(offer.len) {
            (cause, can_mark) = (Some(Cause::Overflow), false);
        }
        if cause.is_some() {
            self.since = Since::default();
        }
        if cause.is_none() || can_mark {
            self.dense.push(offer.frame);
        }
        self.line.admit(offer, cause, can_mark, events);
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        match self.line.waiting.front().map(|waiting| waiting.frame) {
            Some(frame) => {
                self.remove(frame);
                events.push(Event::Sent(frame));
            }
            None => {
                self.idle_since.get_or_insert(now);
            }
        }
    }
}

fn side_by_side(limit: Limit, config: Config, policy: EcnPolicy, seed: u64) -> Met {
    let stream = |name| Seed(seed).stream(name);
    let choke = Choke::new(config.clone(), stream("draw"), stream("coin"));
    let mut queue = Queue::new(limit, Fcfs, choke).with_ecn(policy);
    let mut plain = Reference {
        line: Line::new(limit, policy),
        config,
        draw: stream("draw"),
        coin: stream("coin"),
        dense: Vec::new(),
        avg: 0.0,
        since: Since::default(),
        is_above: false,
        idle_since: None,
        met: [0; 2],
    };
    let traffic = Traffic {
        loads: [3.0, 1.3, 0.5, 1.8, 1.1],
        turn: 300,
        flow: |rng, _| if rng.chance(0.4) { 0 } else { rng.below(12).into() },
        ..Traffic::default()
    };
    let mut met = compare(&mut queue, &mut plain, &traffic, (4_000, seed), |queue, plain| {
        assert_near(queue.dropper().average(), plain.avg);
    });
    met.extend([("match", plain.met[0]), ("certain", plain.met[1])]);
    met
}

#[test]
fn it_decides_as_the_pseudo_code_does_in_every_variant() {
    let defaults = Spec::default().check(&site(Amount::Packets(40))).expect("allowed").1;
    let mut met = Met::new();
    for switches in 0..8u64 {
        let on = |bit: u32| switches >> bit & 1 == 1;
        let scale = if on(0) { 512.0 } else { 1.0 };
        let limit = if on(0) { Limit::bytes(20_480) } else { Limit::packets(40) };
        let measure = if on(0) { Measure::Bytes } else { Measure::Packets };
        // The weight is ten times the default, so a short run takes all branches.
        let red = red::Config {
            given: red::Checked { measure, weight: 0.02, ..defaults.red.given },
            ramp: Ramp { min: 6.0 * scale, max: 25.0 * scale, max_probability: 0.1, gentle: on(1) },
            spreading: if on(2) { Spreading::AtLeast } else { Spreading::AtMost },
            ..defaults.red
        };
        for compare_with in [Compare::Random, Compare::Front, Compare::Back] {
            for draws in [Draws::Fixed(1), Draws::Fixed(3), Draws::Regions(4)] {
                let config = Config { red, draws, compare: compare_with };
                let policy = if on(1) == on(2) { EcnPolicy::Drop } else { EcnPolicy::Mark };
                add(&mut met, side_by_side(limit, config, policy, switches));
            }
        }
    }
    assert_met(&met, &["sent", "marked", "early", "match", "certain", "overflow"], 300);
}

#[test]
fn the_defaults_are_the_thresholds_of_red_and_one_draw() {
    let config = Spec::default().check(&site(Amount::Packets(40))).expect("allowed").1;
    assert_eq!(config.red.ramp, Ramp { min: 10.0, max: 20.0, max_probability: 0.02, gentle: false });
    assert_eq!((config.draws, config.compare), (Draws::Fixed(1), Compare::Random));
    assert_eq!((config.red.given.weight, config.red.spreading), (0.002, Spreading::AtMost));
}

#[test]
fn a_flow_is_hit_in_proportion_to_its_share_of_the_queue() {
    // The average, 20 packets, is between the thresholds. RED's test hardly ever signals.
    let spec = Spec { weight: Some(1.0), max_probability: Some(1e-9), ..Spec::default() };
    let config = Spec { max_threshold: Some(Amount::Packets(30).into()), ..spec }
        .check(&site(Amount::Packets(40)))
        .expect("allowed")
        .1;
    let mut buffer = Buffer::new(Limit::packets(40));
    for frame in 0..20 {
        buffer.push(packet(frame, u64::from(frame % 4 == 0), 512)); // flow 1 has a quarter
    }
    let mut choke = Choke::new(config, Seed(5).stream("draw"), Seed(5).stream("coin"));
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

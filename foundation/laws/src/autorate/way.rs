//! One direction of a line.

use super::peers::Heard;
use super::{Config, STEP};
use fairwire_core::{Duration, Time};

/// The point at which bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountingPoint {
    /// Before the line, as for an upload: bytes that enter the line.
    Before,
    /// Behind the line, as for a download: bytes that leave the line.
    Behind,
}

/// For each recent step, the total bytes that each direction had carried.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    counts: [Count; COUNTS],
    /// The number of counts ever added.
    added: usize,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    at: Time,
    bytes: [u64; 2],
}

/// The number of steps remembered: 3.2 s.
const COUNTS: usize = 64;
/// The number of steps over which recent traffic is measured: 200 ms.
const LATELY: usize = 4;

impl Carried {
    pub(super) fn new() -> Self {
        Carried { counts: [Count { at: Time::ZERO, bytes: [0; 2] }; COUNTS], added: 0 }
    }

    pub(super) fn add(&mut self, at: Time, bytes: [u64; 2]) {
        self.counts[self.added % COUNTS] = Count { at, bytes };
        self.added += 1;
    }

    fn before(&self, ago: usize) -> Option<Count> {
        let at = self.added.checked_sub(1 + ago).filter(|_| ago < COUNTS)?;
        Some(self.counts[at % COUNTS])
    }

    /// Recent traffic, in bit/s.
    pub(super) fn lately(&self, way: usize) -> f64 {
        let first = (1..=LATELY).rev().find_map(|ago| self.before(ago));
        let (Some(first), Some(last)) = (first, self.before(0)) else { return 0.0 };
        let seconds = last.at.since(first.at).secs();
        if seconds > 0.0 { bits(last.bytes[way].saturating_sub(first.bytes[way])) / seconds } else { 0.0 }
    }

    /// The bytes that a direction had carried at `time`, interpolated between two steps; `None` if
    /// the time is too old.
    fn at(&self, way: usize, time: Time) -> Option<f64> {
        let mut later = self.before(0)?;
        for ago in 1..COUNTS {
            let earlier = self.before(ago)?;
            if earlier.at <= time {
                let span = later.at.since(earlier.at).secs();
                let part = if span > 0.0 { time.since(earlier.at).secs() / span } else { 0.0 };
                let between = later.bytes[way].saturating_sub(earlier.bytes[way]) as f64;
                return Some(earlier.bytes[way] as f64 + between * part.min(1.0));
            }
            later = earlier;
        }
        None
    }
}

fn bits(bytes: u64) -> f64 {
    8.0 * bytes as f64
}

/// The number of latest answers kept to measure the line's rate.
const ANSWERS: usize = 4;
const DRAIN_S: f64 = 1.0;
/// A cut leaves at least this fraction of the delivery.
const LEAST: f64 = 0.5;
/// A direction is in use if it carries at least this fraction of its rate. From the fraction
/// [`LOADED`] on, the rate may grow.
const USED: f64 = 0.1;
const LOADED: f64 = 0.75;
/// A direction that carries less than this fraction of its rate does not fill its line. The
/// fraction for [`CountingPoint::Behind`] is lower, since a slowed line carries little even when
/// full.
const FILLS_BEFORE: f64 = 0.25;
const FILLS_BEHIND: f64 = 0.02;

/// Whether the line is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fullness {
    /// The line is full, and adds at least this delay.
    Full(Duration),
    /// The line is not full, as far as is known, and the rate may grow.
    Free,
    /// Nearly, or unknown.
    Unknown,
}

impl Fullness {
    pub(super) fn of(heard: Heard, target: Duration) -> Self {
        let half = Duration::from_ns(target.ns() / 2);
        match heard.added {
            added if added <= half || heard.certain.is_zero() => Fullness::Free,
            added if added > target && heard.certain > half => Fullness::Full(heard.certain),
            _ => Fullness::Unknown,
        }
    }
}

/// One direction.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) config: Config,
    side: CountingPoint,
    /// Its rate, bit/s.
    pub(super) bps: f64,
    /// The delivery of the line when it was last full, in bit/s.
    good: Option<f64>,
    good_before: Option<f64>,
    /// Growth above `good`, per second.
    growth: f64,
    /// The latest answers, oldest first.
    answers: [Option<Heard>; ANSWERS],
    /// The earliest time of the next cut, when the last cut has taken effect.
    hold_until: Time,
    used_at: Time,
    stepped_at: Time,
}

impl Way {
    pub(super) fn new(config: Config, side: CountingPoint) -> Self {
        Way {
            config,
            side,
            bps: config.start.bps() as f64,
            good: None,
            good_before: None,
            growth: config.given.probe,
            answers: [None; ANSWERS],
            hold_until: Time::ZERO,
            used_at: Time::ZERO,
            stepped_at: Time::ZERO,
        }
    }

    pub(super) fn answered(&mut self, heard: Heard) {
        self.answers.rotate_left(1);
        self.answers[ANSWERS - 1] = Some(heard);
    }

    /// Saves the last measured delivery. Called when the line becomes full.
    pub(super) fn remember(&mut self) {
        self.good_before = self.good;
    }

    /// Restores the saved delivery, since the line proved not to be full.
    pub(super) fn take_back(&mut self) {
        self.good = self.good_before;
        self.answers = [None; ANSWERS]; // their added delays are relative to another base
    }

    /// Adapts the rate at `now`. `line` is `None` without recent round trips. `is_most` is false if
    /// the other direction is much more loaded.
    pub(super) fn step(
        &mut self,
        carried: &Carried,
        way: usize,
        line: Option<Fullness>,
        is_most: bool,
        now: Time,
    ) {
        // A call after a long pause counts as at most two steps.
        let seconds = now.since(self.stepped_at).secs().min(2.0 * STEP.secs());
        self.stepped_at = now;
        let load = carried.lately(way) / self.bps;
        if line.is_some() && load >= USED {
            self.used_at = now;
        }
        match line {
            Some(Fullness::Full(added)) => {
                self.growth = self.config.given.probe;
                let fills = match self.side {
                    CountingPoint::Before => FILLS_BEFORE,
                    CountingPoint::Behind => FILLS_BEHIND,
                };
                if is_most && load >= fills && now >= self.hold_until {
                    self.cut(carried, way, added, now);
                }
            }
            Some(Fullness::Free) if load >= LOADED => self.grow(seconds),
            _ => {}
        }
        self.rest(now);
    }

    fn rest(&mut self, now: Time) {
        if now.since(self.used_at) >= self.config.given.idle {
            self.bps = self.config.start.bps() as f64;
            (self.good, self.growth) = (None, self.config.given.probe);
        }
    }

    fn cut(&mut self, carried: &Carried, way: usize, added: Duration, now: Time) {
        let trip = self.answers[ANSWERS - 1].map_or(Duration::ZERO, |heard| heard.trip);
        self.hold_until = now + trip + STEP;
        let Some(delivered) = self.delivered(carried, way) else {
            // The answered segments left too long ago, or too close together, to measure the
            // delivery.
            return self.set(self.bps.min(LEAST * carried.lately(way)));
        };
        let left = (1.0 - added.secs() / DRAIN_S).max(LEAST);
        self.good = Some(delivered);
        self.set(self.bps.min(self.config.given.keep * delivered * left));
    }

    /// The delivery of the full line, in bit/s; `None` if the answers cannot measure it.
    fn delivered(&self, carried: &Carried, way: usize) -> Option<f64> {
        match self.side {
            CountingPoint::Behind => Some(carried.lately(way)),
            CountingPoint::Before => {
                let last = self.answers[ANSWERS - 1]?;
                let sent = |heard: &Heard| heard.left + heard.added;
                let first = self.answers.iter().flatten().find(|first| sent(first) + STEP <= sent(&last))?;
                let bytes = carried.at(way, last.left)? - carried.at(way, first.left)?;
                Some(8.0 * bytes.max(0.0) / sent(&last).since(sent(first)).secs())
            }
        }
    }

    fn grow(&mut self, seconds: f64) {
        let known = self.good.map_or(0.0, |good| self.config.given.keep * good);
        if self.bps < known {
            self.set((self.bps * (1.0 + self.config.given.recover * seconds)).min(known));
        } else {
            self.set(self.bps * (1.0 + self.growth * seconds));
            self.growth = (self.growth * libm::exp2(seconds)).min(self.config.given.recover);
        }
    }

    fn set(&mut self, bps: f64) {
        self.bps = bps.clamp(self.config.min.bps() as f64, self.config.max.bps() as f64);
    }
}

//! Autorate: the rate of a shaper in front of a line that varies, from round trips that pass.
//!
//! # What it does
//! A shaper holds the queue only where it is a little slower than the line behind it. This follows
//! the line. Each round trip has an added delay: what it took above the least that its peer took
//! lately, the base. Where the added delay is above `target`, the line is full, and so it delivers
//! what it can. That is measured, and the rate becomes `keep` of it, less what drains the queue
//! within a second. Where the added delay is at most half of `target` and the rate is used, the
//! rate grows: by `recover` up to `keep` of what the line delivered last, and above that by
//! `probe`, which doubles each second. Without use for `idle` the rate is again that at the start.
//!
//! # Why
//! LTE, satellites and cable change their rate within seconds. A fixed rate either wastes most of
//! the line or leaves the queue in the modem.
//!
//! # What a round trip says
//! An answer comes late for two reasons: a queue, or an end that had nothing to say. A program
//! waits for its user, and an acknowledgement of one small segment for the next (RFC 9293, section
//! 3.8.6.3). What the other end sent last before its answer, it sent before it had heard the
//! segment, or else that would have been the answer. In order, so the path without the end took
//! at least until that came, and at most until the answer did. The line is full only where the
//! most exceeds `target` and the least exceeds half of it. It is free where the most is at most
//! half, or the least adds nothing to the base: a queue that grows then shows in the least. Between,
//! nothing is cut and nothing grows. Both ends of a bulk transfer are heard all the time, so there
//! the two are nearly equal.
//!
//! # Whose round trips count
//! A queue of the line delays all peers that cross it. So the least delays say most: those of peers
//! that carry a quarter of what is carried. While peers are awaited that carry more than all that
//! were heard, nothing is decided.
//!
//! # What is delivered
//! In front of the line ([`Side::Before`]) what is sent says nothing of the line: the queue takes
//! it. Between the departures of two segments that were answered, some bytes left. The line sent
//! those in the time between the departures plus the growth of the added delay. Behind the line
//! ([`Side::Behind`]) what comes is what it delivers. Either is exact while the line is full. So a
//! cut that is repeated while the queue drains changes nothing.
//!
//! # What it cannot know
//! - A round trip does not say in which way it waited: the ways that are loaded are cut, by what
//!   each carries of its rate.
//! - A path that becomes longer is taken for a queue, until five seconds of cuts have not helped.
//!   Then the base is forgotten, and what was measured before the cuts is the goal again.
//! - Without answers (UDP alone) nothing is known, and the rate goes back to the start.
//! - Hosts that forge late answers can lower the rate of all, to `min` at most, if they carry three
//!   quarters of what is carried. With the help of the other ends, those that carry a quarter can
//!   hide a queue.
//!
//! # State and cost
//! 64 peers and 64 counts, 8 KiB, for both ways. A round trip costs a scan of 64 numbers, a step
//! every 50 ms two sorts of at most 64. Nothing is allocated.
//!
//! # Source (section, equation)
//! Own design. The base as a windowed minimum, and a rate that is measured between two answers, are
//! those of BBR (Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5),
//! 2016). A delay above a base as the sign of a queue is that of LEDBAT (RFC 6817, section 2.4.2).
//! That an answer could have come since the packet before it is from the spin bit (RFC 9312,
//! section 3.8.2).

mod peers;
mod way;

pub use way::Side;

use crate::error::{BadParameter, Of as _, Parameter};
use crate::spec::Quantity;
use fairwire_core::{Duration, Rate, RoundTrip, Time};
use fairwire_parameters::parameters;
use peers::{Heard, Peers};
use way::{Carried, Fullness, Way};

const NAME: &str = "autorate";

/// Parameters of `autorate`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spec {
    /// The rate is never below this.
    #[parameter(unset = "a tenth of `rate`")]
    pub min: Option<Quantity<Rate>>,
    /// The rate is never above this.
    #[parameter(unset = "twice `rate`")]
    pub max: Option<Quantity<Rate>>,
    /// The added delay above which the line is full; up to half of it the rate grows.
    #[parameter(default = "20 ms", min = "1 ms", max = "10 s")]
    pub target: Option<Quantity<Duration>>,
    /// The fraction of what the line delivered that a cut leaves.
    #[parameter(default = 0.95, min = 0.1, max = 1.0, unit = "1")]
    pub keep: Option<f64>,
    /// How fast the rate grows below what the line delivered last, per second.
    #[parameter(default = 1.0, min = 0.0, max = 10.0, unit = "Hz")]
    pub recover: Option<f64>,
    /// How fast it grows above that at first, per second; this doubles each second, up to
    /// `recover`.
    #[parameter(default = 0.05, min = 0.0, max = 10.0, unit = "Hz")]
    pub probe: Option<f64>,
    /// For how long a least round trip counts; at least half as long.
    #[parameter(default = "60 s", min = "1 s", max = "1 h")]
    pub window: Option<Quantity<Duration>>,
    /// Without use for this long, the rate is that at the start.
    #[parameter(default = "30 s", min = "1 s", max = "1 h")]
    pub idle: Option<Quantity<Duration>>,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The rate at the start, and without use.
    pub start: Rate,
    /// The rate is never below this.
    pub min: Rate,
    /// The rate is never above this.
    pub max: Rate,
    /// As given or by default.
    pub given: Checked,
}

impl Spec {
    /// Checks what was typed, for a way that starts at `start`.
    pub fn check(&self, start: Rate) -> Result<Config, BadParameter> {
        let given = self.checked().of(NAME)?;
        let parameter = |name| Parameter { discipline: NAME, name };
        let min = self.min.map_or_else(|| times(start, 0.1), |typed| typed.0);
        let max = self.max.map_or_else(|| times(start, 2.0), |typed| typed.0);
        if min > start {
            return Err(parameter("min").refuse(min, format_args!("at most `rate`, which is {start}")));
        }
        if max < start {
            return Err(parameter("max").refuse(max, format_args!("no less than `rate`, which is {start}")));
        }
        Ok(Config { start, min, max, given })
    }
}

/// A part or a multiple of a rate, at least 1 bit/s.
fn times(rate: Rate, factor: f64) -> Rate {
    rate_of(rate.bps() as f64 * factor).unwrap_or(rate)
}

fn rate_of(bps: f64) -> Option<Rate> {
    Rate::from_bps((bps + 0.5) as u64)
}

/// The interval at which rates change, and in which a peer is heard once.
pub const STEP: Duration = Duration::from_ms(50);
/// Cuts that have not helped for this long were not for a queue of ours.
const FORGET: Duration = Duration::from_secs(5);
/// An added delay is out of date after this.
const STALE: Duration = Duration::from_secs(1);

/// The rates of a line's ways, one or both. See the [module](self).
#[derive(Clone, Debug)]
pub struct Autorate {
    ways: [Option<Way>; 2],
    peers: Peers,
    carried: Carried,
    /// When rates change next.
    due: Time,
    /// What was heard last, and when.
    heard: Option<(Heard, Time)>,
    /// Since when the line was full all the time.
    full_since: Option<Time>,
    target: Duration,
}

impl Autorate {
    /// At the start, for the ways that follow their line.
    ///
    /// Bases of round trips are of both ways: the shorter `window` counts.
    pub fn new(ways: [Option<(Config, Side)>; 2]) -> Self {
        let configs = || ways.iter().flatten().map(|(config, _)| config);
        let window = configs().map(|config| config.given.window).min().unwrap_or(FORGET);
        let target = configs().map(|config| config.given.target).min().unwrap_or(STALE);
        Autorate {
            ways: ways.map(|way| way.map(|(config, side)| Way::new(config, side))),
            peers: Peers::new(window),
            carried: Carried::new(),
            due: Time::ZERO,
            heard: None,
            full_since: None,
            target,
        }
    }

    /// A round trip was measured, whose answer came at `now`.
    pub fn hear(&mut self, trip: RoundTrip, now: Time) {
        self.peers.hear(trip, now, self.full_since.is_some());
    }

    /// Goes on to `now`, when each way has carried this number of bytes in all. Returns whether
    /// rates may have changed; this is so at most once in a [`STEP`].
    pub fn advance(&mut self, carried: [u64; 2], now: Time) -> bool {
        if now < self.due {
            return false;
        }
        self.due = now + STEP;
        self.carried.add(now, carried);
        if let Some(heard) = self.peers.verdict(now) {
            self.heard = Some((heard, now));
            for way in self.ways.iter_mut().flatten() {
                way.answered(heard);
            }
            self.look_at_fullness(heard, now);
        }
        let heard = self.heard.filter(|(_, at)| now.since(*at) <= STALE).map(|(heard, _)| heard);
        let loads = [0, 1].map(|at| self.load(at));
        let most = loads[0].max(loads[1]);
        for (at, way) in self.ways.iter_mut().enumerate() {
            let Some(way) = way else { continue };
            let fullness = heard.map(|heard| Fullness::of(heard, way.config.given.target));
            way.step(&self.carried, at, fullness, loads[at] >= most / 2.0, now);
        }
        true
    }

    /// The rate of a way; `None` where it does not follow its line.
    pub fn rate(&self, way: usize) -> Option<Rate> {
        let way = self.ways.get(way)?.as_ref()?;
        Some(rate_of(way.bps).unwrap_or(way.config.min))
    }

    /// The added delay that was heard last, for certain.
    pub fn added(&self) -> Option<Duration> {
        self.heard.map(|(heard, _)| heard.certain)
    }

    /// The part of its rate that a way carries; 0 where it does not follow its line.
    fn load(&self, at: usize) -> f64 {
        let Some(way) = &self.ways[at] else { return 0.0 };
        self.carried.lately(at) / way.bps
    }

    /// Forgets bases that are not true any more.
    fn look_at_fullness(&mut self, heard: Heard, now: Time) {
        if !matches!(Fullness::of(heard, self.target), Fullness::Full(_)) {
            if self.full_since.take().is_some() && heard.added <= self.target {
                self.peers.trust_all();
            }
            return;
        }
        match self.full_since {
            None => {
                self.full_since = Some(now);
                self.peers.forget_recent();
                self.ways.iter_mut().flatten().for_each(Way::remember);
            }
            Some(since) if now.since(since) >= FORGET => {
                self.full_since = None;
                self.peers.take_recent();
                self.ways.iter_mut().flatten().for_each(Way::take_back);
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;

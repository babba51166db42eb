//! Autorate: adapts a shaper's rate to a line that varies, from passively observed round trips.
//!
//! # What it does
//! A shaper controls the queue only if it is a little slower than the line behind it. The added
//! delay of a round trip is its excess over the base: the shortest recent round trip of its peer.
//! An added delay above `target` means that the line is full, and its delivery is then measured.
//! The new rate is `keep` of that delivery, minus the rate that drains the queue within a second.
//! While the added delay is at most half of `target` and the rate is used, the rate grows: by
//! `recover` up to `keep` of the last delivery, and above that by `probe`, which doubles each
//! second. After `idle` without use the rate returns to its start.
//!
//! # Why
//! LTE, satellites and cable change their rate within seconds. A fixed rate wastes most of the line
//! or leaves the queue in the modem.
//!
//! # What a round trip says
//! An answer is late because of a queue, or because the other end delayed it (RFC 9293, section
//! 3.8.6.3). Consider the last packet from the other end before the answer. That packet was sent
//! before the segment arrived; otherwise it would have been the answer. Packets stay in order, so
//! this arrival gives a lower bound of the round trip, free of the other end's delay. The answer
//! gives an upper bound.
//!
//! The line is full only if the upper bound exceeds `target` and the lower bound exceeds half of
//! `target`. The line is free if the upper bound is at most half of `target`. It is also free if
//! the lower bound does not exceed the base, since a queue would raise that bound. Otherwise the
//! rate stays.
//!
//! # Whose round trips count
//! A queue of the line delays all peers that cross it, so the smallest delays are the best
//! evidence. Peers are taken in order of delay until they carry a quarter of the traffic, and the
//! delay of the last peer counts. Nothing is decided while the awaited peers carry more than the
//! heard peers.
//!
//! # What is delivered
//! In front of the line ([`CountingPoint::Before`]) the amount sent says nothing about the line,
//! since the queue absorbs it. Take the bytes that left between the departures of two answered
//! segments. The line sent them in the time between the departures plus the growth of the added
//! delay. Behind the line ([`CountingPoint::Behind`]) the arrivals are the delivery. Either measure
//! is exact while the line is full, so repeating a cut while the queue drains changes nothing.
//!
//! # What it cannot know
//! - A round trip does not reveal in which direction a packet waited. A direction is cut unless the
//!   other direction uses a much larger fraction of its rate.
//! - A path that becomes longer is mistaken for a queue until cuts have not helped for five
//!   seconds. Then the base is forgotten, and the rate returns to the delivery measured before the
//!   cuts.
//! - Without answers (only UDP) the rate returns to its start.
//! - Hosts that carry three quarters of the traffic can forge late answers and lower the rate for
//!   all, but not below `min`. With the other ends' help, hosts that carry a quarter can hide a
//!   queue.
//!
//! # State and cost
//! 64 peers and 64 counts of traffic: 8 KiB for both directions. A round trip costs a scan of 64
//! numbers, and a step, every 50 ms, two sorts of at most 64 peers. Nothing is allocated.
//!
//! # Source (section, equation)
//! Own design. The base as a windowed minimum, and a rate measured between two answers, come from
//! BBR (Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016). A
//! delay above a base as the sign of a queue comes from LEDBAT (RFC 6817, section 2.4.2), and the
//! lower bound from the spin bit (RFC 9312, section 3.8.2).

mod peers;
mod way;

pub use way::CountingPoint;

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
    /// The minimum rate.
    #[parameter(unset = "a tenth of `rate`")]
    pub min: Option<Quantity<Rate>>,
    /// The maximum rate.
    #[parameter(unset = "twice `rate`")]
    pub max: Option<Quantity<Rate>>,
    /// The added delay above which the line is full; the rate may grow while the added delay is at
    /// most half of `target`.
    #[parameter(default = "20 ms", min = "1 ms", max = "10 s")]
    pub target: Option<Quantity<Duration>>,
    /// The fraction of the line's delivery that a cut leaves.
    #[parameter(default = 0.95, min = 0.1, max = 1.0, unit = "1")]
    pub keep: Option<f64>,
    /// The growth of the rate, per second, while the rate is below `keep` of the line's last
    /// delivery.
    #[parameter(default = 1.0, min = 0.0, max = 10.0, unit = "Hz")]
    pub recover: Option<f64>,
    /// The initial growth of the rate, per second, above `keep` of the last delivery. This growth
    /// doubles each second, up to `recover`.
    #[parameter(default = 0.05, min = 0.0, max = 10.0, unit = "Hz")]
    pub probe: Option<f64>,
    /// The maximum time for which the shortest round trip is remembered; the minimum is half of
    /// this time.
    #[parameter(default = "60 s", min = "1 s", max = "1 h")]
    pub window: Option<Quantity<Duration>>,
    /// The time without use after which the rate returns to its initial value.
    #[parameter(default = "30 s", min = "1 s", max = "1 h")]
    pub idle: Option<Quantity<Duration>>,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The rate at the start, and after time without use.
    pub start: Rate,
    /// The minimum rate.
    pub min: Rate,
    /// The maximum rate.
    pub max: Rate,
    /// The parameters as given, or their defaults.
    pub given: Checked,
}

impl Spec {
    /// Checks the parameters for a direction whose initial rate is `start`.
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

fn times(rate: Rate, factor: f64) -> Rate {
    rate_of(rate.bps() as f64 * factor).unwrap_or(rate)
}

fn rate_of(bps: f64) -> Option<Rate> {
    Rate::from_bps((bps + 0.5) as u64)
}

/// The interval at which rates change. Round trips of one peer within one interval are merged.
pub const STEP: Duration = Duration::from_ms(50);
/// If cuts have not helped for this long, the delay was not from our queue.
const FORGET: Duration = Duration::from_secs(5);
/// The age above which an added delay is stale.
const STALE: Duration = Duration::from_secs(1);

/// The rates of one or both directions of a line. See the [module](self).
#[derive(Clone, Debug)]
pub struct Autorate {
    ways: [Option<Way>; 2],
    peers: Peers,
    carried: Carried,
    /// The time of the next step.
    due: Time,
    heard: Option<(Heard, Time)>,
    full_since: Option<Time>,
    target: Duration,
}

impl Autorate {
    /// Starts the directions at their initial rates; a direction that is `None` does not follow its
    /// line.
    ///
    /// A peer's shortest round trip covers both directions, so the shorter `window` counts.
    pub fn new(ways: [Option<(Config, CountingPoint)>; 2]) -> Self {
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

    /// Records a round trip whose answer came at `now`.
    pub fn hear(&mut self, trip: RoundTrip, now: Time) {
        self.peers.hear(trip, now, self.full_since.is_some());
    }

    /// Advances to `now`, by which time each direction has carried `carried` bytes in total.
    /// Returns true if rates may have changed, at most once in a [`STEP`].
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

    /// The rate of a direction; `None` if it does not follow its line.
    pub fn rate(&self, way: usize) -> Option<Rate> {
        let way = self.ways.get(way)?.as_ref()?;
        Some(rate_of(way.bps).unwrap_or(way.config.min))
    }

    /// The lower bound of the last added delay.
    pub fn added(&self) -> Option<Duration> {
        self.heard.map(|(heard, _)| heard.certain)
    }

    fn load(&self, at: usize) -> f64 {
        let Some(way) = &self.ways[at] else { return 0.0 };
        self.carried.lately(at) / way.bps
    }

    /// Forgets the bases if cuts have not helped for [`FORGET`].
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

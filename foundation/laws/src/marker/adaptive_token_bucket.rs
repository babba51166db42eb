//! The adaptive token bucket (ATB): a token bucket whose rate follows the requests of the far edge.
//!
//! # What it does
//! Packets are coloured as by [`token_bucket`](super::token_bucket), green ("in") within a target
//! rate and yellow ("out") above it. A packet may carry a request from the egress edge for a higher
//! or a lower target. Every `interval`, the target moves by `delta` of the contract, in the
//! direction of most requests.
//!
//! # Why
//! With fixed contracts, all aggregates share the surplus or shortage of a link about equally.
//! Targets that follow the link give each aggregate about the share that its contract calls for.
//!
//! # State and cost
//! The state of the token bucket, a target, a count of requests and a time; O(1) per packet.
//!
//! # Source (section, equation)
//! E. Park and C. Choi, "Adaptive Token Bucket Algorithm for Fair Bandwidth Allocation in DiffServ
//! Networks", GLOBECOM 2003, section III, equation (2), and section IV for T_s and delta.
//!
//! # Where we differ
//! - Equation (2) sets the new target to (1 +- delta) R_t, with R_t the contract. So the target
//!   would never leave the contract by more than a hundredth of a percent. Here each change adds or
//!   subtracts delta R_t. With `additive = false`, R_t is the current target.
//! - `lowest` and `highest` are ours. Without bounds, targets grow forever if no link is ever full.
//! - A gateway's `[egress]` reports only occasionally. While a report is valid, its request counts
//!   in each interval. Afterwards the target returns to the contract by the same steps.
//!
//! # Example
//! ```toml
//! [discipline.conditioner]
//! marker = { adaptive-token-bucket = { rate = "4 Mbit/s", burst = "50 kB" } }
//! ```

use super::tokens::{TokenClock, bucket, committed_rate, portion};
use super::{About, GREEN, YELLOW};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::site::Site;
use crate::spec::Quantity;
use alloc::boxed::Box;
use core::any::Any;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Marker, Packet, Probe, Rate, RateRequest, Rng, Time, Unit};
use fairwire_parameters::parameters;

/// This marker's catalogue entry.
pub const ABOUT: About = About {
    summary: "a token bucket whose rate follows the requests of the far edge",
    source: "Park and Choi 2003, section III",
};

const NAME: &str = "adaptive-token-bucket";

/// Parameters of `adaptive-token-bucket`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The contract, at which the target starts.
    #[parameter(unset = "half of the link's")]
    pub rate: Option<Quantity<Rate>>,
    /// The size of the bucket.
    #[parameter(
        unset = "what `rate` brings in 40 ms, at least two typical packets",
        unit = "size",
        source = "The paper prints none; see `token_bucket`."
    )]
    pub burst: Option<Quantity<Size>>,
    /// T_s: the time between changes of the target.
    ///
    /// The first change comes at a random time from 0 to T_s.
    #[parameter(default = "20 ms", above = "0 s")]
    pub interval: Option<Quantity<Duration>>,
    /// The fraction by which a change moves the target: see `additive`.
    #[parameter(default = 0.0001, above = 0.0, max = 1.0, unit = "1")]
    pub delta: Option<f64>,
    /// Whether `delta` is a fraction of the contract, as printed in equation (2), rather than of
    /// the current target.
    #[parameter(default = true)]
    pub additive: Option<bool>,
    /// The lower bound of the target.
    #[parameter(unset = "1 % of `rate`")]
    pub lowest: Option<Quantity<Rate>>,
    /// The upper bound of the target.
    #[parameter(unset = "the rate of the link, or `rate` if that is more")]
    pub highest: Option<Quantity<Rate>>,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The contract.
    pub rate: Rate,
    /// The size of the bucket, in bytes.
    pub burst: u64,
    /// The parameters as given, or their defaults.
    pub given: Checked,
    /// The lower bound of the target and of the contract.
    pub lowest: Rate,
    /// The upper bound of the target and of the contract.
    pub highest: Rate,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let given = self.checked().of(NAME)?;
        let parameter = |name| Parameter { discipline: NAME, name };
        let rate = committed_rate(self.rate, site);
        let lowest = self.lowest.map_or_else(|| portion(rate, 100), |typed| typed.0);
        let highest = self.highest.map_or_else(|| site.rate.max(rate), |typed| typed.0);
        if lowest > rate {
            return Err(parameter("lowest")
                .refuse(lowest, format_args!("at most the committed `rate`, which is {rate}")));
        }
        if highest < rate {
            return Err(parameter("highest")
                .refuse(highest, format_args!("no less than the committed `rate`, which is {rate}")));
        }
        let burst = bucket(self.burst, rate, site, parameter("burst"))?;
        Ok(Config { rate, burst, given, lowest, highest })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
        Ok(Box::new(AdaptiveTokenBucket::new(self.check(site)?, site.rng(NAME))))
    }
}

#[derive(Debug)]
pub(crate) struct AdaptiveTokenBucket {
    config: Config,
    clock: TokenClock,
    tokens: u64,
    target_bps: f64,
    /// numATR: the requests for a higher target minus those for a lower one.
    votes: i64,
    due: Time,
    /// The far edge's last report, which overrides the votes.
    report: Option<FarRequest>,
}

#[derive(Clone, Copy, Debug)]
struct FarRequest {
    request: RateRequest,
    until: Time,
}

impl AdaptiveTokenBucket {
    pub(crate) fn new(config: Config, mut rng: Rng) -> Self {
        let phase = Duration::from_secs_f64(config.given.interval.secs() * rng.uniform());
        AdaptiveTokenBucket {
            clock: TokenClock::new(config.rate),
            tokens: config.burst,
            target_bps: config.rate.bps() as f64,
            votes: 0,
            due: Time::ZERO + phase,
            report: None,
            config,
        }
    }

    fn next_target(&self) -> f64 {
        let Config { rate, given: Checked { delta, additive, .. }, lowest, highest, .. } = self.config;
        let base = if additive { rate.bps() as f64 } else { self.target_bps };
        let moved = self.target_bps + delta * base * self.votes.signum() as f64;
        moved.clamp(lowest.bps() as f64, highest.bps() as f64)
    }

    fn moved(&self, from: f64, request: RateRequest, times: u64) -> f64 {
        let Config { rate, given: Checked { delta, additive, .. }, lowest, highest, .. } = self.config;
        let delta = match request {
            RateRequest::Keep => return from,
            RateRequest::Increase => delta,
            RateRequest::Decrease => -delta,
        };
        let moved = match additive {
            true => from + delta * rate.bps() as f64 * times as f64,
            false => from * libm::pow(1.0 + delta, times as f64),
        };
        moved.clamp(lowest.bps() as f64, highest.bps() as f64)
    }

    /// The target after `changes` changes. The changes follow the report until it expires, then
    /// lead back to the contract.
    fn reported_target(&self, report: FarRequest, changes: u64) -> f64 {
        let followed = match report.until < self.due {
            true => 0,
            false => (report.until.since(self.due).ns() / self.config.given.interval.ns() + 1).min(changes),
        };
        let (contract, back) = (self.config.rate.bps() as f64, changes - followed);
        let reached = self.moved(self.target_bps, report.request, followed);
        match reached > contract {
            true => self.moved(reached, RateRequest::Decrease, back).max(contract),
            false => self.moved(reached, RateRequest::Increase, back).min(contract),
        }
    }

    /// Counts the changes due by `now`; at least one must be due.
    fn changes_by(&self, now: Time) -> u64 {
        now.since(self.due).ns() / self.config.given.interval.ns() + 1
    }

    /// The target at `now`; at least one change must be due.
    fn target_by(&self, now: Time) -> f64 {
        match self.report {
            None => self.next_target(),
            Some(report) => self.reported_target(report, self.changes_by(now)),
        }
    }

    /// Makes the changes due by `now`. Without reports, only the first change moves the target:
    /// later intervals had no requests. Until the first change, tokens come at the previous target;
    /// after it, at the new target.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        if now < self.due {
            return;
        }
        self.refill(self.due);
        self.target_bps = self.target_by(now);
        self.votes = 0;
        let rate = Rate::from_bps((self.target_bps + 0.5) as u64).unwrap_or(self.config.lowest);
        self.clock.go_on_at(rate);
        let over = self.config.given.interval.ns().saturating_mul(self.changes_by(now));
        self.due += Duration::from_ns(over);
    }

    #[inline]
    fn refill(&mut self, now: Time) {
        self.tokens = self.tokens.saturating_add(self.clock.tokens(now)).min(self.config.burst);
    }
}

impl Marker for AdaptiveTokenBucket {
    #[inline]
    fn color(&mut self, packet: &mut Packet, now: Time) {
        self.catch_up(now);
        self.refill(now);
        packet.color = match self.tokens.checked_sub(u64::from(packet.len)) {
            Some(left) => {
                self.tokens = left;
                GREEN
            }
            None => YELLOW,
        };
    }

    fn on_request(&mut self, request: RateRequest, now: Time) {
        self.catch_up(now);
        self.votes += match request {
            RateRequest::Keep => 0,
            RateRequest::Increase => 1,
            RateRequest::Decrease => -1,
        };
    }

    fn on_report(&mut self, request: RateRequest, until: Time, now: Time) {
        self.catch_up(now);
        self.report = Some(FarRequest { request, until });
    }

    fn target_bps(&self, now: Time) -> Option<f64> {
        Some(if now < self.due { self.target_bps } else { self.target_by(now) })
    }

    fn is_like(&self, other: &dyn Marker) -> bool {
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| other.config == self.config)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("contract_rate", Unit::BitsPerSecond, self.config.rate.bps() as f64);
        probe.gauge("target_rate", Unit::BitsPerSecond, self.target_bps);
        probe.gauge("tokens", Unit::Tokens, self.tokens as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{FlowHash, Seed};

    const RATE: u64 = 1_000_000;

    fn rate(bps: u64) -> Rate {
        Rate::from_bps(bps).expect("not zero")
    }

    fn config() -> Config {
        Config {
            rate: rate(RATE),
            burst: 50_000,
            given: Checked { additive: false, ..Checked::default() },
            lowest: rate(RATE / 100),
            highest: rate(100 * RATE),
        }
    }

    fn moving(delta: f64, additive: bool) -> Config {
        Config { given: Checked { delta, additive, ..Checked::default() }, ..config() }
    }

    fn marker(config: Config) -> AdaptiveTokenBucket {
        AdaptiveTokenBucket::new(config, Seed(1).stream("test"))
    }

    fn target_after(marker: &mut AdaptiveTokenBucket, request: RateRequest, intervals: u64) -> f64 {
        let start = marker.due;
        for interval in 0..intervals {
            marker.on_request(request, start + Duration::from_ms(20 * interval));
        }
        marker.target_bps(start + Duration::from_ms(20 * intervals)).expect("it adapts")
    }

    #[test]
    fn a_target_rises_and_falls_by_half_a_percent_a_second() {
        // 50 intervals of 20 ms: (1 + 1e-4)^50 = 1.005012...
        let up = target_after(&mut marker(config()), RateRequest::Increase, 50) / RATE as f64;
        assert!((up - 1.005_012_2).abs() < 1e-6, "{up}");
        let down = target_after(&mut marker(config()), RateRequest::Decrease, 50) / RATE as f64;
        assert!((down - 0.995_012_2).abs() < 1e-6, "{down}");
        assert_eq!(target_after(&mut marker(config()), RateRequest::Keep, 50), RATE as f64);
    }

    #[test]
    fn from_8_to_15_takes_126_seconds_and_additively_175() {
        let seconds = |additive: bool| {
            let mut marker = marker(Config { rate: rate(8 * RATE), ..moving(1e-4, additive) });
            let (start, mut ticks) = (marker.due, 0u64);
            while marker.target_bps < 15e6 {
                marker.on_request(RateRequest::Increase, start + Duration::from_ms(20 * ticks));
                ticks += 1;
            }
            ticks as f64 * 0.02
        };
        assert!((seconds(false) - 125.7).abs() < 0.1, "{}", seconds(false)); // ln 1.875 / (50 ln 1.0001)
        assert!((seconds(true) - 175.0).abs() < 0.1, "{}", seconds(true)); // 0.875 / 0.005
    }

    #[test]
    fn each_interval_counts_only_the_sign_of_its_votes() {
        let mut marker = marker(config());
        let start = marker.due;
        marker.on_request(RateRequest::Decrease, start);
        for _ in 0..2 {
            marker.on_request(RateRequest::Increase, start);
        }
        let after = Duration::from_ms(20);
        assert_eq!(marker.target_bps(start + after), Some(1.0001 * RATE as f64));
        // Intervals without requests change nothing.
        marker.on_request(RateRequest::Decrease, start + Duration::from_secs(1));
        assert_eq!(marker.target_bps, 1.0001 * RATE as f64);
        marker.on_request(RateRequest::Increase, start + Duration::from_secs(1));
        assert_eq!(marker.target_bps(start + Duration::from_secs(2)), Some(1.0001 * RATE as f64), "a tie");
    }

    fn both_readings() -> [AdaptiveTokenBucket; 2] {
        [true, false].map(|additive| marker(moving(1e-4, additive)))
    }

    #[test]
    fn a_report_holds_until_its_end_and_then_the_target_returns_to_the_contract() {
        for mut marker in both_readings() {
            let start = marker.due;
            let after = |ms| start + Duration::from_ms(ms);
            let contract = RATE as f64;
            marker.on_report(RateRequest::Increase, after(999), start);
            let top = marker.target_bps(after(999)).expect("it adapts");
            // 49 changes, at 20, 40, ... 980 ms: 1.0001^49 = 1.0049.
            assert!((top / contract - 1.0049).abs() < 2e-5, "{top}");
            let halfway = marker.target_bps(after(1500)).expect("it adapts");
            assert!(contract < halfway && halfway < top, "{halfway}");
            for ms in [2000, 3_600_000] {
                assert_eq!(marker.target_bps(after(ms)), Some(contract), "after {ms} ms");
            }
            marker.on_report(RateRequest::Decrease, after(5000), after(4000));
            for ms in (4000..5000).step_by(7) {
                marker.color(&mut Packet::new(0, 100, FlowHash(0), after(ms)), after(ms));
            }
            let bottom = marker.target_bps(after(5000)).expect("it adapts");
            assert!((bottom / contract - 0.995).abs() < 1e-4, "{bottom}");
            assert_eq!(marker.target_bps(after(3_600_000)), Some(contract), "cut off for an hour");
            marker.color(&mut Packet::new(0, 100, FlowHash(0), after(9000)), after(3_600_000));
            assert_eq!(marker.target_bps, contract);
        }
    }

    #[test]
    fn successive_reports_move_a_target_as_votes_do() {
        for (mut marker, mut voted) in both_readings().into_iter().zip(both_readings()) {
            let start = marker.due;
            for report in 0..50 {
                let now = start + Duration::from_ms(200 * report);
                marker.on_report(RateRequest::Increase, now + Duration::from_secs(1), now);
            }
            let now = start + Duration::from_ms(10_000);
            let reported = marker.target_bps(now).expect("it adapts");
            // The change at `start` precedes all reports. Reports decide the next 10 s / 20 ms =
            // 500 changes.
            let by_votes = target_after(&mut voted, RateRequest::Increase, 500);
            assert!((reported / by_votes - 1.0).abs() < 1e-9, "{reported} and {by_votes}");
            marker.on_report(RateRequest::Keep, now + Duration::from_secs(1), now);
            assert_eq!(marker.target_bps(now + Duration::from_ms(900)), Some(marker.target_bps));
        }
    }

    #[test]
    fn reports_keep_a_target_within_its_bounds_at_any_call_interval() {
        for additive in [true, false] {
            let given = Checked { delta: 1.0, additive, interval: Duration::from_ns(1) };
            let mut marker = marker(Config { given, ..config() });
            let (now, end) = (Time::from_ns(1_000_000_000), Time::MAX);
            marker.on_report(RateRequest::Increase, end, now);
            assert_eq!(marker.target_bps(Time::from_ns(u64::MAX - 1)), Some(100.0 * RATE as f64));
            marker.on_report(RateRequest::Decrease, end, now);
            assert_eq!(marker.target_bps(Time::from_ns(u64::MAX - 1)), Some(RATE as f64 / 100.0));
        }
    }

    #[test]
    fn a_target_stays_within_its_bounds() {
        let bounds = Config { lowest: rate(RATE / 2), highest: rate(2 * RATE), ..moving(0.5, false) };
        assert_eq!(target_after(&mut marker(bounds), RateRequest::Increase, 10), 2.0 * RATE as f64);
        assert_eq!(target_after(&mut marker(bounds), RateRequest::Decrease, 10), 0.5 * RATE as f64);
    }

    #[test]
    fn tokens_accrue_at_the_rate_of_their_time() {
        let mut marker = marker(Config { burst: 1_000_000, ..moving(1.0, false) });
        let (start, second) = (marker.due, Duration::from_secs(1));
        let packet = |marker: &mut AdaptiveTokenBucket, len, now| {
            let mut packet = Packet::new(0, len, FlowHash(0), now);
            marker.color(&mut packet, now);
            packet.color
        };
        assert_eq!(packet(&mut marker, 1_000_000, start), GREEN);
        marker.on_request(RateRequest::Increase, start);
        // 20 ms at 1 Mbit/s and 980 ms at 2 Mbit/s bring 2500 + 245 000 = 247 500 tokens.
        let now = start + second;
        assert_eq!(packet(&mut marker, 247_501, now), YELLOW);
        assert_eq!(packet(&mut marker, 247_500, now), GREEN);
    }

    #[test]
    fn timers_of_two_edges_are_not_in_phase() {
        let due = |seed| AdaptiveTokenBucket::new(config(), Seed(seed).stream("edge")).due;
        assert_ne!(due(1), due(2));
        assert!((1..100).all(|seed| due(seed) <= Time::ZERO + Duration::from_ms(20)));
    }
}

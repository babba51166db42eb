//! BBR, version 1: a rate measured from deliveries and a window from the product of rate and
//! round-trip time.
//!
//! # What it does
//! Keeps the minimum round-trip time of the last ten seconds and the highest delivery rate of the
//! last ten rounds. BBR sends at this rate, alternately a little faster to find bandwidth and a
//! little slower to drain the queue. After start-up, at most about twice the product of the rate
//! and the round-trip time is in flight. Losses and marks do not affect the measurements.
//!
//! # Why
//! A path is best used when its link is busy and its queue is empty. Loss comes when the queue is
//! already full, and on some paths when it is empty. The product of the rate and the minimum
//! round-trip time is the number in flight that fills the link without a queue.
//!
//! # State and cost
//! 352 bytes; O(1) per acknowledgement.
//!
//! # Source (section, equation)
//! draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1 (model), section 4.2 (pacing and
//! window) and section 4.3 (states).
//!
//! # Where we differ
//! - The send quantum (section 4.2.2) counts only in the window: segments leave one by one.
//! - The draft does not specify when the round of packet conservation (section 4.2.3.4) begins.
//!   Here the round count restarts at the loss, as in Linux.
//! - Rates measured in `ProbeRTT`, and until the end of the second round after it, count as limited
//!   by the application. The draft marks the segments instead, with the same effect.
//! - A repair after a timeout is over when everything in flight at the timeout is acknowledged.
//! - BBR needs selective acknowledgements, which the draft does not say. Without them, only the
//!   first loss of a repair lowers the window. The acknowledgement that ends the repair delivers a
//!   window at once, and the measured rate can be twice the path's.
//! - A restart from idle is not noticed (section 4.3.4.4), because a controller is not called
//!   before a segment is sent. The pace then keeps the current phase's gain, instead of 1.
//! - Linux's detection of policers is omitted; no draft has it.

use super::bbr_parts::{
    Clumps, Dwell, LOWEST_WINDOW, LeastRtt, NOMINAL_RTT_S, Plateau, RTT_WINDOW, Rounds,
    quantum_of_a_millisecond,
};
use super::control::{Acked, Congested, Control, Feedback, Start};
use super::growth::kept;
use super::max_filter::MaxFilter;
use super::round_trip::Flight;
use fairwire_core::rng::mix;
use fairwire_core::{Duration, Time};

mod parameters;

pub use parameters::ABOUT;
pub use parameters::{BbrGiven, BbrParameters, BbrSpec};

/// The state of BBR: section 4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BbrState {
    /// Doubling the sending rate per round, until the delivery rate stops rising.
    Startup,
    /// Draining the queue that `Startup` built.
    Drain,
    /// Cycling through gains around 1.
    ProbeBw,
    /// Sending little, to measure the path without its queue.
    ProbeRtt,
}

/// The window and the pace of BBR.
#[derive(Debug)]
pub struct Bbr {
    window: f64,
    /// The window before a loss or `ProbeRtt` changed it, segments.
    prior_window: f64,
    /// Segments per second.
    pace: f64,
    /// 1 minus the pacing margin; a factor of the pace.
    pacing_share: f64,
    /// BBR.send_quantum, segments.
    quantum: f64,
    segment_bits: f64,
    rates: MaxFilter<10>,
    clumps: Option<Clumps>,
    plateau: Plateau,
    least_rtt: LeastRtt,
    phase_began: Time,
    dwell: Dwell,
    first_phase: u8,
    drawn_from: Option<u64>,
    rounds: Rounds,
    initial_window: u32,
    lost_flight: Flight,
    state: BbrState,
    phase: u8,
    limited_rounds: u8,
    repair: Repair,
    has_lost: bool,
    rounds_up: bool,
}

/// The stage of a repair: section 4.2.3.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    /// The first round trip after a loss: no more is sent than is delivered.
    Conserving,
    /// The remainder of the repair.
    Growing,
    /// After a timeout, until everything in flight is acknowledged.
    StartingOver,
}

/// 2 / ln 2: the smallest gain that doubles the rate per round.
const HIGH_GAIN: f64 = 2.0 / core::f64::consts::LN_2;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const WINDOW_GAIN: f64 = 2.0;
/// Send quanta allowed in flight beyond the product of rate and round-trip time: section 4.2.3.2.
const QUANTA: f64 = 3.0;
/// A quantum is one segment at rates below `SLOW_BPS`, and two segments at rates below `FAST_BPS`:
/// section 4.2.2.
const SLOW_BPS: f64 = 1.2e6;
const FAST_BPS: f64 = 24e6;
/// The maximum room for clumps, as delivery time at the model's rate, seconds.
const MAX_CLUMP_S: f64 = 0.1;
impl Bbr {
    /// The state at the start of a flow, in `Startup`.
    pub fn new(BbrParameters { given, seed }: BbrParameters, start: &Start) -> Self {
        Bbr {
            window: f64::from(start.initial_window),
            prior_window: 0.0,
            pace: HIGH_GAIN * f64::from(start.initial_window) / NOMINAL_RTT_S,
            pacing_share: 1.0 - given.pacing_margin,
            quantum: 1.0,
            segment_bits: start.segment.0 as f64 * 8.0,
            rates: MaxFilter::default(),
            clumps: given.allows_for_clumps.then(Clumps::default),
            plateau: Plateau::default(),
            least_rtt: LeastRtt::none(),
            phase_began: Time::ZERO,
            dwell: Dwell::new(),
            first_phase: given.first_phase,
            drawn_from: given.draws_phase.then_some(seed),
            rounds: Rounds::default(),
            initial_window: start.initial_window,
            lost_flight: Flight::default(),
            state: BbrState::Startup,
            phase: 0,
            limited_rounds: 0,
            repair: Repair::None,
            has_lost: false,
            rounds_up: given.rounds_up,
        }
    }

    /// The current state.
    pub fn state(&self) -> BbrState {
        self.state
    }

    /// BtlBw: the estimated rate of the path, segments per second; zero before the first sample.
    pub fn bottleneck_rate(&self) -> f64 {
        self.rates.max()
    }

    /// RTprop: the estimated round-trip time of the path without its queue.
    pub fn propagation(&self) -> Option<Duration> {
        self.least_rtt.known()
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup => HIGH_GAIN,
            BbrState::Drain => 1.0 / HIGH_GAIN,
            BbrState::ProbeBw => CYCLE[usize::from(self.phase)],
            BbrState::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup | BbrState::Drain => HIGH_GAIN,
            BbrState::ProbeBw => WINDOW_GAIN,
            BbrState::ProbeRtt => 1.0,
        }
    }

    /// BBRInflight: the target number in flight at this gain, segments.
    fn in_flight_at(&self, gain: f64) -> f64 {
        match self.propagation() {
            None => f64::from(self.initial_window),
            Some(rtt) => gain * self.bottleneck_rate() * rtt.secs() + QUANTA * self.quantum,
        }
    }

    fn counted(&self, segments: f64) -> f64 {
        if !self.rounds_up {
            return segments;
        }
        let probes = self.state == BbrState::ProbeBw && self.phase == 0;
        2.0 * libm::ceil(segments / 2.0) + if probes { 2.0 } else { 0.0 }
    }

    /// BBRUpdateBtlBw.
    fn measure_rate(&mut self, acked: &Acked) {
        let Some(sample) = acked.rate.filter(|rate| rate.per_second.is_finite()) else { return };
        if sample.per_second >= self.bottleneck_rate() || !self.is_limited(acked) {
            self.rates.take(sample.per_second, self.rounds.count);
        }
    }

    fn is_limited(&self, acked: &Acked) -> bool {
        let by_application = acked.rate.is_none_or(|rate| rate.is_limited_by_application);
        by_application || self.state == BbrState::ProbeRtt || self.limited_rounds > 0
    }

    fn room_for_clumps(&self) -> f64 {
        let Some(clumps) = &self.clumps else { return 0.0 };
        if self.plateau.is_reached {
            clumps.most.max().min(MAX_CLUMP_S * self.bottleneck_rate())
        } else {
            0.0
        }
    }

    /// BBRCheckCyclePhase.
    fn check_cycle(&mut self, acked: &Acked) {
        if self.state == BbrState::ProbeBw && self.is_phase_over(acked) {
            self.begin_phase((self.phase + 1) % CYCLE.len() as u8, acked.now);
        }
    }

    fn is_phase_over(&self, acked: &Acked) -> bool {
        let is_full_length = acked.now.since(self.phase_began) > self.least_rtt.rtt;
        let in_flight = f64::from(acked.in_flight);
        match self.phase {
            0 => is_full_length && (self.has_lost || in_flight >= self.in_flight_at(CYCLE[0])),
            1 => is_full_length || in_flight <= self.in_flight_at(1.0),
            _ => is_full_length,
        }
    }

    fn begin_phase(&mut self, phase: u8, now: Time) {
        (self.phase, self.phase_began) = (phase, now);
    }

    /// BBRCheckFullPipe.
    fn check_full_pipe(&mut self, acked: &Acked, is_new_round: bool) {
        if !self.plateau.is_reached && is_new_round && !self.is_limited(acked) {
            self.plateau.take(self.bottleneck_rate());
        }
    }

    /// BBRCheckDrain.
    fn check_drain(&mut self, now: Time, in_flight: u32) {
        if self.state == BbrState::Startup && self.plateau.is_reached {
            self.state = BbrState::Drain;
        }
        if self.state == BbrState::Drain && f64::from(in_flight) <= self.in_flight_at(1.0) {
            self.enter_probe_bw(now);
        }
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.state = BbrState::ProbeBw;
        let phase = match self.drawn_from {
            None => self.first_phase,
            Some(seed) => 2 + (mix(seed.wrapping_add(u64::from(self.rounds.count))) % 7) as u8,
        };
        self.begin_phase(phase % CYCLE.len() as u8, now);
    }

    /// BBRUpdateRTprop. Returns whether the estimate had expired.
    fn measure_rtt(&mut self, acked: &Acked) -> bool {
        let is_first = self.propagation().is_none();
        let is_expired = self.least_rtt.has_expired(acked.now, RTT_WINDOW);
        let Some(rtt) = acked.rtt else { return is_expired };
        if rtt <= self.least_rtt.rtt || is_expired {
            self.least_rtt = LeastRtt { rtt, at: acked.now };
        }
        if is_first {
            self.begin_pace(rtt);
        }
        is_expired
    }

    /// BBRInitPacingRate.
    fn begin_pace(&mut self, rtt: Duration) {
        if !rtt.is_zero() {
            self.pace = HIGH_GAIN * f64::from(self.initial_window) / rtt.secs();
        }
    }

    /// BBRCheckProbeRTT.
    fn check_probe_rtt(&mut self, now: Time, in_flight: u32, is_expired: bool, is_new_round: bool) {
        if self.state != BbrState::ProbeRtt && is_expired {
            self.save_window();
            (self.state, self.dwell) = (BbrState::ProbeRtt, Dwell::new());
        }
        let is_little = f64::from(in_flight) <= LOWEST_WINDOW;
        if self.state == BbrState::ProbeRtt
            && self.dwell.is_over(now, is_little, is_new_round, &mut self.rounds)
        {
            self.exit_probe_rtt(now);
        }
    }

    fn exit_probe_rtt(&mut self, now: Time) {
        self.least_rtt.at = now;
        self.restore_window();
        self.limited_rounds = 2;
        if self.plateau.is_reached {
            self.enter_probe_bw(now);
        } else {
            self.state = BbrState::Startup;
        }
    }

    /// BBRSetPacingRate.
    fn set_pace(&mut self) {
        let pace = self.pacing_gain() * self.bottleneck_rate() * self.pacing_share;
        // A pace of zero would never send.
        if pace > 0.0 && (self.plateau.is_reached || pace > self.pace) {
            self.pace = pace;
        }
    }

    /// BBRSetSendQuantum.
    fn set_quantum(&mut self) {
        let bps = self.pace * self.segment_bits;
        self.quantum = if bps < SLOW_BPS {
            1.0
        } else if bps < FAST_BPS {
            2.0
        } else {
            quantum_of_a_millisecond(bps, self.segment_bits)
        };
    }

    /// BBRSetCwnd.
    fn set_window(&mut self, acked: &Acked, in_flight: u32, is_new_round: bool) {
        let is_flight_over = self.lost_flight.is_over_before(acked.newly);
        match self.repair {
            Repair::Conserving if is_new_round => self.repair = Repair::Growing,
            Repair::StartingOver if is_flight_over => self.repaired(),
            _ => (),
        }
        let newly = f64::from(acked.newly);
        // BBRModulateCwndForRecovery.
        if matches!(self.repair, Repair::Conserving | Repair::Growing) {
            self.window = (self.window - f64::from(acked.lost)).max(1.0);
        }
        if self.repair == Repair::Conserving {
            self.window = self.window.max(f64::from(in_flight) + newly);
        } else {
            let target = self.counted(self.in_flight_at(self.window_gain()) + self.room_for_clumps());
            if self.plateau.is_reached {
                self.window = (self.window + newly).min(target);
            } else if self.window < target || self.rounds.delivered < self.initial_window {
                self.window += newly;
            }
            self.window = self.window.max(LOWEST_WINDOW);
        }
        if self.state == BbrState::ProbeRtt {
            self.window = self.window.min(LOWEST_WINDOW);
        }
        self.window = kept(self.window, acked.max_window);
    }

    /// BBRSaveCwnd.
    fn save_window(&mut self) {
        let is_modulated = self.repair != Repair::None || self.state == BbrState::ProbeRtt;
        self.prior_window = if is_modulated { self.prior_window.max(self.window) } else { self.window };
    }

    fn repaired(&mut self) {
        if self.repair != Repair::None {
            self.restore_window();
        }
        self.repair = Repair::None;
    }

    /// BBRRestoreCwnd.
    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }
}

impl Control for Bbr {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        f64::INFINITY
    }

    /// BBRInit: takes the round-trip time of the connection's opening as the first minimum.
    fn opened(&mut self, rtt: Duration, now: Time) {
        self.least_rtt = LeastRtt { rtt, at: now };
        self.begin_pace(rtt);
    }

    fn acked(&mut self, acked: &Acked) {
        let in_flight = acked.in_flight.saturating_sub(acked.newly).saturating_sub(acked.lost);
        self.has_lost |= acked.lost > 0;
        let is_new_round = self.rounds.take(acked);
        self.measure_rate(acked);
        let (rate, window, round) = (self.bottleneck_rate(), self.window, self.rounds.count);
        if let Some(clumps) = &mut self.clumps {
            clumps.take(acked, rate, window, round);
        }
        self.check_cycle(acked);
        self.check_full_pipe(acked, is_new_round);
        self.check_drain(acked.now, in_flight);
        if is_new_round {
            self.limited_rounds = self.limited_rounds.saturating_sub(1);
        }
        let is_expired = self.measure_rtt(acked);
        self.check_probe_rtt(acked.now, in_flight, is_expired, is_new_round);
        self.set_pace();
        self.set_quantum();
        self.set_window(acked, in_flight, is_new_round);
        self.has_lost = false;
    }

    /// Section 4.2.3.4: for a round trip, only as much is sent as is delivered.
    fn lost(&mut self, congested: &Congested) {
        self.save_window();
        self.window = f64::from(congested.in_flight) + 1.0;
        self.rounds.begin(); // the round trip begins here
        (self.repair, self.has_lost) = (Repair::Conserving, true);
    }

    /// Version 1 ignores marks.
    fn marked(&mut self, _congested: &Congested) {}

    fn timed_out(&mut self, congested: &Congested) {
        self.save_window();
        self.window = 1.0;
        self.lost_flight = Flight::of(congested.in_flight);
        (self.repair, self.has_lost) = (Repair::StartingOver, true);
    }

    fn recovered(&mut self, _now: Time) {
        self.repaired();
    }

    /// Restores the window and restarts the search for a full pipe, as in Linux.
    fn undone(&mut self, _window: f64, _threshold: f64) {
        self.repaired();
        self.plateau.restart();
    }

    fn pace(&self) -> Option<f64> {
        Some(self.pace)
    }

    fn grows_in_recovery(&self) -> bool {
        true
    }

    fn feedback(&self) -> Feedback {
        Feedback { exact_rtt: true, rate: true, ..Feedback::default() }
    }
}

#[cfg(test)]
mod tests;

//! BBR, version 3: the model of version 1, with bounds that losses set on the number of segments in
//! flight.
//!
//! # What it does
//! Keeps the highest delivery rate of the last two cycles and the minimum round-trip time of the
//! last ten seconds. Every two to three seconds, or after at most 63 rounds, BBR probes: it fills
//! the pipe for a round, then sends a quarter faster. The probe ends when the delivery rate no
//! longer rises or more than 2 % of a round trip's segments are lost. If losses end the probe, the
//! number then in flight becomes the long-term bound. Between probes BBR drains the queue and
//! cruises below this bound. Losses between probes lower a short-term bound, which the next probe
//! removes.
//!
//! # Why
//! Version 1 ignores losses, so it overflows a short queue permanently. Version 3 stays below the
//! overflow, and leaves 15 % of the long-term bound to others between probes.
//!
//! # State and cost
//! 480 bytes, and eight for each acknowledgement that showed a loss in the last round trip (at most
//! 64); O(1) per acknowledgement.
//!
//! # Source (section, equation)
//! draft-ietf-ccwg-bbr-05, section 5.3 (states), section 5.5 (model) and section 5.6 (pace and
//! window).
//!
//! # Where we differ
//! - The segments delivered and lost since a segment was sent replace the number in flight at that
//!   time (`tx_in_flight`). Without reordering, both are equal.
//! - All losses that an acknowledgement shows are handled at once, with its sample. The draft
//!   handles each loss separately (`BBRHandleLostPacket`).
//! - The filter of the rate advances once per cycle (section 5.5.6), a round after `Up` ended,
//!   unless the cycle had no measurements. The pseudocode of section 5.3.3.6 would advance it in
//!   each round, because the phase of acknowledgements stays `STOPPING`.
//! - Startup counts the acknowledgements that show a loss; the draft counts the lost ranges.
//! - A restart from idle is not noticed (section 5.4.1), as in version 1.

use super::bbr_parts::{
    Clumps, Dwell, LOWEST_WINDOW, LeastRtt, NOMINAL_RTT_S, Plateau, Rounds, quantum_of_a_millisecond,
};
use super::control::{Acked, Congested, Control, Feedback, Start};
use super::growth::kept;
use super::max_filter::MaxFilter;
use super::round_trip::Flight;
use fairwire_core::{Duration, Time};
use losses::Losses;

mod losses;
mod model;
mod parameters;
mod sample;
mod states;

pub use parameters::ABOUT;
pub use parameters::{Bbr3Given, Bbr3Parameters, Bbr3Spec};
use sample::{Latest, Sample};

/// The state of BBR, version 3: section 5.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bbr3State {
    /// Doubling the sending rate per round, until the delivery rate stops rising or too much is
    /// lost.
    Startup,
    /// Draining the queue that `Startup` built.
    Drain,
    /// Sending a little less, to drain the probe's queue.
    Down,
    /// Sending at the delivery rate, with room left for others.
    Cruise,
    /// Filling the pipe for a round, before the probe.
    Refill,
    /// Sending a quarter faster, to test whether the path carries more.
    Up,
    /// Keeping half of the bandwidth-delay product in flight, to measure the path without its
    /// queue.
    ProbeRtt,
}

/// The window and the pace of BBR, version 3. Rates are in segments per second, volumes in
/// segments.
#[derive(Debug)]
pub struct Bbr3 {
    parameters: Bbr3Parameters,
    window: f64,
    /// The window before a repair or `ProbeRtt` changed it.
    prior_window: f64,
    /// Segments per second.
    pace: f64,
    quantum: f64,
    segment_bits: f64,
    initial_window: u32,
    state: Bbr3State,
    /// BBR.max_bw, by cycles.
    rates: MaxFilter<2>,
    /// BBR.cycle_count.
    cycle: u32,
    clumps: Clumps,
    /// BBR.full_bw, BBR.full_bw_count and BBR.full_bw_now.
    plateau: Plateau,
    /// BBR.full_bw_reached.
    is_pipe_filled: bool,
    rounds: Rounds,
    /// Rounds left after `ProbeRtt` in which samples still count as limited by the application.
    limited_rounds: u8,
    /// BBR.min_rtt.
    least_rtt: LeastRtt,
    /// BBR.probe_rtt_min_delay.
    recent_rtt: LeastRtt,
    dwell: Dwell,
    /// BBR.drain_start_round.
    drain_began_in: u32,
    bounds: Bounds,
    /// The state (BBR.undo_state) and the bounds before a repair, restored if the repair proves
    /// spurious.
    undo: (Bbr3State, Bounds),
    latest: Latest,
    losses: Losses,
    /// BBR.loss_in_round.
    has_lost_in_round: bool,
    /// The number of acknowledgements that showed a loss in the current loss round.
    loss_events: u32,
    /// BBR.cycle_stamp.
    cycle_began: Time,
    /// BBR.bw_probe_wait.
    wait: Duration,
    /// BBR.rounds_since_bw_probe.
    rounds_since_probe: u32,
    growth: Growth,
    acks: AckPhase,
    /// BBR.bw_probe_samples: true if losses may be due to a probe. This holds from the start of
    /// `Up` until the probe's last acknowledgements, or until too many losses.
    has_probe_samples: bool,
    repair: Repair,
    lost_flight: Flight,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// BBR.inflight_longterm.
    in_flight_long: f64,
    /// BBR.inflight_shortterm.
    in_flight_short: f64,
    /// BBR.bw_shortterm.
    rate_short: f64,
}

impl Bounds {
    const NONE: Bounds =
        Bounds { in_flight_long: f64::INFINITY, in_flight_short: f64::INFINITY, rate_short: f64::INFINITY };
}

#[derive(Debug, Default)]
struct Growth {
    /// BBR.bw_probe_up_rounds.
    rounds: u32,
    /// BBR.bw_probe_up_acks.
    acked: f64,
    /// BBR.probe_up_cnt: the number of acknowledged segments after which the long-term bound grows
    /// by one.
    per_segment: f64,
}

/// BBR.ack_phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    /// The probe has begun, and its acknowledgements are still to come.
    Starting,
    Feedback,
    /// The probe is over, and its last acknowledgements are still to come.
    Stopping,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    /// By fast recovery.
    Fast,
    /// After a timeout, until everything in flight is acknowledged.
    StartingOver,
}

/// BBR.StartupPacingGain, 4 ln 2.
const STARTUP_GAIN: f64 = 4.0 * core::f64::consts::LN_2;
/// BBR.DrainPacingGain.
const DRAIN_GAIN: f64 = 0.5;
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
/// BBR.DefaultCwndGain.
const WINDOW_GAIN: f64 = 2.0;
const UP_WINDOW_GAIN: f64 = 2.25;
/// BBR.ProbeRTTCwndGain.
const PROBE_RTT_GAIN: f64 = 0.5;
/// ProbeRTTInterval.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// BBRStartupFullLossCnt.
const STARTUP_LOSS_EVENTS: u32 = 6;
/// Section 5.3.2: `Drain` ends after this number of rounds, whatever is in flight.
const DRAIN_ROUNDS: u32 = 3;
/// Section 5.3.3.5: the next probe is due after at most `RENO_ROUNDS` rounds. It is due earlier if
/// 2 s plus a random time of up to 1 s have passed.
const RENO_ROUNDS: f64 = 63.0;
const PROBE_WAIT_NS: u64 = 2_000_000_000;
const MORE_PROBE_WAIT_NS: u64 = 1_000_000_000;
/// In a probe, the growth of the long-term bound doubles per round, at most this many times.
const MAX_DOUBLINGS: u32 = 30;
/// A quantum is at least two segments: section 5.6.3. At least three quanta are allowed in flight:
/// section 5.5.8.1.
const MIN_QUANTUM: f64 = 2.0;
const QUANTA: f64 = 3.0;
/// Segments added to the window in `Up`: section 5.6.4.2.
const MORE_IN_UP: f64 = 2.0;

impl Bbr3 {
    /// The state at the start of a flow, in `Startup`.
    pub fn new(parameters: Bbr3Parameters, start: &Start) -> Self {
        Bbr3 {
            parameters,
            window: f64::from(start.initial_window),
            prior_window: 0.0,
            pace: STARTUP_GAIN * f64::from(start.initial_window) / NOMINAL_RTT_S,
            quantum: MIN_QUANTUM,
            segment_bits: start.segment.0 as f64 * 8.0,
            initial_window: start.initial_window,
            state: Bbr3State::Startup,
            rates: MaxFilter::default(),
            cycle: 0,
            clumps: Clumps::default(),
            plateau: Plateau::default(),
            is_pipe_filled: false,
            rounds: Rounds::default(),
            limited_rounds: 0,
            least_rtt: LeastRtt::none(),
            recent_rtt: LeastRtt::none(),
            dwell: Dwell::new(),
            drain_began_in: 0,
            bounds: Bounds::NONE,
            undo: (Bbr3State::Startup, Bounds::NONE),
            latest: Latest::default(),
            losses: Losses::default(),
            has_lost_in_round: false,
            loss_events: 0,
            cycle_began: Time::ZERO,
            wait: Duration::ZERO,
            rounds_since_probe: 0,
            growth: Growth::default(),
            acks: AckPhase::Init,
            has_probe_samples: false,
            repair: Repair::None,
            lost_flight: Flight::default(),
        }
    }

    /// The current state.
    pub fn state(&self) -> Bbr3State {
        self.state
    }

    /// BBR.max_bw: the estimated rate of the path, segments per second; zero before the first
    /// sample.
    pub fn bottleneck_rate(&self) -> f64 {
        self.rates.max()
    }

    /// BBR.inflight_longterm: the maximum number of segments in flight, set by losses in start-up
    /// and in probes; infinite without such losses.
    pub fn long_term_bound(&self) -> f64 {
        self.bounds.in_flight_long
    }

    /// BBR.bw, by BBRBoundBWForModel.
    fn rate(&self) -> f64 {
        self.bottleneck_rate().min(self.bounds.rate_short)
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            Bbr3State::Startup => STARTUP_GAIN,
            Bbr3State::Drain => DRAIN_GAIN,
            Bbr3State::Down => DOWN_GAIN,
            Bbr3State::Up => UP_GAIN,
            Bbr3State::Cruise | Bbr3State::Refill | Bbr3State::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            Bbr3State::Up => UP_WINDOW_GAIN,
            Bbr3State::ProbeRtt => PROBE_RTT_GAIN,
            _ => WINDOW_GAIN,
        }
    }

    /// IsInAProbeBWState.
    fn is_cycling(&self) -> bool {
        use Bbr3State::{Cruise, Down, Refill, Up};
        matches!(self.state, Down | Cruise | Refill | Up)
    }

    /// BBRIsProbingBW.
    fn is_probing(&self) -> bool {
        matches!(self.state, Bbr3State::Startup | Bbr3State::Refill | Bbr3State::Up)
    }

    /// BBRBDPMultiple.
    fn product(&self, gain: f64) -> f64 {
        self.least_rtt.known().map_or(f64::from(self.initial_window), |rtt| gain * self.rate() * rtt.secs())
    }

    /// BBRQuantizationBudget.
    fn quantized(&self, in_flight: f64) -> f64 {
        let least = (QUANTA * self.quantum).max(LOWEST_WINDOW);
        in_flight.max(least) + if self.state == Bbr3State::Up { MORE_IN_UP } else { 0.0 }
    }

    /// BBRTargetInflight.
    fn target(&self) -> f64 {
        self.product(1.0).min(self.window)
    }

    /// BBRInflightWithHeadroom.
    fn with_headroom(&self) -> f64 {
        let bound = self.bounds.in_flight_long;
        if bound.is_infinite() {
            return bound;
        }
        (bound - (self.parameters.given.headroom * bound).max(1.0)).max(LOWEST_WINDOW)
    }

    /// BBRProbeRTTCwnd.
    fn probe_rtt_window(&self) -> f64 {
        self.product(PROBE_RTT_GAIN).max(LOWEST_WINDOW)
    }
}

/// Pace and window: section 5.6.
impl Bbr3 {
    /// BBRSetPacingRate.
    fn set_pace(&mut self) {
        let pace = self.pacing_gain() * self.rate() * (1.0 - self.parameters.given.pacing_margin);
        // A pace of zero would never send.
        if pace > 0.0 && (self.is_pipe_filled || pace > self.pace) {
            self.pace = pace;
        }
        let bps = self.pace * self.segment_bits;
        self.quantum = quantum_of_a_millisecond(bps, self.segment_bits).max(MIN_QUANTUM);
    }

    /// BBRSetCwnd.
    fn set_window(&mut self, newly: u32, most: f64) {
        if self.repair == Repair::StartingOver && self.lost_flight.is_over_before(newly) {
            self.repaired();
        }
        let newly = f64::from(newly);
        let max_in_flight = self.quantized(self.product(self.window_gain()) + self.clumps.most.max());
        if self.is_pipe_filled {
            self.window = (self.window + newly).min(max_in_flight);
        } else if self.window < max_in_flight || self.rounds.delivered < self.initial_window {
            self.window += newly;
        }
        self.window = self.window.max(LOWEST_WINDOW);
        if self.state == Bbr3State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.window = kept(self.window.min(self.cap()), most);
    }

    /// BBRBoundCwndForModel.
    fn cap(&self) -> f64 {
        let long = match self.state {
            Bbr3State::Cruise | Bbr3State::ProbeRtt => self.with_headroom(),
            Bbr3State::Startup | Bbr3State::Drain => f64::INFINITY,
            _ => self.bounds.in_flight_long,
        };
        long.min(self.bounds.in_flight_short).max(LOWEST_WINDOW)
    }

    /// BBRSaveStateUponLoss, and BBRSaveCwnd.
    fn save(&mut self) {
        self.undo = (self.state, self.bounds);
        self.save_window();
    }

    /// BBRSaveCwnd.
    fn save_window(&mut self) {
        let is_modulated = self.repair != Repair::None || self.state == Bbr3State::ProbeRtt;
        self.prior_window = if is_modulated { self.prior_window.max(self.window) } else { self.window };
    }

    /// BBRRestoreCwnd.
    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    fn repaired(&mut self) {
        if self.repair != Repair::None {
            self.restore_window();
        }
        self.repair = Repair::None;
    }
}

impl Control for Bbr3 {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        f64::INFINITY
    }

    fn acked(&mut self, acked: &Acked) {
        let in_flight = f64::from(acked.in_flight.saturating_sub(acked.newly).saturating_sub(acked.lost));
        let is_full = f64::from(acked.in_flight) >= libm::floor(self.window);
        let is_new_round = self.rounds.take(acked);
        if is_new_round {
            self.rounds_since_probe = self.rounds_since_probe.saturating_add(1);
            self.limited_rounds = self.limited_rounds.saturating_sub(1);
        }
        self.losses.take(acked.lost, self.rounds.delivered);
        let is_held = self.state == Bbr3State::ProbeRtt || self.limited_rounds > 0;
        let sample = Sample::of(acked, is_held, &mut self.losses);
        self.note_losses(acked.lost, sample.as_ref(), acked.now);
        if let Some(sample) = &sample {
            let ends_loss_round = self.latest.take(sample);
            self.measure_rate(sample);
            self.check_plateau(sample, is_new_round);
            self.check_startup(sample, ends_loss_round);
            if ends_loss_round {
                self.adapt_short_term();
            }
            self.check_drain(acked.now, in_flight);
            self.advance_cycle(acked.now, sample, in_flight, is_full, is_new_round);
            self.latest.advance(sample, ends_loss_round);
        }
        self.clumps.take(acked, self.rate(), self.window, self.rounds.count);
        let is_due = self.measure_rtt(acked);
        self.check_probe_rtt(acked.now, in_flight, is_due, is_new_round);
        self.set_pace();
        self.set_window(acked.newly, acked.max_window);
    }

    /// BBROnEnterFastRecovery. The model responds to losses, not to their repair.
    fn lost(&mut self, _congested: &Congested) {
        self.save();
        self.note_loss();
        self.repair = Repair::Fast;
    }

    /// The draft has no response to marks.
    fn marked(&mut self, _congested: &Congested) {}

    /// BBROnEnterRTO: reduces the window to one segment.
    fn timed_out(&mut self, congested: &Congested) {
        self.save();
        self.note_loss();
        self.window = 1.0;
        self.lost_flight = Flight::of(congested.in_flight);
        self.repair = Repair::StartingOver;
    }

    fn recovered(&mut self, _now: Time) {
        self.repaired();
    }

    /// BBRHandleSpuriousLossDetection.
    fn undone(&mut self, _window: f64, _threshold: f64) {
        self.repaired();
        self.has_lost_in_round = false;
        self.plateau = Plateau::default();
        let (state, before) = self.undo;
        self.bounds = Bounds {
            in_flight_long: self.bounds.in_flight_long.max(before.in_flight_long),
            in_flight_short: self.bounds.in_flight_short.max(before.in_flight_short),
            rate_short: self.bounds.rate_short.max(before.rate_short),
        };
        match (state, self.state) {
            (before, now) if before == now || now == Bbr3State::ProbeRtt => {}
            (Bbr3State::Startup, _) => self.state = Bbr3State::Startup,
            (Bbr3State::Up, _) => self.start_up(self.rate()),
            _ => {}
        }
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

//! LEDBAT: a background transport that yields to others by keeping its queueing delay at a target.
//!
//! # What it does
//! Takes the minimum delay of the last ten minutes as the path's delay without a queue, and the
//! excess as queueing. While the queueing delay is below the target, the window grows by at most
//! one segment per round trip. Above the target, the window shrinks in proportion.
//!
//! # Why
//! Other flows fill the queue far beyond the target. LEDBAT then shrinks, and takes only the
//! capacity that they leave unused.
//!
//! # State and cost
//! 96 bytes; O(1) per acknowledgement.
//!
//! # Source (section, equation)
//! RFC 6817, section 2.4.2 (operation) and section 2.5 (values). The RFC leaves the filter of
//! current delays open; here it is the minimum of the last four samples.
//!
//! # Where we differ
//! - Delays are exact round-trip times, not one-way delays: queueing on the return path counts too.
//! - Delays are kept in microseconds, up to 71 minutes.
//! - There is no slow start, as in section 2.4.2, and so no threshold.
//! - An acknowledgement without a measurement moves the window by the delays known so far.

use super::control::{About, Acked, Congested, Control, Feedback, Start};
use super::growth::kept;
use fairwire_core::{Duration, Time};
use fairwire_parameters::{Quantity, parameters};

/// LEDBAT's description in lists and documentation.
pub const ABOUT: About =
    About::new("a background transport that holds its own queueing delay at a target", "RFC 6817");

/// Parameters of LEDBAT.
#[parameters(gated, name = "ledbat", checked = LedbatParameters, public)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LedbatSpec {
    /// The target queueing delay.
    #[parameter(default = "100 ms", min = "1 us", max = "1 h", source = "RFC 6817, section 2.5.")]
    pub target: Option<Quantity<Duration>>,
    /// The growth of the window while there is no queueing delay.
    #[parameter(
        default = 1.0,
        above = 0.0,
        max = 1e6,
        unit = "segments per round trip",
        source = "RFC 6817, section 2.5."
    )]
    pub gain: Option<f64>,
    /// The maximum by which the window may exceed the number of segments in flight.
    #[parameter(default = 1, min = 1, max = 1_000_000, unit = "segments", source = "RFC 6817, section 2.5.")]
    pub allowed_increase: Option<u32>,
    /// The minimum window, except after a timeout.
    #[parameter(default = 2, min = 1, max = 1_000_000, unit = "segments", source = "RFC 6817, section 2.5.")]
    pub lowest_window: Option<u32>,
}

/// The window of LEDBAT.
#[derive(Debug)]
pub struct Ledbat {
    window: f64,
    target_s: f64,
    gain: f64,
    allowed_increase: u32,
    lowest: u32,
    /// The minimum delay of each of the last minutes, in microseconds, or [`NONE`]. The current
    /// minute is last.
    base_us: [u32; BASE_HISTORY],
    /// The last delays, in microseconds, in no particular order.
    recent_us: [u32; CURRENT_FILTER],
    minute: u32,
    next: u8,
}

/// INIT_CWND, segments (RFC 6817, section 2.5). A smaller initial window of the flow replaces it.
const INITIAL_WINDOW: u32 = 2;
const BASE_HISTORY: usize = 10;
const CURRENT_FILTER: usize = 4;
const NONE: u32 = u32::MAX;
const NS_PER_MINUTE: u64 = 60_000_000_000;

impl Ledbat {
    /// The window at the start of a flow.
    pub fn new(parameters: LedbatParameters, start: &Start) -> Self {
        Ledbat {
            window: f64::from(start.initial_window.min(INITIAL_WINDOW)),
            target_s: parameters.target.secs().max(1e-6),
            gain: parameters.gain,
            allowed_increase: parameters.allowed_increase,
            lowest: parameters.lowest_window,
            base_us: [NONE; BASE_HISTORY],
            recent_us: [NONE; CURRENT_FILTER],
            minute: 0,
            next: 0,
        }
    }

    /// The current queueing delay; absent before the first measurement.
    pub fn queueing_delay(&self) -> Option<Duration> {
        let recent = self.recent_us.iter().min().filter(|&&us| us != NONE)?;
        let base = self.base_us.iter().min()?;
        Some(Duration::from_us(u64::from(recent.saturating_sub(*base))))
    }

    fn measured(&mut self, now: Time, rtt: Duration) {
        let us = u32::try_from(rtt.ns() / 1000).unwrap_or(NONE).min(NONE - 1);
        let minute = (now.ns() / NS_PER_MINUTE) as u32;
        if minute != self.minute {
            self.minute = minute;
            self.base_us.rotate_left(1);
            self.base_us[BASE_HISTORY - 1] = us;
        } else {
            self.base_us[BASE_HISTORY - 1] = self.base_us[BASE_HISTORY - 1].min(us);
        }
        self.recent_us[usize::from(self.next)] = us;
        self.next = (self.next + 1) % CURRENT_FILTER as u8;
    }
}

impl Control for Ledbat {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        f64::INFINITY
    }

    fn acked(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.measured(acked.now, rtt);
        }
        let Some(queueing) = self.queueing_delay() else { return };
        let off_target = (self.target_s - queueing.secs()) / self.target_s;
        let moved = self.window + self.gain * off_target * f64::from(acked.growth) / self.window;
        let allowed = f64::from(acked.in_flight) + f64::from(self.allowed_increase);
        self.window = kept(moved.min(allowed).max(f64::from(self.lowest)), acked.max_window);
    }

    fn lost(&mut self, _congested: &Congested) {
        self.window = self.window.min((self.window / 2.0).max(f64::from(self.lowest)));
    }

    fn timed_out(&mut self, _congested: &Congested) {
        self.window = 1.0;
    }

    fn undone(&mut self, window: f64, _threshold: f64) {
        self.window = self.window.max(window);
    }

    fn restarted(&mut self, window: f64) {
        self.window = self.window.min(window);
    }

    fn feedback(&self) -> Feedback {
        Feedback { exact_rtt: true, ..Feedback::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(at_s: u64, newly: u32, rtt_ms: Option<u64>) -> Acked {
        Acked {
            now: Time::from_ns(at_s * 1_000_000_000),
            newly,
            growth: newly,
            marked: 0,
            lost: 0,
            in_flight: 1000,
            rtt: rtt_ms.map(Duration::from_ms),
            ends_round: true,
            rate: None,
            is_window_used: true,
            max_window: 1e9,
        }
    }

    fn with_window(window: f64) -> Ledbat {
        Ledbat { window, ..Ledbat::new(LedbatParameters::default(), &Start::of(2)) }
    }

    #[test]
    fn its_state_is_as_small_as_documented() {
        assert_eq!(size_of::<Ledbat>(), 96);
    }

    #[test]
    fn the_window_moves_by_the_distance_from_the_target() {
        let mut ledbat = with_window(10.0);
        ledbat.acked(&ack(0, 10, None));
        assert_eq!(ledbat.window(), 10.0); // nothing is known yet
        ledbat.acked(&ack(0, 10, Some(50)));
        assert_eq!(ledbat.window(), 11.0); // no queueing: one segment per window
        for (rtt_ms, queueing_ms) in
            [(150, 0), (150, 0), (150, 0), (150, 100), (250, 100), (350, 100), (250, 100), (300, 200)]
        {
            let before = ledbat.window();
            ledbat.acked(&ack(0, 11, Some(rtt_ms)));
            // The delay is the minimum of the last four samples, so the sample of 50 ms counts
            // three more times.
            assert_eq!(ledbat.queueing_delay(), Some(Duration::from_ms(queueing_ms)));
            let expected = before + (100.0 - queueing_ms as f64) / 100.0 * 11.0 / before;
            assert!((ledbat.window() - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_longer_path_is_accepted_after_ten_minutes() {
        let mut ledbat = with_window(10.0);
        ledbat.acked(&ack(0, 1, Some(50)));
        for minute in 1..10 {
            for _ in 0..4 {
                ledbat.acked(&ack(60 * minute, 1, Some(90)));
            }
            assert_eq!(ledbat.queueing_delay(), Some(Duration::from_ms(40)));
        }
        ledbat.acked(&ack(600, 1, Some(90)));
        assert_eq!(ledbat.queueing_delay(), Some(Duration::ZERO));
    }

    #[test]
    fn the_window_stays_one_above_the_flight() {
        let mut ledbat = with_window(10.0);
        ledbat.acked(&Acked { in_flight: 4, ..ack(0, 1, Some(50)) });
        assert_eq!(ledbat.window(), 5.0);
    }

    #[test]
    fn a_loss_halves_down_to_two_and_a_timeout_starts_over() {
        let congested = Congested { now: Time::ZERO, in_use: 9.0, in_flight: 9 };
        let mut ledbat = with_window(9.0);
        ledbat.lost(&congested);
        assert_eq!(ledbat.window(), 4.5);
        ledbat.lost(&congested);
        ledbat.lost(&congested);
        assert_eq!(ledbat.window(), 2.0);
        ledbat.timed_out(&congested);
        assert_eq!(ledbat.window(), 1.0);
        ledbat.lost(&congested);
        assert_eq!(ledbat.window(), 1.0); // a loss never raises it
    }
}

//! NADA: the rate of a conversation, from its queueing delay, losses and marks.
//!
//! # Source (section, equation)
//! RFC 8698: sections 4.2 and 4.3 (receiver and sender, equations (1) to (7)), section 5.1 (filters
//! and ratios), section 5.2.2 (coder and pace, equations (11) to (14)), figures 3 and 5
//! (constants).
//!
//! # Equilibrium
//! Equations (5) to (7) leave the rate r unchanged if the congestion stays at PRIO XREF RMAX / r. A
//! single flow on a link below RMAX gets the link's rate C, and keeps a queue of PRIO XREF RMAX /
//! C. Flows with the same congestion share in proportion to PRIO RMAX.
//!
//! # Where we differ
//! - Clock skew is not corrected (section 5.1.1), because one-way delays are exact.
//! - Each gap in the packet numbers ends an interval between losses (RFC 5348, section 5.4). Even a
//!   second gap within a round trip does, because the receiver does not know the round trip. The
//!   mean excludes the open interval.
//! - When reports are missing, the rate stays unchanged.

use fairwire_core::{Duration, Time};
use std::collections::VecDeque;

/// Bounds and priority of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// RMIN, the lowest rate, bit/s.
    pub least_bps: f64,
    /// RMAX, the highest rate, bit/s.
    pub most_bps: f64,
    /// PRIO, the weight relative to other calls; above zero.
    pub priority: f64,
}

/// XREF, the target congestion, seconds of delay.
const REFERENCE_S: f64 = 0.010;
/// KAPPA.
const SCALING: f64 = 0.5;
/// ETA.
const SMOOTHING: f64 = 2.0;
/// TAU, the longest round trip for which NADA is designed, seconds.
const HORIZON_S: f64 = 0.5;
/// DELTA, the time between two reports.
pub(super) const REPORT_EVERY: Duration = Duration::from_ms(100);
/// DFILT, the delay of the filters, seconds.
const FILTER_S: f64 = 0.120;
/// LOGWIN: the time over which lost, marked and received packets are counted.
const LOG_WINDOW: Duration = Duration::from_ms(500);
/// QEPS: a delay below this counts as no queue, seconds.
const NO_QUEUE_S: f64 = 0.010;
/// QTH, seconds. Under losses, delays above QTH count less. LAMBDA, `WARPING`, determines how much
/// less.
const WARPED_FROM_S: f64 = 0.050;
const WARPING: f64 = 0.5;
/// MULTILOSS: delays are warped for this many loss intervals after a loss.
const WARPED_FOR: f64 = 7.0;
/// PLRREF, the loss ratio that counts like the delay DLOSS, `LOSS_DELAY_S`.
const REFERENCE_LOSS: f64 = 0.01;
const LOSS_DELAY_S: f64 = 0.010;
/// PMRREF, the ratio of marks that counts like the delay DMARK, `MARK_DELAY_S`.
const REFERENCE_MARKS: f64 = 0.01;
const MARK_DELAY_S: f64 = 0.002;
/// The limits of fast growth: GAMMA_MAX as a fraction per report, QBOUND as a delay in seconds.
const MAX_GROWTH: f64 = 0.5;
const GROWTH_DELAY_S: f64 = 0.050;
/// ALPHA, the weight of a new ratio of losses or marks: section 5.1.2.
const RATIO_WEIGHT: f64 = 0.1;
/// The number of latest delays whose minimum is used: section 5.1.1.
const DELAYS: usize = 15;
/// BETA_V and BETA_S: the fractions of `buffered_bps` by which the coder's rate falls and the pace
/// rises. Neither changes by more than the fraction MAX_OF_RATE of NADA's rate.
const BUFFER_TO_CODER: f64 = 0.1;
const BUFFER_TO_PACE: f64 = 0.1;
const MAX_OF_RATE: f64 = 0.05;
/// The weights of intervals between losses, the latest first: RFC 5348, section 5.4.
const INTERVAL_WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// A report of the receiver: section 5.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReceiverReport {
    /// True if rmode is 0: no queue and no loss within the window.
    pub may_ramp_up: bool,
    /// x_curr, seconds.
    pub congestion_s: f64,
    /// r_recv, bit/s.
    pub received_bps: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// The packet's number, from 0.
    pub number: u64,
    /// The packet's bytes on the wire.
    pub bytes: u32,
    /// Its one-way delay.
    pub delay: Duration,
    pub is_marked: bool,
}

#[derive(Clone, Copy, Debug)]
struct Received {
    at: Time,
    number: u64,
    bits: f64,
    queueing_s: f64,
    is_marked: bool,
}

#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// d_base, the baseline of the delay, seconds; none before the first packet.
    base_s: Option<f64>,
    queueing_s: VecDeque<f64>,
    seen: VecDeque<Received>,
    /// The highest packet number so far, plus one. `before` is this value for the packets that have
    /// left the window.
    next: u64,
    before: u64,
    lost_ratio: f64,
    marked_ratio: f64,
    /// The intervals between losses, in packets, the latest first. `since_loss` is the number of
    /// the first packet after the last loss.
    intervals: VecDeque<f64>,
    since_loss: Option<u64>,
}

impl Receiver {
    pub(super) fn take(&mut self, Arrived { number, bytes, delay, is_marked }: Arrived, now: Time) {
        let base_s = self.base_s.map_or(delay.secs(), |base_s| base_s.min(delay.secs()));
        self.base_s = Some(base_s);
        let queueing_s = delay.secs() - base_s;
        self.queueing_s.push_back(queueing_s);
        if self.queueing_s.len() > DELAYS {
            self.queueing_s.pop_front();
        }
        if number > self.next {
            // The first loss ends no interval: the number of packets before it is unknown.
            if let Some(since) = self.since_loss.replace(number) {
                self.intervals.push_front((number - since) as f64);
                self.intervals.truncate(INTERVAL_WEIGHTS.len());
            }
        }
        self.next = self.next.max(number + 1);
        self.seen.push_back(Received {
            at: now,
            number,
            bits: f64::from(bytes) * 8.0,
            queueing_s,
            is_marked,
        });
    }

    /// Returns the report at `now`. Must be called once per [`REPORT_EVERY`].
    pub(super) fn report(&mut self, now: Time) -> ReceiverReport {
        while let Some(seen) = self.seen.front().filter(|seen| now.since(seen.at) > LOG_WINDOW) {
            self.before = self.before.max(seen.number + 1);
            self.seen.pop_front();
        }
        let came = self.seen.iter().filter(|seen| seen.number >= self.before).count() as u64;
        let sent = self.next - self.before;
        let lost = sent.saturating_sub(came);
        let marked = self.seen.iter().filter(|seen| seen.is_marked).count();
        let ratio = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
        self.lost_ratio += RATIO_WEIGHT * (ratio(lost as f64, sent as f64) - self.lost_ratio);
        let marked = ratio(marked as f64, self.seen.len() as f64);
        self.marked_ratio += RATIO_WEIGHT * (marked - self.marked_ratio);
        let has_queue = self.seen.iter().any(|seen| seen.queueing_s >= NO_QUEUE_S);
        let bits: f64 = self.seen.iter().map(|seen| seen.bits).sum();
        ReceiverReport {
            may_ramp_up: lost == 0 && !has_queue,
            congestion_s: self.congestion_s(),
            received_bps: bits / LOG_WINDOW.secs(),
        }
    }

    /// The queueing delay that NADA uses, seconds: section 5.1.1.
    pub(super) fn least_queueing_s(&self) -> f64 {
        let least_s = self.queueing_s.iter().copied().fold(f64::INFINITY, f64::min);
        if least_s.is_finite() { least_s } else { 0.0 }
    }

    /// Equation (2).
    fn congestion_s(&self) -> f64 {
        let square = |part: f64| part * part;
        self.warped_s(self.least_queueing_s())
            + MARK_DELAY_S * square(self.marked_ratio / REFERENCE_MARKS)
            + LOSS_DELAY_S * square(self.lost_ratio / REFERENCE_LOSS)
    }

    /// Warps the delay by equation (1) for [`WARPED_FOR`] loss intervals after a loss. During one
    /// more interval, the result returns to the unmodified delay.
    fn warped_s(&self, queueing_s: f64) -> f64 {
        let interval = self.mean_interval();
        let (Some(since), Some(interval)) = (self.since_loss, interval) else { return queueing_s };
        let intervals = (self.next - since) as f64 / interval;
        if queueing_s < WARPED_FROM_S || intervals >= WARPED_FOR + 1.0 {
            return queueing_s;
        }
        let above = (queueing_s - WARPED_FROM_S) / WARPED_FROM_S;
        let warped_s = WARPED_FROM_S * libm::exp(-WARPING * above);
        let back = (intervals - WARPED_FOR).max(0.0);
        back * queueing_s + (1.0 - back) * warped_s
    }

    /// loss_int, packets.
    fn mean_interval(&self) -> Option<f64> {
        let weighted = || self.intervals.iter().zip(INTERVAL_WEIGHTS);
        let weights: f64 = weighted().map(|(_, weight)| weight).sum();
        (weights > 0.0).then(|| weighted().map(|(interval, weight)| interval * weight).sum::<f64>() / weights)
    }
}

#[derive(Debug)]
pub(super) struct Sender {
    rates: Rates,
    /// r_ref, bit/s.
    rate_bps: f64,
    /// x_prev, seconds.
    previous_s: f64,
    reported: Option<Time>,
}

impl Sender {
    pub(super) fn new(rates: Rates) -> Self {
        Sender { rates, rate_bps: rates.least_bps, previous_s: 0.0, reported: None }
    }

    /// r_vin, the coder's rate, by equations (11) and (13). `buffered_bps` is the term
    /// `8*buffer_len*FPS`.
    pub(super) fn coder_bps(&self, buffered_bps: f64) -> f64 {
        let less = (MAX_OF_RATE * self.rate_bps).min(BUFFER_TO_CODER * buffered_bps);
        (self.rate_bps - less).max(self.rates.least_bps)
    }

    /// r_send, the pace of buffered packets. Equations (12) and (14).
    pub(super) fn pace_bps(&self, buffered_bps: f64) -> f64 {
        let more = (MAX_OF_RATE * self.rate_bps).min(BUFFER_TO_PACE * buffered_bps);
        (self.rate_bps + more).min(self.rates.most_bps)
    }

    pub(super) fn take(&mut self, report: &ReceiverReport, rtt: Duration, now: Time) {
        let since = self.reported.map_or(REPORT_EVERY, |at| now.since(at));
        self.reported = Some(now);
        if report.may_ramp_up {
            // Equations (3) and (4).
            let growth = MAX_GROWTH.min(GROWTH_DELAY_S / (rtt.secs() + REPORT_EVERY.secs() + FILTER_S));
            self.rate_bps = self.rate_bps.max((1.0 + growth) * report.received_bps);
        } else {
            // Equations (5) to (7).
            let aim_s = self.rates.priority * REFERENCE_S * self.rates.most_bps / self.rate_bps;
            let offset_s = report.congestion_s - aim_s;
            let change_s = report.congestion_s - self.previous_s;
            let by_offset = SCALING * (since.secs() / HORIZON_S) * (offset_s / HORIZON_S);
            let by_change = SCALING * SMOOTHING * (change_s / HORIZON_S);
            self.rate_bps -= (by_offset + by_change) * self.rate_bps;
        }
        self.previous_s = report.congestion_s;
        self.rate_bps = self.rate_bps.max(self.rates.least_bps).min(self.rates.most_bps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { least_bps: 150e3, most_bps: 1.5e6, priority: 1.0 };

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn report(congestion_s: f64) -> ReceiverReport {
        ReceiverReport { may_ramp_up: false, congestion_s, received_bps: 0.0 }
    }

    #[test]
    fn without_a_queue_the_rate_grows_within_a_queue_of_50_ms() {
        let mut sender = Sender::new(RATES);
        let idle = ReceiverReport { may_ramp_up: true, congestion_s: 0.0, received_bps: 300e3 };
        sender.take(&idle, Duration::from_ms(80), at(100));
        // The rate grows by the fraction 50 / (80 + 100 + 120). The round trip is 80 ms, the report
        // interval 100 ms, and the filters' delay 120 ms.
        assert!((sender.rate_bps - 350e3).abs() < 1e-6, "{}", sender.rate_bps);
        sender.take(&ReceiverReport { received_bps: 1.0, ..idle }, Duration::from_ms(80), at(200));
        assert!((sender.rate_bps - 350e3).abs() < 1e-6, "and never falls by that");
    }

    #[test]
    fn it_settles_where_congestion_matches_its_rate() {
        // At r = RMAX / 2, PRIO XREF RMAX / r is 20 ms. With this congestion, the offset of
        // equation (5) is zero.
        let mut sender = Sender { rate_bps: 750e3, previous_s: 0.020, ..Sender::new(RATES) };
        sender.take(&report(0.020), Duration::from_ms(50), at(100));
        assert!((sender.rate_bps - 750e3).abs() < 1e-6, "{}", sender.rate_bps);
        sender.take(&report(0.030), Duration::from_ms(50), at(200));
        // By equations (5) to (7), an offset and a change of 10 ms lower the rate by the fraction
        // 0.022.
        assert!((sender.rate_bps - 750e3 * 0.978).abs() < 1e-6, "{}", sender.rate_bps);
    }

    #[test]
    fn a_rate_stays_within_its_bounds_and_the_buffer_moves_it_by_a_twentieth() {
        let mut sender = Sender::new(RATES);
        for i in 0..50 {
            sender.take(&report(0.5), Duration::from_ms(50), at(100 * i));
        }
        assert_eq!((sender.rate_bps, sender.coder_bps(1e6), sender.pace_bps(1e6)), (150e3, 150e3, 157.5e3));
        for i in 50..2000 {
            sender.take(&report(0.0), Duration::from_ms(50), at(100 * i));
        }
        assert_eq!((sender.rate_bps, sender.pace_bps(1e6)), (1.5e6, 1.5e6));
        assert_eq!([0.0, 1e5, 1e6].map(|bps| sender.coder_bps(bps)), [1.5e6, 1.49e6, 1.425e6]);
    }

    /// The last report for packets sent every 10 ms for `s` seconds.
    fn receive(s: u64, delay_ms: impl Fn(u64) -> u64, is_lost: impl Fn(u64) -> bool) -> ReceiverReport {
        let mut receiver = Receiver::default();
        let mut last = report(0.0);
        for number in 0..100 * s {
            let now = at(10 * number + 10);
            if !is_lost(number) {
                let delay = Duration::from_ms(delay_ms(number));
                receiver.take(Arrived { number, bytes: 1250, delay, is_marked: false }, now);
            }
            if number % 10 == 9 {
                last = receiver.report(now);
            }
        }
        last
    }

    fn jump_to(ms: u64) -> impl Fn(u64) -> u64 {
        move |n| if n < 100 { 20 } else { ms }
    }

    #[test]
    fn a_receiver_reports_its_rate_its_queue_and_whether_there_is_one() {
        let idle = receive(5, |_| 20, |_| false);
        // Half a second holds 50 packets, or 51 if there is a packet at both of its bounds.
        assert!((idle.received_bps - 1e6).abs() <= 1e6 / 50.0, "{}", idle.received_bps);
        assert!(idle.may_ramp_up && idle.congestion_s == 0.0);
        let queueing = receive(5, jump_to(50), |_| false);
        assert!(!queueing.may_ramp_up && (queueing.congestion_s - 0.030).abs() < 1e-12);
        let some = receive(5, |n| if n % 15 == 0 { 20 } else { 50 }, |_| false);
        assert!(!some.may_ramp_up && some.congestion_s == 0.0, "the least of 15 counts");
    }

    #[test]
    fn losses_count_by_the_square_of_their_ratio() {
        // A loss ratio of 2 % is twice PLRREF, so `congestion_s` is 2^2 × 10 ms.
        let lossy = receive(30, |_| 20, |n| n % 50 == 25);
        assert!(!lossy.may_ramp_up && (lossy.congestion_s - 0.040).abs() < 0.002, "{}", lossy.congestion_s);
    }

    #[test]
    fn long_delays_count_less_during_losses_and_fully_after_them() {
        // Equation (1) warps 200 ms to 50 ms × exp(-0.5 × 3) = 11.2 ms. A loss of 1 % adds 10 ms or
        // slightly more.
        let losing = receive(30, jump_to(220), |n| n % 100 == 50);
        assert!((0.0112 + 0.008..0.0112 + 0.020).contains(&losing.congestion_s), "{}", losing.congestion_s);
        // The delay is warped for 700 packets after the last loss, and unmodified after 800. The
        // calls end 650, 750 and 850 packets after that loss.
        let until =
            |last: u64, s: u64| receive(s, jump_to(220), move |n| n < last && n % 100 == 50).congestion_s;
        assert!(until(2000, 26) < 0.013, "{}", until(2000, 26));
        let halfway = until(2000, 27);
        assert!((0.09..0.13).contains(&halfway), "{halfway}"); // 750 of 700 to 800 packets: half of each
        assert!((until(2000, 28) - 0.2).abs() < 0.001, "{}", until(2000, 28));
    }
}

//! Links whose rate changes.

use crate::columns::Line;
use crate::cycle::MAX_PERIOD;
use crate::pattern::Pattern;
use crate::rate::{Rate, Transmitter};
use crate::time::{Duration, Time};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// The law by which a link's rate changes over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RateLaw {
    /// The rate does not change.
    #[default]
    Fixed,
    /// The rate changes at each of these times. Before the first change, the link's own rate
    /// applies. A packet being sent at a change continues at the new rate.
    Steps(Arc<[Step]>),
    /// The rate repeats a pattern; the link's own rate is ignored. A packet being sent at a change
    /// continues at the new rate.
    Pattern(Arc<Pattern>),
    /// The rate follows a trace; the link's own rate is ignored.
    Trace(Arc<Trace>),
}

impl RateLaw {
    /// Reads a trace of [delivery opportunities](Trace::parse) or of [two columns](Pattern::parse).
    ///
    /// # Errors
    /// If the text is neither.
    pub fn parse(text: &str) -> Result<RateLaw, TraceError> {
        if Pattern::is_in(text) {
            return Ok(RateLaw::Pattern(Pattern::parse(text)?.into()));
        }
        Ok(RateLaw::Trace(Trace::parse(text)?.into()))
    }

    /// The mean rate over a period, if the rate repeats.
    pub fn repeating_mean(&self) -> Option<Rate> {
        match self {
            RateLaw::Fixed | RateLaw::Steps(_) => None,
            RateLaw::Pattern(pattern) => Some(pattern.mean()),
            RateLaw::Trace(trace) => Some(trace.mean()),
        }
    }

    /// This pattern or trace scaled to `mean`, with the same times. `None` for other variants, or
    /// if a trace would need more than 4 million opportunities.
    pub fn scaled(&self, mean: Rate) -> Option<RateLaw> {
        match self {
            RateLaw::Fixed | RateLaw::Steps(_) => None,
            RateLaw::Pattern(pattern) => Some(RateLaw::Pattern(pattern.scaled(mean).into())),
            RateLaw::Trace(trace) => Some(RateLaw::Trace(trace.scaled(mean)?.into())),
        }
    }

    /// The mean rate, in bit/s, at which a link can send between two times since the start. `rate`
    /// is the link's own rate.
    pub fn mean_bps(&self, rate: Rate, from: Duration, to: Duration) -> f64 {
        match self {
            RateLaw::Fixed => rate.bps() as f64,
            law => {
                let link = Transmitter::new(rate).under(law);
                link.bits(Time::ZERO + from, Time::ZERO + to) / (to - from).secs()
            }
        }
    }

    /// The link's rate at time `after` from the start; `None` while the link is down. `rate` is the
    /// link's own rate. For a trace, the result is always its mean rate.
    pub fn rate_after(&self, rate: Rate, after: Duration) -> Option<Rate> {
        match self {
            RateLaw::Fixed => Some(rate),
            RateLaw::Steps(steps) => {
                let begun = steps.partition_point(|step| step.at <= Time::ZERO + after);
                begun.checked_sub(1).map_or(Some(rate), |latest| steps[latest].rate)
            }
            RateLaw::Pattern(pattern) => pattern.at(after).0,
            RateLaw::Trace(trace) => Some(trace.mean()),
        }
    }

    /// The mean rate between `from` and `to`, to the nearest bit/s; `rate` itself if nothing can be
    /// sent.
    pub fn mean(&self, rate: Rate, from: Duration, to: Duration) -> Rate {
        Rate::from_bps((self.mean_bps(rate, from, to) + 0.5) as u64).unwrap_or(rate)
    }
}

/// A change of rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The time of the change.
    pub at: Time,
    /// The rate from `at` on; `None` while the link is down and sends nothing.
    pub rate: Option<Rate>,
}

/// Delivery opportunities, as in a trace of mahimahi (R. Netravali et al., USENIX ATC 2015, section
/// 4; `mm-link`).
///
/// Each line of such a file is a time in integer milliseconds from the start, at which the link can
/// deliver [`Trace::BYTES`] bytes at once. A repeated time is another opportunity. The file's last
/// time is the time zero of its next repetition. As in mahimahi:
///
/// - An opportunity serves the packet that is at the head of the queue at that instant, and then
///   the next packets.
/// - A packet that does not fit also takes bytes of the next opportunities. It is delivered with
///   its last byte.
/// - An opportunity, or the rest of one, is lost if no packet waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    times: Box<[Duration]>,
}

/// Why a text is not a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceError {
    /// There are no opportunities.
    Empty,
    /// A line is not an integer number of milliseconds.
    NoNumber {
        /// The line.
        line: Line,
    },
    /// A time is earlier than the time on the line above.
    OutOfOrder {
        /// The line.
        line: Line,
    },
    /// All times are zero: the trace has no length and could not repeat.
    NoLength,
    /// A line of a trace of two columns is not a time and a rate.
    NoPair {
        /// The line.
        line: Line,
    },
    /// A trace of two columns has only one time.
    NoEnd,
    /// All rates of a trace of two columns are zero.
    NothingSent,
    /// A line of a two-column trace is more than a year after the first line, or there are too many
    /// lines.
    TooLong {
        /// The line.
        line: Line,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Empty => {
                write!(f, "the trace has no lines; one time in milliseconds per line is needed")
            }
            TraceError::NoNumber { line } => {
                write!(
                    f,
                    "{line} of the trace is no whole number of milliseconds; a trace of rates has two \
                     columns, seconds and Mbit/s"
                )
            }
            TraceError::OutOfOrder { line } => {
                write!(f, "{line} of the trace is before the line above it; times must not decrease")
            }
            TraceError::NoLength => {
                write!(f, "the trace ends at 0 ms; its last time must be later, since it repeats")
            }
            TraceError::NoPair { line } => {
                write!(f, "{line} of the trace is no time in seconds and rate in Mbit/s, such as `0.5 3.1`")
            }
            TraceError::NoEnd => write!(
                f,
                "the trace has one time; a rate lasts until that of the next line, so a last line must say when \
                 the trace begins again"
            ),
            TraceError::NothingSent => {
                write!(f, "all rates of the trace are 0; one must be above it, since it repeats")
            }
            TraceError::TooLong { line } => {
                write!(f, "{line} of the trace is beyond 1048576 lines, or 366 days after the first")
            }
        }
    }
}

impl core::error::Error for TraceError {}

const LATEST_MS: u64 = MAX_PERIOD.ns() / 1_000_000;

const MAX_SCALED: u64 = 1 << 22;
/// Scaling repeats a trace until the result has at least this many opportunities, so its mean is
/// exact to 0.005 %.
const MIN_SCALED: u64 = 10_000;

impl Trace {
    /// Bytes of one opportunity, as in mahimahi: a packet of 1500 bytes and the 4 bytes that a TUN
    /// device puts before it.
    pub const BYTES: u32 = 1504;

    /// Reads a trace file. Blank lines are skipped.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let mut times: Vec<Duration> = Vec::new();
        for (at, line) in text.lines().map(str::trim).enumerate() {
            if line.is_empty() {
                continue;
            }
            let ms = line.parse().ok().filter(|ms| *ms <= LATEST_MS);
            let wrong = || Line::new(at + 1, line);
            let time = Duration::from_ms(ms.ok_or_else(|| TraceError::NoNumber { line: wrong() })?);
            if times.last().is_some_and(|last| time < *last) {
                return Err(TraceError::OutOfOrder { line: wrong() });
            }
            times.push(time);
        }
        match times.last() {
            None => Err(TraceError::Empty),
            Some(last) if last.is_zero() => Err(TraceError::NoLength),
            Some(_) => Ok(Trace { times: times.into() }),
        }
    }

    /// The time after which the trace repeats.
    pub fn period(&self) -> Duration {
        self.times[self.times.len() - 1]
    }

    /// The mean rate over a period with a permanent backlog; at least 1 bit/s.
    pub fn mean(&self) -> Rate {
        let bits = self.times.len() as u128 * u128::from(Trace::BYTES) * 8;
        let ns = u128::from(self.period().ns());
        let bps = (bits * 1_000_000_000 + ns / 2) / ns;
        Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1)).expect("one bit a second is a rate")
    }

    /// Omits or repeats opportunities evenly. `None` if this needs more than 4 million
    /// opportunities.
    fn scaled(&self, mean: Rate) -> Option<Trace> {
        let of_period = mean.bps() as f64 * self.period().secs() / (f64::from(Trace::BYTES) * 8.0); // opportunities
        let repeats = (MIN_SCALED as f64 / of_period) as u64 + 1;
        let (given, wanted) = (self.times.len() as u64 * repeats, (of_period * repeats as f64 + 0.5) as u64);
        if given.max(wanted) > MAX_SCALED {
            return None;
        }
        let time = |number: u64| self.time(((number + 1) * given).div_ceil(wanted) - 1).since(Time::ZERO);
        Some(Trace { times: (0..wanted).map(time).collect() })
    }

    fn time(&self, number: u64) -> Time {
        let (cycle, at) = (number / self.times.len() as u64, number % self.times.len() as u64);
        Time::ZERO + self.period() * cycle + self.times[at as usize]
    }

    fn count_before(&self, time: Time) -> u64 {
        let (cycle, rest) = (time.ns() / self.period().ns(), time.ns() % self.period().ns());
        let count = |rest| self.times.partition_point(|at| at.ns() < rest) as u64;
        // `time` is the end of a period: do not count the opportunities at this very time.
        let at_the_end =
            if rest == 0 && cycle > 0 { self.times.len() as u64 - count(self.period().ns()) } else { 0 };
        cycle * self.times.len() as u64 + count(rest) - at_the_end
    }
}

#[derive(Debug)]
pub(crate) enum Changing {
    Steps(Steps),
    Pattern(Repeating),
    Trace(Opportunities),
}

#[derive(Debug)]
pub(crate) struct Steps {
    first: Rate,
    steps: Arc<[Step]>,
    next: usize,
    remainder: u64, // bit-nanoseconds sent already but not yet turned into time
}

#[derive(Debug)]
pub(crate) struct Repeating {
    pattern: Arc<Pattern>,
    start: Time,    // when the pattern begins
    remainder: u64, // as that of steps
}

#[derive(Debug)]
pub(crate) struct Opportunities {
    trace: Arc<Trace>,
    start: Time, // when the trace begins
    next: u64,
    left: u32, // bytes of the opportunity before `next`
}

impl Changing {
    /// The state of `law`, whose times count from `start`.
    ///
    /// # Panics
    /// When steps are not in order of time.
    pub(crate) fn new(rate: Rate, law: &RateLaw, start: Time) -> Option<Changing> {
        match law {
            RateLaw::Fixed => None,
            RateLaw::Steps(steps) => {
                assert!(steps.is_sorted_by_key(|step| step.at), "changes of rate are out of order");
                let later = |step: &Step| Step { at: start + step.at.since(Time::ZERO), ..*step };
                let steps: Arc<[Step]> = steps.iter().map(later).collect();
                Some(Changing::Steps(Steps { first: rate, steps, next: 0, remainder: 0 }))
            }
            RateLaw::Pattern(pattern) => {
                Some(Changing::Pattern(Repeating { pattern: Arc::clone(pattern), start, remainder: 0 }))
            }
            RateLaw::Trace(trace) => {
                Some(Changing::Trace(Opportunities { trace: Arc::clone(trace), start, next: 0, left: 0 }))
            }
        }
    }

    #[cold]
    pub(crate) fn begins_at(&self, now: Time) -> Time {
        match self {
            Changing::Trace(of) if of.left == 0 => of.time(of.next).max(now),
            _ => now,
        }
    }

    #[cold]
    pub(crate) fn idle_until(&mut self, now: Time) {
        if let Changing::Trace(of) = self {
            of.left = 0;
            of.lose_before(now);
        }
    }

    /// The time when the last of `bytes` is sent, if sending begins at `from`.
    #[cold]
    pub(crate) fn send(&mut self, bytes: u32, from: Time) -> Time {
        match self {
            Changing::Steps(steps) => steps.send(bytes, from),
            Changing::Pattern(pattern) => pattern.send(bytes, from),
            Changing::Trace(of) => of.send(bytes, from),
        }
    }

    pub(crate) fn bits(&self, from: Time, to: Time) -> f64 {
        match self {
            Changing::Steps(steps) => steps.bits(from, to),
            Changing::Pattern(pattern) => pattern.bits(from, to),
            Changing::Trace(of) => {
                let count = of.count_before(to) - of.count_before(from.min(to));
                count as f64 * f64::from(Trace::BYTES) * 8.0
            }
        }
    }
}

impl Steps {
    pub(crate) fn set_first(&mut self, rate: Rate) {
        self.first = rate;
    }

    fn rate_before(&self, step: usize) -> Option<Rate> {
        step.checked_sub(1).map_or(Some(self.first), |before| self.steps[before].rate)
    }

    fn send(&mut self, bytes: u32, from: Time) -> Time {
        let work = u128::from(bytes) * 8_000_000_000 + u128::from(self.remainder);
        let (at, remainder) = sent(work, from, |at| {
            while self.steps.get(self.next).is_some_and(|step| step.at <= at) {
                self.next += 1;
            }
            let until = self.steps.get(self.next).map_or(Time::MAX, |step| step.at);
            (self.rate_before(self.next), until)
        });
        self.remainder = remainder;
        at
    }

    fn bits(&self, from: Time, to: Time) -> f64 {
        let starts = core::iter::once(Time::ZERO).chain(self.steps.iter().map(|step| step.at));
        let ends = self.steps.iter().map(|step| step.at).chain([Time::MAX]);
        let spells = starts.zip(ends).enumerate();
        let bits = spells.map(|(at, (start, end))| {
            let seconds = end.min(to).since(start.max(from)).secs();
            seconds * self.rate_before(at).map_or(0.0, |rate| rate.bps() as f64)
        });
        bits.sum()
    }
}

/// Returns the time at which `work` (bit/s times ns) is sent, if sending begins at `at`, and the
/// work left after the last integer nanosecond. `spell` returns the rate at a time, and the end of
/// that rate.
fn sent(mut work: u128, mut at: Time, mut spell: impl FnMut(Time) -> (Option<Rate>, Time)) -> (Time, u64) {
    loop {
        let (rate, until) = spell(at);
        let Some(rate) = rate else {
            if work == 0 {
                return (at, 0); // its last bit was sent as the link went down
            }
            if until == Time::MAX {
                return (until, 0);
            }
            at = until;
            continue;
        };
        let rate = u128::from(rate.bps());
        let possible = rate * u128::from(until.since(at).ns());
        if work < possible || until == Time::MAX {
            let time = Duration::from_ns(u64::try_from(work / rate).unwrap_or(u64::MAX));
            return (at + time, (work % rate) as u64);
        }
        work -= possible;
        at = until;
    }
}

impl Repeating {
    fn send(&mut self, bytes: u32, from: Time) -> Time {
        let work = u128::from(bytes) * 8_000_000_000 + u128::from(self.remainder);
        if work == 0 {
            return from;
        }
        let before = self.pattern.sent(from.since(self.start));
        let (after, remainder) = self.pattern.sent_by(before + work);
        self.remainder = remainder;
        self.start + after
    }

    fn bits(&self, from: Time, to: Time) -> f64 {
        let sent = |time: Time| self.pattern.sent(time.since(self.start));
        (sent(to) - sent(from.min(to))) as f64 / 1e9
    }
}

impl Opportunities {
    fn time(&self, number: u64) -> Time {
        self.start + self.trace.time(number).since(Time::ZERO)
    }

    fn count_before(&self, time: Time) -> u64 {
        self.trace.count_before(Time::ZERO + time.since(self.start))
    }

    fn lose_before(&mut self, time: Time) {
        if self.time(self.next) < time {
            self.next = self.count_before(time).max(self.next);
        }
    }

    /// The time when the last of `bytes` is sent. Opportunities before `from` are lost, even if the
    /// sender was invoked late.
    fn send(&mut self, bytes: u32, from: Time) -> Time {
        self.lose_before(from);
        let mut missing = u64::from(bytes.saturating_sub(self.left));
        let mut sent = from;
        if missing == 0 {
            self.left -= bytes;
            return sent;
        }
        while missing > 0 {
            sent = self.time(self.next).max(from);
            self.next += 1;
            self.left = u64::from(Trace::BYTES).saturating_sub(missing) as u32;
            missing = missing.saturating_sub(Trace::BYTES.into());
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn rate(bps: u64) -> Rate {
        Rate::from_bps(bps).expect("not zero")
    }

    fn step(at: u64, bps: u64) -> Step {
        Step { at: ms(at), rate: Rate::from_bps(bps) }
    }

    #[test]
    fn a_packet_in_transmission_continues_at_the_new_rate() {
        let law = RateLaw::Steps([step(1, 2_000_000), step(2, 16_000_000)].into());
        let mut link = Transmitter::new(rate(8_000_000)).under(&law);
        assert_eq!(link.start(500, ms(0)).ns(), 500_000);
        assert_eq!(link.start(600, ms(0)).ns(), 1_400_000); // 500 at 1 us, 100 at 4 us
        assert_eq!(link.start(1150, ms(0)).ns(), 2_500_000); // 150 at 4 us, 1000 at 0.5 us
        assert_eq!(link.start(1000, ms(9)).ns(), 9_500_000);
        assert_eq!(link.bits(ms(0), ms(3)), 8_000.0 + 2_000.0 + 16_000.0);
        assert_eq!(link.bits(Time::from_ns(500_000), Time::from_ns(1_500_000)), 4_000.0 + 1_000.0);
    }

    #[test]
    fn a_link_sends_nothing_while_down_and_then_continues() {
        let law = RateLaw::Steps([step(1, 0), step(3, 8_000_000), step(5, 0)].into());
        let mut link = Transmitter::new(rate(8_000_000)).under(&law);
        assert_eq!(link.start(1500, ms(0)).ns(), 3_500_000); // 1000 before, 500 after
        assert_eq!(link.start(1000, ms(4)).ns(), 5_000_000);
        assert_eq!(link.start(1, ms(5)), Time::MAX);
        assert_eq!(link.bits(ms(0), ms(9)), 8_000.0 + 16_000.0);
        let after = |ms| law.rate_after(rate(9), Duration::from_ms(ms));
        let rates = [after(0), after(1), after(2), after(3), after(4), after(5)];
        assert_eq!(rates, [Some(rate(9)), None, None, Some(rate(8_000_000)), Some(rate(8_000_000)), None]);
    }

    #[test]
    fn a_rate_law_shifts_with_its_start() {
        let laws = [
            RateLaw::Steps([step(1, 2_000_000), step(3, 0), step(7, 16_000_000)].into()),
            RateLaw::Trace(Trace::parse("0\n2\n5\n5\n9\n").expect("a trace").into()),
        ];
        for law in laws {
            let (mut early, mut late) =
                (Transmitter::new(rate(8_000_000)), Transmitter::new(rate(8_000_000)));
            late.start(5, Time::from_ns(13)); // it is free again long before the law begins
            let start = Duration::from_ms(1000);
            early.follow(&law, ms(0));
            late.follow(&law, ms(1000));
            for (bytes, at) in [(500, 0), (600, 0), (1150, 1), (1000, 9), (1504, 9), (40, 31)] {
                if at == 31 {
                    early.idle_until(ms(at));
                    late.idle_until(ms(at) + start);
                }
                assert_eq!(early.begins_at(ms(at)) + start, late.begins_at(ms(at) + start));
                assert_eq!(early.start(bytes, ms(at)) + start, late.start(bytes, ms(at) + start), "{law:?}");
            }
            assert_eq!(early.bits(ms(1), ms(40)), late.bits(ms(1001), ms(1040)));
            assert_eq!(
                law.mean_bps(rate(8_000_000), Duration::ZERO, Duration::from_ms(8)) * 0.008,
                early.bits(ms(0), ms(8))
            );
        }
    }

    #[test]
    fn a_late_driver_catches_up_on_a_trace_only_up_to_the_bound() {
        let trace = RateLaw::Trace(Trace::parse("1\n").expect("a trace").into()); // one each millisecond
        let mut link = Transmitter::with_catch_up(rate(1), Duration::from_ms(3)).under(&trace);
        assert_eq!(link.start(1504, ms(1)), ms(1));
        // The link may catch up 3 ms: at 9 ms, it can use the opportunities from 6 ms on.
        let sent: Vec<Time> = (0..5).map(|_| link.start(1504, ms(9))).collect();
        assert_eq!(sent, [6, 7, 8, 9, 10].map(ms));
    }

    #[test]
    fn steps_to_the_same_rate_change_nothing() {
        let steps: Vec<Step> = (1..2_000).map(|at| step(at, 7_777_777)).collect();
        let mut stepped = Transmitter::new(rate(7_777_777)).under(&RateLaw::Steps(steps.into()));
        let mut plain = Transmitter::new(rate(7_777_777));
        for number in 0..5_000_u64 {
            let (bytes, now) = ([552, 40, 9000, 1500][number as usize % 4], Time::from_ns(number * 600_000));
            assert_eq!(stepped.start(bytes, now), plain.start(bytes, now));
        }
    }

    #[test]
    fn a_trace_is_read_and_a_bad_one_is_refused_with_its_line() {
        let no_number = |text| Err(TraceError::NoNumber { line: Line::new(1, text) });
        assert_eq!(Trace::parse("0\n3\n\n3\n7\n").expect("a trace").times.len(), 4);
        assert_eq!(Trace::parse(" \n"), Err(TraceError::Empty));
        assert_eq!(Trace::parse("1\nx\n"), Err(TraceError::NoNumber { line: Line::new(2, "x") }));
        assert_eq!(Trace::parse("99999999999999999999"), no_number("99999999999999999999"));
        assert_eq!(Trace::parse("18446744073709551"), no_number("18446744073709551"));
        assert_eq!(Trace::parse("-1"), no_number("-1"));
        assert_eq!(Trace::parse("5\n\n4\n"), Err(TraceError::OutOfOrder { line: Line::new(3, "4") }));
        assert_eq!(Trace::parse("0\n0\n"), Err(TraceError::NoLength));
    }

    #[test]
    fn opportunities_are_counted_as_they_are_listed_through_all_repetitions() {
        let trace = Trace::parse("0\n3\n3\n7\n").expect("a trace");
        let listed: Vec<u64> = (0..12).map(|number| trace.time(number).ns() / 1_000_000).collect();
        assert_eq!(listed, [0, 3, 3, 7, 7, 10, 10, 14, 14, 17, 17, 21]);
        for now in 0..21 {
            let expected = listed.iter().filter(|&&at| at < now).count() as u64;
            assert_eq!(trace.count_before(ms(now)), expected, "before {now} ms");
        }
    }

    #[test]
    fn the_mean_of_a_trace_is_its_delivery_per_period() {
        let mean = |text| Trace::parse(text).expect("a trace").mean().bps();
        assert_eq!(mean("0\n3\n3\n7\n"), 6_875_429); // 4 x 12 032 bits in 7 ms
        assert_eq!(mean("1\n"), 12_032_000);
        assert_eq!(mean("31622400000\n"), 1); // one in a year: a rate is never nothing
    }

    #[test]
    fn the_rest_of_an_opportunity_serves_the_next_packet() {
        let trace = RateLaw::Trace(Trace::parse("2\n5\n5\n9\n").expect("a trace").into());
        let mut link = Transmitter::new(rate(1)).under(&trace);
        link.idle_until(ms(1));
        assert_eq!(link.begins_at(ms(1)), ms(2));
        assert_eq!(link.start(1000, ms(2)), ms(2)); // 504 left
        assert_eq!(link.begins_at(ms(2)), ms(2));
        assert_eq!(link.start(1000, ms(2)), ms(5)); // 496 more: 1008 left
        assert_eq!(link.start(1008, ms(5)), ms(5)); // to the last byte
        assert_eq!(link.begins_at(ms(5)), ms(5)); // there is another at 5 ms
        assert_eq!(link.start(5000, ms(5)), ms(14)); // 1504 at 5, 9, 11, and 488 at 14
        link.idle_until(ms(15)); // 1016 bytes are lost, as is the other opportunity at 14 ms
        assert_eq!(link.begins_at(ms(15)), ms(18));
    }
}

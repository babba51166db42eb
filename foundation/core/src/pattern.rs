//! Repeating rates.

use crate::capacity::{Step, TraceError};
use crate::columns::{Line, MAX_ROWS, fields, is_head, lines, nanoseconds, number};
use crate::cycle::{Cycle, MAX_PERIOD};
use crate::rate::Rate;
use crate::time::{Duration, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// A sequence of rates and durations that repeats for ever. A rate of `None` means that the link is
/// down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    cycle: Cycle<Option<Rate>>,
    /// For each part, the work sent from the period's start to the part's end, in bit-nanoseconds.
    sent: Box<[u128]>,
}

/// Why rates form no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternError {
    /// A part has zero duration, or there are no parts.
    NoTime,
    /// The period is longer than a year.
    TooLong,
    /// The link is down all the time.
    NothingSent,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PatternError::NoTime => "a part of it lasts no time; allowed: times above 0",
            PatternError::TooLong => "it lasts more than a year; allowed: 366 days at most",
            PatternError::NothingSent => "the link is down all the time; allowed: one rate at least",
        })
    }
}

impl core::error::Error for PatternError {}

impl Pattern {
    /// The pattern of these parts.
    ///
    /// # Errors
    /// If there are no parts, a part has zero duration, the parts together last more than a year,
    /// or nothing is ever sent.
    pub fn new(parts: impl IntoIterator<Item = (Duration, Option<Rate>)>) -> Result<Self, PatternError> {
        let parts: Vec<_> = parts.into_iter().collect();
        if parts.iter().any(|(length, _)| length.is_zero()) {
            return Err(PatternError::NoTime);
        }
        let cycle = Cycle::new(parts).ok_or(PatternError::NoTime)?;
        if cycle.period() > MAX_PERIOD {
            return Err(PatternError::TooLong);
        }
        let mut sum = 0;
        let parts = cycle.spells().map(|(_, length, rate)| {
            sum += work(rate, length);
            sum
        });
        let sent: Box<[u128]> = parts.collect();
        if sum == 0 { Err(PatternError::NothingSent) } else { Ok(Pattern { cycle, sent }) }
    }

    /// The pattern of a trace of two columns: a time in seconds, and the rate in Mbit/s until the
    /// next line's time. A rate of 0 means that the link is down. The first time is the start. At
    /// the last line's time the trace begins again; the last rate is ignored.
    ///
    /// Blanks, tabs or a comma separate the columns. Lines that begin with `#` are comments; the
    /// first other line may name the columns.
    ///
    /// # Errors
    /// If a line is not a time and a rate, times decrease, the trace is too long or has only one
    /// time, or nothing is ever sent.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut rows: Vec<(u64, Option<Rate>)> = Vec::new();
        let head = usize::from(lines(text).next().is_some_and(|(_, line)| is_head(line)));
        for (line, row) in lines(text).skip(head) {
            let wrong = || Line::new(line, row);
            let (at, rate) = pair(row).ok_or_else(|| TraceError::NoPair { line: wrong() })?;
            if rows.last().is_some_and(|(last, _)| at < *last) {
                return Err(TraceError::OutOfOrder { line: wrong() });
            }
            let first = rows.first().map_or(at, |(first, _)| *first);
            if at - first > MAX_PERIOD.ns() || rows.len() == MAX_ROWS {
                return Err(TraceError::TooLong { line: wrong() });
            }
            rows.push((at, rate));
        }
        let parts = rows.windows(2).map(|two| (Duration::from_ns(two[1].0 - two[0].0), two[0].1));
        Pattern::new(parts.filter(|(length, _)| !length.is_zero())).map_err(|error| match error {
            PatternError::NothingSent => TraceError::NothingSent,
            PatternError::NoTime | PatternError::TooLong => TraceError::NoEnd,
        })
    }

    /// Does `text` have two columns of numbers, rather than one?
    pub(crate) fn is_in(text: &str) -> bool {
        let head = usize::from(lines(text).next().is_some_and(|(_, line)| is_head(line)));
        lines(text).nth(head).is_some_and(|(_, row)| pair(row).is_some())
    }

    /// The time after which it repeats.
    pub fn period(&self) -> Duration {
        self.cycle.period()
    }

    /// The mean rate over a period; at least 1 bit/s.
    pub fn mean(&self) -> Rate {
        let ns = u128::from(self.period().ns());
        let bps = (self.total() + ns / 2) / ns;
        Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1)).expect("one bit a second is a rate")
    }

    /// The highest of its rates.
    pub fn fastest(&self) -> Rate {
        self.cycle.spells().filter_map(|(.., rate)| rate).max().expect("it sends something")
    }

    /// This pattern with another mean. The rate of each part is rounded to the nearest bit/s.
    #[must_use]
    pub fn scaled(&self, mean: Rate) -> Pattern {
        let factor = mean.bps() as f64 * self.period().ns() as f64 / self.total() as f64;
        let scaled = |rate: Rate| Rate::from_bps(((rate.bps() as f64 * factor + 0.5) as u64).max(1));
        let parts = self.cycle.spells().map(|(_, length, rate)| (length, rate.and_then(scaled)));
        Pattern::new(parts).expect("its times are the same, and no rate becomes 0")
    }

    /// All changes of the rate, through all repetitions.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        (0..).flat_map(move |period| {
            let start = Time::ZERO + self.period() * period;
            self.cycle.spells().map(move |(at, _, rate)| Step { at: start + at, rate })
        })
    }

    /// The rate at time `after`, and the time when this rate ends. Both times count from the start.
    pub(crate) fn at(&self, after: Duration) -> (Option<Rate>, Duration) {
        self.cycle.at(after)
    }

    /// Work sent in a period, in bit-nanoseconds; above zero.
    pub(crate) fn total(&self) -> u128 {
        self.sent[self.sent.len() - 1]
    }

    /// The work sent from the start until `after`, in bit-nanoseconds.
    pub(crate) fn sent(&self, after: Duration) -> u128 {
        let (periods, rest) = self.cycle.divided(after);
        let (rate, end) = self.cycle.at(rest);
        u128::from(periods) * self.total() + self.sent[self.cycle.place(rest)] - work(rate, end - rest)
    }

    /// The time from the start until `work` bit-nanoseconds are sent, and the work that remains
    /// after the last integer nanosecond. `work` is above zero.
    ///
    /// This must not loop: a packet may take many periods, and a period may have a million parts.
    pub(crate) fn sent_by(&self, work: u128) -> (Duration, u64) {
        let periods = (work - 1) / self.total();
        let rest = work - periods * self.total();
        let place = self.sent.partition_point(|sent| *sent < rest);
        let before = place.checked_sub(1).map_or(0, |before| self.sent[before]);
        let (start, rate) = self.cycle.spell(place);
        let rate = u128::from(rate.map_or(1, Rate::bps)); // something is sent in this part
        let since = Duration::from_ns(u64::try_from((rest - before) / rate).unwrap_or(u64::MAX));
        let periods = self.period() * u64::try_from(periods).unwrap_or(u64::MAX);
        (periods + start + since, ((rest - before) % rate) as u64)
    }
}

/// The work in bit-nanoseconds: bit/s times ns.
fn work(rate: Option<Rate>, time: Duration) -> u128 {
    u128::from(rate.map_or(0, Rate::bps)) * u128::from(time.ns())
}

fn pair(line: &str) -> Option<(u64, Option<Rate>)> {
    let [seconds, mbps] = fields(line)[..] else { return None };
    let bps = number(mbps).map(|mbps| mbps * 1e6).filter(|bps| (0.0..1.8e19).contains(bps))?;
    Some((nanoseconds(number(seconds)?, 1e9)?, Rate::from_bps((bps + 0.5) as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::{RateLaw, Trace};
    use crate::rate::Transmitter;
    use alloc::format;

    fn mbps(mbps: u64) -> Option<Rate> {
        Rate::from_bps(mbps * 1_000_000)
    }

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_pattern_sends_its_mean_and_its_last_period_is_as_exact_as_its_first() {
        let pattern = Pattern::new([(secs(1), mbps(12)), (secs(1), mbps(24))]).expect("a pattern");
        let law = RateLaw::Pattern(pattern.into());
        let mut link = Transmitter::new(Rate::from_bps(1).expect("not zero")).under(&law);
        let of = |from: u64, to: u64| law.mean_bps(link.rate(), secs(from), secs(to));
        assert_eq!((of(0, 600), of(599, 600), of(598, 599)), (18e6, 24e6, 12e6));
        // Each period carries exactly 3000 packets of 1500 B, so a packet ends with each period.
        let sent: Vec<u64> = (0..900_000).map(|_| link.start(1500, Time::ZERO).ns()).collect();
        assert_eq!(sent[899_999], 600_000_000_000);
        for at in 0..3_000 {
            assert_eq!(sent[897_000 + at], 598_000_000_000 + sent[at]);
        }
    }

    #[test]
    fn a_packet_spans_pauses_and_skips_entire_periods_at_once() {
        let ns = Duration::from_ns;
        let rate = Rate::from_bps(8_000_000_000).expect("not zero"); // a byte is 1 ns
        let pattern = Pattern::new([(ns(100), Some(rate)), (ns(900), None)]).expect("a pattern");
        assert_eq!(pattern.mean().bps(), 800_000_000);
        let mut link = Transmitter::new(rate).under(&RateLaw::Pattern(pattern.into()));
        let mut start = |bytes, at| link.start(bytes, Time::from_ns(at)).ns();
        assert_eq!([start(50, 0), start(60, 0), start(90, 0), start(1, 2_500)], [50, 1_010, 1_100, 3_001]);
        assert_eq!(start(1_000_000_000, 0), 10_000_003_001); // ten million periods
        // The packet takes 12,000,000,000,000 periods of 1 ns.
        let slow = Pattern::new([(ns(1), Rate::from_bps(1))]).expect("a pattern");
        let mut link = Transmitter::new(rate).under(&RateLaw::Pattern(slow.into()));
        assert_eq!(link.start(1500, Time::ZERO), Time::ZERO + secs(12_000));
    }

    #[test]
    fn a_pattern_acts_as_its_steps() {
        let parts = [(Duration::from_us(700), mbps(3)), (Duration::from_us(400), None), (secs(1), mbps(7))];
        let pattern = Pattern::new(parts).expect("a pattern");
        let first = pattern.at(Duration::ZERO).0.expect("up");
        let steps = RateLaw::Steps(pattern.steps().skip(1).take(30).collect());
        let law = RateLaw::Pattern(pattern.into());
        let (mut stepped, mut repeating) =
            (Transmitter::new(first).under(&steps), Transmitter::new(first).under(&law));
        for number in 0..3_000_u64 {
            let (bytes, now) =
                ([552, 40, 9000, 1500][number as usize % 4], Time::from_ns(number * 2_600_000));
            assert_eq!(repeating.start(bytes, now), stepped.start(bytes, now));
            let to = Time::from_ns(number * 3_333_333);
            let (bits, of_steps) = (repeating.bits(Time::ZERO, to), stepped.bits(Time::ZERO, to));
            assert!((bits - of_steps).abs() < 1e-3, "{bits} {of_steps}"); // sums of rounded products
        }
    }

    #[test]
    fn a_packet_over_a_million_steps_of_a_pattern_is_found_at_once() {
        let parts = (0..1_000_000).map(|at| (Duration::from_ns(1), mbps(at % 3)));
        let law = RateLaw::Pattern(Pattern::new(parts).expect("a pattern").into());
        let mut link = Transmitter::new(Rate::from_bps(1).expect("not zero")).under(&law);
        let sent = (0..1_000_000).map(|_| link.start(1500, Time::ZERO)).last().expect("packets");
        // Each period carries 999.999 bits, because its last nanosecond has rate 0. So 12e9 bits
        // take 12,000,012 ms.
        let mean = law.repeating_mean().expect("a pattern").bps();
        assert_eq!((mean, sent.ns() / 1_000_000), (999_999, 12_000_012));
    }

    #[test]
    fn a_trace_of_two_columns_is_weighted_by_time_and_scaled() {
        for text in [
            "0.00\t3.10\n0.52\t2.75\n1.01\t0.40\n2.00\t5.20",
            "# Mbit/s\r\ntime,rate\r\n7.5,3.1\r\n\r\n8.02, 2.75\r\n8.51,0.4\r\n9.5,9\r\n",
        ] {
            let RateLaw::Pattern(pattern) = RateLaw::parse(text).expect("a trace") else { panic!("{text}") };
            assert_eq!((pattern.mean().bps(), pattern.period()), (1_677_750, secs(2)), "{text}");
            let scaled = pattern.scaled(Rate::from_bps(1_000_000).expect("not zero"));
            assert_eq!((scaled.mean().bps(), scaled.at(secs(0)).0), (1_000_000, Rate::from_bps(1_847_713)));
        }
        let repeated = Pattern::parse("0 0\n1 8\n1 3\n2 0\n").expect("a line that lasts no time is none");
        assert_eq!((repeated.at(secs(0)).0, repeated.at(secs(1)).0), (None, mbps(3)));
    }

    #[test]
    fn a_trace_of_opportunities_is_scaled_by_omission_or_repetition() {
        let trace = RateLaw::parse("0\n3\n3\n7\n").expect("a trace"); // 6.875 Mbit/s
        for bps in [1_000_000, 6_875_429, 20_000_000] {
            let scaled = trace.scaled(Rate::from_bps(bps).expect("not zero")).expect("not too many");
            let mean = scaled.repeating_mean().expect("a trace").bps() as f64;
            assert!((mean / bps as f64 - 1.0).abs() < 0.0001, "{mean}");
        }
        assert_eq!(trace.scaled(Rate::from_bps(u64::MAX).expect("not zero")), None);
    }

    #[test]
    fn a_bad_trace_of_rates_is_refused_with_its_line() {
        for (text, error) in [
            ("0 1\n1 x\n2 1\n", TraceError::NoPair { line: Line::new(2, "1 x") }),
            ("0 1\n1 -1\n2 1\n", TraceError::NoPair { line: Line::new(2, "1 -1") }),
            ("0 1\n\n# one\n1 2 3\n", TraceError::NoPair { line: Line::new(4, "1 2 3") }),
            ("1 1\n0.5 1\n", TraceError::OutOfOrder { line: Line::new(2, "0.5 1") }),
            ("0 1\n99999999 1\n", TraceError::TooLong { line: Line::new(2, "99999999 1") }),
            ("0 1\n", TraceError::NoEnd),
            ("0 1\n0 2\n", TraceError::NoEnd),
            ("0 0\n1 0\n2 5\n", TraceError::NothingSent),
            ("0 1 2\n1 1 2\n", TraceError::NoNumber { line: Line::new(1, "0 1 2") }),
        ] {
            assert_eq!(RateLaw::parse(text), Err(error), "{text}");
        }
        let long: alloc::string::String = (0..=MAX_ROWS).map(|row| format!("{row} 1\n")).collect();
        assert_eq!(
            Pattern::parse(&long),
            Err(TraceError::TooLong { line: Line::new(MAX_ROWS + 1, "1048576 1") })
        );
        assert!(
            matches!(RateLaw::parse("1\n"), Ok(RateLaw::Trace(trace)) if *trace == Trace::parse("1").unwrap())
        );
        assert_eq!(Pattern::new([]), Err(PatternError::NoTime));
        assert_eq!(Pattern::new([(secs(1), None)]), Err(PatternError::NothingSent));
        assert_eq!(Pattern::new([(Duration::MAX, mbps(1))]), Err(PatternError::TooLong));
    }
}

//! Measured delays and outages.

use crate::columns::{Line, MAX_ROWS, fields, is_head, lines, nanoseconds, number};
use crate::cycle::{Cycle, MAX_PERIOD};
use crate::irtt;
use crate::time::{Duration, Time};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// One-way delays from a file of round trips. Each delay is half of a round trip, and lasts until
/// the next delay. The last delay lasts as long as the previous one. Then the file begins again.
///
/// In an outage, every packet sent is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace {
    /// `None` in an outage.
    cycle: Cycle<Option<Duration>>,
    /// The position in a period at time zero.
    phase: Duration,
}

/// Why a text is not a file of delays.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DelayError {
    /// A line is not a time and a round trip.
    NoPair {
        /// The line.
        line: Line,
    },
    /// A round trip is above two hours, or is negative and not -1.
    OutOfRange {
        /// The line.
        line: Line,
    },
    /// A time is earlier than the time on the line above.
    OutOfOrder {
        /// The line.
        line: Line,
    },
    /// A line is more than a year after the first, or there are too many lines.
    TooLong {
        /// The line.
        line: Line,
    },
    /// No column of the first line is called `rtt`.
    NoColumn {
        /// The first line.
        line: Line,
    },
    /// Two columns share a name such as `rtt`.
    TwoColumns {
        /// The name.
        name: String,
    },
    /// Text that begins as JSON is not JSON, or not irtt's output.
    NotIrtt {
        /// Counted from 1.
        line: usize,
    },
    /// The file has fewer than two different times.
    TooFew,
    /// All rows are outages.
    NothingPasses,
}

impl fmt::Display for DelayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DelayError::NoPair { line } => {
                write!(
                    f,
                    "{line} of the delays is no time in seconds and round trip in ms, such as `0.01, 48.5`"
                )
            }
            DelayError::OutOfRange { line } => write!(
                f,
                "{line} of the delays has no round trip from 0 to 7200000 ms; -1 and 0 are an outage"
            ),
            DelayError::OutOfOrder { line } => {
                write!(f, "{line} of the delays is before the line above it; times must not decrease")
            }
            DelayError::TooLong { line } => {
                write!(f, "{line} of the delays is beyond 1048576 lines, or 366 days after the first")
            }
            DelayError::NoColumn { line } => {
                write!(f, "{line} of the delays names no column `rtt`; one of round trips in ms is needed")
            }
            DelayError::TwoColumns { name } => {
                write!(f, "two columns of the delays are called `{name}`; one of that name is read")
            }
            DelayError::NotIrtt { line } => write!(
                f,
                "the delays begin as JSON, and line {line} is not as irtt writes it: `round_trips` with `delay.rtt` \
                 and `timestamps.client.send`"
            ),
            DelayError::TooFew => {
                write!(f, "the delays have no two round trips at different times; each lasts until the next")
            }
            DelayError::NothingPasses => write!(f, "all of the delays are outages; one round trip is needed"),
        }
    }
}

impl core::error::Error for DelayError {}

/// A packet's departure, in nanoseconds, and its round trip; `None` if it was lost.
pub(crate) type Trip = (u64, Option<Duration>);

/// The longest round trip: twice the longest delay of a link.
const LONGEST: Duration = Duration::from_secs(7200);

/// The names of columns with times; the first that is present is read.
const TIMES: [&str; 5] = ["relative_seconds", "seconds", "time", "timestamp", "since"];

impl DelayTrace {
    /// Reads irtt's JSON output, or columns: a time in seconds, and the round trip in ms. An
    /// integer from 10^15 on is a time in nanoseconds. The delays begin at the first time.
    ///
    /// A round trip of -1 or 0 is an outage, as is a packet that irtt lost. A first line may name
    /// the columns, and must if there are more than two. Round trips are in the column `rtt`, or
    /// else in the second of two. Times are in the column `relative_seconds`, `seconds`, `time`,
    /// `timestamp` or `since`, or else in the first.
    ///
    /// # Errors
    /// If a line cannot be read, times decrease, a value is out of range, there are too many lines
    /// or fewer than two different times, or nothing ever passes.
    pub fn parse(text: &str) -> Result<Self, DelayError> {
        let trips = if text.trim_start().starts_with('{') { irtt::trips(text) } else { trips(text) }?;
        DelayTrace::of(&trips)
    }

    fn of(trips: &[Trip]) -> Result<Self, DelayError> {
        let lengths = trips.windows(2).map(|two| Duration::from_ns(two[1].0 - two[0].0));
        let last = lengths.clone().rfind(|length| !length.is_zero()).ok_or(DelayError::TooFew)?;
        let halves = trips.iter().map(|(_, trip)| trip.map(|trip| Duration::from_ns(trip.ns() / 2)));
        let cycle = Cycle::new(lengths.chain([last]).zip(halves)).ok_or(DelayError::TooFew)?;
        let trace = DelayTrace { cycle, phase: Duration::ZERO };
        if trace.delays().next().is_none() { Err(DelayError::NothingPasses) } else { Ok(trace) }
    }

    /// The delays of the return path. With them, a packet that is answered at once has the round
    /// trip that the file gives for its departure. So each delay begins later than in the file, by
    /// the forward delay.
    ///
    /// A delay is omitted if it would begin before the previous delay, or less than 250 µs after
    /// it. If the previous delay is an outage and this delay is not, the outage is omitted instead.
    #[must_use]
    pub fn back(&self) -> DelayTrace {
        let mut starts: Vec<(Duration, Option<Duration>)> = Vec::new();
        let mut half = self.delays().next().map_or(Duration::ZERO, |(_, delay)| delay);
        for (start, _, delay) in self.cycle.spells() {
            half = delay.unwrap_or(half);
            let start = start + half;
            let is_before = |(last, _): &&(Duration, Option<Duration>)| start < *last + TOGETHER;
            while delay.is_some() && starts.last().filter(is_before).is_some_and(|(_, last)| last.is_none()) {
                starts.pop();
            }
            if starts.last().filter(is_before).is_none() {
                starts.push((start, delay));
            }
        }
        let period = self.period();
        let first = starts.first().map_or(Duration::ZERO, |(start, _)| *start);
        let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([first + period]);
        let within = starts.iter().zip(ends).filter(|((start, _), _)| *start < first + period);
        let spells = within.map(|((start, delay), end)| (end.min(first + period) - *start, *delay));
        let cycle = Cycle::new(spells).expect("the first lasts until another one begins");
        let phase = Duration::from_ns((period.ns() - first.ns() % period.ns()) % period.ns());
        DelayTrace { cycle, phase }
    }

    /// The delay of a packet sent at `sent`; `None` in an outage.
    pub fn delay(&self, sent: Time) -> Option<Duration> {
        self.cycle.at(sent.since(Time::ZERO) + self.phase).0
    }

    /// The time after which it repeats.
    pub fn period(&self) -> Duration {
        self.cycle.period()
    }

    /// The shortest delay.
    pub fn shortest(&self) -> Duration {
        self.delays().map(|(_, delay)| delay).min().unwrap_or_default()
    }

    /// The mean delay over time, without outages.
    pub fn mean(&self) -> Duration {
        let sums = self.delays().fold((0, 0), |(weighted, time), (length, delay)| {
            (weighted + u128::from(length.ns()) * u128::from(delay.ns()), time + u128::from(length.ns()))
        });
        Duration::from_ns(u64::try_from(sums.0 / sums.1.max(1)).unwrap_or(u64::MAX))
    }

    fn delays(&self) -> impl Iterator<Item = (Duration, Duration)> {
        self.cycle.spells().filter_map(|(_, length, delay)| Some((length, delay?)))
    }

    /// The parts from which another process can rebuild the trace: each delay's duration and value,
    /// and the position in a period at time zero.
    pub fn parts(&self) -> (Vec<(Duration, Option<Duration>)>, Duration) {
        (self.cycle.spells().map(|(_, length, delay)| (length, delay)).collect(), self.phase)
    }

    /// Rebuilds a trace from its [`parts`](Self::parts); `None` if all durations are zero.
    pub fn of_parts(
        parts: impl IntoIterator<Item = (Duration, Option<Duration>)>,
        phase: Duration,
    ) -> Option<Self> {
        Cycle::new(parts).map(|cycle| DelayTrace { cycle, phase })
    }
}

/// Packets that arrive within this time count as arriving together: one has caught up with the
/// other.
const TOGETHER: Duration = Duration::from_us(250);

fn trips(text: &str) -> Result<Vec<Trip>, DelayError> {
    let head = lines(text).next().filter(|(_, line)| is_head(line));
    let columns = head.map(|(number, line)| columns(number, line)).transpose()?;
    let mut trips: Vec<Trip> = Vec::new();
    for (line, row) in lines(text).skip(usize::from(head.is_some())) {
        let fields = fields(row);
        let columns = columns.or((fields.len() == 2).then_some((0, 1)));
        let field = |place: usize| fields.get(place).copied();
        let pair = columns.and_then(|(time, trip)| Some((instant(field(time)?)?, number(field(trip)?)?)));
        let wrong = || Line::new(line, row);
        let (at, ms) = pair.ok_or_else(|| DelayError::NoPair { line: wrong() })?;
        let trip = if ms == -1.0 { 0.0 } else { ms };
        let trip = nanoseconds(trip, 1e6).ok_or_else(|| DelayError::OutOfRange { line: wrong() })?;
        add(&mut trips, (at, Some(Duration::from_ns(trip))), wrong)?;
    }
    Ok(trips)
}

fn columns(number: usize, line: &str) -> Result<(usize, usize), DelayError> {
    let names: Vec<&str> = fields(line).into_iter().map(|field| field.trim_matches('"')).collect();
    let place = |name: &str| {
        let mut places = (0..names.len()).filter(|at| names[*at].eq_ignore_ascii_case(name));
        match (places.next(), places.next()) {
            (_, Some(_)) => Err(DelayError::TwoColumns { name: name.into() }),
            (place, None) => Ok(place),
        }
    };
    let trip = place("rtt")?.or((names.len() == 2).then_some(1));
    let trip = trip.ok_or_else(|| DelayError::NoColumn { line: Line::new(number, line) })?;
    let time = TIMES.into_iter().find_map(|name| place(name).transpose()).transpose()?;
    Ok((time.unwrap_or(0), trip))
}

/// Reads nanoseconds or seconds, and returns nanoseconds.
fn instant(field: &str) -> Option<u64> {
    let ns = field.parse().ok().filter(|ns: &u64| *ns >= 1_000_000_000_000_000);
    ns.or_else(|| nanoseconds(number(field)?, 1e9))
}

pub(crate) fn add(
    trips: &mut Vec<Trip>,
    (at, trip): Trip,
    line: impl Fn() -> Line,
) -> Result<(), DelayError> {
    let (first, last) = (trips.first().map_or(at, |first| first.0), trips.last().map_or(at, |last| last.0));
    if at < last {
        return Err(DelayError::OutOfOrder { line: line() });
    }
    if at - first > MAX_PERIOD.ns() || trips.len() == MAX_ROWS {
        return Err(DelayError::TooLong { line: line() });
    }
    if trip.is_some_and(|trip| trip > LONGEST) {
        return Err(DelayError::OutOfRange { line: line() });
    }
    trips.push((at, trip.filter(|trip| !trip.is_zero())));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;
    use alloc::string::String;
    use core::fmt::Write as _;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn delays(trace: &DelayTrace, at: impl IntoIterator<Item = u64>) -> Vec<u64> {
        at.into_iter().map(|at| trace.delay(ms(at)).map_or(0, |delay| delay.ns() / 1_000_000)).collect()
    }

    #[test]
    fn each_half_round_trip_lasts_until_the_next_and_the_file_repeats() {
        for text in [
            "0,40\n0.01,60\n0.02,-1\n0.03,50\n",
            "# of a dish\nsince,relative_seconds,rtt\n9,100.00,40\n9,100.01,60\n9,100.02,-1\n9,100.03,50",
            "timestamp,rtt,uplink,downlink\n1705744800610000000,40,20,20\n1705744800620000000,60,30,30\n\
             1705744800630000000,0,0,-1\n1705744800640000000,50,25,25\n",
            "seconds rtt\r\n0 40\r\n0.01 60\r\n0.02 -1\r\n0.03 50\r\n",
        ] {
            let trace = DelayTrace::parse(text).expect("delays");
            let seen = delays(&trace, [0, 9, 11, 19, 21, 31, 39, 41, 51]);
            assert_eq!(seen, [20, 20, 30, 30, 0, 25, 25, 20, 30], "{text}");
            assert_eq!((trace.shortest(), trace.mean()), (Duration::from_ms(20), Duration::from_ms(25)));
        }
    }

    #[test]
    fn an_immediate_answer_takes_the_round_trip_of_its_request() {
        let mut rng = Seed(1).stream("delays");
        let (mut text, mut trips, mut trip) = (String::new(), Vec::new(), 50.0);
        for row in 0..30_000_u32 {
            trip = (trip + 16.0 * (rng.uniform() - 0.5)).clamp(20.0, 120.0);
            trip = if rng.chance(0.01) { 20.0 + 100.0 * rng.uniform() } else { trip };
            let lost = rng.chance(0.02);
            trips.push((!lost).then_some(trip));
            writeln!(text, "{:.2},{}", f64::from(row) / 100.0, if lost { -1.0 } else { trip })
                .expect("a string");
        }
        let there = DelayTrace::parse(&text).expect("delays");
        let back = there.back();
        let (mut arrived, mut answered, mut in_order, mut wrong) = (Time::ZERO, Time::ZERO, 0.0_f64, 0);
        for (row, trip) in trips.iter().chain(&trips).enumerate() {
            let sent = ms(10 * row as u64) + Duration::from_us(20); // what the link takes to send it
            let Some(delay) = there.delay(sent) else {
                wrong += usize::from(trip.is_some());
                continue;
            };
            arrived = arrived.max(sent + delay);
            let Some(delay) = back.delay(arrived + Duration::from_us(20)) else {
                wrong += 1;
                continue;
            };
            answered = answered.max(arrived + delay);
            let trip = trip.expect("what is lost was lost");
            // None overtakes another.
            in_order = in_order.max(sent.secs() * 1e3 + trip);
            let late = answered.secs() * 1e3 - in_order;
            assert!(late.abs() < 0.5, "row {row}: {late} ms from its round trip of {trip} ms");
        }
        assert_eq!(wrong, 0, "what passes there passes back");
    }

    #[test]
    fn a_bad_delay_is_refused_with_its_line() {
        for (text, error) in [
            ("0,40\n1,x\n", DelayError::NoPair { line: Line::new(2, "1,x") }),
            ("0,40\n1,50,60\n", DelayError::NoPair { line: Line::new(2, "1,50,60") }),
            ("0,40\n-1,50\n", DelayError::NoPair { line: Line::new(2, "-1,50") }),
            ("0,40\n1,-2\n", DelayError::OutOfRange { line: Line::new(2, "1,-2") }),
            ("0,40\n1,7200001\n", DelayError::OutOfRange { line: Line::new(2, "1,7200001") }),
            ("1,40\n\n0.5,40\n", DelayError::OutOfOrder { line: Line::new(3, "0.5,40") }),
            ("0,40\n99999999,40\n", DelayError::TooLong { line: Line::new(2, "99999999,40") }),
            ("time,up,down\n0,40,40\n", DelayError::NoColumn { line: Line::new(1, "time,up,down") }),
            ("rtt,time,RTT\n40,0,40\n", DelayError::TwoColumns { name: "rtt".into() }),
            ("time,rtt,Time\n0,40,0\n", DelayError::TwoColumns { name: "time".into() }),
            ("", DelayError::TooFew),
            ("0,40\n", DelayError::TooFew),
            ("0,40\n0,50\n", DelayError::TooFew),
            ("0,-1\n1,-1\n", DelayError::NothingPasses),
        ] {
            assert_eq!(DelayTrace::parse(text), Err(error), "{text}");
        }
        let message = DelayTrace::parse("0,40\n1,\tx\n").unwrap_err().to_string();
        assert!(message.starts_with("line 2 (`1, x`) of the delays is no time in seconds"), "{message}");
    }
}

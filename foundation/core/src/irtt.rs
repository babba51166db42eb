//! Reads round trips from irtt's JSON (`irtt client -o`).

use crate::columns::Line;
use crate::delays::{DelayError, Trip, add};
use crate::time::Duration;
use alloc::format;
use alloc::vec::Vec;

/// The maximum nesting; no output of irtt is as deep.
const DEEPEST: usize = 32;

/// The round trips, in order of departure.
pub(crate) fn trips(text: &str) -> Result<Vec<Trip>, DelayError> {
    let (mut trips, mut sent, mut trip, mut is_lost) = (Vec::new(), None, None, false);
    walk(text, |path, value, line| {
        let ["round_trips", "", path @ ..] = path else { return Ok(()) };
        match (path, value) {
            (["timestamps", "client", "send", "wall"], at) if sent.is_none() => sent = at.parse().ok(),
            (["timestamps", "client", "send", "monotonic"], at) => sent = at.parse().ok().or(sent),
            (["delay", "rtt"], ns) => trip = ns.parse().ok().map(Duration::from_ns),
            (["lost"], lost) => is_lost = lost != "false",
            ([], "}") => {
                let at = sent.take().filter(|_| is_lost || trip.is_some());
                let trip = trip.take().filter(|_| !core::mem::take(&mut is_lost));
                let at = at.ok_or(DelayError::NotIrtt { line })?;
                let given =
                    || Line::new(line, &format!("sent at {at} ns, {} ns", trip.map_or(0, Duration::ns)));
                add(&mut trips, (at, trip), given)?;
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(trips)
}

/// Calls `each` with the path, text and line number of every value in a JSON text. At the end of
/// each object, the text is `}`. A path consists of names; the name of an array element is empty.
fn walk<'a>(
    text: &'a str,
    mut each: impl FnMut(&[&'a str], &'a str, usize) -> Result<(), DelayError>,
) -> Result<(), DelayError> {
    let (mut path, mut rest, mut line) = (Vec::new(), text, 1);
    loop {
        let start = rest.trim_start();
        line += rest[..rest.len() - start.len()].matches('\n').count();
        let fault = DelayError::NotIrtt { line };
        let Some(first) = start.chars().next() else {
            return if path.is_empty() { Ok(()) } else { Err(fault) };
        };
        rest = match first {
            '{' | '[' if path.len() < DEEPEST => {
                path.push("");
                &start[1..]
            }
            '}' | ']' => {
                path.pop().ok_or(fault)?;
                if first == '}' {
                    each(&path, "}", line)?;
                }
                &start[1..]
            }
            ',' | ':' => &start[1..],
            '"' => {
                let (string, after) = string(start).ok_or(fault.clone())?;
                match path.last_mut() {
                    Some(name) if after.trim_start().starts_with(':') => *name = string,
                    _ => each(&path, string, line)?,
                }
                after
            }
            _ => {
                let end = start.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
                let (value, after) = start.split_at(end.unwrap_or(start.len()));
                if value.is_empty() {
                    return Err(fault);
                }
                each(&path, value, line)?;
                after
            }
        };
    }
}

/// Splits `text` after the string at its start. The string loses its quotes but stays escaped.
fn string(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text[1..].find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some((&text[1..=end], &text[end + 2..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delays::DelayTrace;
    use crate::time::Time;

    const FILE: &str = r#"{
        "version": { "irtt": "0.9.1" }, "config": { "note": "a \"quoted\" {" },
        "stats": { "rtt": { "n": 3, "mean": 1 } },
        "round_trips": [
            { "seqno": 0, "lost": "false",
              "timestamps": { "client": { "receive": { "wall": 9, "monotonic": 140000000 },
                                          "send": { "wall": 1707277440772833721, "monotonic": 100000000 } },
                              "server": { "send": { "wall": 5 } } },
              "delay": { "receive": -10470921269, "rtt": 40000000, "send": 10488213200 }, "ipdv": {} },
            { "seqno": 1, "lost": "true_down",
              "timestamps": { "client": { "send": { "wall": 3, "monotonic": 110000000 } } }, "delay": {} },
            { "seqno": 2, "lost": "false",
              "timestamps": { "client": { "send": { "wall": 4, "monotonic": 120000000 } } },
              "delay": { "rtt": 60000001 } }
        ] }"#;

    #[test]
    fn round_trips_are_read_and_lost_ones_are_outages() {
        let trace = DelayTrace::parse(FILE).expect("delays");
        let delay = |ms| trace.delay(Time::ZERO + Duration::from_ms(ms)).map(Duration::ns);
        assert_eq!(
            [0, 9, 10, 20, 30].map(delay),
            [20_000_000, 20_000_000, 0, 30_000_000, 20_000_000].map(|ns| Some(ns).filter(|ns| *ns > 0))
        );
    }

    #[test]
    fn a_line_that_irtt_does_not_write_is_refused_with_its_number() {
        for (text, line) in [
            (FILE.replace("\"rtt\": 60000001", ""), 14),
            (FILE.replace("110000000", "null").replace("\"wall\": 3, ", ""), 11),
            (FILE[..FILE.len() - 1].into(), 15),
            ("{ \"a\": \"b }".into(), 1),
            ("{ } }".into(), 1),
            ("[".repeat(40).replacen('[', "{", 1), 1),
        ] {
            assert_eq!(
                trips(&text).and(Err::<(), _>(DelayError::TooFew)),
                Err(DelayError::NotIrtt { line }),
                "{text}"
            );
        }
        assert_eq!(DelayTrace::parse("{ \"round_trips\": [] }"), Err(DelayError::TooFew));
        let back = FILE.replace("120000000", "90000000");
        assert_eq!(
            DelayTrace::parse(&back),
            Err(DelayError::OutOfOrder { line: Line::new(14, "sent at 90000000 ns, 60000001 ns") })
        );
    }
}

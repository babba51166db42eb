//! Built-in traces of links, by name. Each is generated from a law and a seed.
//!
//! They resemble links of their type, but are not measurements. The files in `scenarios/traces/`
//! have the same contents in mahimahi's format.

use fairwire_core::{Rng, Seed, Trace};
use std::fmt::Write as _;

/// A function that returns the link's rate, bit/s, in each millisecond, counted from 1.
type Rates = Box<dyn FnMut(u64, &mut Rng) -> f64>;

/// A built-in trace.
#[derive(Clone, Copy)]
pub struct NamedTrace {
    /// The trace's name, for `trace` in a scenario.
    pub name: &'static str,
    /// The type of link and the law, in one line.
    pub summary: &'static str,
    /// Its length, milliseconds.
    length_ms: u64,
    law: fn(&mut Rng) -> Rates,
}

impl std::fmt::Debug for NamedTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamedTrace").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All of them.
pub const ALL: &[NamedTrace] = &[
    NamedTrace {
        name: "lte",
        summary: "A mobile cell: fading as a Markov chain over seven rates from 0.5 to 24 Mbit/s, a step each 20 ms; \
                  others share the cell, so that it serves in half of the milliseconds. 30 s.",
        length_ms: 30_000,
        law: lte,
    },
    NamedTrace {
        name: "dsl",
        summary: "A line of 16 Mbit/s; at a mean gap of 2 s a noise halts it for 8 to 40 ms, which are sent again. 10 s.",
        length_ms: 10_000,
        law: dsl,
    },
    NamedTrace {
        name: "leo",
        summary: "Satellites in low orbits: each 15 s another one, at another rate from 4 to 12 Mbit/s, after 60 to 180 ms \
                  without any; within these the rate sways by a tenth. 60 s.",
        length_ms: 60_000,
        law: leo,
    },
];

const SEED: Seed = Seed(1);

impl NamedTrace {
    /// The trace of this name.
    pub fn find(name: &str) -> Option<&'static NamedTrace> {
        ALL.iter().find(|trace| trace.name == name)
    }

    /// The trace's file, in mahimahi's format.
    pub fn text(&self) -> String {
        let mut rng = SEED.stream_of(format_args!("trace/{}", self.name));
        let mut rate = (self.law)(&mut rng);
        let (mut text, mut credit) = (String::new(), 0.0);
        for ms in 1..=self.length_ms {
            credit += rate(ms, &mut rng) / 1000.0;
            while credit >= OPPORTUNITY {
                credit -= OPPORTUNITY;
                writeln!(text, "{ms}").expect("writing to a string succeeds");
            }
        }
        // The last line is the length, after which the trace repeats.
        if !text.ends_with(&format!("\n{}\n", self.length_ms)) {
            writeln!(text, "{}", self.length_ms).expect("writing to a string succeeds");
        }
        text
    }

    pub(crate) fn trace(&self) -> Trace {
        Trace::parse(&self.text()).expect("it is made in the format")
    }
}

const OPPORTUNITY: f64 = Trace::BYTES as f64 * 8.0;

/// A fading link, as a chain of states in which each step leads only to a neighbouring state (H. S.
/// Wang and N. Moayeri, IEEE Trans. Vehicular Technology 44(1), 1995). The cell's scheduler also
/// serves other users, so the link carries nothing in half of the milliseconds on average.
fn lte(_: &mut Rng) -> Rates {
    const MBPS: [f64; 7] = [0.5, 2.0, 5.0, 9.0, 14.0, 19.0, 24.0];
    /// Every 20 ms, the state becomes the next higher one with this probability, and the next lower
    /// one with the same probability.
    const MOVES: f64 = 0.15;
    let mut state = 3_usize;
    Box::new(move |ms, rng| {
        if ms.is_multiple_of(20) {
            let draw = rng.uniform();
            if draw < MOVES {
                state = (state + 1).min(MBPS.len() - 1);
            } else if draw < 2.0 * MOVES {
                state = state.saturating_sub(1);
            }
        }
        let serves = rng.uniform() < 0.5;
        if serves { 2e6 * MBPS[state] } else { 0.0 }
    })
}

/// A constant rate, which impulse noise interrupts while damaged data is retransmitted (ITU-T
/// G.998.4).
fn dsl(_: &mut Rng) -> Rates {
    let mut halted_until = 0;
    Box::new(move |ms, rng| {
        if rng.uniform() < 1.0 / 2000.0 {
            halted_until = ms + 8 + u64::from(rng.below(33));
        }
        if ms < halted_until { 0.0 } else { 16e6 }
    })
}

/// A link through satellites. Every 15 s, it changes to another satellite, and carries nothing
/// meanwhile, as users of Starlink measured (J. Garcia et al., LEO-NET 2023).
fn leo(rng: &mut Rng) -> Rates {
    const SLOT_MS: u64 = 15_000;
    let mut mbps = 4.0 + 8.0 * rng.uniform();
    let mut down_until = 0;
    Box::new(move |ms, rng| {
        if ms.is_multiple_of(SLOT_MS) {
            mbps = 4.0 + 8.0 * rng.uniform();
            down_until = ms + 60 + u64::from(rng.below(121));
        }
        let sway = 0.9 + 0.2 * rng.uniform();
        if ms < down_until { 0.0 } else { 1e6 * mbps * sway }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Duration, Rate, RateLaw, Time, Transmitter};

    fn bits(trace: &NamedTrace, from_ms: u64, to_ms: u64) -> f64 {
        let link = Transmitter::new(Rate::from_bps(1).expect("not zero"));
        let link = link.under(&RateLaw::Trace(trace.trace().into()));
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        link.bits(at(from_ms), at(to_ms))
    }

    #[test]
    fn files_match_the_laws() {
        for trace in ALL {
            let file = format!("{}/../../scenarios/traces/{}.trace", env!("CARGO_MANIFEST_DIR"), trace.name);
            let stored = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(stored == trace.text(), "{file}: `cargo run -p fairwire-scenario --example traces`");
        }
    }

    #[test]
    fn each_trace_has_the_length_and_mean_of_its_law() {
        for (name, seconds, mbps) in [("lte", 30, 2.0..20.0), ("dsl", 10, 15.0..16.0), ("leo", 60, 4.0..12.0)]
        {
            let trace = NamedTrace::find(name).expect("it comes along").trace();
            assert_eq!(trace.period(), Duration::from_secs(seconds), "{name}");
            let mean = trace.mean().bps() as f64 / 1e6;
            assert!(mbps.contains(&mean), "{name}: {mean} Mbit/s");
        }
    }

    #[test]
    fn no_capacity_exists_between_two_satellites() {
        let leo = NamedTrace::find("leo").expect("it comes along");
        for slot in 1..4 {
            assert_eq!(bits(leo, 15_000 * slot, 15_000 * slot + 60), 0.0, "{slot}");
            let after = bits(leo, 15_000 * slot + 181, 15_000 * slot + 1181);
            assert!((4e6 * 0.98..12e6 * 1.02).contains(&after), "{slot}: {after}");
        }
    }

    #[test]
    fn a_cell_fades_and_a_line_does_not() {
        let spread = |name: &str| {
            let trace = NamedTrace::find(name).expect("it comes along");
            let each: Vec<f64> =
                (0..9).map(|second| bits(trace, 1000 * second, 1000 * second + 1000)).collect();
            each.iter().copied().fold(0.0, f64::max) / each.iter().copied().fold(f64::INFINITY, f64::min)
        };
        assert!(spread("lte") > 1.5 && spread("dsl") < 1.1, "{} {}", spread("lte"), spread("dsl"));
    }
}

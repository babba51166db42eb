//! Compares netem's faults with our wire's, from the same settings.
//!
//! Their random numbers differ, so fractions and moments are compared, with standard errors.

use fairwire_core::{Duration, Fate, Seed, Time, Wire, WireLaw};
use fairwire_laws::jitter::Normal;
use fairwire_metrics::judge::{Allowed, Rule, Value, Verdict, judge};
use fairwire_stages::linux::Tally;
use fairwire_stages::linux::contest::{Class, Contest};
use fairwire_testbed::path::{Faults, Losses};
use fairwire_testbed::traffic::Sends;
use serde::Serialize;
use std::sync::Arc;

/// A wire with faults.
#[derive(Clone, Copy, Debug)]
pub struct Faulty {
    /// Its name.
    pub name: &'static str,
    /// The wire's faults, in words.
    pub summary: &'static str,
    faults: fn() -> Faults,
    measures: &'static [Measure],
}

/// Every wire.
pub static WIRES: [Faulty; 7] = [
    Faulty {
        name: "netem-loss",
        summary: "a fifth is lost, each packet by itself",
        faults: || Faults::losing(0.2),
        measures: &[Measure::Lost, Measure::Burst],
    },
    Faulty {
        name: "netem-bursts",
        summary: "losses in bursts of 2 (Gilbert-Elliott)",
        faults: || Faults {
            losses: Losses { to_bad: 0.2, to_good: 0.5, when_good: 0.0, when_bad: 1.0 },
            ..Faults::default()
        },
        measures: &[Measure::Lost, Measure::Burst],
    },
    Faulty {
        name: "netem-jitter",
        summary: "jitter, uniform from 0 to 4 ms",
        faults: || jitter(|part| part * 4e6),
        measures: &[Measure::Mean, Measure::Deviation, Measure::Overtook],
    },
    Faulty {
        name: "netem-long-jitter",
        summary: "jitter, exponential of mean 2 ms",
        faults: || jitter(|part| -2e6 * (1.0 - part).ln()),
        measures: &[Measure::Mean, Measure::Deviation, Measure::Overtook],
    },
    Faulty {
        name: "netem-normal",
        summary: "jitter, normal of mean 5 ms and deviation 1 ms",
        faults: normal,
        measures: &[Measure::Mean, Measure::Deviation, Measure::Overtook],
    },
    Faulty {
        name: "netem-reorder",
        summary: "three of ten are held back by 2.5 ms",
        faults: || Faults { reorder: Some((0.3, 2_500_000)), ..Faults::default() },
        measures: &[Measure::HeldBack, Measure::Overtook],
    },
    Faulty {
        name: "netem-duplicate",
        summary: "a fifth arrives twice",
        faults: || Faults { duplicate: 0.2, ..Faults::default() },
        measures: &[Measure::Twice],
    },
];

/// Jitter with the quantile function `quantile`, in nanoseconds.
fn jitter(quantile: fn(f64) -> f64) -> Faults {
    let steps = 16_384; // the size of netem's table
    let of = |step| quantile((f64::from(step) + 0.5) / f64::from(steps)) as u64;
    Faults { jitter_ns: (0..steps).map(of).collect(), overtakes: true, ..Faults::default() }
}

fn normal() -> Faults {
    let law = Normal::new(Duration::from_ms(5), Duration::from_ms(1), 0.0).map(|law| Arc::new(law) as _);
    Faults::of(&WireLaw { jitter: law, overtakes: true, ..WireLaw::default() }, Seed(1))
}

/// The gap between packets. Jitter of a few milliseconds reorders some packets, but not all.
const BETWEEN: Duration = Duration::from_ms(1);
const WARM_UP: Duration = Duration::from_secs(1);
/// The time measured. At one packet per millisecond, a fraction of 20 % has a relative standard
/// error of 0.4 %.
const MEASURED: Duration = Duration::from_secs(250);
/// For each packet of the kernel, our wire carries this many, so random variation in our results
/// adds little error.
const OURS_PER_KERNELS: u64 = 8;
const BYTES: u32 = 125;
const UDP_HEADERS: u32 = 28;
/// The allowed difference, relative to our value.
const ALLOWED: f64 = 0.02;
/// A packet with a longer delay was held back by [`Faults::reorder`].
const IS_LATE_NS: u64 = 1_250_000;
/// The number of pieces into which a run is divided to estimate standard errors.
const PIECES: usize = 200;

/// The measures compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Lost,
    /// The mean length of a run of losses.
    Burst,
    /// The mean delay, ms.
    Mean,
    /// The standard deviation of the delay, ms.
    Deviation,
    /// The share of arriving packets that were held back.
    HeldBack,
    /// The share of arriving packets that overtook an earlier packet.
    Overtook,
    Twice,
}

/// One measure of a wire: netem's value and our wire's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The wire.
    pub wire: &'static str,
    /// The measure.
    pub what: &'static str,
    /// The kernel's value.
    pub kernel: f64,
    /// The value of our wire.
    pub ours: f64,
    /// The standard error of the difference, relative to our value.
    pub error: f64,
}

impl Figure {
    /// The difference of the kernel's value from ours, relative to our value.
    pub fn difference(&self) -> f64 {
        self.kernel / self.ours - 1.0
    }

    /// Holds if both values agree within 2 %.
    pub fn verdict(&self) -> Verdict {
        judge(Value::exact(self.difference()), Allowed::near(0.0, ALLOWED), Rule::Mean)
    }

    /// The figure as a line of the table in `docs/oracles.md`.
    pub fn line(&self) -> String {
        let Figure { wire, what, kernel, ours, error } = self;
        let (difference, error) = (self.difference() * 100.0, error * 100.0);
        let flag = if self.verdict() == Verdict::Holds { "" } else { " <-- more than 2 %" };
        format!("| `{wire}` | {what} | {kernel:.5} / {ours:.5} | {difference:+.2} ± {error:.2} |{flag}")
    }
}

struct Crossed {
    /// The delay of each packet, nanoseconds; `None` if lost.
    took_ns: Vec<Option<u64>>,
    twice: u64,
}

impl Faulty {
    /// The kernel's contest: datagrams at a constant rate over a link without queueing.
    pub fn contest(&self) -> Contest {
        let bps = u64::from(BYTES) * 8 * 1_000_000_000 / BETWEEN.ns();
        let sends = Sends::Udp { bps, payload: BYTES - UDP_HEADERS, counted: BYTES };
        Contest {
            rate_bps: 1_000_000_000,
            changes: Vec::new(),
            overhead: 0,
            mtu: 1500,
            discipline: "pfifo limit 1000".into(),
            modules: Vec::new(),
            classes: vec![Class { sends, flows: 1, rtt_ns: 0, ecn: false }],
            starts: vec![0],
            warm_up_ns: WARM_UP.ns(),
            duration_ns: (WARM_UP + MEASURED).ns(),
            faults: Some((self.faults)()),
        }
    }

    /// Compares the kernel's results with our wire's. Returns one figure per measure.
    pub fn figures(&self, kernel: &Tally) -> Vec<Figure> {
        let theirs = Crossed { took_ns: kernel.crossed_ns.clone(), twice: kernel.faults.duplicated };
        let ours = carried(&(self.faults)(), Seed(1), OURS_PER_KERNELS * theirs.took_ns.len() as u64);
        let figure = |measure: &Measure| {
            let [(kernel, kernels_error), (ours, ours_error)] =
                [&theirs, &ours].map(|crossed| measure.known(crossed));
            Figure {
                wire: self.name,
                what: measure.name(),
                kernel,
                ours,
                error: kernels_error.hypot(ours_error) / ours,
            }
        };
        self.measures.iter().map(figure).collect()
    }
}

fn carried(faults: &Faults, seed: Seed, packets: u64) -> Crossed {
    let mut wire = Wire::new(faults.law(), seed, "wire/link");
    let mut crossed = Crossed { took_ns: Vec::new(), twice: 0 };
    for number in 0..packets {
        let sent = Time::from_ns(number * BETWEEN.ns());
        crossed.took_ns.push(match wire.carry(sent, Duration::ZERO) {
            Fate::Lost => None,
            Fate::Arrives { at, twice, .. } => {
                crossed.twice += u64::from(twice);
                Some(at.since(sent).ns())
            }
        });
    }
    crossed
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Measure::Lost => "part lost",
            Measure::Burst => "losses in a row",
            Measure::Mean => "delay, mean, ms",
            Measure::Deviation => "delay, standard deviation, ms",
            Measure::HeldBack => "part held back",
            Measure::Overtook => "part that overtook",
            Measure::Twice => "part that came twice",
        }
    }

    /// The value of this measure, with its standard error.
    fn known(self, Crossed { took_ns, twice }: &Crossed) -> (f64, f64) {
        if self == Measure::Twice {
            let all = took_ns.len() as f64;
            let part = *twice as f64 / all;
            return (part, (part * (1.0 - part) / all).sqrt());
        }
        let pieces = took_ns.chunks(took_ns.len().div_ceil(PIECES).max(1));
        let values: Vec<f64> = pieces.map(|piece| self.of(piece)).collect();
        let (_, deviation) = moments(&values);
        (self.of(took_ns), deviation / (values.len() as f64).sqrt())
    }

    fn of(self, took_ns: &[Option<u64>]) -> f64 {
        let arrived: Vec<u64> = took_ns.iter().copied().flatten().collect();
        let lost = (took_ns.len() - arrived.len()) as f64;
        let ms = |ns: u64| ns as f64 / 1e6;
        match self {
            Measure::Lost => lost / took_ns.len() as f64,
            Measure::Burst => lost / bursts(took_ns) as f64,
            Measure::Mean => moments(&arrived.into_iter().map(ms).collect::<Vec<_>>()).0,
            Measure::Deviation => moments(&arrived.into_iter().map(ms).collect::<Vec<_>>()).1,
            Measure::HeldBack => {
                arrived.iter().filter(|ns| **ns > IS_LATE_NS).count() as f64 / arrived.len() as f64
            }
            Measure::Overtook => overtaking(took_ns) as f64 / arrived.len() as f64,
            Measure::Twice => f64::NAN, // delays do not show it
        }
    }
}

fn bursts(took_ns: &[Option<u64>]) -> usize {
    took_ns.chunk_by(|a, b| a.is_none() == b.is_none()).filter(|run| run[0].is_none()).count()
}

fn overtaking(took_ns: &[Option<u64>]) -> usize {
    let sent_ns = (0..).map(|number: u64| number * BETWEEN.ns());
    let arrivals = took_ns.iter().zip(sent_ns).filter_map(|(took, sent)| took.map(|ns| sent + ns));
    let mut latest = 0;
    arrivals
        .filter(|at| {
            let is_early = *at < latest;
            latest = latest.max(*at);
            is_early
        })
        .count()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// The wire called `name`.
pub fn find(name: &str) -> Option<&'static Faulty> {
    WIRES.iter().find(|wire| wire.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_place_of_the_kernel(faults: &Faults) -> Tally {
        let crossed = carried(faults, Seed(2), MEASURED.ns() / BETWEEN.ns());
        let mut tally = Tally { crossed_ns: crossed.took_ns, ..Tally::default() };
        tally.faults.duplicated = crossed.twice;
        tally
    }

    #[test]
    fn a_wire_agrees_with_itself_and_chance_is_well_below_two_percent() {
        for faulty in &WIRES {
            for figure in faulty.figures(&in_place_of_the_kernel(&(faulty.faults)())) {
                assert!(figure.error < ALLOWED / 4.0, "{figure:?}");
                assert_eq!(figure.verdict(), Verdict::Holds, "{figure:?}");
            }
        }
    }

    #[test]
    fn each_figure_of_a_doctored_result_is_noticed() {
        for faulty in &WIRES {
            let mut faults = (faulty.faults)();
            faults.losses.when_good *= 1.05;
            faults.losses.to_good *= 0.95;
            faults.jitter_ns.iter_mut().for_each(|ns| *ns += *ns / 5);
            faults.reorder = faults.reorder.map(|(part, by)| (part * 1.1, by));
            faults.duplicate *= 1.05;
            for figure in faulty.figures(&in_place_of_the_kernel(&faults)) {
                let is_burst_of_single_losses =
                    faulty.name == "netem-loss" && figure.what == Measure::Burst.name();
                // The doctored loss changes the mean burst of `netem-loss` from 1/0.8 = 1.25 to
                // 1/0.79 = 1.27 packets, within the tolerance.
                if !is_burst_of_single_losses {
                    assert_eq!(figure.verdict(), Verdict::Fails, "{figure:?}");
                }
            }
        }
    }

    #[test]
    fn figures_match_the_law() {
        let of = |name: &str, what: Measure| {
            let faulty = find(name).expect("it is listed");
            what.known(&carried(&(faulty.faults)(), Seed(3), 500_000)).0
        };
        for (figure, expected, relative) in [
            (of("netem-loss", Measure::Lost), 0.2, 0.0113), // 4 x 0.28 %
            (of("netem-bursts", Measure::Lost), 2.0 / 7.0, 0.012), // 4 x 0.3 %
            (of("netem-bursts", Measure::Burst), 2.0, 0.011),
            (of("netem-jitter", Measure::Mean), 2.0, 0.0033), // 4 x 0.082 %
            (of("netem-jitter", Measure::Deviation), 4.0 / 12_f64.sqrt(), 0.0026), // 4 x 0.064 %
            (of("netem-long-jitter", Measure::Deviation), 2.0, 0.009), // 4 x 0.2 %, and a table's tail
            (of("netem-reorder", Measure::Overtook), 0.7 * (1.0 - 0.7 * 0.7), 0.011), // 4 x 0.2 %
            (of("netem-duplicate", Measure::Twice), 0.2, 0.012), // 4 x 0.28 %
        ] {
            assert!((figure / expected - 1.0).abs() < relative, "{figure} for {expected}");
        }
    }
}

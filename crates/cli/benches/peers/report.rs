//! What was measured, as a table for people and as JSON for the record.

use crate::contest::{Failure, Run};
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// Our promise of speed: at least so many times the packets per CPU second of ns-2.
const LEAST_RATIO: f64 = 3.0;

/// Our promise of memory: a run of 1000 s stays below this, bytes.
const MOST_MEMORY: u64 = 50_000_000;

/// The two must agree on what TCP gets of its fair share to within the band that our RED is held to against ns-2.
const SAME_SHARE: f64 = 0.02;

/// What is said when there is nothing to compare with.
pub const NO_NS2: &str = "\
*** ns-2 IS NOT INSTALLED: the ratio cannot be measured, so ours stands alone.
*** On Debian and Ubuntu: apt-get install ns2";

/// The runs of each simulator, in the order in which they took turns.
#[derive(Serialize)]
pub struct Runs {
    /// Ours.
    pub fairwire: Vec<Run>,
    /// ns-2's, where it is installed.
    pub ns2: Option<Vec<Run>>,
}

/// Everything that was measured.
#[derive(Serialize)]
pub struct Report {
    benchmark: &'static str,
    fairwire_version: &'static str,
    processor: String,
    simulated_s: u32,
    packets_per_cpu_s: Speeds,
    ratio: Option<Spread>,
    runs: Runs,
}

/// Bottleneck packets per CPU second of each simulator.
#[derive(Serialize)]
struct Speeds {
    fairwire: Spread,
    ns2: Option<Spread>,
}

/// A median with its range.
#[derive(Clone, Copy, Serialize)]
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
        Spread { median, min: sorted[0], max: sorted[n - 1] }
    }
}

impl Report {
    /// The figures of `runs`, of which there is at least one.
    pub fn new(simulated_s: u32, runs: Runs) -> Self {
        let speed = |runs: &Vec<Run>| Spread::of(runs.iter().map(Run::speed));
        let speeds = Speeds { fairwire: speed(&runs.fairwire), ns2: runs.ns2.as_ref().map(speed) };
        // Round by round, so that what slowed both cancels out.
        let pairs =
            |ns2: &Vec<Run>| Spread::of(runs.fairwire.iter().zip(ns2).map(|(a, b)| a.speed() / b.speed()));
        Report {
            benchmark: "selfish-flow, red",
            fairwire_version: env!("CARGO_PKG_VERSION"),
            processor: processor(),
            simulated_s,
            packets_per_cpu_s: speeds,
            ratio: runs.ns2.as_ref().map(pairs),
            runs,
        }
    }

    /// The promises that these runs do not keep, in words.
    pub fn broken_promises(&self) -> Vec<String> {
        let slow = self.ratio.filter(|ratio| ratio.median < LEAST_RATIO).map(|ratio| {
            format!("{:.2} times the packets per CPU second of ns-2; promised: {LEAST_RATIO}", ratio.median)
        });
        let peak = peak(&self.runs.fairwire);
        let large = (peak > MOST_MEMORY)
            .then(|| format!("a peak of {:.1} MB; promised: below {}", mb(peak), mb(MOST_MEMORY)));
        slow.into_iter().chain(large).chain(self.different_work()).collect()
    }

    /// Speeds compare nothing when the two did not simulate the same thing.
    fn different_work(&self) -> Option<String> {
        let (ours, theirs) = (tcp_share(&self.runs.fairwire), tcp_share(self.runs.ns2.as_ref()?));
        ((ours - theirs).abs() > SAME_SHARE).then(|| {
            format!(
                "TCP shares of {ours:.4} and {theirs:.4} in ns-2; promised: within {SAME_SHARE} of each other"
            )
        })
    }

    /// Writes the record, making its folder where there is none.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(std::fs::write(path, serde_json::to_string_pretty(self)? + "\n")?)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, {} simulated seconds, on {}", self.benchmark, self.simulated_s, self.processor)?;
        writeln!(
            f,
            "{:10} {:>34} {:>9} {:>13} {:>9}",
            "", "kilopackets per CPU second", "CPU s", "peak memory", "TCP share"
        )?;
        row(f, "fairwire", &self.runs.fairwire, self.packets_per_cpu_s.fairwire)?;
        if let (Some(runs), Some(speed)) = (&self.runs.ns2, self.packets_per_cpu_s.ns2) {
            row(f, "ns-2", runs, speed)?;
        }
        match self.ratio {
            Some(Spread { median, min, max }) => {
                writeln!(
                    f,
                    "fairwire is {median:.2} times as fast as ns-2 [{min:.2} .. {max:.2}, round by round]"
                )
            }
            None => writeln!(f, "{NO_NS2}"),
        }
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, runs: &[Run], speed: Spread) -> fmt::Result {
    let speed = format!("{:.0} [{:.0} .. {:.0}]", speed.median / 1e3, speed.min / 1e3, speed.max / 1e3);
    let cpu_s = Spread::of(runs.iter().map(|run| run.cpu_s)).median;
    let share = tcp_share(runs);
    writeln!(f, "{name:10} {speed:>34} {cpu_s:>9.3} {:>10.1} MB {share:>9.4}", mb(peak(runs)))
}

fn tcp_share(runs: &[Run]) -> f64 {
    Spread::of(runs.iter().map(|run| run.tcp_share)).median
}

fn peak(runs: &[Run]) -> u64 {
    runs.iter().map(|run| run.peak_rss_bytes).max().unwrap_or(0)
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// The processor's name as Linux tells it.
fn processor() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = told.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split(": ").nth(1)).unwrap_or("an unknown processor").to_string()
}

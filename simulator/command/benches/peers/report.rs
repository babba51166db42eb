//! The measurements, as a table for people and as JSON for the record.

use crate::case::{Case, Contestant, LADDER};
use crate::child::{Failure, Took};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) const NO_NS2: &str =
    "*** ns-2 IS NOT INSTALLED: that ratio cannot be measured. On Debian: apt-get install ns2";
pub(crate) const NO_NS3: &str = "*** ns-3 IS NOT INSTALLED, or g++ is not: that ratio cannot be measured. On Debian: apt-get install libns3-dev g++";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The simulator.
    pub simulator: String,
    /// TCP and UDP flows.
    pub flows: u32,
    /// Simulated milliseconds.
    pub lasts_ms: u32,
    /// One per round.
    pub runs: Vec<Took>,
    /// Bottleneck packets per CPU second.
    pub packets_per_cpu_s: Spread,
    /// fairwire's speed divided by this simulator's speed in the same round.
    pub ratio: Option<Spread>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// The median.
    pub median: f64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
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

impl Row {
    /// The row for `runs`, which is not empty. `ours` are fairwire's runs in the same rounds.
    pub(crate) fn new(contestant: &Contestant, case: &Case, runs: Vec<Took>, ours: Option<&[Took]>) -> Self {
        let lasts = match (contestant, case.in_ns3) {
            (Contestant::Ns3(_), Some(size)) => size.lasts,
            _ => case.lasts,
        };
        let ratio =
            ours.map(|ours| Spread::of(ours.iter().zip(&runs).map(|(ours, its)| ours.speed() / its.speed())));
        Row {
            simulator: contestant.name().into(),
            flows: case.flows(),
            lasts_ms: (lasts.secs() * 1e3).round() as u32,
            packets_per_cpu_s: Spread::of(runs.iter().map(Took::speed)),
            ratio,
            runs,
        }
    }

    pub(crate) fn ns_per_packet(&self) -> f64 {
        1e9 / self.packets_per_cpu_s.median
    }

    pub(crate) fn peak(&self) -> u64 {
        self.runs.iter().map(|run| run.peak_rss_bytes).max().unwrap_or(0)
    }

    pub(crate) fn events_per_packet(&self) -> Option<f64> {
        let answer = &self.runs.first()?.answer;
        answer.events.map(|events| events as f64 / answer.packets_out as f64)
    }

    fn print(&self) {
        let Spread { median, min, max } = self.packets_per_cpu_s;
        let speed = format!("{:.1} [{:.1} .. {:.1}]", median / 1e3, min / 1e3, max / 1e3);
        let cpu_s = Spread::of(self.runs.iter().map(|run| run.cpu_s)).median;
        let events = self.events_per_packet().map_or("-".into(), |events| format!("{events:.2}"));
        let ratio = self
            .ratio
            .map(|Spread { median, min, max }| format!("ours is {median:.1} x [{min:.1} .. {max:.1}]"));
        println!(
            "  {:10}{:>9} flows {:>8.3} s {speed:>32} kpkt/CPU-s {cpu_s:>9.3} CPU-s {events:>6} events/pkt {:>8.1} MB  {}",
            self.simulator,
            self.flows,
            f64::from(self.lasts_ms) / 1e3,
            self.peak() as f64 / 1e6,
            ratio.unwrap_or_default()
        );
    }
}

#[derive(Default)]
pub(crate) struct Report {
    /// The compared cases.
    pub compared: BTreeMap<&'static str, Vec<Row>>,
    /// The measurements of fairwire alone, in the order of [`LADDER`].
    pub ladder: Vec<Row>,
    /// CPU seconds of each run of the case `set-up`.
    pub set_up_s: Vec<f64>,
}

/// A case, a simulator, and the minimum ratio of fairwire's packets per CPU second to the
/// simulator's.
const RATIOS: [(&str, &str, f64); 5] = [
    ("nine", "ns-2", 8.0),
    ("nine", "ns-3", 120.0),
    ("thousand", "ns-2", 25.0),
    ("thousand", "ns-3", 250.0),
    ("ten-thousand", "ns-2", 100.0),
];

/// The maximum peak memory with ten thousand flows, bytes.
const MAX_MEMORY: u64 = 1_000_000_000;
/// The maximum ratio of the cost per packet with a million flows to the cost with a thousand.
const MAX_GROWTH: f64 = 2.5;
/// The maximum memory per flow with a million flows, bytes.
const MAX_PER_FLOW: f64 = 2048.0;
/// The maximum CPU seconds to set up a hundred thousand flows, including starting the process and
/// writing the report.
const MAX_SET_UP_S: f64 = 0.05;
/// The maximum relative difference in delivered packets between ns-2 and fairwire. A larger
/// difference means different simulations. Random start times cause smaller differences in short
/// runs.
const SAME_PACKETS: f64 = 0.05;

impl Report {
    /// Prints the tables.
    pub(crate) fn print(&self) {
        for (name, rows) in &self.compared {
            println!("{name}");
            rows.iter().for_each(Row::print);
        }
        if !self.ladder.is_empty() {
            println!("ours alone");
            self.ladder.iter().for_each(Row::print);
        }
        if !self.set_up_s.is_empty() {
            let Spread { median, min, max } = Spread::of(self.set_up_s.iter().copied());
            println!(
                "100 000 flows set up in {:.1} ms [{:.1} .. {:.1}] of CPU, process and report included",
                median * 1e3,
                min * 1e3,
                max * 1e3
            );
        }
    }

    pub(crate) fn broken_promises(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for (case, peer, least) in RATIOS {
            let ratio = self.row(case, peer).and_then(|row| row.ratio).map(|ratio| ratio.median);
            if let Some(ratio) = ratio.filter(|ratio| *ratio < least) {
                broken.push(format!("{case}: {ratio:.1} times as fast as {peer}; promised: {least}"));
            }
        }
        let peak = self.row("ten-thousand", "fairwire").map_or(0, Row::peak);
        if peak > MAX_MEMORY {
            broken.push(format!("ten-thousand: {peak} bytes; promised: {MAX_MEMORY}"));
        }
        broken.extend(self.different_work());
        broken.extend(self.growth());
        let set_up_s = self.set_up_s.iter().copied().reduce(f64::max).unwrap_or(0.0);
        if set_up_s > MAX_SET_UP_S {
            broken.push(format!("100 000 flows set up in {set_up_s:.3} s; promised: {MAX_SET_UP_S}"));
        }
        broken
    }

    fn row(&self, case: &str, simulator: &str) -> Option<&Row> {
        self.compared.get(case)?.iter().find(|row| row.simulator == simulator)
    }

    fn different_work(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for case in self.compared.keys() {
            let packets =
                |simulator| Some(self.row(case, simulator)?.runs.first()?.answer.packets_out as f64);
            let (Some(ours), Some(theirs)) = (packets("fairwire"), packets("ns-2")) else { continue };
            if (ours / theirs - 1.0).abs() > SAME_PACKETS {
                broken.push(format!(
                    "{case}: {ours} packets, {theirs} in ns-2; promised: within {SAME_PACKETS}"
                ));
            }
        }
        broken
    }

    /// Compares the cost per packet with a million flows to the cheaper of the two cases with a
    /// thousand.
    fn growth(&self) -> Vec<String> {
        let rung = |at: usize| self.ladder.get(at);
        let (Some(slow), Some(million), Some(fast)) = (rung(2), rung(5), rung(6)) else { return Vec::new() };
        let growth = million.ns_per_packet() / slow.ns_per_packet().min(fast.ns_per_packet());
        let per_flow = million.peak() as f64 / f64::from(million.flows);
        let mut broken = Vec::new();
        if growth > MAX_GROWTH {
            broken.push(format!(
                "a packet among a million flows costs {growth:.1} times one among 1000; promised: {MAX_GROWTH}"
            ));
        }
        if per_flow > MAX_PER_FLOW {
            broken.push(format!("{per_flow:.0} bytes per flow of a million; promised: {MAX_PER_FLOW}"));
        }
        broken
    }

    /// Writes the measurements into the record. Unmeasured entries stay unchanged.
    pub(crate) fn write(&self, path: &Path, ns3: Option<&str>) -> Result<Value, Failure> {
        let mut record: Value = match std::fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text)?,
            Err(_) => json!({}),
        };
        if record.get("compared").is_none() {
            record = json!({ "compared": {} }); // another format
        }
        record["fairwire_version"] = env!("CARGO_PKG_VERSION").into();
        record["processor"] = processor().into();
        if let Some(version) = ns3 {
            record["ns3"] = version.into();
        }
        for (name, rows) in &self.compared {
            record["compared"][name] = json!(rows);
        }
        if self.ladder.len() == LADDER.len() {
            record["ladder"] = json!(self.ladder);
        }
        if !self.set_up_s.is_empty() {
            record["set_up_of_100000_flows_cpu_s"] = json!(self.set_up_s);
        }
        std::fs::write(path, serde_json::to_string_pretty(&record)? + "\n")?;
        Ok(record)
    }
}

fn processor() -> String {
    let shown = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = shown.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split(": ").nth(1)).unwrap_or("an unknown processor").to_string()
}

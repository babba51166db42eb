//! The table, the promises, and the record.

use super::Failure;
use super::contestant::Contestant;
use super::measure::{FIXED_RATE, Question};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

pub(crate) const REFERENCE: &str = "kernel routing";
const ON_ITS_OWN_CORE: &str = "kernel routing, own core";
const PROMISED: &str = "af-packet, faba";

#[derive(Serialize)]
pub(crate) struct Report {
    kernel: String,
    processor: String,
    /// Load averages over one minute, before and after the measurements.
    load: [String; 2],
    rounds: u32,
    rows: Vec<Row>,
}

/// The measurements of a contestant. Each list has one number per round.
#[derive(Serialize)]
pub(crate) struct Row {
    name: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    small_packets_per_s: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    large_packets_per_s: Vec<f64>,
    tcp_bits_per_s: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    idle_median_ns: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    idle_p99_ns: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cpu_ns_per_packet: Vec<f64>,
}

impl Row {
    pub(crate) fn new(contestant: &Contestant) -> Self {
        Row {
            name: contestant.name,
            small_packets_per_s: Vec::new(),
            large_packets_per_s: Vec::new(),
            tcp_bits_per_s: Vec::new(),
            idle_median_ns: Vec::new(),
            idle_p99_ns: Vec::new(),
            cpu_ns_per_packet: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, question: Question, [answer, p99]: [f64; 2]) {
        match question {
            Question::Small => self.small_packets_per_s.push(answer),
            Question::Large => self.large_packets_per_s.push(answer),
            Question::Tcp => self.tcp_bits_per_s.push(answer),
            Question::Idle => {
                self.idle_median_ns.push(answer);
                self.idle_p99_ns.push(p99);
            }
            Question::Cpu => self.cpu_ns_per_packet.push(answer),
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        len => (values[(len - 1) / 2] + values[len / 2]) / 2.0,
    }
}

fn ratio(ours: &[f64], theirs: &[f64]) -> f64 {
    median(&ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect::<Vec<_>>())
}

fn cell(values: &[f64], unit: f64, digits: usize) -> String {
    let of = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick).map(|value| value / unit);
    match (of(f64::min), of(f64::max)) {
        (Some(least), Some(most)) => {
            format!("{:.digits$} ({least:.digits$}-{most:.digits$})", median(values) / unit)
        }
        _ => "-".to_owned(),
    }
}

impl Report {
    pub(crate) fn new(rounds: u32, load_before: String, rows: Vec<Row>) -> Self {
        let kernel =
            std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
        let processor = model.unwrap_or("unknown").to_owned();
        Report { kernel, processor, load: [load_before, load()], rounds, rows }
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        let [before, after] = &self.load;
        let _ = writeln!(
            text,
            "{}, Linux {}, load {before} before and {after} after; {} rounds in turns at nice -10: median (range)\n\
             x: beside {REFERENCE} in the same round. Idle: one way, hosts included. CPU: our thread, or the kernel's own core, at {FIXED_RATE} frames/s of 64 B.\n",
            self.processor, self.kernel, self.rounds,
        );
        let titles = [
            "",
            "64 B, k/s",
            "x",
            "1518 B, k/s",
            "x",
            "TCP, Gbit/s",
            "idle p50, us",
            "p99, us",
            "CPU, ns/frame",
        ];
        let _ = writeln!(text, "{}", line(titles.map(str::to_owned)));
        let reference = self.row(REFERENCE);
        for row in &self.rows {
            let beside = |of: fn(&Row) -> &[f64]| {
                let ratio = reference.map_or(f64::NAN, |reference| ratio(of(row), of(reference)));
                if ratio.is_nan() { "-".to_owned() } else { format!("{ratio:.2}") }
            };
            let cells = [
                row.name.to_owned(),
                cell(&row.small_packets_per_s, 1e3, 0),
                beside(|row| &row.small_packets_per_s),
                cell(&row.large_packets_per_s, 1e3, 0),
                beside(|row| &row.large_packets_per_s),
                cell(&row.tcp_bits_per_s, 1e9, 1),
                cell(&row.idle_median_ns, 1e3, 0),
                cell(&row.idle_p99_ns, 1e3, 0),
                cell(&row.cpu_ns_per_packet, 1.0, 0),
            ];
            let _ = writeln!(text, "{}", line(cells));
        }
        text
    }

    /// Promises about unmeasured quantities are left out.
    pub(crate) fn promises(&self) -> Vec<(String, bool)> {
        let mut promises = self.promises_beside_the_kernel();
        promises.extend(self.promises_at_the_bottleneck());
        promises
    }

    fn promises_at_the_bottleneck(&self) -> Vec<(String, bool)> {
        let Some(one_queue) = self.row("2.5 Gbit/s, faba") else { return Vec::new() };
        let promised = ["2.5 Gbit/s, drr", "2.5 Gbit/s, fq-codel", "2.5 Gbit/s, default"];
        let rows = promised.iter().filter_map(|name| self.row(name));
        let given = rows.map(|row| (row.name, ratio(&row.tcp_bits_per_s, &one_queue.tcp_bits_per_s)));
        let is_measured = given.filter(|(_, given)| !given.is_nan());
        let promise = |(name, given): (&str, f64)| {
            (format!("TCP, {name}: {given:.2} of {}; at least 0.9", one_queue.name), given >= 0.9)
        };
        is_measured.map(promise).collect()
    }

    fn promises_beside_the_kernel(&self) -> Vec<(String, bool)> {
        let (Some(ours), Some(reference)) = (self.row(PROMISED), self.row(REFERENCE)) else {
            return Vec::new();
        };
        let mut promises = Vec::new();
        let mut promise = |what: String, given: f64, is_kept: bool| {
            if !given.is_nan() {
                promises.push((what, is_kept));
            }
        };
        for (of, bytes, least) in [(Row::small as fn(&Row) -> &[f64], 64, 0.65), (Row::large, 1518, 0.55)] {
            for theirs in [Some(reference), self.row(ON_ITS_OWN_CORE)].into_iter().flatten() {
                let given = ratio(of(ours), of(theirs));
                promise(
                    format!("{bytes} B: {given:.2} of {}; at least {least}", theirs.name),
                    given,
                    given >= least,
                );
            }
        }
        let given = median(&ours.tcp_bits_per_s) / 1e9;
        promise(format!("TCP: {given:.1} Gbit/s; at least 2.5"), given, given >= 2.5);
        let added: Vec<f64> = ours
            .idle_median_ns
            .iter()
            .zip(&reference.idle_median_ns)
            .map(|(ours, theirs)| ours - theirs)
            .collect();
        let given = median(&added) / 1e3;
        promise(format!("idle: {given:.0} us more than {REFERENCE}; below 100"), given, given < 100.0);
        promises
    }

    pub(crate) fn record(&self, path: &Path) -> Result<(), Failure> {
        Ok(std::fs::write(path, serde_json::to_string_pretty(self)? + "\n")?)
    }
}

impl Row {
    fn small(&self) -> &[f64] {
        &self.small_packets_per_s
    }

    fn large(&self) -> &[f64] {
        &self.large_packets_per_s
    }
}

pub(crate) fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

fn line(cells: [String; 9]) -> String {
    let [name, rest @ ..] = cells;
    let widths = [15, 5, 15, 5, 17, 13, 17, 20];
    let rest = rest.iter().zip(widths).map(|(cell, width)| format!(" {cell:>width$}"));
    format!("{name:26}{}", rest.collect::<String>())
}

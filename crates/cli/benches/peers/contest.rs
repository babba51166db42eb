//! The two contestants: how each is asked to simulate the selfish flow, and how its answer is read.

use crate::child::{Took, measured};
use fairwire_metrics::record;
use serde::Serialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// Something broke.
pub type Failure = Box<dyn std::error::Error>;

/// Seconds at the start that neither simulator counts; both scenarios have it too.
const WARM_UP_S: u32 = 20;

/// The fair share of the nine TCP flows together, bit/s: 1 Mbit/s each.
const FAIR_TCP_BPS: f64 = 9e6;

/// One simulator.
#[derive(Clone, Copy)]
pub enum Contestant {
    /// Ours, built with this benchmark.
    Fairwire,
    /// ns-2 with our script.
    Ns2,
}

/// What is simulated, and where the scenario files are.
pub struct Contest<'a> {
    /// The checkout.
    pub root: &'a Path,
    /// Simulated seconds.
    pub seconds: u32,
}

/// One run of one simulator.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Seconds of CPU of the whole process, start-up included.
    pub cpu_s: f64,
    /// Peak resident memory, bytes.
    pub peak_rss_bytes: u64,
    /// Packets that left the bottleneck after the warm-up.
    pub packets_out: u64,
    /// What the nine TCP flows got of their fair share: a check that both simulated the same thing.
    pub tcp_share: f64,
}

impl Run {
    /// Bottleneck packets per CPU second.
    pub fn speed(&self) -> f64 {
        self.packets_out as f64 / self.cpu_s
    }
}

impl Contest<'_> {
    /// Is there a program `ns` on the path?
    pub fn has_ns2(&self) -> bool {
        // With nothing to read, ns-2 ends at once.
        let started = Command::new("ns").stdin(Stdio::null()).stdout(Stdio::null()).status();
        started.is_ok_and(|status| status.success())
    }

    /// Lets `contestant` simulate the contest once.
    pub fn run(&self, contestant: Contestant) -> Result<Run, Failure> {
        let took = measured(&self.command(contestant))?;
        let counted = match contestant {
            Contestant::Fairwire => from_fairwire(&took.stdout)?,
            Contestant::Ns2 => from_ns2(&took.stdout)?,
        };
        Ok(counted.into_run(&took))
    }

    fn command(&self, contestant: Contestant) -> Vec<String> {
        let file = |path: &str| self.root.join(path).display().to_string();
        let seconds = self.seconds.to_string();
        let warm_up = WARM_UP_S.to_string();
        let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        match contestant {
            Contestant::Fairwire => words(&[
                env!("CARGO_BIN_EXE_fairwire"),
                "run",
                &file("scenarios/selfish-flow.toml"),
                "--discipline=red",
                "--seeds=1",
                "--jobs=1",
                "--format=json",
                &format!("--set=duration=\"{seconds} s\""),
                &format!("--set=warm_up=\"{warm_up} s\""),
            ]),
            Contestant::Ns2 => words(&[
                "ns",
                &file("bench/selfish-flow.tcl"),
                "-queue",
                "red",
                "-seed",
                "1",
                "-duration",
                &seconds,
                "-warm-up",
                &warm_up,
            ]),
        }
    }
}

/// What a simulator says of a run.
#[derive(Default)]
struct Counted {
    packets_out: u64,
    tcp_bps: f64,
}

impl Counted {
    fn into_run(self, took: &Took) -> Run {
        Run {
            cpu_s: took.cpu_s,
            peak_rss_bytes: took.peak_rss_bytes,
            packets_out: self.packets_out,
            tcp_share: self.tcp_bps / FAIR_TCP_BPS,
        }
    }
}

fn from_fairwire(stdout: &str) -> Result<Counted, Failure> {
    let report: record::Report =
        serde_json::from_str(stdout).map_err(|error| format!("fairwire's JSON cannot be read: {error}"))?;
    let run = report.runs.first().ok_or("fairwire reported no run")?;
    let link = run.links.first().ok_or("fairwire reported no link")?;
    let tcp = run.flows.iter().filter(|flow| flow.group == "tcp");
    Ok(Counted { packets_out: link.packets_out, tcp_bps: tcp.map(|flow| flow.throughput_bps).sum() })
}

/// Reads the lines `flow tcp.1 throughput_bps 551006.4` and `link packets_out 188205`.
fn from_ns2(stdout: &str) -> Result<Counted, Failure> {
    let mut counted = Counted::default();
    for line in stdout.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["flow", name, "throughput_bps", bps] if name.starts_with("tcp.") => {
                counted.tcp_bps += bps.parse::<f64>()?;
            }
            ["link", "packets_out", packets] => counted.packets_out = packets.parse()?,
            ["flow" | "link", ..] => {}
            _ => return Err(format!("ns-2 said `{line}`, which our script does not print").into()),
        }
    }
    Ok(counted)
}

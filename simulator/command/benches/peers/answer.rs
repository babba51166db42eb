//! The results of a simulator, and their formats.

use crate::child::Failure;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The counts over an entire run, without a warm-up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// Packets that left the bottleneck.
    pub packets_out: u64,
    /// Packets dropped there.
    pub drops: u64,
    /// The goodput of all TCP flows, bit/s, headers included.
    pub tcp_bps: f64,
    /// Events handled, if the simulator counts them.
    pub events: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Dialect {
    /// fairwire's JSON report.
    Json,
    /// Lines such as `link packets_out 188205`, printed by our scripts and programs for the other
    /// simulators.
    Lines,
}

impl Dialect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Dialect::Json => "json",
            Dialect::Lines => "lines",
        }
    }

    pub(crate) fn read(self, said: &str) -> Result<Answer, Failure> {
        match self {
            Dialect::Json => from_json(said),
            Dialect::Lines => from_lines(said),
        }
    }
}

#[derive(Deserialize)]
struct Report {
    runs: Vec<Run>,
    summary: Vec<Summary>,
}

#[derive(Deserialize)]
struct Run {
    links: Vec<Link>,
    events: Option<u64>,
}

#[derive(Deserialize)]
struct Link {
    packets_out: u64,
    drops: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Summary {
    measures: BTreeMap<String, Estimate>,
}

#[derive(Deserialize)]
struct Estimate {
    mean: f64,
}

fn from_json(said: &str) -> Result<Answer, Failure> {
    let report: Report =
        serde_json::from_str(said).map_err(|error| format!("fairwire's JSON cannot be read: {error}"))?;
    let run = report.runs.first().ok_or("fairwire reported no run")?;
    let link = run.links.first().ok_or("fairwire reported no link")?;
    let measures = &report.summary.first().ok_or("fairwire reported no summary")?.measures;
    let tcp = measures.get("throughput_bps.tcp").ok_or("fairwire reported no group called tcp")?;
    Ok(Answer {
        packets_out: link.packets_out,
        drops: link.drops.values().sum(),
        tcp_bps: tcp.mean,
        events: run.events,
    })
}

fn from_lines(said: &str) -> Result<Answer, Failure> {
    let mut answer = Answer::default();
    for line in said.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["link", "packets_out", packets] => answer.packets_out = packets.parse()?,
            ["link", "drops", packets] => answer.drops = packets.parse()?,
            ["tcp", "throughput_bps", bps] => answer.tcp_bps = bps.parse()?,
            ["events", events] => answer.events = Some(events.parse()?),
            _ => return Err(format!("`{line}` was said, which our scripts do not print").into()),
        }
    }
    if answer.packets_out == 0 {
        return Err("no packet left the bottleneck".into());
    }
    Ok(answer)
}

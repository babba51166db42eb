//! The costs as a table, as JSON, and held against what is promised.

use comfy_table::{Table, presets};
use fairwire_disciplines::catalogue;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

/// What one discipline costs among so many flows.
pub struct Row {
    pub name: String,
    pub flows: u32,
    pub cost: Cost,
}

pub struct Cost {
    /// Per offered packet, enqueue and its part of the dequeues.
    pub ns: f64,
    /// As `ns`.
    pub instructions: Option<f64>,
    /// Bytes beyond the bare buffer.
    pub state: u64,
}

/// Entries that claim O(1).
const CONSTANT: [&str; 11] =
    ["faba", "afd-sb", "afd-ft", "afd-nft", "alqd", "lqd-binned", "fred", "choke", "rqm", "drr", "fq-codel"];
/// Nanoseconds per packet that they may take among 1000 flows.
const MOST_NS: f64 = 60.0;
/// Instructions among a million flows over those among 1000.
const MOST_GROWTH: f64 = 1.25;
/// Bytes of FABA's state per active flow, hash table included.
const MOST_STATE: f64 = 64.0;
/// DPDK's rte_sched among so many queues: the least nanoseconds of the published range. The same for a bare DRR in C.
const RTE_SCHED: [(u32, f64); 3] = [(4_096, 50.0), (16_384, 55.0), (65_536, 71.0)];

/// Where recorded results stand.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../bench/results")
}

pub fn find<'a>(rows: &'a [Row], name: &str, flows: u32) -> Option<&'a Cost> {
    rows.iter().find(|row| row.name == name && row.flows == flows).map(|row| &row.cost)
}

/// Prints a row per discipline.
pub fn print(rows: &[Row]) {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).force_no_tty();
    let tiers = crate::FLOWS.map(|flows| format!("ns, {flows}"));
    let counted = crate::FLOWS.map(|flows| format!("instr., {flows}"));
    let state = ["B/flow, 100000", "B/flow, 1000000"].map(String::from);
    table.set_header([&["discipline".to_owned()][..], &tiers, &counted, &state].concat());
    for entry in catalogue::all() {
        let cost = |flows| find(rows, entry.name, flows);
        if cost(10).is_none() {
            continue;
        }
        let ns = crate::FLOWS.map(|flows| cost(flows).map_or("-".into(), |cost| format!("{:.0}", cost.ns)));
        let counted = crate::FLOWS.map(|flows| {
            cost(flows).and_then(|cost| cost.instructions).map_or("-".into(), |count| format!("{count:.0}"))
        });
        let state = [100_000, 1_000_000]
            .map(|flows| cost(flows).map_or("-".into(), |cost| format!("{:.1}", per_flow(cost, flows))));
        table.add_row([&[entry.name.to_owned()][..], &ns, &counted, &state].concat());
    }
    println!("{table}");
    println!(
        "ns and instructions per offered packet: an enqueue and two thirds of a dequeue, at 1.5 times the link's rate."
    );
    println!(
        "B/flow: bytes of state beyond tail-drop's, per active flow, with a buffer of one packet per flow."
    );
    let peers = RTE_SCHED.iter().filter_map(|&(flows, theirs)| {
        let ours = find(rows, "hfaba", flows)?;
        Some(format!("{flows} leaves: hfaba {:.0} ns, DPDK rte_sched {theirs} ns", ours.ns))
    });
    peers.for_each(|line| println!("{line}"));
}

fn per_flow(cost: &Cost, flows: u32) -> f64 {
    cost.state as f64 / f64::from(flows)
}

/// Writes the results where they are kept.
pub fn record(rows: &[Row]) {
    let rows: Vec<_> = rows
        .iter()
        .map(|Row { name, flows, cost }| {
            json!({
                "discipline": name,
                "flows": flows,
                "ns_per_packet": (cost.ns * 10.0).round() / 10.0,
                "instructions_per_packet": cost.instructions.map(|count| (count * 10.0).round() / 10.0),
                "state_bytes": cost.state,
            })
        })
        .collect();
    let text = format!("{:#}\n", json!({ "version": env!("CARGO_PKG_VERSION"), "rows": rows }));
    fs::write(folder().join("disciplines.json"), text).expect("bench/results can be written");
}

/// Holds the promises against what was measured, and tells each that is broken.
pub fn check(rows: &[Row]) -> bool {
    let mut broken = Vec::new();
    for name in CONSTANT {
        let (Some(some), Some(many)) = (find(rows, name, 1_000), find(rows, name, 1_000_000)) else {
            continue;
        };
        if some.ns > MOST_NS {
            broken.push(format!("{name}: {:.0} ns among 1000 flows, over {MOST_NS}", some.ns));
        }
        if let (Some(before), Some(after)) = (some.instructions, many.instructions)
            && after > before * MOST_GROWTH
        {
            broken
                .push(format!("{name}: {:.2} times the instructions among a million flows", after / before));
        }
    }
    for flows in [100_000, 1_000_000] {
        if let Some(cost) = find(rows, "faba", flows)
            && per_flow(cost, flows) > MOST_STATE
        {
            broken.push(format!("faba: {:.1} bytes per flow among {flows}", per_flow(cost, flows)));
        }
    }
    for (flows, theirs) in RTE_SCHED {
        if let Some(cost) = find(rows, "hfaba", flows)
            && cost.ns >= theirs
        {
            broken.push(format!("hfaba: {:.0} ns among {flows} leaves, rte_sched {theirs}", cost.ns));
        }
    }
    broken.iter().for_each(|line| println!("BROKEN: {line}"));
    broken.is_empty()
}

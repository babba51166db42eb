//! Prints the costs as a table, writes them as JSON, and compares them with the promised limits.

use crate::peer;
use comfy_table::{Table, presets};
use fairwire_catalogue as catalogue;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

pub(crate) struct Row {
    pub name: String,
    pub flows: u32,
    pub cost: Cost,
}

pub(crate) struct Cost {
    /// Nanoseconds per offered packet. Three packets cause three enqueues and two dequeues.
    pub ns: f64,
    /// As `ns`.
    pub instructions: Option<f64>,
    /// Bytes of state beyond those of tail-drop with the same buffer.
    pub state: u64,
}

/// Disciplines that claim O(1) work per packet.
const CONSTANT: [&str; 11] =
    ["faba", "afd-sb", "afd-ft", "afd-nft", "alqd", "lqd-binned", "fred", "choke", "rqm", "drr", "fq-codel"];
/// The maximum nanoseconds per packet with 1000 flows, for the disciplines in [`CONSTANT`].
const MAX_NS: f64 = 60.0;
/// The maximum ratio of instructions with a million flows to instructions with 1000 flows.
const MAX_GROWTH: f64 = 1.25;
/// The maximum bytes of FABA's state per active flow, hash table included.
const MAX_STATE: f64 = 64.0;
/// Nanoseconds per packet of DPDK's rte_sched with [`peer::LEAVES`] queues: the minimum of the
/// published range.
const RTE_SCHED: [f64; 4] = [55.0, 50.0, 55.0, 71.0];
/// Published nanoseconds per packet of a simple DRR in C, without a limit or statistics.
const C_DRR: [Option<f64>; 4] = [None, None, Some(16.0), Some(31.0)];

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../proof/bench/results")
}

pub(crate) fn find<'a>(rows: &'a [Row], name: &str, flows: u32) -> Option<&'a Cost> {
    rows.iter().find(|row| row.name == name && row.flows == flows).map(|row| &row.cost)
}

pub(crate) fn print(rows: &[Row]) {
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
}

pub(crate) fn print_peers(rows: &[peer::Row]) {
    if rows.is_empty() {
        return;
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).force_no_tty();
    let ns = peer::LEAVES.map(|leaves| format!("ns, {leaves}"));
    let counted = peer::LEAVES.map(|leaves| format!("instr., {leaves}"));
    table.set_header([&["fixed leaves".to_owned()][..], &ns, &counted].concat());
    for rows in rows.chunks(peer::LEAVES.len()) {
        let ns = rows.iter().map(|row| format!("{:.0}", row.ns));
        let counted =
            rows.iter().map(|row| row.instructions.map_or("-".into(), |count| format!("{count:.0}")));
        table.add_row([rows[0].shape.label()].into_iter().chain(ns).chain(counted));
    }
    let published = |name: &str, ns: [Option<f64>; 4]| {
        let ns = ns.map(|ns| ns.map_or("-".into(), |ns| format!("{ns:.0}")));
        [name.to_owned()].into_iter().chain(ns).chain(["-"; 4].map(String::from)).collect::<Vec<_>>()
    };
    table.add_row(published("DPDK rte_sched, published", RTE_SCHED.map(Some)));
    table.add_row(published("plain DRR in C, published", C_DRR));
    println!("{table}");
    println!(
        "per packet, an enqueue and a dequeue: bursts of 32 to random leaves, half as many packets waiting as leaves."
    );
}

fn per_flow(cost: &Cost, flows: u32) -> f64 {
    cost.state as f64 / f64::from(flows)
}

pub(crate) fn record(rows: &[Row], peers: &[peer::Row]) {
    let tenth = |value: f64| (value * 10.0).round() / 10.0;
    let peers: Vec<_> = peers
        .iter()
        .map(|row| {
            json!({
                "shape": row.shape.label(),
                "leaves": row.leaves,
                "ns_per_packet": tenth(row.ns),
                "instructions_per_packet": row.instructions.map(tenth),
            })
        })
        .collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|Row { name, flows, cost }| {
            json!({
                "discipline": name,
                "flows": flows,
                "ns_per_packet": tenth(cost.ns),
                "instructions_per_packet": cost.instructions.map(tenth),
                "state_bytes": cost.state,
            })
        })
        .collect();
    let text = format!(
        "{:#}\n",
        json!({ "version": env!("CARGO_PKG_VERSION"), "rows": rows, "fixed_leaves": peers })
    );
    fs::write(folder().join("disciplines.json"), text).expect("proof/bench/results can be written");
}

pub(crate) fn check(rows: &[Row], peers: &[peer::Row]) -> bool {
    let mut broken = Vec::new();
    for name in CONSTANT {
        let (Some(some), Some(many)) = (find(rows, name, 1_000), find(rows, name, 1_000_000)) else {
            continue;
        };
        if some.ns > MAX_NS {
            broken.push(format!("{name}: {:.0} ns among 1000 flows, over {MAX_NS}", some.ns));
        }
        if let (Some(before), Some(after)) = (some.instructions, many.instructions)
            && after > before * MAX_GROWTH
        {
            broken
                .push(format!("{name}: {:.2} times the instructions among a million flows", after / before));
        }
    }
    for flows in [100_000, 1_000_000] {
        if let Some(cost) = find(rows, "faba", flows)
            && per_flow(cost, flows) > MAX_STATE
        {
            broken.push(format!("faba: {:.1} bytes per flow among {flows}", per_flow(cost, flows)));
        }
    }
    for (leaves, theirs) in peer::LEAVES.into_iter().zip(RTE_SCHED) {
        let ours = peers.iter().filter(|row| row.shape.name == "hfaba" && row.leaves == leaves);
        for row in ours.filter(|row| row.ns >= theirs) {
            let label = row.shape.label();
            broken.push(format!("{label}: {:.0} ns among {leaves} leaves, rte_sched {theirs}", row.ns));
        }
    }
    broken.iter().for_each(|line| println!("BROKEN: {line}"));
    broken.is_empty()
}

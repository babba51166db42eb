//! What each discipline costs: nanoseconds and instructions per packet, and bytes of state per flow, from 10 to a million
//! active flows. `make bench-disciplines`; see bench/README.md.

mod count;
mod plot;
mod report;
mod workload;

use fairwire_disciplines::catalogue;
use fairwire_testing::CountingAllocator;
use indicatif::{ProgressBar, ProgressStyle};
use report::{Cost, Row};
use std::process::ExitCode;
use std::time::Instant;
use workload::Workload;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// How many flows are active.
const FLOWS: [u32; 4] = [10, 1_000, 100_000, 1_000_000];
/// The sizes at which others have published the cost of their schedulers.
const PEER_FLOWS: [u32; 3] = [4_096, 16_384, 65_536];
const PEERS: [&str; 4] = ["hfaba", "faba", "afd-nft", "drr"];
const ROUNDS: u32 = 20_000;
const REPEATS: usize = 9;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let is = |flag: &str| args.iter().any(|arg| arg == flag);
    if let [flag, name, flows] = &args[..]
        && flag == count::CHILD
    {
        count::child(name, flows.parse().expect("a number of flows"));
        return ExitCode::SUCCESS;
    }
    let only: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    let names: Vec<&str> = catalogue::all()
        .iter()
        .map(|entry| entry.name)
        .filter(|name| only.is_empty() || only.iter().any(|only| only == name))
        .collect();
    let mut cells: Vec<(&str, u32)> = Vec::new();
    cells.extend(names.iter().flat_map(|&name| FLOWS.map(|flows| (name, flows))));
    let peers = names.iter().filter(|name| PEERS.contains(name));
    cells.extend(peers.flat_map(|&name| PEER_FLOWS.map(|flows| (name, flows))));

    let counts = count::instructions(&cells);
    let bar = progress("timing", cells.len());
    let rows: Vec<Row> = cells
        .iter()
        .zip(counts)
        .map(|(&(name, flows), instructions)| {
            bar.inc(1);
            let cost = Cost { ns: nanoseconds(name, flows), instructions, state: state(name, flows) };
            Row { name: name.into(), flows, cost }
        })
        .collect();
    bar.finish_and_clear();
    report::print(&rows);
    if is("--record") {
        report::record(&rows);
        plot::record(&rows);
    }
    if is("--check") && !report::check(&rows) {
        return ExitCode::from(3);
    }
    ExitCode::SUCCESS
}

/// A bar on stderr for so many cells.
fn progress(what: &'static str, cells: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} {eta}").expect("a template");
    ProgressBar::new(cells as u64).with_style(style).with_message(what)
}

/// The median over the repeats, per offered packet.
fn nanoseconds(name: &str, flows: u32) -> f64 {
    let mut workload = Workload::new(name, flows);
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            workload.prepare(ROUNDS);
            let start = Instant::now();
            let offered = workload.run();
            start.elapsed().as_nanos() as f64 / offered as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}

/// Bytes that the discipline takes beyond those of tail-drop with the same buffer.
fn state(name: &str, flows: u32) -> u64 {
    let bytes = |name: &str| {
        let before = ALLOCATOR.live_bytes();
        let discipline = workload::discipline(name, flows);
        let bytes = ALLOCATOR.live_bytes() - before;
        drop(discipline);
        bytes
    };
    bytes(name).saturating_sub(bytes("tail-drop"))
}

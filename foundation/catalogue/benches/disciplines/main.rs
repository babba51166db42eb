//! The cost of each discipline: nanoseconds and instructions per packet, and bytes of state per
//! flow. See proof/bench/README.md.

mod count;
mod peer;
mod plot;
mod report;
mod workload;

use fairwire_catalogue as catalogue;
use fairwire_testing::CountingAllocator;
use indicatif::{ProgressBar, ProgressStyle};
use report::{Cost, Row};
use std::process::ExitCode;
use std::time::Instant;
use workload::Workload;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const FLOWS: [u32; 4] = [10, 1_000, 100_000, 1_000_000];
/// Disciplines whose work for a new flow grows with the number of flows: a million flows would take
/// hours to start.
const LINEAR: [&str; 1] = ["sfed"];
const ROUNDS: u32 = 20_000;
const REPEATS: usize = 9;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, name, flows] = &args[..] {
        let flows = || flows.parse().expect("a number of flows");
        match flag.as_str() {
            count::CHILD => count::child(name, flows()),
            count::PEER_CHILD => peer::child(name, flows()),
            _ => return measure(&args),
        }
        return ExitCode::SUCCESS;
    }
    measure(&args)
}

fn measure(args: &[String]) -> ExitCode {
    let is = |flag: &str| args.iter().any(|arg| arg == flag);
    let only: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    let names: Vec<&str> = catalogue::all()
        .iter()
        .map(|entry| entry.name)
        .filter(|name| only.is_empty() || only.iter().any(|only| only == name))
        .collect();
    let peers = peers(&names);
    let rows = rows(&names);
    report::print(&rows);
    report::print_peers(&peers);
    if is("--record") {
        report::record(&rows, &peers);
        plot::record(&rows);
    }
    if is("--check") && !report::check(&rows, &peers) {
        return ExitCode::from(3);
    }
    ExitCode::SUCCESS
}

fn rows(names: &[&str]) -> Vec<Row> {
    let mut cells: Vec<(&str, u32)> =
        names.iter().flat_map(|&name| FLOWS.map(|flows| (name, flows))).collect();
    cells.retain(|&(name, flows)| flows <= 1_000 || !LINEAR.contains(&name));
    let counts = count::instructions(&cells);
    let bar = progress("timing", cells.len());
    let rows = cells
        .iter()
        .zip(counts)
        .map(|(&(name, flows), instructions)| {
            bar.inc(1);
            let cost = Cost { ns: nanoseconds(name, flows), instructions, state: state(name, flows) };
            Row { name: name.into(), flows, cost }
        })
        .collect();
    bar.finish_and_clear();
    rows
}

fn peers(names: &[&str]) -> Vec<peer::Row> {
    let shapes = peer::SHAPES.into_iter().filter(|shape| names.contains(&shape.name));
    let cells: Vec<_> = shapes.flat_map(|shape| peer::LEAVES.map(|leaves| (shape, leaves))).collect();
    let counts = count::peer_instructions(&cells);
    let bar = progress("timing with fixed leaves", cells.len());
    let row = |(&(shape, leaves), instructions): (&(peer::Shape, u32), Option<f64>)| {
        bar.inc(1);
        peer::Row { shape, leaves, ns: peer::nanoseconds(shape, leaves), instructions }
    };
    let rows = cells.iter().zip(counts).map(row).collect();
    bar.finish_and_clear();
    rows
}

fn progress(what: &'static str, cells: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} {eta}").expect("a template");
    ProgressBar::new(cells as u64).with_style(style).with_message(what)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time; the library does not")]
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

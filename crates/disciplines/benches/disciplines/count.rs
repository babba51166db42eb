//! Counts instructions by running the measured part under Valgrind's callgrind, where it is installed.

use crate::workload::Workload;
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use std::process::Command;

/// The argument that makes this program the counted child.
pub const CHILD: &str = "--counted";
const ROUNDS: u32 = 5_000;

/// The counted child: what is before and after `Workload::run` is not counted.
pub fn child(name: &str, flows: u32) {
    let mut workload = Workload::new(name, flows);
    workload.prepare(ROUNDS);
    workload.run();
}

/// Instructions per offered packet of each cell; `None` without Valgrind.
pub fn instructions(cells: &[(&str, u32)]) -> Vec<Option<f64>> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("SKIPPED: instruction counts, for want of valgrind (apt-get install valgrind)");
        return vec![None; cells.len()];
    }
    let bar = crate::progress("counting instructions", cells.len());
    let counts = cells
        .par_iter()
        .map(|&(name, flows)| Some(counted(name, flows)))
        .progress_with(bar.clone())
        .collect();
    bar.finish_and_clear();
    counts
}

fn counted(name: &str, flows: u32) -> f64 {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*Workload*run*"])
        .arg(program)
        .args([CHILD, name, &flows.to_string()])
        .output()
        .expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    let count: u64 = collected
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or_else(|| panic!("no count for {name} among {flows} flows: {text}"));
    // `Workload::new` runs once while it fills the queue, and that is counted too: told apart by its number of packets.
    let warm_up = u64::from(crate::workload::buffer(flows).max(30_000) / 3 * 3);
    count as f64 / (warm_up + u64::from(ROUNDS) * 3) as f64
}

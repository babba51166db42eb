//! Counts instructions with Valgrind's callgrind.

use crate::peer::Shape;
use crate::workload::Workload;
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use std::process::Command;

/// With this argument, the program starts itself under Valgrind, to count the instructions of
/// `Workload::run`.
pub(crate) const CHILD: &str = "--counted";
/// As [`CHILD`], but for the workload of [`peer`](crate::peer).
pub(crate) const PEER_CHILD: &str = "--counted-peer";
const ROUNDS: u32 = 5_000;

pub(crate) fn child(name: &str, flows: u32) {
    let mut workload = Workload::new(name, flows);
    workload.prepare(ROUNDS);
    workload.run();
}

/// The instructions per offered packet; `None` without Valgrind.
pub(crate) fn instructions(cells: &[(&str, u32)]) -> Vec<Option<f64>> {
    each(cells, |&(name, flows)| {
        let (count, _) = counted("*Workload*run*", [CHILD, name, &flows.to_string()]);
        // `Workload::new` calls `run` with `warm_up` packets, and callgrind counts that call, too.
        let warm_up = u64::from(crate::workload::buffer(flows).max(30_000) / 3 * 3);
        count as f64 / (warm_up + u64::from(ROUNDS) * 3) as f64
    })
}

/// The instructions per packet; `None` without Valgrind.
pub(crate) fn peer_instructions(cells: &[(Shape, u32)]) -> Vec<Option<f64>> {
    each(cells, |&(shape, leaves)| {
        let (count, output) = counted("*Bursts*run*", [PEER_CHILD, &shape.label(), &leaves.to_string()]);
        count as f64 / output.trim().parse::<f64>().expect("how many packets left")
    })
}

fn each<T: Sync>(cells: &[T], count: impl Fn(&T) -> f64 + Sync + Send) -> Vec<Option<f64>> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("SKIPPED: instruction counts, for want of valgrind (apt-get install valgrind)");
        return cells.iter().map(|_| None).collect();
    }
    let bar = crate::progress("counting instructions", cells.len());
    let counts = cells.par_iter().map(|cell| Some(count(cell))).progress_with(bar.clone()).collect();
    bar.finish_and_clear();
    counts
}

fn counted(part: &str, child: [&str; 3]) -> (u64, String) {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", &format!("--toggle-collect={part}")])
        .arg(program)
        .args(child)
        .output()
        .expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    let count = collected
        .and_then(|count| count.trim().parse().ok())
        .filter(|count| *count > 0) // a program without symbols has nothing to toggle at
        .unwrap_or_else(|| panic!("no count for {child:?}: {text}"));
    (count, String::from_utf8_lossy(&output.stdout).into_owned())
}

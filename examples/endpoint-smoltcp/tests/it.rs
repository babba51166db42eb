//! A TCP of smoltcp beside our CUBIC: each gets its half under DRR, and two runs are the same bits.

use std::process::Command;

fn outcome() -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_endpoint-smoltcp"));
    command.args(["run", "beside-cubic.toml", "-q", "--format", "csv"]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("the command was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// What `group` got, Mbit/s.
fn mbps(outcome: &str, group: &str) -> f64 {
    let measure = format!("throughput_bps.{group}");
    let mut rows = outcome.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let row = rows.find(|cells| cells.contains(&&*measure)).expect("a row");
    row[3].parse::<f64>().expect("a mean") / 1e6
}

#[test]
fn smoltcp_and_cubic_have_half_of_the_link_each_under_drr() {
    let found = outcome();
    assert_eq!(found, outcome());
    // smoltcp's window of 48 KiB, 33 packets, keeps its queue shorter than the longest, which DRR
    // drops from. With 256 KiB it is dropped from, and has half of its share. CUBIC has
    // 4.88 Mbit/s.
    for group in ["smoltcp", "cubic"] {
        assert!((4.8..5.1).contains(&mbps(&found, group)), "{found}");
    }
}

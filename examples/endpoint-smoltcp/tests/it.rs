//! Under DRR, smoltcp and our CUBIC each get half of a link, and runs repeat exactly.

use std::process::Command;

fn outcome() -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_endpoint-smoltcp"));
    command.args(["run", "beside-cubic.toml", "-q", "--format", "csv"]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("the command was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

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
    // DRR drops from the longest queue. With a window of 48 KiB, or 33 packets, smoltcp's queue is
    // never the longest. With 256 KiB, smoltcp loses packets and gets half of its share.
    for group in ["smoltcp", "cubic"] {
        assert!((4.8..5.1).contains(&mbps(&found, group)), "{found}");
    }
}

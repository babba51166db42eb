//! QUIC connections over the parking lot. Runs with CUBIC repeat exactly; BBR draws random numbers
//! from the system.

use std::process::Command;

fn outcome(set: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_endpoint-quinn"));
    command.args([
        "run",
        "parking-lot.toml",
        "-q",
        "--format",
        "csv",
        "--seeds",
        "1",
        "--set",
        "duration=12 s",
    ]);
    command.args(["--set", "warm_up=4 s"]).args(set.iter().flat_map(|set| ["--set", set]));
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("the command was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn mbps(outcome: &str, queue: &str, group: &str) -> f64 {
    let measure = format!("throughput_bps.{group}");
    let mut rows = outcome.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let row = rows.find(|cells| cells.contains(&queue) && cells.contains(&&*measure)).expect("a row");
    row[3].parse::<f64>().expect("a mean") / 1e6
}

#[test]
fn fair_queues_share_between_quinn_and_cbr_and_tail_drop_does_not() {
    let found = outcome(&[]);
    assert_eq!(found, outcome(&[]), "the same bits twice");
    // The max-min fair share is 3.33 Mbit/s. A connection over three links has twice the round-trip
    // time of a connection over one.
    for queue in ["drr+lqd", "fq-codel", "faba"] {
        for group in ["long", "one", "two", "three", "cbr"] {
            assert!((2.5..4.2).contains(&mbps(&found, queue, group)), "{queue}: {found}");
        }
    }
    assert!(mbps(&found, "tail-drop", "cbr") > 6.0 && mbps(&found, "tail-drop", "long") < 1.5, "{found}");
}

#[test]
fn bbr_is_held_to_its_share_too() {
    let found = outcome(&["disciplines=[\"drr+lqd\"]", "flow.long.source={ quic = { bbr = true } }"]);
    assert!((2.0..4.5).contains(&mbps(&found, "drr+lqd", "long")), "{found}");
}

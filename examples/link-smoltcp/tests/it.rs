//! Under DRR, smoltcp gets most of its half of the link despite a datagram flood.

use std::process::Command;

fn run() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_link-smoltcp")).output().expect("it was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The rates of the flows under `queue`, Mbit/s.
fn rates(text: &str, queue: &str) -> Vec<f64> {
    let (_, rest) = text.split_once(queue).expect("each queue has a report");
    let rows = rest.lines().skip(2).take(2);
    rows.map(|row| row.split_whitespace().nth(1).expect("a rate").parse().expect("a number")).collect()
}

#[test]
fn tcp_keeps_most_of_its_half_under_drr_and_two_runs_agree() {
    let text = run();
    assert_eq!(text, run());
    let [tail_drop, drr] = ["tail-drop", "drr+lqd"].map(|queue| rates(&text, queue));
    // The fair share is 5 Mbit/s. Without selective acknowledgements smoltcp recovers slowly from
    // losses, and the flood uses the rest.
    assert!(drr[0] > 3.5 && drr[0] < 5.0, "{text}");
    assert!(tail_drop[0] < 0.1, "{text}");
}

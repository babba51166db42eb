//! The discipline works like fairwire's built-in disciplines.

use fairwire_testing::skip::skipped;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own-discipline"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.output().expect("the command was built")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn it_is_simulated_alone_and_under_a_scheduler() {
    let output = run(&["run", "linear.toml", "--format", "csv", "-q"]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    for name in ["linear", "drr+linear"] {
        assert!(printed.lines().any(|line| line.split(',').any(|cell| cell == name)), "{name}: {printed}");
    }
}

#[test]
fn it_is_listed_described_and_checked_like_the_others() {
    assert!(text(&run(&["list", "disciplines"])).contains("linear"));
    let page = text(&run(&["describe", "linear"]));
    assert!(
        page.contains("The fraction of the buffer above which packets are dropped (from 0 to 1)."),
        "{page}"
    );
    for (set, message) in [
        ("discipline.linear.start=7", "allowed: a number from 0 to 1"),
        ("discipline.linear.strat=0.5", "unknown key `strat`"),
        ("discipline.linear.strat=0.5", "did you mean `start`?"),
    ] {
        let output = run(&["run", "linear.toml", "-q", "--set", set]);
        assert_eq!(output.status.code(), Some(2), "{set}");
        assert!(text(&output).contains(message), "{set}: {}", text(&output));
    }
    let output = run(&["run", "linear.toml", "-q", "--discipline", "linaer"]);
    assert!(text(&output).contains("did you mean `linear`?"), "{}", text(&output));
}

#[test]
fn it_forwards_real_packets() {
    let user = Command::new("id").arg("-u").output().expect("every Linux has it");
    if user.stdout != b"0\n" {
        return skipped("a discipline of one's own on a live link: needs root");
    }
    let output = run(&["lab", "share", "--discipline", "linear", "--seconds", "1", "--warm-up", "0.2", "-q"]);
    assert!(output.status.success() && text(&output).contains("linear"), "{}", text(&output));
}

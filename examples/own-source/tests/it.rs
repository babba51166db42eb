//! The source works like fairwire's built-in sources.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own-source"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.output().expect("the command was built")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn throughput(set: &str) -> f64 {
    let output = run(&["run", "pairs.toml", "-q", "--format", "csv", "--set", set]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    let row = printed.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let row =
        row.into_iter().find(|cells| cells.contains(&"throughput_bps.pairs")).expect("a row for the group");
    row[3].parse().expect("a mean")
}

#[test]
fn it_is_simulated_and_its_parameters_have_an_effect() {
    // Two flows send two packets of 512 bytes each per gap. With a gap of 4 ms, 15,000 pairs in 30
    // s have a standard deviation of 0.8 %.
    for (gap, expected_bps) in [("4 ms", 4_096_000.0), ("8 ms", 2_048_000.0)] {
        let found = throughput(&format!("flow.pairs.source.pairs.gap={gap}"));
        assert!((found / expected_bps - 1.0).abs() < 0.05, "{gap}: {found}");
    }
}

#[test]
fn it_is_listed_described_and_has_a_schema_like_the_others() {
    assert!(text(&run(&["list", "sources"])).contains("pairs"));
    let page = text(&run(&["describe", "pairs"]));
    assert!(page.contains("The mean time from one pair to the next (from 1 us to 1 h)."), "{page}");
    assert!(text(&run(&["schema", "scenario"])).contains("Parameters of `pairs`."));
}

#[test]
fn it_is_checked_like_the_others() {
    for (set, message) in [
        ("flow.pairs.source={ pairs = { gap = \"0 s\" } }", "allowed: a time from 1 us to 1 h"),
        ("flow.pairs.source={ pairs = { gpa = \"1 s\" } }", "did you mean `gap`?"),
        ("flow.pairs.source={ pairs = { gap = 3 } }", "--set:1:37"),
        ("flow.pairs.source=\"piars\"", "did you mean `pairs`?"),
        ("flow.tcp.pairs={}", "`source = { pairs = { … } }`"),
    ] {
        let output = run(&["run", "pairs.toml", "-q", "--set", set]);
        assert_eq!(output.status.code(), Some(2), "{set}");
        assert!(text(&output).contains(message), "{set}: {}", text(&output));
    }
}

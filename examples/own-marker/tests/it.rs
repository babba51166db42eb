//! The marker works like fairwire's built-in markers.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own-marker"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.output().expect("the command was built")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The fraction of the aggregate's packets in profile, under the first discipline and seed.
fn in_profile(set: &str) -> f64 {
    let output = run(&["run", "gcra.toml", "-q", "--format", "json", "--set", set]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    let number = |key: &str| {
        let (_, after) =
            printed.split_once(&format!("\"{key}\":")).unwrap_or_else(|| panic!("no {key}: {printed}"));
        let digits: String = after.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<f64>().expect("a count")
    };
    number("in_profile") / number("packets")
}

#[test]
fn it_colours_an_aggregate_by_its_contract_and_its_parameters_have_an_effect() {
    // The aggregate sends 6 Mbit/s, and its contract of 4 Mbit/s covers 15,000 packets. The limit
    // of 20 ms admits at most thirty packets more, about 0.001 of all packets.
    let fraction = in_profile("aggregate.gold.marker={ gcra = { limit = \"20 ms\" } }");
    assert!((fraction - 4.0 / 6.0).abs() < 0.005, "{fraction}");
    let own_rate = in_profile("aggregate.gold.marker={ gcra = { rate = \"3 Mbit/s\" } }");
    assert!((own_rate - 3.0 / 6.0).abs() < 0.005, "{own_rate}");
    let base = in_profile("marker.gcra={ rate = \"3 Mbit/s\", limit = \"10 ms\" }");
    assert!((base - 3.0 / 6.0).abs() < 0.005, "what `[marker.gcra]` says is heard: {base}");
}

#[test]
fn it_works_in_front_of_a_discipline() {
    let conditioner = "disciplines=[{ conditioner = { marker = { gcra = { limit = \"5 ms\" } } } }]";
    let output = run(&["run", "gcra.toml", "-q", "--set", conditioner]);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn it_is_listed_described_and_has_a_schema_like_the_others() {
    assert!(text(&run(&["list", "markers"])).contains("gcra"));
    let page = text(&run(&["describe", "gcra"]));
    assert!(page.contains("How early a packet may come and still be in profile (at most 10 s)."), "{page}");
    let schema = text(&run(&["schema", "scenario"]));
    assert!(schema.contains("Parameters of `gcra`."));
}

#[test]
fn it_is_checked_like_the_others() {
    for (marker, message) in [
        ("{ gcra = { limit = \"1 min\" } }", "allowed: a time of at most 10 s"),
        ("{ gcra = { limmit = \"1 ms\" } }", "did you mean `limit`?"),
        ("{ gcra = { limit = true } }", "--set:1:"),
        ("\"gcar\"", "did you mean `gcra`?"),
    ] {
        let output = run(&["run", "gcra.toml", "-q", "--set", &format!("aggregate.gold.marker={marker}")]);
        assert_eq!(output.status.code(), Some(2), "{marker}");
        assert!(text(&output).contains(message), "{marker}: {}", text(&output));
    }
    let base = run(&["run", "gcra.toml", "-q", "--set", "marker.gcra.limit=\"1 min\""]);
    assert_eq!(base.status.code(), Some(2));
    assert!(text(&base).contains("`marker.gcra.limit` is 60 s"), "{}", text(&base));
}

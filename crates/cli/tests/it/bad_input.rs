//! Bad input ends with exit code 2 and one message: what was given, what is allowed, where, and the nearest spelling.

use crate::common;

use common::{Contest, SCENARIO, code, run, stderr, stdout};

/// Runs the short scenario with `from` replaced by `to`.
fn with(from: &str, to: &str) -> String {
    assert!(SCENARIO.contains(from), "{from}");
    refused(&Contest::of(&SCENARIO.replacen(from, to, 1)), &[])
}

#[track_caller]
fn refused(contest: &Contest, more: &[&str]) -> String {
    let file = contest.file();
    let output = run(&[&["run", file.as_str()], more].concat());
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert_eq!(stdout(&output), "", "a refused scenario prints nothing");
    stderr(&output)
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
    assert_eq!(message.matches('×').count(), 1, "one message: {message}");
}

#[test]
fn an_unknown_key() {
    let message = with("buffer =", "bufer =");
    says(
        &message,
        &[
            "unknown key `bufer`",
            "allowed: `rate`, `delay`, `buffer`, `changes` or `trace`",
            "short.toml:12:1",
            "did you mean `buffer`?",
        ],
    );
    says(&message, &["bufer = \"40 packets\""]); // the line itself
}

#[test]
fn a_negative_rate() {
    says(
        &with("2 Mbit/s", "-2 Mbit/s"),
        &[
            "`link.rate`",
            "`-2 Mbit/s` is negative",
            "allowed: a rate above zero",
            "short.toml:10:8",
            "Mbit/s",
        ],
    );
}

#[test]
fn a_buffer_of_nothing() {
    says(
        &with("40 packets", "0 packets"),
        &[
            "`link.buffer`",
            "`0 packets` is zero",
            "allowed: an amount of queue above zero",
            "short.toml:12:10",
        ],
    );
}

#[test]
fn a_duration_shorter_than_the_warm_up() {
    says(
        &with("duration = \"2 s\"", "duration = \"300 ms\""),
        &["`warm_up` is 500 ms", "lasts 300 ms", "allowed: less than 300 ms", "short.toml:5:11"],
    );
}

#[test]
fn a_missing_unit() {
    says(
        &with("\"10 ms\"", "\"10\""),
        &["`link.delay`", "`10` has no unit", "such as \"5 ms\"", "short.toml:11:9"],
    );
    says(&with("\"10 ms\"", "10"), &["`link.delay`", "integer `10`", "5 ms", "short.toml:11:9"]);
}

#[test]
fn an_unknown_discipline() {
    let parts = ["unknown discipline `rde`", "allowed: `tail-drop`", "did you mean `red`?"];
    says(&with("\"red\"]", "\"rde\"]"), &[&parts[..], &["short.toml:7:29"]].concat());
    says(
        &refused(&Contest::of(SCENARIO), &["--discipline", "rde"]),
        &[&parts[..], &["--discipline:1:"]].concat(),
    );
}

#[test]
fn a_file_that_is_not_there() {
    let contest = Contest::of(SCENARIO);
    let path = contest.path("shrt.toml").display().to_string();
    let output = run(&["run", &path]);
    assert_eq!(code(&output), 2);
    says(
        &stderr(&output),
        &["there is no file", "shrt.toml", "allowed: a scenario file in TOML", "did you mean", "short.toml"],
    );
}

#[test]
fn a_file_that_is_not_toml() {
    says(
        &refused(&Contest::of("Dear simulator,\n"), &[]),
        &["this is not TOML", "allowed: TOML", "short.toml:1:"],
    );
}

#[test]
fn a_file_of_a_gigabyte() {
    let contest = Contest::of(SCENARIO);
    let path = contest.path("huge.toml");
    std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let output = run(&["run", &path.display().to_string()]);
    assert_eq!(code(&output), 2);
    says(
        &stderr(&output),
        &["is too large: 1073741824 bytes", "allowed: at most 1048576 bytes", "huge.toml"],
    );
}

#[test]
fn a_bad_set() {
    let message = refused(&Contest::of(SCENARIO), &["--set", "link.bufer=10 packets"]);
    says(&message, &["unknown key `bufer`", "did you mean `buffer`?", "--set:1:6", "link.bufer=10 packets"]);
    let message = refused(&Contest::of(SCENARIO), &["--set", "flow.tpc.count=2"]);
    says(
        &message,
        &["there is no `tpc` in `flow`", "allowed: `tcp`, `udp`", "did you mean `tcp`?", "--set:1:6"],
    );
}

#[test]
fn bad_seeds() {
    let message = refused(&Contest::of(SCENARIO), &["--seeds", "1..=lots"]);
    says(&message, &["`1..=lots` is not made of whole numbers", "allowed: one seed such as 7", "--seeds:1:"]);
}

#[test]
fn five_mistakes_are_told_in_one_run() {
    let text = SCENARIO
        .replace("duration = ", "duraton = ")
        .replace("rate = \"2 Mbit/s\"", "rate = \"2 Mb\"")
        .replace("buffer =", "bufer =")
        .replace("count = 3", "cont = 3")
        .replace("rate = \"1 Mbit/s\"", "rate = 1");
    let message = refused(&Contest::of(&text), &[]);
    for part in [
        "unknown key `duraton`",
        "did you mean `2 Mbit/s`?",
        "unknown key `bufer`",
        "unknown key `cont`",
        "`flow.udp.source.cbr.rate`",
    ] {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
    assert_eq!(message.matches('×').count(), 5, "{message}");
}

#[test]
fn the_likeliest_slips_are_understood() {
    for (from, to, meant) in [
        ("\"red\"]", "\"afd\"]", "did you mean `afd-sb`, `afd-ft`, `afd-nft` or `afd-exact`?"),
        ("\"red\"]", "{ red = { min_th = \"5 packets\" } }]", "did you mean `min_threshold`?"),
        ("\"2 Mbit/s\"", "\"50 Mb\"", "did you mean `50 Mbit/s`?"),
        ("\"1..=3\"", "\"1-10\"", "did you mean `1..=10`?"),
    ] {
        says(&with(from, to), &[meant]);
    }
    says(&with("group = \"udp\"", "# group"), &["the key `group` is missing in `flow.#2`"]);
    says(&with("source = { cbr", "# source = { cbr"), &["the key `source` is missing in `flow.udp`"]);
}

#[test]
fn arguments_that_do_not_exist_are_told_the_nearest() {
    let output = run(&["run", "x.toml", "--disciplin", "red"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("--discipline"), "{}", stderr(&output));
    assert_eq!(code(&run(&["run", "x.toml", "--jobs", "0"])), 2);
    assert_eq!(code(&run(&["run", "x.toml", "--format", "yaml"])), 2);
    assert_eq!(code(&run(&["rnu"])), 2);
}

#[test]
fn a_contest_that_makes_no_sense() {
    for (args, part) in [
        (&["lab", "share", "--seconds", "5", "--warm-up", "5"][..], "allowed: less than 5 s"),
        (&["lab", "share", "--seconds", "0"], "'0' for '--seconds"),
        (&["lab", "share", "--seconds", "nan"], "allowed: a number of seconds, 0.4 to 3600"),
        (&["lab", "share", "--seconds", "-1"], "'-1' for '--seconds"),
        (&["lab", "share", "--seconds", "1e300"], "'1e300' for '--seconds"),
        (&["lab", "share", "--warm-up", "-1"], "'-1' for '--warm-up"),
        (&["lab", "share", "--warm-up", "nan"], "allowed: a number of seconds, 0 to 3600"),
        (&["lab", "share", "--packet", "99999999999B"], "'99999999999B' for '--packet"),
        (&["lab", "share", "--packet", "63 B"], "allowed: 64 B to 1460 B"),
        (&["lab", "share", "--rate", "10"], "has no unit"),
        (&["lab", "share", "--discipline", "fabba"], "did you mean `faba`?"),
        (
            &["lab", "share", "--discipline", "fifo", "--discipline", "tail-drop"],
            "allowed: each discipline once",
        ),
        (&["lab", "share", "--packet", "9 kB"], "allowed: 64 B to 1460 B"),
        (&["lab", "share", "--congestion", ""], "allowed"),
    ] {
        let output = run(args);
        assert_eq!(code(&output), 2, "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_stage_that_is_not_there_or_that_cannot_run_the_scenario() {
    let contest = Contest::of(SCENARIO);
    says(
        &refused(&contest, &["--on", "sim,labb"]),
        &["no stage `labb`; did you mean `lab`?", "allowed: sim, lab, gateway, linux"],
    );
    says(
        &refused(&contest, &["--on", "lab", "--on", "lab"]),
        &["`lab` is given twice", "allowed: each stage once"],
    );
    let message = refused(&contest, &["--on", "lab,linux", "--set", "return={ buffer = '10 packets' }"]);
    says(
        &message,
        &[
            "no stage can run this scenario",
            "lab cannot run this: a way back with a queue, `[return]`",
            "linux cannot",
        ],
    );
}

/// The whole look of one message, so that a change of it is seen.
#[test]
fn the_look_of_a_message() {
    let message = with("buffer =", "bufer =");
    let at = message.find("[").expect("the place");
    let end = message.find("short.toml").expect("the file");
    insta::assert_snapshot!(format!("{}{}", &message[..=at], &message[end..]));
}

//! `fairwire-gateway check`.

use super::GATEWAY;
use fairwire_testing::program::{code, stderr, stdout};
use serde_json::Value;
use std::path::Path;

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gateway").join(name).display().to_string()
}

#[test]
fn the_examples_pass_offline_and_are_shown() {
    for name in ["home.toml", "bump.toml", "wisp.toml"] {
        let output = GATEWAY.run(&["check", &example(name), "--offline"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(stdout(&output).contains("download: "), "{}", stdout(&output));
    }
    let shown = stdout(&GATEWAY.run(&["check", &example("wisp.toml"), "--offline"]));
    for part in [
        "gateway `wisp`",
        "9 subscribers, 3 classes",
        "shared by `hfaba`",
        "residential: ",
        "\n      school: ",
    ] {
        assert!(shown.contains(part), "no `{part}` in: {shown}");
    }
}

#[test]
fn the_json_output_has_everything() {
    let output = GATEWAY.run(&["check", &example("wisp.toml"), "--offline", "--format", "json"]);
    let value: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let tree = value["ways"][0]["tree"].as_array().unwrap();
    assert_eq!(tree.len(), 13);
    // The weights at the root sum to 6.1; `residential` has 3.
    let residential = tree.iter().find(|class| class["class"] == "residential").unwrap();
    assert_eq!(residential["busy_bps"].as_f64().unwrap().round(), (950e6_f64 * 3.0 / 6.1).round());
    assert!(value["memory"]["resident_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn a_missing_interface_ends_with_exit_code_2() {
    let output = GATEWAY.run(&["check", &example("home.toml")]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    let message = stderr(&output);
    assert!(message.contains("`wire.inside` is `lan0`, but there is no such interface here"), "{message}");
    assert_eq!(stdout(&output), "");
}

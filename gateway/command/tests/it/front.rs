//! Help, schemas, and the terminal.

use super::GATEWAY;
use fairwire_testing::program::{at_a_terminal, code, ends, seen, stderr, stdout};

#[test]
fn every_command_has_help_with_examples() {
    for command in [
        &["--help"][..],
        &["setup", "--help"],
        &["check", "--help"],
        &["top", "--help"],
        &["schema", "--help"],
    ] {
        let output = GATEWAY.run(command);
        assert_eq!(code(&output), 0);
        assert!(
            stdout(&output).contains("Examples:\n  fairwire-gateway "),
            "{command:?}: {}",
            stdout(&output)
        );
        assert!(!stdout(&output).contains("gateway-guard"), "it is not for people");
    }
    assert_eq!(code(&GATEWAY.run(&[])), 2);
    assert!(stdout(&GATEWAY.run(&["--version"])).starts_with("fairwire-gateway "));
    assert!(stdout(&GATEWAY.run(&["completions", "bash"])).contains("set-weight"));
}

#[test]
fn the_committed_schema_of_snapshots_is_current() {
    let output = GATEWAY.run(&["schema", "snapshot"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        include_str!("../../../../docs/schema/snapshot.json") == stdout(&output),
        "docs/schema/snapshot.json is stale; renew it with: cargo run -p fairwire-gateway -- schema snapshot > docs/schema/snapshot.json"
    );
}

#[test]
fn top_reports_a_missing_gateway() {
    let output = GATEWAY.run(&["top", "--socket", "none.sock"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("no gateway answers at none.sock"), "{}", stderr(&output));
    let output = GATEWAY.run(&["top", "none.toml"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("none.toml"), "{}", stderr(&output));
}

#[test]
fn the_committed_schema_of_gateways_is_current_and_fits_the_examples() {
    let output = GATEWAY.run(&["schema", "configuration"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let committed = include_str!("../../../../docs/schema/gateway.json");
    assert!(committed == stdout(&output), "docs/schema/gateway.json is stale: `make schema`");
    let validator = jsonschema::validator_for(&serde_json::from_str(committed).unwrap()).unwrap();
    for example in [
        include_str!("../../../../docs/gateway/home.toml"),
        include_str!("../../../../docs/gateway/wisp.toml"),
    ] {
        let table: toml::Table = toml::from_str(example).unwrap();
        let mut value = serde_json::to_value(table).unwrap();
        assert!(validator.is_valid(&value), "{example}");
        value["download"]["raet"] = "1 Mbit/s".into();
        assert!(!validator.is_valid(&value), "the schema must be able to refuse");
    }
}

#[test]
fn top_ends_with_its_terminal() {
    for typed in [&b""[..], b"d", b"\x1b["] {
        let (master, child) =
            at_a_terminal(GATEWAY.command().args(["top", "--socket", "/nowhere/at/all.sock"]));
        seen(&master, "answers");
        rustix::io::write(&master, typed).expect("it reads keys");
        drop(master);
        let code = ends(child);
        assert_eq!(code, Some(130), "whatever it was doing");
    }
}

#[test]
fn top_ends_by_its_keys_and_restores_the_terminal() {
    let (master, child) = at_a_terminal(GATEWAY.command().args(["top", "--socket", "/nowhere/at/all.sock"]));
    let before = seen(&master, "answers");
    assert!(before.contains("\x1b[?1049h"), "the other screen: {before:?}");
    rustix::io::write(&master, b"q").expect("it reads keys");
    seen(&master, "\x1b[?1049l");
    assert_eq!(ends(child), Some(0));
}

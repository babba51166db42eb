//! Help, lists, schemas and completions.

use crate::common;

use common::{Contest, SCENARIO, code, fairwire, run, stderr, stdout};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn every_command_has_help_with_examples() {
    for command in [
        &["--help"][..],
        &["run", "--help"],
        &["list", "--help"],
        &["list", "disciplines", "--help"],
        &["lab", "--help"],
        &["lab", "share", "--help"],
        &["demo", "--help"],
        &["play", "--help"],
        &["schema", "--help"],
        &["completions", "--help"],
    ] {
        let output = run(command);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("Examples:\n  fairwire "), "{command:?}: {}", stdout(&output));
        assert!(!stdout(&output).contains("lab-agent"), "what is not for people is not shown");
    }
    assert_eq!(code(&run(&[])), 2);
    assert!(stdout(&run(&["--version"])).starts_with("fairwire "));
}

#[test]
fn completions_know_the_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("discipline"), "{shell}");
    }
    assert_eq!(code(&run(&["completions", "tcsh"])), 2);
}

#[test]
fn a_shell_gets_the_keys_of_set() {
    let contest = Contest::of(SCENARIO);
    let scenario = contest.file();
    let words = ["--", "fairwire", "run", &scenario, "--set", "link.bu"];
    let mut command = fairwire();
    let output =
        command.args(words).env("FAIRWIRE_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "4").output();
    assert_eq!(stdout(&output.expect("the command was built")).trim(), "link.buffer=");
}

#[test]
fn disciplines_are_listed_in_every_format() {
    let table = stdout(&run(&["list", "disciplines"]));
    let csv = stdout(&run(&["list", "disciplines", "--format", "csv"]));
    let json: Value =
        serde_json::from_str(&stdout(&run(&["list", "disciplines", "--format", "json"]))).unwrap();
    let markers = stdout(&run(&["list", "markers"]));
    assert!(["token-bucket", "sr-tcm", "tsw3cm"].iter().all(|name| markers.contains(name)), "{markers}");
    let names: Vec<&str> =
        json.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert!(["tail-drop", "red", "faba"].iter().all(|name| names.contains(name)), "{names:?}");
    for name in &names {
        assert!(table.contains(name) && csv.contains(name), "{name}");
    }
    assert_eq!(csv.lines().count(), names.len() + 1);
}

fn on_columns(args: &[&str], columns: usize) -> Vec<String> {
    let output = fairwire().args(args).env("COLUMNS", columns.to_string()).output().unwrap();
    assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
    stdout(&output).lines().map(String::from).collect()
}

fn breaks_no_word(lines: &[String], whole: &str) {
    let words: std::collections::BTreeSet<&str> = whole.split_whitespace().collect();
    for word in lines.iter().flat_map(|line| line.split_whitespace()) {
        assert!(words.contains(word), "`{word}` is a piece of a word");
    }
}

#[test]
fn lists_fit_every_terminal_and_break_no_word() {
    for list in [
        &["list", "disciplines"][..],
        &["list", "disciplines", "--long"],
        &["list", "markers"],
        &["list", "exhibits"],
    ] {
        let whole = on_columns(list, 10_000).join("\n");
        for columns in [60, 80, 120] {
            let lines = on_columns(list, columns);
            breaks_no_word(&lines, &whole);
            let widest = lines.iter().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns, "{list:?}: {widest} of {columns}");
        }
    }
    let json: Value =
        serde_json::from_str(&stdout(&run(&["list", "disciplines", "--format", "json"]))).unwrap();
    let entries = json.as_array().unwrap().len();
    let short = on_columns(&["list", "disciplines"], 80);
    assert!(short.len() <= 2 * entries, "{} lines for {entries} disciplines", short.len());
    assert!(on_columns(&["list", "disciplines", "--long"], 80).len() > short.len());
}

#[test]
fn a_description_fits_the_terminal_and_repeats_nothing() {
    for name in ["red", "faba", "classful", "conditioner"] {
        let whole = on_columns(&["describe", name], 120).join("\n");
        for columns in [60, 80] {
            let lines = on_columns(&["describe", name], columns);
            breaks_no_word(&lines, &whole);
            // The example is TOML, which is not wrapped.
            let end = lines.iter().position(|line| line.starts_with("EXAMPLE")).unwrap();
            for line in &lines[..end] {
                assert!(line.chars().count() <= columns, "{name}, {columns}: {line}");
            }
        }
    }
    let red = on_columns(&["describe", "red"], 120).join("\n");
    assert_eq!(red.matches("hether an early signal").count(), 1, "{red}");
    assert!(red.contains("No effect without early signals."), "{red}");
    assert_eq!(red.matches("The order in which packets leave").count(), 1, "{red}");
    assert!(!on_columns(&["describe", "faba"], 120).join("\n").contains(" B. In packet mode"));
}

#[test]
fn a_discipline_is_described_with_its_parameters_and_an_example() {
    let text = stdout(&run(&["describe", "drop-tail"]));
    for part in
        ["tail-drop\n\nTail-drop.", "WHY", "buffer (amount; default: the site's)", "[discipline.tail-drop]"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = stdout(&run(&["describe", "dctcp"]));
    for part in [
        "gain (1; default: 1/16)",
        "RFC 8257, section 3.3",
        "tcp = { control = { dctcp = { gain = 0.0625 } } }",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = stdout(&run(&["describe", "cbr"]));
    for part in ["rate (rate; default: none, it must be given)", "source = { cbr = { rate = \"1 Mbit/s\" } }"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = stdout(&run(&["describe", "fat-tree"]));
    for part in ["k (1; default: none, it must be given)", "network = { fat-tree = { k = 4, "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(stdout(&run(&["list", "networks"])).contains("Two hubs with a link between them"));
    assert!(stdout(&run(&["list", "controllers"])).contains("cubic function of the time"));
    let markdown = stdout(&run(&["describe", "red", "--format", "markdown"]));
    assert!(markdown == include_str!("../../../../docs/reference/red.md"));
    for (args, message) in [
        (&["describe", "rde"][..], "did you mean `red`?"),
        (&["describe", "cubik"], "did you mean `cubic`?"),
        (&["describe", "afd"], "did you mean `afd-sb`, `afd-ft`, `afd-nft` or `afd-exact`?"),
        (
            &["describe"],
            "`<NAME>` is missing: a discipline, a marker, a controller, a source, a network, an impairment or a parameter",
        ),
        (&["describe", "fat-tre"], "did you mean `fat-tree`?"),
        (&["describe", "red", "--out", "x"], "but `--out` is given too"),
    ] {
        let output = run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn the_committed_reference_pages_match_the_code() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["describe", "--out", folder.path().to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let files = |folder: &Path| -> BTreeMap<_, _> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        entries.map(|entry| (entry.file_name(), fs::read_to_string(entry.path()).unwrap())).collect()
    };
    let committed = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference"));
    let made = files(folder.path());
    assert!(committed.keys().eq(made.keys()), "docs/reference has other pages: `make reference`");
    for (name, text) in made {
        assert!(committed[&name] == text, "docs/reference/{} is stale: `make reference`", name.display());
    }
}

#[test]
fn the_committed_schema_of_results_is_current() {
    let output = run(&["schema", "results"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        include_str!("../../../../docs/schema/results.json") == stdout(&output),
        "docs/schema/results.json is stale; renew it with: cargo run -p fairwire -- schema results > docs/schema/results.json"
    );
}

#[test]
fn the_demo_scenario_fits_the_committed_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/schema/scenario.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let scenario: toml::Table =
        toml::from_str(include_str!("../../../../scenarios/selfish-flow.toml")).unwrap();
    let scenario = serde_json::to_value(scenario).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&scenario).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let mut typo = scenario.clone();
    typo["link"]["bufer"] = "1 packet".into();
    assert!(!validator.is_valid(&typo), "the schema must be able to refuse");
}

#[test]
fn the_gateway_program_is_started_or_named_if_missing() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let copy = folder.path().join("alone/fairwire");
    fs::create_dir(folder.path().join("alone")).expect("a folder");
    fs::copy(env!("CARGO_BIN_EXE_fairwire"), &copy).expect("a copy");
    let alone = |path: &Path| {
        let mut command = std::process::Command::new(&copy);
        command.args(["gateway", "status", "a b"]).env("PATH", path).output().expect("the binary starts")
    };
    let output = alone(Path::new("/nowhere"));
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("`fairwire-gateway`, which is missing"), "{}", stderr(&output));
    let other = folder.path().join("bin");
    fs::create_dir(&other).expect("a folder");
    fs::write(other.join("fairwire-gateway"), "#!/bin/sh\nprintf '%s,' \"$@\"\nexit 7\n").expect("a file");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(other.join("fairwire-gateway"), fs::Permissions::from_mode(0o755)).expect("ours");
    let output = alone(&other);
    assert_eq!((code(&output), stdout(&output)), (7, "status,a b,".into()));
}

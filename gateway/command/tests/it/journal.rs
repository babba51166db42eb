//! The journal of changes next to the subscriber file, without a running gateway.

use super::GATEWAY;
use fairwire_testing::program::{code, stderr, stdout};
use std::fs;
use std::path::Path;

const FILE: &str = "name,addresses,weight\nann,10.0.0.1,2\nbob,10.0.0.2,1\n";
const LINE: &str = "[{\"name\":\"ann\",\"before\":{\"addresses\":\"10.0.0.1\",\"weight\":\"2\"},\
                    \"after\":{\"addresses\":\"10.0.0.1\",\"weight\":\"3\"}}]\n";

fn tower(folder: &Path, file: &str, journal: &str) -> String {
    let config = folder.join("tower.toml");
    let text = "format = 2\nname = \"journal-test\"\n[wire]\ninside = \"in0\"\noutside = \"out0\"\n\
                [telemetry]\nsocket = \"none.sock\"\n[subscribers]\nfile = \"plans.csv\"\n\
                [download]\nrate = \"1 Gbit/s\"\ndiscipline = \"classful\"\n";
    for (name, text) in [("tower.toml", text), ("plans.csv", file), ("plans.csv.journal", journal)] {
        fs::write(folder.join(name), text).expect("the folder is ours");
    }
    config.display().to_string()
}

#[test]
fn the_journal_counts_unless_the_file_changed_since() {
    let folder = tempfile::tempdir().expect("a folder");
    let weight = |file: &str| {
        let config = tower(folder.path(), file, LINE);
        let check = GATEWAY.run(&["check", &config, "--offline", "--format", "json"]);
        assert_eq!(code(&check), 0, "{}", stderr(&check));
        let shown: serde_json::Value = serde_json::from_slice(&check.stdout).expect("JSON");
        let classes = shown["ways"][0]["tree"].as_array().expect("a list").clone();
        let ann = classes.iter().find(|class| class["class"] == "ann").expect("she is there").clone();
        (ann["weight"].as_f64().expect("a weight"), shown["notes"].to_string())
    };
    let left_out = "plans.csv.journal:1: the change of `ann` is left out";
    assert_eq!(weight(FILE).0, 3.0);
    assert!(!weight(FILE).1.contains(left_out));
    let (typed, notes) = weight(&FILE.replace("ann,10.0.0.1,2", "ann,10.0.0.1,7"));
    assert!(typed == 7.0 && notes.contains(left_out), "{notes}");
}

#[test]
fn a_bad_journal_line_is_refused_and_an_unfinished_one_is_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = tower(folder.path(), FILE, &format!("{LINE}what\n{LINE}"));
    for command in [&["check", "--offline"][..], &["subscriber", "suspend"], &["run"]] {
        let (name, options) = command.split_at(1);
        let words: Vec<&str> = match options {
            ["suspend"] => vec!["subscriber", "suspend", &config, "bob"],
            _ => [name, options, &[&config]].concat(),
        };
        let refused = GATEWAY.run(&words);
        assert!(
            code(&refused) == 2 && stderr(&refused).contains("plans.csv.journal:2:1"),
            "{}",
            stderr(&refused)
        );
    }
    let config = tower(folder.path(), FILE, &format!("{LINE}{}", &LINE[..50]));
    let check = GATEWAY.run(&["check", &config, "--offline"]);
    assert!(stdout(&check).contains("plans.csv.journal:2: the line has no end"), "{}", stdout(&check));
    let done = GATEWAY.run(&["subscriber", "suspend", &config, "bob"]);
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    let text = fs::read_to_string(folder.path().join("plans.csv")).expect("it is there");
    assert_eq!(text, "name,addresses,weight,suspended\nann,10.0.0.1,3,\nbob,10.0.0.2,1,yes\n");
    assert!(!folder.path().join("plans.csv.journal").exists(), "it is in the file");
}

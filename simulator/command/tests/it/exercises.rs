//! The exercises fail unchanged, and pass with the answers of `docs/exercises.md`.

use crate::common::{code, run, stderr};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn exercises() -> Vec<(String, String)> {
    let folder = fs::read_dir(root().join("scenarios/exercises")).expect("a folder");
    let mut names: Vec<String> =
        folder.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let question = |name: String| {
        let text = fs::read_to_string(root().join("scenarios/exercises").join(&name)).expect("UTF-8");
        let document: toml::Table = text.parse().expect("TOML");
        let question = document["lesson"]["question"].as_str().expect("a text").to_owned();
        (name, question)
    };
    names.into_iter().map(question).collect()
}

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_exercise_fails_as_written() {
    let exercises = exercises();
    assert_eq!(exercises.len(), 10);
    for (name, _) in exercises {
        let file = root().join("scenarios/exercises").join(&name);
        let output = run(&["--quiet", "run", &file.display().to_string()]);
        assert_eq!(code(&output), 3, "{name}: {}", stderr(&output));
    }
}

#[test]
fn the_page_has_each_question_and_an_answer_to_it() {
    let page = fs::read_to_string(root().join("docs/exercises.md")).expect("UTF-8");
    let text = unwrapped(&page);
    for (name, question) in exercises() {
        assert!(text.contains(&unwrapped(&question)), "docs/exercises.md has not the question of {name}");
        let command = format!("fairwire --quiet run scenarios/exercises/{name} --set ");
        assert!(page.lines().any(|line| line.starts_with(&command)), "{name} has no answer");
    }
}

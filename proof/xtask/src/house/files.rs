//! Checks that each file has one idea: it is short, with a meaningful name. The lint
//! `clippy::too_many_lines` keeps functions short.

use super::breach::Breach;
use super::code;
use super::tree::{File, Tree};

const MAX_LINES: usize = 600;

const EMPTY_WORDS: &[&str] =
    &["util", "utils", "helper", "helpers", "manager", "managers", "base", "old", "new2", "misc"];

/// Checks that no file or folder name has one of [`EMPTY_WORDS`], and that no Rust file outside
/// folders `tests` has more than [`MAX_LINES`] lines before its tests.
pub fn check(tree: &Tree) -> Vec<Breach> {
    tree.files.iter().flat_map(|file| [check_name(file), check_length(file)]).flatten().collect()
}

fn check_name(file: &File) -> Option<Breach> {
    let mut words = file.path.split(['/', '.', '_', '-']);
    let word = words.find(|word| EMPTY_WORDS.contains(&word.to_lowercase().as_str()))?;
    Some(Breach::of(&file.path, format!("`{word}` says nothing: name the file after its one idea")))
}

fn check_length(file: &File) -> Option<Breach> {
    let lines = code::lines(&file.text).count();
    let is_long = lines > MAX_LINES && file.path.ends_with(".rs") && !file.path.contains("/tests/");
    let message = format!("{lines} lines before its tests; allowed: {MAX_LINES} (one idea a file)");
    is_long.then(|| Breach::of(&file.path, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&Tree::of_files(&[(path, text)])).len()
    }

    #[test]
    fn empty_words_are_found_in_files_and_folders() {
        let empty = ["src/util.rs", "src/queue_helpers.rs", "base/a.rs", "ui/link-manager.js", "a/new2.py"];
        assert_eq!(empty.map(|path| breaches(path, "")), [1; 5]);
        assert_eq!(["src/database.rs", "src/threshold.rs"].map(|path| breaches(path, "")), [0, 0]);
    }

    #[test]
    fn a_file_may_have_six_hundred_lines_before_its_tests() {
        let lines = |count| "// x\n".repeat(count);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines(700));
        assert_eq!([600, 601].map(|count| breaches("a.rs", &(lines(count) + &tests))), [0, 1]);
        assert_eq!(breaches("gateway/a/tests/b.rs", &lines(601)), 0);
    }
}

//! Names that say nothing.

use super::breach::Breach;
use super::tokens;
use super::tree::{File, Tree};
use proc_macro2::TokenTree;

/// The name of the rule.
pub const NAME: &str = "naming";

const EMPTY_WORDS: &[&str] =
    &["util", "utils", "helper", "helpers", "manager", "managers", "base", "old", "new2", "misc"];

/// No file or folder is called by an empty word, and no function starts with `get_`.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let paths = tree.files.iter().filter_map(check_path);
    paths.chain(tree.rust().flat_map(check_functions)).collect()
}

fn check_path(file: &File) -> Option<Breach> {
    let words = file.path.split(['/', '.', '_', '-']);
    let word = words.into_iter().find(|word| EMPTY_WORDS.contains(&word.to_lowercase().as_str()))?;
    let message = format!("`{word}` says nothing about what is inside: name the file after its one idea");
    Some(Breach { rule: NAME, path: file.path.clone(), line: 0, message })
}

fn check_functions(file: &File) -> Vec<Breach> {
    let Ok(read) = tokens::read(&file.text) else { return Vec::new() }; // `purity` reports what is not Rust
    let mut breaches = Vec::new();
    tokens::each_level(&read, &mut |level| {
        for pair in level.windows(2) {
            if let [TokenTree::Ident(keyword), TokenTree::Ident(name)] = pair
                && keyword == "fn"
                && name.to_string().starts_with("get_")
            {
                let message = format!("`{name}`: a function that returns a value is named after the value");
                let line = name.span().start().line;
                breaches.push(Breach { rule: NAME, path: file.path.clone(), line, message });
            }
        }
    });
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&Tree::of_files(&[(path, text)])).len()
    }

    #[test]
    fn empty_words_are_found_in_files_and_folders() {
        for path in [
            "src/util.rs",
            "src/queue_helpers.rs",
            "base/a.rs",
            "ui/link-manager.js",
            "src/red_old.rs",
            "a/new2.py",
        ] {
            assert_eq!(breaches(path, ""), 1, "{path}");
        }
    }

    #[test]
    fn a_word_inside_a_word_is_no_breach() {
        assert_eq!(breaches("src/database.rs", ""), 0);
        assert_eq!(breaches("src/threshold.rs", ""), 0);
    }

    #[test]
    fn getters_are_found_in_functions_and_traits() {
        assert_eq!(breaches("a.rs", "trait A { fn get_b(&self); } fn get_c() {}"), 2);
        assert_eq!(breaches("a.rs", "fn b() { c.get_mut(); } // fn get_d"), 0);
    }
}

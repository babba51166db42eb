//! Checks that pages and comments are readable. They must have terms of the field, short sentences,
//! and lines that fit.
//!
//! Only text is checked, without code, tables, headings and pictures.
//! `proof/xtask/readability.toml` lists retired words. These are also searched for in names and
//! texts of the code.

use super::breach::Breach;
use super::markdown::without_targets;
use super::tree::{File, Tree};
use toml::Table;

const DATA: &str = "proof/xtask/readability.toml";

/// The maximum words in a sentence. Code between backquotes counts as one.
const MAX_WORDS: usize = 30;

/// A line's last word must start by this column, which is also the width of code.
const MAX_COLUMN: usize = 110;

/// Pages that are generated, or stay unchanged.
const EXEMPT: &[&str] = &["docs/reference/", "docs/reproduction.md"];

/// Retired phrases, each as words, with replacements.
type Retired = Vec<(Vec<String>, String)>;

/// Checks that no page and no source has a retired word, an overlong sentence or an overlong line.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let Some(retired) = tree.file(DATA).and_then(|data| retired(&data.text)) else {
        return vec![Breach::of(DATA, "must list `[[retired]]`, each with `words` and `instead`")];
    };
    let is_covered = |file: &&File| !EXEMPT.iter().any(|path| file.path.starts_with(path));
    let files = tree.ending(".md").chain(tree.ending(".rs")).filter(is_covered);
    files.flat_map(|file| check_file(file, &retired)).collect()
}

fn retired(data: &str) -> Option<Retired> {
    let data: Table = data.parse().ok()?;
    let mut retired = Retired::new();
    for entry in data.get("retired")?.as_array()? {
        let instead = entry.get("instead")?.as_str()?;
        for phrase in entry.get("words")?.as_array()? {
            let words: Vec<String> = phrase.as_str()?.split(' ').map(String::from).collect();
            retired.push((words, instead.into()));
        }
    }
    Some(retired)
}

fn check_file(file: &File, retired: &Retired) -> Vec<Breach> {
    let is_rust = file.path.ends_with(".rs");
    let texts = texts(&file.text, is_rust);
    let mut breaches = Vec::new();
    let mut found = |line, message: String| breaches.push(Breach::at(&file.path, line, message));
    let (mut count, mut begin) = (0, 0); // of the sentence
    for ((at, line), text) in (1..).zip(file.text.lines()).zip(&texts) {
        let last = line.trim_end().rfind(' ').map_or(0, |at| line[..at].chars().count() + 2);
        if last > MAX_COLUMN && !text.is_empty() && !text.contains("<!--") {
            found(at, format!("a word begins in column {last}; allowed: {MAX_COLUMN}, so wrap the line"));
        }
        if text.is_empty() || is_item(text) {
            count = 0;
        }
        for word in text.split_whitespace() {
            (begin, count) = if count == 0 { (at, 0) } else { (begin, count) };
            count += usize::from(word.contains(char::is_alphanumeric));
            if count == MAX_WORDS + 1 {
                found(begin, format!("a sentence of more than {MAX_WORDS} words from here on: split it"));
            }
            if word.trim_end_matches([')', '"', '*', '_', ']']).ends_with(['.', '?', '!', ':', ';']) {
                count = 0;
            }
        }
    }
    let read: Vec<&str> =
        if is_rust { file.text.lines().collect() } else { texts.iter().map(String::as_str).collect() };
    let words: Vec<(usize, &str)> = (1..).zip(read).flat_map(|(at, text)| words(at, text)).collect();
    for (nth, (at, _)) in words.iter().enumerate() {
        let is_here = |phrase: &[String]| {
            let given = words[nth..].iter().map(|(_, word)| word);
            given.zip(phrase).filter(|(given, word)| given.eq_ignore_ascii_case(word)).count() == phrase.len()
        };
        for (phrase, instead) in retired.iter().filter(|(phrase, _)| is_here(phrase)) {
            found(*at, format!("`{}` is retired; write instead: {instead}", phrase.join(" ")));
        }
    }
    breaches
}

fn is_item(text: &str) -> bool {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* "].iter().any(|mark| text.starts_with(mark))
        || (number.len() < text.len() && number.starts_with(". "))
}

/// The prose of each line; empty for a line without prose. Code between backquotes becomes one
/// word, and a link becomes its text.
fn texts(text: &str, is_rust: bool) -> Vec<String> {
    let (mut is_block, mut is_span) = (false, false);
    let texts = text.lines().map(|line| {
        let comment = ["///", "//!", "//"].iter().find_map(|marker| line.trim().strip_prefix(marker));
        let line = if is_rust { comment.unwrap_or_default().trim() } else { line.trim() };
        let is_fence = line.starts_with("```");
        is_block ^= is_fence;
        if is_block || is_fence || line.starts_with(['|', '#', '<']) || line.starts_with("![") {
            return String::new();
        }
        is_span &= !line.is_empty() && !is_item(line);
        let mut plain = String::new();
        for (nth, part) in line.split('`').enumerate() {
            is_span ^= nth > 0;
            plain += match (is_span, nth) {
                (false, _) => part,
                (true, 0) => "`",
                (true, _) => "x",
            };
        }
        without_targets(&plain)
    });
    texts.collect()
}

/// The words of `text`. Names are split at `_`, and between a lower-case and an upper-case letter.
fn words(at: usize, text: &str) -> Vec<(usize, &str)> {
    let (mut words, mut begin, mut before) = (Vec::new(), 0, ' ');
    for (end, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_camel = before.is_lowercase() && c.is_uppercase();
        if before.is_alphabetic() && (is_camel || !c.is_alphabetic()) {
            words.push((at, &text[begin..end]));
        }
        if c.is_alphabetic() && (is_camel || !before.is_alphabetic()) {
            begin = end;
        }
        before = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = "retired = [{ words = [\"grok\", \"very big\"], instead = \"know\" }]\n";

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let breaches = check(&Tree::of_files(&[(DATA, WORDS), (path, text)]));
        breaches.into_iter().map(|breach| breach.line).collect()
    }

    #[test]
    fn a_retired_word_is_found_in_sources_and_in_page_prose() {
        for text in ["// I grok it.", "fn grok_it() {}", "struct CanGrok;", "let a = \"grok\";"] {
            assert_eq!(lines("a.rs", text), [1], "{text}");
        }
        assert_eq!(
            lines("a.rs", "// It is very\n// big.\nfn very_big() {}\n// Ungrokked: very bigger"),
            [1, 3]
        );
        assert_eq!(lines("a.md", "Fine.\n\nThey grok.\nIs it very\nbig?\n- Grok."), [3, 4, 6]);
        assert_eq!(lines("a.md", "`grok`, [a](grok.md)\n```\ngrok\n```\n| grok |\n"), [0; 0]);
        assert_eq!(lines("docs/reference/a.md", "grok"), [0; 0]);
        assert_eq!(check(&Tree::of_files(&[(DATA, "retired = [{ words = [\"a\"] }]")])).len(), 1);
    }

    #[test]
    fn a_sentence_may_have_thirty_words() {
        let (a, b) = ("word\n".repeat(29), "word\n".repeat(30));
        let ends = ["a; b", "a. b", "a:\nb", "a\n\nb", "- a\n- b", "1. a\n2. b", "a\n```\nb\n```", "a `b`"];
        for ends in ends {
            let text = ends.replace('a', a.trim()).replace('b', b.trim());
            assert_eq!(lines("a.md", &text), [0; 0], "{ends}");
            assert_eq!(lines("a.rs", &format!("/// {}", text.replace('\n', "\n/// "))), [0; 0], "{ends}");
        }
        assert_eq!(lines("a.md", &format!("Fine.\n{b}word.")), [2]);
        assert_eq!(lines("a.rs", &format!("// Fine.\n// {}", b.replace('\n', "\n// ") + "word")), [2]);
    }

    #[test]
    fn a_line_that_could_be_wrapped_is_found() {
        let (long, name) = ("word. ".repeat(20), "x".repeat(120));
        assert_eq!([lines("a.md", &long), lines("a.rs", &format!("// {long}"))], [[1], [1]]);
        for fine in [format!("| {long} |"), format!("```\n{long}\n```"), format!("A {name}")] {
            assert_eq!(lines("a.md", &fine), [0; 0], "{fine}");
        }
        assert_eq!(lines("a.rs", &format!("let a = \"{long}\";")), [0; 0]);
    }
}

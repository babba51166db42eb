//! Pages that can be read: lines that fit, sentences that end, and words of the field.
//!
//! The limits, the retired words and the exceptions are those of
//! [`readability`](super::readability), in `proof/xtask/readability.toml`. What is read is text: not
//! code, tables, headings, pictures and comments.

use super::breach::Breach;
use super::readability::Rules;
use super::tree::{File, Tree};

/// The name of the rule.
pub const NAME: &str = "prose";

/// What a line must not begin with, or it would be something else than text.
const NOT_FIRST: &[char] = &['-', '+', '*', '#', '<', '>', '|'];

/// No page has lines or sentences that are too long, or retired words.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let Ok(rules) = Rules::load(tree) else { return Vec::new() }; // `readability` reports it
    let is_covered = |file: &&File| !rules.exempt.iter().any(|place| file.path.starts_with(place));
    let pages = tree.files.iter().filter(|file| file.path.ends_with(".md"));
    pages.filter(is_covered).flat_map(|page| check_page(&rules, page)).collect()
}

fn check_page(rules: &Rules, page: &File) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut found =
        |line, message| breaches.push(Breach { rule: NAME, path: page.path.clone(), line, message });
    let mut paragraph: Option<(usize, String)> = None;
    let mut is_code = false;
    for (at, line) in page.text.lines().chain([""]).enumerate() {
        let text = line.trim_start();
        let is_fence = text.starts_with("```");
        is_code ^= is_fence;
        let is_left_out = text.starts_with(['|', '#', '<']) || text.starts_with("![");
        let is_text = !is_code && !is_fence && !text.is_empty() && !is_left_out;
        if (!is_text || is_item(text))
            && let Some((line, text)) = paragraph.take()
        {
            check_paragraph(rules, line, &text, &mut found);
        }
        if is_text {
            if line.chars().count() > rules.page_columns && can_be_wrapped(line) {
                found(at + 1, format!("a line of more than {} columns: wrap it", rules.page_columns));
            }
            let (_, paragraph) = paragraph.get_or_insert((at + 1, String::new()));
            *paragraph += text;
            paragraph.push(' ');
        }
    }
    breaches
}

fn check_paragraph(rules: &Rules, line: usize, text: &str, found: &mut impl FnMut(usize, String)) {
    let text = plain(text);
    for sentence in sentences(&text) {
        let words: Vec<&str> = sentence.split_whitespace().collect();
        if words.len() > rules.sentence_words {
            let (count, allowed) = (words.len(), rules.sentence_words);
            let begin = words[..6].join(" ");
            found(
                line,
                format!("a sentence of {count} words; allowed: {allowed}, so split it: \"{begin} …\""),
            );
        }
    }
    let words = text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ");
    let words: Vec<&str> = words.split_whitespace().collect();
    for retired in &rules.retired {
        if words.windows(retired.words.len()).any(|window| window == retired.words) {
            let given = retired.words.join(" ");
            found(line, format!("`{given}` is retired; write instead: {}", retired.instead));
        }
    }
}

fn is_item(text: &str) -> bool {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.starts_with("- ")
        || text.starts_with("* ")
        || (number.len() < text.len() && number.starts_with(". "))
}

/// Could the last word of a line go to the next one? Code and comments are one word.
fn can_be_wrapped(line: &str) -> bool {
    let masked = masked(line);
    let last = masked
        .trim_end()
        .rsplit_once(' ')
        .filter(|(before, _)| !before.trim_matches([' ', '-', '*']).is_empty());
    let can_move =
        |word: &str| !word.starts_with(NOT_FIRST) && !word.starts_with(|c: char| c.is_ascii_digit());
    last.is_some_and(|(_, word)| can_move(word))
}

/// The line with every blank inside of code and comments replaced.
fn masked(line: &str) -> String {
    let mut masked = String::new();
    for (at, part) in line.split('`').enumerate() {
        let part = if at % 2 == 1 { part.replace(' ', "_") } else { part.to_owned() };
        masked += &part;
        masked.push('`');
    }
    masked.pop();
    let mut whole = String::new();
    let mut rest = masked.as_str();
    while let Some((before, after)) = rest.split_once("<!--") {
        let (comment, after) = after.split_once("-->").unwrap_or((after, ""));
        whole += &format!("{before}<!--{}-->", comment.replace(' ', "_"));
        rest = after;
    }
    whole + rest
}

/// The text that is read: code as one word, links without their targets, no comments.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for (at, part) in text.split('`').enumerate() {
        plain += if at % 2 == 1 { "code" } else { part };
    }
    for (begin, end) in [("](", ")"), ("<!--", "-->")] {
        let mut left = String::new();
        let mut rest = plain.as_str();
        while let Some((before, after)) = rest.split_once(begin) {
            left += before;
            rest = after.split_once(end).map_or("", |(_, after)| after);
        }
        plain = left + rest;
    }
    plain
}

/// The sentences of a paragraph, and their parts between `:` and `;`.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut begin = 0;
    for (at, _) in text.match_indices(' ') {
        let before = text[..at].trim_end_matches([')', '*', '"', '_', ']']);
        if before.ends_with(['.', '!', '?', ':', ';']) {
            sentences.push(&text[begin..at]);
            begin = at;
        }
    }
    sentences.push(&text[begin..]);
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "[limits]\nsentence_words = 30\ncomment_columns = 100\npage_columns = 100\n\
        [[retired]]\nwords = [\"grok\", \"groks\", \"snafu\"]\ninstead = \"know\"\n";

    fn messages(text: &str) -> Vec<String> {
        let tree = Tree::of_files(&[("docs/a.md", text), ("proof/xtask/readability.toml", RULES)]);
        check(&tree).into_iter().map(|breach| format!("{}: {}", breach.line, breach.message)).collect()
    }

    #[test]
    fn a_line_that_could_be_wrapped_is_found_and_others_are_not() {
        let long = "word ".repeat(25);
        assert_eq!(
            messages(&format!("Short.\n\n{}\n", long.trim().replace("word word", "word, word."))).len(),
            1
        );
        for fine in [
            format!("| {long} |\n"),
            format!("```text\n{long}\n```\n"),
            format!("- `{}`\n", long.trim()),
            format!("{}\n", "x".repeat(120)),
        ] {
            assert_eq!(messages(&fine), [""; 0], "{fine}");
        }
    }

    #[test]
    fn a_sentence_that_is_too_long_is_found_over_its_lines() {
        let words = |n: usize| "word ".repeat(n);
        assert_eq!(messages(&format!("{}\n{}.\n", words(15), words(15).trim())), [""; 0]);
        assert_eq!(messages(&format!("{}\n{}.\n", words(15), words(16).trim())).len(), 1);
        assert_eq!(messages(&format!("{};\n{}.\n", words(15).trim(), words(16).trim())), [""; 0]);
        assert_eq!(messages(&format!("- {}\n- {}\n", words(15), words(16))), [""; 0]);
    }

    #[test]
    fn a_word_that_is_retired_is_found_outside_of_code_alone() {
        let found = messages("It is fine.\n\nThe gateway groks it.\nWhat a snafu\nit is.\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().any(|found| found.starts_with("3: `snafu` is retired")), "{found:?}");
        assert_eq!(messages("`groks`, the user `grok`, and a grokked [snafu](grok.md).\n").len(), 1);
        assert_eq!(messages("| grok |\n"), [""; 0]);
    }
}

//! Plain words, short sentences and short comment lines, for the crates that have joined.
//!
//! The limits, the retired words and the covered paths are data: `proof/xtask/readability.toml`.

use super::breach::Breach;
use super::tree::{File, Tree};
use toml::{Table, Value};

/// The name of the rule.
pub const NAME: &str = "readability";

/// The file with limits, words and paths.
const DATA: &str = "proof/xtask/readability.toml";

/// The content of [`DATA`].
pub(super) struct Rules {
    covered: Vec<String>,
    /// Paths of pages that do not keep the rule on prose.
    pub(super) exempt: Vec<String>,
    /// At most this number of words in a sentence.
    pub(super) sentence_words: usize,
    comment_columns: usize,
    /// At most this number of columns in a line of a page.
    pub(super) page_columns: usize,
    pub(super) retired: Vec<Retired>,
}

/// A word or phrase that is retired.
pub(super) struct Retired {
    /// The words of the phrase, in lower case; or the prefix of a constant, such as `HUGE_`.
    pub(super) words: Vec<String>,
    is_prefix: bool,
    pub(super) instead: String,
}

/// A word of a file, in lower case, and its line, counted from 1.
type Word = (String, usize);

/// A run of comment lines of one kind, with the line of the first, counted from 1.
struct Block<'a> {
    first: usize,
    lines: Vec<&'a str>,
}

/// Covered files use no retired words, and their comments have short sentences and lines.
pub fn check(tree: &Tree) -> Vec<Breach> {
    match Rules::load(tree) {
        Ok(rules) => {
            tree.rust().filter(|file| rules.covers(file)).flat_map(|file| rules.check(file)).collect()
        }
        Err(why) => vec![breach(DATA, 0, why)],
    }
}

fn breach(path: &str, line: usize, message: String) -> Breach {
    Breach { rule: NAME, path: path.into(), line, message }
}

impl Rules {
    /// The rules of the tree.
    pub(super) fn load(tree: &Tree) -> Result<Self, String> {
        let data = tree.file(DATA).ok_or("is missing")?;
        Rules::read(&data.text)
    }

    fn read(text: &str) -> Result<Self, String> {
        let data: Table = text.parse().map_err(|error| format!("is not TOML: {error}"))?;
        let limit = |key: &str| {
            let limit = data.get("limits").and_then(|limits| limits.get(key)).and_then(Value::as_integer);
            limit.and_then(|limit| usize::try_from(limit).ok()).ok_or(format!("`limits.{key}` is missing"))
        };
        let mut retired = Vec::new();
        for entry in data.get("retired").and_then(Value::as_array).into_iter().flatten() {
            let instead = entry.get("instead").and_then(Value::as_str).unwrap_or_default();
            if instead.is_empty() {
                return Err("each `[[retired]]` needs an `instead`".into());
            }
            retired.extend(strings(entry.get("words")).map(|phrase| Retired::new(phrase, instead)));
        }
        let exempt = data.get("exempt").and_then(Value::as_array).into_iter().flatten();
        let path = |entry: &Value| {
            Some(entry.get("path")?.as_str()?.to_owned()).filter(|_| entry.get("because").is_some())
        };
        Ok(Rules {
            covered: strings(data.get("covered")).map(String::from).collect(),
            exempt: exempt
                .map(path)
                .collect::<Option<_>>()
                .ok_or("each `[[exempt]]` needs `path` and `because`")?,
            sentence_words: limit("sentence_words")?,
            comment_columns: limit("comment_columns")?,
            page_columns: limit("page_columns")?,
            retired,
        })
    }

    fn covers(&self, file: &File) -> bool {
        self.covered.iter().any(|start| file.path.starts_with(start))
    }

    fn check(&self, file: &File) -> Vec<Breach> {
        let mut breaches: Vec<Breach> = self.words(file).chain(self.sentences(file)).collect();
        breaches.extend(self.columns(file));
        breaches.sort_by_key(|breach| breach.line);
        breaches
    }

    fn words<'a>(&'a self, file: &'a File) -> impl Iterator<Item = Breach> + 'a {
        let words = words(&file.text);
        self.retired.iter().flat_map(move |retired| {
            let lines =
                if retired.is_prefix { retired.constants(&file.text) } else { retired.phrases(&words) };
            lines.into_iter().map(|line| {
                let given = retired.words.join(" ");
                breach(&file.path, line, format!("`{given}` is retired; write instead: {}", retired.instead))
            })
        })
    }

    fn sentences<'a>(&'a self, file: &'a File) -> impl Iterator<Item = Breach> + 'a {
        let paragraphs = blocks(&file.text).into_iter().flat_map(|block| paragraphs(&block));
        paragraphs.flat_map(move |(line, paragraph)| {
            let counts = sentences(&paragraph).filter(|count| *count > self.sentence_words);
            let message = |count| {
                format!(
                    "a sentence of {count} words from here on; allowed: {}, so split it",
                    self.sentence_words
                )
            };
            counts.map(|count| breach(&file.path, line, message(count))).collect::<Vec<_>>()
        })
    }

    fn columns<'a>(&'a self, file: &'a File) -> impl Iterator<Item = Breach> + 'a {
        let lines = file.text.lines().enumerate().filter(|(_, line)| marker(line).is_some());
        lines
            .map(|(at, line)| (at + 1, line.chars().count()))
            .filter(|(_, columns)| *columns > self.comment_columns)
            .map(|(line, columns)| {
                let allowed = self.comment_columns;
                breach(
                    &file.path,
                    line,
                    format!("a comment line of {columns} columns; allowed: {allowed}, so wrap it"),
                )
            })
    }
}

impl Retired {
    fn new(phrase: &str, instead: &str) -> Self {
        let is_prefix = phrase.ends_with('_');
        let words =
            if is_prefix { vec![phrase.into()] } else { phrase.split(' ').map(str::to_lowercase).collect() };
        Retired { words, is_prefix, instead: instead.into() }
    }

    /// The lines on which the phrase begins.
    fn phrases(&self, words: &[Word]) -> Vec<usize> {
        let is_phrase = |window: &&[Word]| window.iter().map(|(word, _)| word).eq(&self.words);
        words.windows(self.words.len()).filter(is_phrase).map(|window| window[0].1).collect()
    }

    /// The lines with a name that starts with the prefix.
    fn constants(&self, text: &str) -> Vec<usize> {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let has = |line: &str| line.split(|c| !is_name(c)).any(|name| name.starts_with(&self.words[0]));
        text.lines().enumerate().filter(|(_, line)| has(line)).map(|(at, _)| at + 1).collect()
    }
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The words of `text`: names are split at `_` and where a small letter meets a capital one.
fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut before = ' ';
        for c in line.chars() {
            if c.is_alphabetic() {
                if !before.is_alphabetic() || (before.is_lowercase() && c.is_uppercase()) {
                    words.push((String::new(), at + 1));
                }
                words.last_mut().expect("a word was begun").0.extend(c.to_lowercase());
            }
            before = c;
        }
    }
    words
}

/// The marker of a comment line: `//`, `///` or `//!`.
fn marker(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["///", "//!", "//"].into_iter().find(|marker| line.starts_with(marker))
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut before = None;
    for (at, line) in text.lines().enumerate() {
        let marker = marker(line);
        if let Some(marker) = marker {
            if before != Some(marker) {
                blocks.push(Block { first: at + 1, lines: Vec::new() });
            }
            let line = line.trim_start().trim_start_matches(marker).trim();
            blocks.last_mut().expect("a block was begun").lines.push(line);
        }
        before = marker;
    }
    blocks
}

/// The paragraphs of a block, each with its first line. Code, headings and tables are left out;
/// items of a list are paragraphs of their own.
fn paragraphs(block: &Block<'_>) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let (mut is_open, mut is_code) = (false, false);
    for (at, line) in block.lines.iter().enumerate() {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_fence || is_code || line.is_empty() || line.starts_with(['#', '|']) {
            is_open = false;
            continue;
        }
        let is_item = line.starts_with("- ") || line.starts_with("* ");
        match paragraphs.last_mut().filter(|_| is_open && !is_item) {
            Some((_, paragraph)) => *paragraph += &format!(" {line}"),
            None => paragraphs.push((block.first + at, line.to_string())),
        }
        is_open = true;
    }
    paragraphs
}

/// The number of words of each sentence. Code between backquotes counts as one word.
fn sentences(paragraph: &str) -> impl Iterator<Item = usize> + use<> {
    let prose: String =
        paragraph.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "x" }).collect();
    let mut counts = vec![0];
    for word in prose.split_whitespace() {
        *counts.last_mut().expect("never empty") += usize::from(word.contains(char::is_alphanumeric));
        if word.trim_end_matches([')', '"', '*', ']']).ends_with(['.', '?', '!', ':']) {
            counts.push(0);
        }
    }
    counts.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];
    const LIMITS: &str = "covered = [\"a/\"]\n[limits]\nsentence_words = 5\ncomment_columns = 40\npage_columns = 40\n\
        [[retired]]\nwords = [\"grok\", \"very big\", \"HUGE_\"]\ninstead = \"know\"\n";

    fn breaches(path: &str, text: &str) -> Vec<(usize, String)> {
        let tree = Tree::of_files(&[(DATA, LIMITS), (path, text)]);
        check(&tree).into_iter().map(|breach| (breach.line, breach.message)).collect()
    }

    fn lines(text: &str) -> Vec<usize> {
        breaches("a/b.rs", text).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn a_retired_word_is_found_in_comments_names_and_texts() {
        for text in ["// I grok it.", "fn grok_it() {}", "struct CanGrok;", "let a = \"grok\";"] {
            let found = breaches("a/b.rs", text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].1.ends_with("write instead: know"), "{found:?}");
        }
        assert_eq!(lines("// Grokking a grokker.\nfn ungrok() {}"), NONE);
    }

    #[test]
    fn a_retired_phrase_is_found_in_names_and_across_lines() {
        assert_eq!(lines("// It is very\n// big.\nfn very_big() {}\n// A very small big."), [1, 3]);
    }

    #[test]
    fn a_retired_prefix_is_found_in_constants_alone() {
        assert_eq!(lines("const HUGE_SIZE: u8 = 1;\n// Not HUGE.\nlet huge_ = a::HUGE_B;"), [1, 3]);
    }

    #[test]
    fn a_sentence_may_have_five_words() {
        assert_eq!(lines("// One two three four five."), NONE);
        assert_eq!(lines("// One two three\n// four five six."), [1]);
        assert_eq!(lines("// One two three. Four five six?\n// Seven: eight nine."), NONE);
        assert_eq!(lines("// One two three 4 %. Five six."), NONE);
        assert_eq!(lines("// One `two three` four five six."), NONE);
    }

    #[test]
    fn paragraphs_items_code_and_tables_end_a_sentence() {
        assert_eq!(lines("/// One two three\n///\n/// four five six"), NONE);
        assert_eq!(lines("/// - one two three\n/// - four five six"), NONE);
        assert_eq!(lines("/// ```\n/// a b c d e f g\n/// ```\n/// | a | b | c | d | e | f |"), NONE);
        assert_eq!(lines("/// # One two\n/// three four five six"), NONE);
        assert_eq!(lines("/// One two three\n// four five six"), NONE);
    }

    #[test]
    fn a_comment_line_may_have_forty_columns() {
        let line = |columns: usize| format!("// {}", "x".repeat(columns - 3));
        assert_eq!(lines(&line(40)), NONE);
        assert_eq!(lines(&line(41)), [1]);
        assert_eq!(lines(&format!("let a = {};", "x".repeat(60))), NONE);
    }

    #[test]
    fn files_elsewhere_are_not_covered() {
        assert_eq!(breaches("b/a.rs", "fn grok() {}").len(), 0);
    }

    #[test]
    fn missing_or_incomplete_data_is_a_breach() {
        assert_eq!(check(&Tree::default()).len(), 1);
        let data = |text: &str| check(&Tree::of_files(&[(DATA, text)]))[0].message.clone();
        assert!(data("[limits]\nsentence_words = 1\n").contains("limits.comment_columns"));
        assert!(data("[[retired]]\nwords = [\"a\"]\n").contains("instead"));
        assert!(data("= 1").contains("is not TOML"));
    }
}

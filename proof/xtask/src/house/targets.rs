//! Checks that cargo commands in pages, comments and messages name crates and targets that exist.

use super::breach::Breach;
use super::tree::{Crate, File, Tree};

/// The name prefix of crates that a page's reader creates. These crates do not exist here.
const READERS: &str = "my-";
/// The maximum number of words after `cargo` that are searched.
const WORDS: usize = 40;

/// Checks that each package after `-p` exists, and has the target after `--bench`, `--example`,
/// `--test` or `--bin`.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let texts = [".md", ".rs", ".toml", "Makefile"].into_iter().flat_map(|ending| tree.ending(ending));
    texts.flat_map(|file| unknown(tree, file)).collect()
}

fn unknown(tree: &Tree, file: &File) -> Vec<Breach> {
    let lines = file.text.lines().enumerate();
    let words: Vec<(usize, &str)> =
        lines.flat_map(|(at, line)| line.split_whitespace().map(move |word| (at + 1, word))).collect();
    let mut breaches = Vec::new();
    let mut found = |line, message: String| breaches.push(Breach::at(&file.path, line, message));
    let begins = words
        .iter()
        .enumerate()
        .filter(|(_, (_, word))| word.trim_start_matches(['`', '"', '\'', '(', '@']) == "cargo");
    for (at, _) in begins {
        let after = &words[at + 1..words.len().min(at + 1 + WORDS)];
        let marks = |word: &str| matches!(word, "//" | "///" | "//!" | "#" | "\\");
        let mut after = after.iter().filter(|(_, word)| !marks(word)).peekable();
        let mut crates = Vec::new();
        while let Some((line, word)) = after.next() {
            let Some((_, next)) = after.peek().filter(|_| !closes(word)) else { break };
            let name = next.trim_end_matches(['`', '"', '.', ',', ')', ';', ':', '\\']);
            match *word {
                "--" | "&&" | "|" | ";" => break,
                "-p" if name.starts_with(READERS) || !is_name(name) => {}
                "-p" => match tree.krate(name) {
                    Some(krate) => crates.push(krate),
                    None => found(*line, format!("names the crate `{name}`, which is not there")),
                },
                "--bench" | "--example" | "--test" | "--bin" => {
                    let has = |krate: &&Crate| krate.targets.iter().any(|target| target == name);
                    if !name.is_empty() && !crates.is_empty() && !crates.iter().any(has) {
                        found(*line, format!("names `{word} {name}`, which `{}` lacks", crates[0].name));
                    }
                }
                _ => {}
            }
        }
    }
    breaches
}

/// Does `word` end the quoted command?
fn closes(word: &str) -> bool {
    word.trim_end_matches(['.', ',', ';', ':']).ends_with(['`', '"', ')'])
}

/// Is `word` a name? Placeholders such as `NAME` or `{PROGRAM}` are not.
fn is_name(word: &str) -> bool {
    word.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_what_exists() {
        let found = |text: &str| {
            let mut tree = Tree::of_crates(&[("gate", "core"), ("service", "core")]);
            tree.crates[1].targets.push("speed".into());
            tree.files = Tree::of_files(&[("a.rs", text)]).files;
            check(&tree).into_iter().map(|breach| breach.message).collect::<Vec<_>>()
        };
        assert_eq!(found("Run `cargo bench -p\n//! service --bench speed`, not --bench slow."), [""; 0]);
        assert_eq!(
            found("`cargo test -p service -p gate --bench speed` and `cargo run -p my-own -- run x`"),
            [""; 0]
        );
        assert_eq!(
            found("`cargo bench -p gate --bench speed`"),
            ["names `--bench speed`, which `gate` lacks"]
        );
        assert_eq!(found("\t@cargo test -p \\\n gone && mkdir -p out").len(), 1);
        assert_eq!(found("(`cargo test -p gone`)").len(), 1);
        assert_eq!(found("cargo run -p gone --example x"), ["names the crate `gone`, which is not there"]);
    }
}

//! The command as typed, for the record in results.

use std::path::Path;

pub(crate) fn command() -> String {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    let program =
        Path::new(&program).file_name().unwrap_or("fairwire".as_ref()).to_string_lossy().into_owned();
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}

pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_take_it_apart() {
        assert_eq!(quoted("--set"), "--set");
        assert_eq!(quoted("link.buffer=390 packets"), "'link.buffer=390 packets'");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}

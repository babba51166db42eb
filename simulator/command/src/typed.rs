//! The command as it was typed, for results to show how they came about.

/// The whole command line, as a shell would take it again.
pub(crate) fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("fairwire".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// `word` as it is where no shell would see more in it, otherwise in quotes.
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

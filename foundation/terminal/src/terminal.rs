//! How wide what is printed may be, and whether it has colours.

pub use ratatui::crossterm::style::Color;
use ratatui::crossterm::style::Stylize;
use std::io::IsTerminal;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Where stdout is no terminal and no option sets it: five disciplines beside two groups have room.
const ELSEWHERE: usize = 160;
/// Narrower, no text can be read: such a terminal wraps for itself.
const LEAST: usize = 20;

/// The columns of stdout: those of the terminal; elsewhere what `COLUMNS` says, or 160.
pub fn columns() -> usize {
    let said = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    let terminal = if std::io::stdout().is_terminal() { size() } else { None };
    terminal.or_else(said).filter(|columns| *columns > 0).unwrap_or(ELSEWHERE)
}

/// The columns of stderr, where that is a terminal.
pub fn columns_of_stderr() -> Option<usize> {
    if std::io::stderr().is_terminal() { size() } else { None }
}

fn size() -> Option<usize> {
    ratatui::crossterm::terminal::size()
        .ok()
        .map(|(columns, _)| usize::from(columns))
        .filter(|columns| *columns > 0)
}

/// Does stdout take colours? Not where it is no terminal, nor where NO_COLOR is set (no-color.org).
pub fn has_colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A heading.
pub fn bold(text: &str) -> String {
    if has_colour() { text.bold().to_string() } else { text.into() }
}

/// `text` in `colour`.
pub fn coloured(text: &str, colour: Color) -> String {
    if has_colour() { text.with(colour).to_string() } else { text.into() }
}

/// `text` in lines of at most `columns`, none of which ends within a word; each after the first
/// begins with `indent`.
pub fn wrapped(text: &str, columns: usize, indent: &str) -> String {
    textwrap::fill(text, options(columns).subsequent_indent(indent))
}

/// The same, the first line behind `indent` as well.
pub fn indented(text: &str, columns: usize, indent: &str) -> String {
    textwrap::fill(text, options(columns).initial_indent(indent).subsequent_indent(indent))
}

fn options(columns: usize) -> Options<'static> {
    Options::new(columns.max(LEAST))
        .word_separator(WordSeparator::AsciiSpace) // a path stays whole
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .break_words(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_and_a_long_word_stays_whole() {
        assert_eq!(wrapped("one two three four five six", 20, "  "), "one two three four\n  five six");
        let path = "out/a/very/long/path/to/report.json";
        assert_eq!(wrapped(&format!("results: {path}, x"), 20, ""), format!("results:\n{path},\nx"));
        assert_eq!(wrapped("half of the 95 % interval", 1, ""), "half of the 95 %\ninterval");
    }
}

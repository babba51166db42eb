//! The width and colours of output.

pub use ratatui::crossterm::style::Color;
use ratatui::crossterm::style::Stylize;
use std::io::IsTerminal;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The width if stdout is not a terminal and `COLUMNS` is not set: room for a table of five
/// disciplines and two groups.
const ELSEWHERE: usize = 160;
/// The minimum width for wrapping, even on narrower terminals.
const LEAST: usize = 20;

/// The width of stdout, in columns: its terminal's, or else `COLUMNS`, or else 160.
pub fn columns() -> usize {
    let said = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    let terminal = if std::io::stdout().is_terminal() { size() } else { None };
    terminal.or_else(said).filter(|columns| *columns > 0).unwrap_or(ELSEWHERE)
}

/// The columns of stderr, if stderr is a terminal.
pub fn columns_of_stderr() -> Option<usize> {
    if std::io::stderr().is_terminal() { size() } else { None }
}

fn size() -> Option<usize> {
    ratatui::crossterm::terminal::size()
        .ok()
        .map(|(columns, _)| usize::from(columns))
        .filter(|columns| *columns > 0)
}

/// True if stdout is a terminal and `NO_COLOR` is unset or empty (no-color.org).
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

/// `text` in lines of at most `columns`, broken between words. Each line after the first starts
/// with `indent`.
pub fn wrapped(text: &str, columns: usize, indent: &str) -> String {
    textwrap::fill(text, options(columns).subsequent_indent(indent))
}

/// Like [`wrapped`], with `indent` also before the first line.
pub fn indented(text: &str, columns: usize, indent: &str) -> String {
    textwrap::fill(text, options(columns).initial_indent(indent).subsequent_indent(indent))
}

fn options(columns: usize) -> Options<'static> {
    Options::new(columns.max(LEAST))
        .word_separator(WordSeparator::AsciiSpace) // paths are not split
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .break_words(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_a_long_word_stays_unbroken() {
        assert_eq!(wrapped("one two three four five six", 20, "  "), "one two three four\n  five six");
        let path = "out/a/very/long/path/to/report.json";
        assert_eq!(wrapped(&format!("results: {path}, x"), 20, ""), format!("results:\n{path},\nx"));
        assert_eq!(wrapped("half of the 95 % interval", 1, ""), "half of the 95 %\ninterval");
    }
}

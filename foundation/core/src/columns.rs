//! Text with numbers in columns, separated by blanks, tabs or commas, with comments after `#`, and
//! optionally a first line of names.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The maximum number of rows: nearly three hours at one row every 10 ms.
pub(crate) const MAX_ROWS: usize = 1 << 20;

/// A faulty line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counted from 1.
    pub number: usize,
    /// Its beginning.
    pub text: String,
}

impl Line {
    pub(crate) fn new(number: usize, text: &str) -> Self {
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        let mut start: String = text.chars().take(LONGEST).map(shown).collect();
        start.extend(text.chars().nth(LONGEST).map(|_| '…'));
        Line { number, text: start }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (`{}`)", self.number, self.text)
    }
}

/// The maximum number of characters that a message quotes of a line.
const LONGEST: usize = 60;

/// The lines with content, numbered from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let all = text.lines().map(str::trim).zip(1..).map(|(line, number)| (number, line));
    all.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

pub(crate) fn fields(line: &str) -> Vec<&str> {
    if line.contains(',') {
        line.split(',').map(str::trim).collect()
    } else {
        line.split_whitespace().collect()
    }
}

pub(crate) fn number(field: &str) -> Option<f64> {
    field.parse().ok().filter(|number: &f64| number.is_finite())
}

pub(crate) fn is_head(line: &str) -> bool {
    fields(line).into_iter().all(|field| number(field).is_none())
}

/// Converts `value`, in units of `unit` nanoseconds, to nanoseconds; `None` if the result is no
/// valid time.
pub(crate) fn nanoseconds(value: f64, unit: f64) -> Option<u64> {
    (0.0..1.8e19).contains(&(value * unit)).then_some((value * unit + 0.5) as u64)
}

//! Invisible HTML comments in hand-written pages, at the locations where numbers are inserted.

use fairwire_core::spelling;
use fairwire_terminal::failure::Failure;
use std::ops::{Range, RangeInclusive};

const CLOSE: &str = "-->";

#[derive(Debug)]
pub(super) struct Kind {
    /// The beginning of the opening comment, such as `<!-- share: `. The words after it select what
    /// is inserted.
    pub open: &'static str,
    /// The closing comment, after the enclosed text.
    pub end: &'static str,
    /// The permitted number of words in the opening comment.
    pub words: RangeInclusive<usize>,
    /// The form of the words, for an error message.
    pub form: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marked {
    /// The `open` of the marker's [`Kind`].
    pub kind: &'static str,
    /// The range of the enclosed text in the page.
    pub content: Range<usize>,
    pub line: usize,
    pub words: Vec<String>,
}

pub(super) fn marks(path: &str, text: &str, kinds: &[Kind]) -> Result<Vec<Marked>, Failure> {
    let mut all = Vec::new();
    let mut from = 0;
    loop {
        let next = kinds.iter().filter_map(|kind| Some((from + text[from..].find(kind.open)?, kind)));
        let Some((start, kind)) = next.min_by_key(|(start, _)| *start) else { return Ok(all) };
        let Kind { open, end, .. } = kind;
        let line = 1 + text[..start].matches('\n').count();
        let place = format!("{path}:{line}");
        let inner = start + open.len();
        let close = text[inner..].find(CLOSE).map(|at| inner + at);
        let is_here = |close: &usize| !text[inner..*close].contains('\n');
        let Some(close) = close.filter(is_here) else {
            return Err(Failure::user(
                format!("{place}: `{open}` is not closed"),
                "allowed: `-->` on the same line",
            ));
        };
        let begin = close + CLOSE.len();
        let stop = text[begin..].find(end).map(|at| begin + at);
        let is_own = |stop: &usize| kinds.iter().all(|other| !text[begin..*stop].contains(other.open));
        let Some(stop) = stop.filter(is_own) else {
            return Err(Failure::user(
                format!("{place}: `{open}` has no end"),
                format!("allowed: `{end}` after it"),
            ));
        };
        let words = split(&text[inner..close]);
        if !kind.words.contains(&words.len()) {
            let fault = if words.len() < *kind.words.start() { "too few" } else { "too many" };
            return Err(Failure::user(
                format!("{place}: `{}` has {fault} words", &text[start..begin]),
                format!("allowed: {}, names with spaces in \"quotes\"", kind.form),
            ));
        }
        all.push(Marked { kind: open, content: begin..stop, line, words });
        from = stop + end.len();
    }
}

fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (at, part) in text.split('"').enumerate() {
        match at % 2 {
            1 => words.push(part.into()),
            _ => words.extend(part.split_whitespace().map(String::from)),
        }
    }
    words
}

pub(super) fn known(place: &str, what: &str, given: &str, allowed: &[String]) -> Result<(), Failure> {
    if allowed.iter().any(|name| name == given) {
        return Ok(());
    }
    let near = spelling::hint(given, allowed.iter().map(String::as_str));
    let allowed = allowed.iter().map(|name| if name.is_empty() { "\"\"".into() } else { name.clone() });
    Err(Failure::user(
        format!("{place}: there is no {what} `{given}`"),
        format!("allowed: {}{near}", fairwire_document::listed(&allowed.collect::<Vec<_>>())),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_blanks_are_quoted() {
        assert_eq!(split(" fig1 m \"FQ-LQD, 2 flows\" \"\" "), ["fig1", "m", "FQ-LQD, 2 flows", ""]);
    }
}

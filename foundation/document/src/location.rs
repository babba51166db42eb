//! The location of a value in a source text: a file, or a command-line argument that changed the
//! value.

use crate::words::is_printable;
use std::ops::Range;

/// The longest line shown in full, in bytes. A longer line would hide the error.
const MAX_LINE: usize = 240;
/// The number of bytes that a shortened line shows before the location.
const BEFORE: usize = 60;

/// A location in a user's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file's name, or the argument such as `--set`.
    pub source: String,
    /// The source's printable text. Lines of more than 240 bytes are shortened around the location,
    /// with an ellipsis; control characters become `\u{fffd}`.
    pub text: String,
    /// The erroneous bytes, in `text`.
    pub span: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1, in the original text.
    pub column: usize,
    /// The index, from 0, of the change that contains the location; `None` for the document itself.
    pub change: Option<usize>,
}

impl Location {
    /// The location of `span` in a long `text`. Keeps only the line where the span starts and its
    /// two neighbours. Earlier lines become empty, which preserves line numbers.
    pub fn in_long_text(source: &str, text: &str, span: Range<usize>) -> Location {
        let start = floor_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let shown_from = text[..line_start.saturating_sub(1)].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let rest = text.get(line_end + 1..).unwrap_or_default();
        let shown_to = line_end + rest.find('\n').map_or(text.len() - line_end, |at| at + 1);
        let blank = text[..shown_from].matches('\n').count();
        let mut sources = Sources::default();
        sources.add(source, &("\n".repeat(blank) + &text[shown_from..shown_to]));
        let moved = |at: usize| at.clamp(shown_from, shown_to) - shown_from + blank;
        sources.location(moved(start)..moved(span.end)).expect("there is a text")
    }
}

/// All texts that form a document, concatenated: one offset identifies a location in any of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    name: String,
    text: String,
    start: usize,
}

impl Sources {
    pub(crate) fn add(&mut self, name: &str, text: &str) -> usize {
        // Texts are one byte apart, to distinguish the end of a text from the start of the next.
        let start = self.parts.last().map_or(0, |part| part.start + part.text.len() + 1);
        self.parts.push(Part { name: name.into(), text: text.into(), start });
        start
    }

    pub(crate) fn first_len(&self) -> usize {
        self.parts.first().map_or(0, |part| part.text.len())
    }

    /// `None` if there are no texts.
    pub(crate) fn location(&self, span: Range<usize>) -> Option<Location> {
        let at = self.parts.iter().rposition(|part| part.start <= span.start)?;
        let part = &self.parts[at];
        let start = floor_boundary(&part.text, span.start - part.start);
        let end = floor_boundary(&part.text, span.end.saturating_sub(part.start)).max(start);
        let before = &part.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let excerpt = excerpt(&part.text, start..end);
        Some(Location {
            source: part.name.clone(),
            text: excerpt.text,
            span: excerpt.span,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            change: at.checked_sub(1),
        })
    }
}

struct Excerpt {
    text: String,
    span: Range<usize>,
}

fn excerpt(text: &str, span: Range<usize>) -> Excerpt {
    let is_shown = |line: &str| line.len() <= MAX_LINE && line.chars().all(can_stay);
    if text.lines().all(is_shown) {
        return Excerpt { text: text.into(), span };
    }
    let mut out = String::new();
    let mut shown = 0..0;
    let mut at = 0;
    for (number, whole) in text.split('\n').enumerate() {
        let line = whole.strip_suffix('\r').unwrap_or(whole);
        let here = at..at + whole.len() + 1;
        let kept = window(line, if here.contains(&span.start) { span.start - at } else { 0 });
        out.push_str(if number > 0 { "\n" } else { "" });
        out.push_str(if kept.start > 0 { "…" } else { "" });
        let moved = |bound: usize| printed(&line[kept.start..(bound - at).clamp(kept.start, kept.end)]).len();
        if here.contains(&span.start) {
            shown.start = out.len() + moved(span.start);
        }
        if here.contains(&span.end) {
            shown.end = out.len() + moved(span.end);
        }
        out.push_str(&printed(&line[kept.clone()]));
        out.push_str(if kept.end < line.len() { "…" } else { "" });
        at = here.end;
    }
    Excerpt { text: out, span: shown }
}

fn window(line: &str, focus: usize) -> Range<usize> {
    if line.len() <= MAX_LINE {
        return 0..line.len();
    }
    let start = floor_boundary(line, focus.min(line.len()).saturating_sub(BEFORE));
    start..floor_boundary(line, start + MAX_LINE)
}

fn printed(text: &str) -> String {
    text.chars().map(|c| if can_stay(c) { c } else { '\u{fffd}' }).collect()
}

fn can_stay(c: char) -> bool {
    c == '\t' || is_printable(c)
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_names_its_source_its_line_and_its_column() {
        let mut sources = Sources::default();
        sources.add("a.toml", "x = 1\ny = 2\n");
        let start = sources.add("--set", "y=3");
        let location = sources.location(10..11).unwrap();
        assert_eq!((location.source.as_str(), location.line, location.column), ("a.toml", 2, 5));
        let location = sources.location(start + 2..start + 3).unwrap();
        assert_eq!(
            (location.source.as_str(), location.line, location.column, location.span),
            ("--set", 1, 3, 2..3)
        );
    }

    #[test]
    fn columns_count_characters_and_offsets_past_the_end_stay_inside() {
        let mut sources = Sources::default();
        sources.add("a.toml", "é = µ");
        assert_eq!(sources.location(5..7).unwrap().column, 5);
        assert_eq!(sources.location(6..99).unwrap().span, 5..7); // inside a character, and past the end
    }

    #[test]
    fn a_long_line_is_cut_around_the_mistake() {
        let filler = ["é".repeat(100_000), "x".repeat(100_000)];
        let long = format!("a = 1\nb = \"{}\"; wrong = 2 {}\nc = 3", filler[0], filler[1]);
        let mut sources = Sources::default();
        sources.add("a.toml", &long);
        let at = long.find("wrong").unwrap();
        let location = sources.location(at..at + 5).unwrap();
        assert_eq!(&location.text[location.span.clone()], "wrong");
        assert_eq!((location.line, location.column), (2, 100_009));
        let lines: Vec<&str> = location.text.lines().collect();
        assert!(lines.len() == 3 && lines[0] == "a = 1" && lines[2] == "c = 3", "{lines:?}");
        assert!(lines[1].starts_with("…é") && lines[1].ends_with("x…") && lines[1].len() < 250);
        // This span exceeds the shown part of its line.
        let location = sources.location(10..long.len()).unwrap();
        assert!(location.text[location.span].ends_with("c = 3"));
        let location = sources.location(10..at).unwrap();
        assert!(location.text[location.span].ends_with("é"));
    }

    #[test]
    fn a_long_text_shows_only_the_mistake_and_its_neighbouring_lines() {
        let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        let at = text.find("500").unwrap();
        let location = Location::in_long_text("a.csv", &text, at..at + 3);
        assert_eq!((location.source.as_str(), location.line, location.column), ("a.csv", 500, 6));
        assert_eq!(&location.text[location.span.clone()], "500");
        assert_eq!(location.text.trim_start_matches('\n'), "line 499\nline 500\nline 501");
        assert_eq!(Location::in_long_text("a.csv", &text, 0..4).line, 1);
        let end = Location::in_long_text("a.csv", &text, text.len()..text.len() + 9);
        assert_eq!((end.line, end.column), (1001, 1));
        assert_eq!(Location::in_long_text("a.csv", "", 0..0).line, 1);
    }

    #[test]
    fn control_characters_are_not_shown_raw() {
        let mut sources = Sources::default();
        sources.add("a.toml", "x = \"\u{1b}[2J\"\r\ny = 2\r\nz = 3");
        let location = sources.location(16..17).unwrap();
        assert_eq!((location.text.as_str(), location.line), ("x = \"\u{fffd}[2J\"\ny = 2\nz = 3", 2));
        assert_eq!(&location.text[location.span], "2");
    }
}

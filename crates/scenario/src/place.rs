//! Where in which text something stands: the file, or a command-line argument that changed it.

use std::ops::Range;

/// A place in a text that the user wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name, or the argument such as `--set`.
    pub source: String,
    /// The whole text of that source.
    pub text: String,
    /// The bytes meant, in `text`.
    pub span: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// All texts that a scenario was made from, laid end to end so that one offset names a place in any of them.
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
    /// Adds a text and returns the offset at which it starts.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> usize {
        // One byte apart, so that "at the end of this text" is not "at the start of the next".
        let start = self.parts.last().map_or(0, |part| part.start + part.text.len() + 1);
        self.parts.push(Part { name: name.into(), text: text.into(), start });
        start
    }

    /// The place of `span`; `None` only when there are no texts.
    pub(crate) fn place(&self, span: Range<usize>) -> Option<Place> {
        let part = self.parts.iter().rev().find(|part| part.start <= span.start)?;
        let start = floor_boundary(&part.text, span.start - part.start);
        let end = floor_boundary(&part.text, span.end.saturating_sub(part.start)).max(start);
        let before = &part.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some(Place {
            source: part.name.clone(),
            text: part.text.clone(),
            span: start..end,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        })
    }
}

/// The nearest character boundary at or before `at`.
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
        let place = sources.place(10..11).unwrap();
        assert_eq!((place.source.as_str(), place.line, place.column), ("a.toml", 2, 5));
        let place = sources.place(start + 2..start + 3).unwrap();
        assert_eq!((place.source.as_str(), place.line, place.column, place.span), ("--set", 1, 3, 2..3));
    }

    #[test]
    fn columns_count_characters_and_offsets_past_the_end_stay_inside() {
        let mut sources = Sources::default();
        sources.add("a.toml", "é = µ");
        assert_eq!(sources.place(5..7).unwrap().column, 5);
        assert_eq!(sources.place(6..99).unwrap().span, 5..7); // inside a character, and past the end
    }
}

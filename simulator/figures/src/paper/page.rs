//! A sheet in progress: its width, its letters, and the text above the panels.

use super::font::Ruler;
use super::sheet::{Anchor, BLACK, Rgb, Sheet, Text};
use crate::layout::Place;
use crate::panel::Panel;

/// The width of a figure on paper, in IEEE's columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// One column: 88.9 mm.
    #[default]
    OneColumn,
    /// Two columns: 181.9 mm.
    TwoColumns,
}

impl Width {
    /// The width in points of 1/72 inch.
    pub(super) fn points(self) -> f64 {
        match self {
            Width::OneColumn => 88.9 / 25.4 * 72.0,
            Width::TwoColumns => 181.9 / 25.4 * 72.0,
        }
    }
}

/// The format of a figure on paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paper {
    /// Its width.
    pub width: Width,
    /// Are the title and the conditions omitted, because a paper has them in the caption?
    pub is_bare: bool,
}

pub(super) const SIZE: f64 = 7.0;
/// The line spacing.
pub(super) const LINE: f64 = 9.0;
pub(super) const MARGIN: f64 = 2.0;

pub(super) fn has_title(panel: &Panel, panels: usize, paper: Paper) -> bool {
    !panel.title.is_empty() && (panels > 1 || !paper.is_bare)
}

pub(super) struct Page {
    pub(super) ruler: Ruler,
    pub(super) sheet: Sheet,
}

impl Page {
    pub(super) fn text(&mut self, at: Place, anchor: Anchor, text: String) {
        self.coloured(at, anchor, text, BLACK);
    }

    pub(super) fn coloured(&mut self, at: Place, anchor: Anchor, text: String, colour: Rgb) {
        self.sheet.text(Text { at, size: SIZE, anchor, turn: 0.0, colour, text });
    }

    /// Draws the title and the conditions. Returns the vertical position where the panels begin.
    pub(super) fn head(&mut self, title: &str, detail: &[String], paper: Paper) -> f64 {
        let mut top = MARGIN;
        if paper.is_bare {
            return top;
        }
        let room = self.sheet.width - 2.0 * MARGIN;
        for (text, size) in
            [(title, SIZE + 1.0)].into_iter().chain(detail.iter().map(|line| (&**line, SIZE - 1.0)))
        {
            for line in self.wrapped(text, size, room) {
                top += size + 1.5;
                let at = Place { x: MARGIN, y: top };
                let (anchor, turn, colour) = (Anchor::Start, 0.0, BLACK);
                self.sheet.text(Text { at, size, anchor, turn, colour, text: line });
            }
        }
        top + 5.0
    }

    fn wrapped(&self, text: &str, size: f64, room: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.ruler.width(&format!("{line} {word}"), size) <= room => {
                    *line += " ";
                    *line += word;
                }
                _ => lines.push(word.into()),
            }
        }
        lines
    }
}

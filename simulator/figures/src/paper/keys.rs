//! The legend above the data: a key per line.

use super::font::Ruler;
use super::page::{LINE, Page, SIZE};
use super::shapes;
use super::sheet::{Anchor, BLACK, Stroke};
use crate::layout::Place;
use crate::panel::{Kind, Line, Panel};

/// The length of the sample line in a key.
const SAMPLE: f64 = 18.0;
const APART: f64 = 8.0;

pub(super) fn are_alike(one: &Panel, other: &Panel) -> bool {
    let key = |line: &Line| (line.label.clone(), line.colour, line.is_dashed, line.is_limit);
    one.kind == other.kind && one.lines.iter().map(key).eq(other.lines.iter().map(key))
}

/// Does the panel need keys? A table has the lines' names in its rows.
fn has_keys(panel: &Panel) -> bool {
    !panel.is_table() && panel.lines.iter().any(|line| !line.label.is_empty())
}

/// The position of each key: the distance from the left, and the row.
fn places(ruler: &Ruler, panel: &Panel, room: f64) -> Vec<(f64, usize)> {
    let mut left = 0.0;
    let mut row = 0;
    let mut place = |line: &Line| {
        let width = SAMPLE + 3.0 + ruler.width(&line.label, SIZE);
        if left > 0.0 && left + width > room {
            (left, row) = (0.0, row + 1);
        }
        let at = left;
        left += width + APART;
        (at, row)
    };
    panel.lines.iter().map(&mut place).collect()
}

pub(super) fn height(ruler: &Ruler, panel: &Panel, room: f64) -> f64 {
    if !has_keys(panel) {
        return 0.0;
    }
    places(ruler, panel, room).last().map_or(0.0, |(_, row)| (row + 1) as f64 * LINE)
}

/// Draws the keys from `at`, in rows of width `room`, and returns their height.
pub(super) fn draw(page: &mut Page, panel: &Panel, at: Place, room: f64) -> f64 {
    let height = height(&page.ruler, panel, room);
    if height == 0.0 {
        return 0.0;
    }
    for (line, (right, row)) in panel.lines.iter().zip(places(&page.ruler, panel, room)) {
        let at = at.by(right, row as f64 * LINE).by(0.0, LINE / 2.0);
        sample(page, panel.kind, line, at);
        let label = page.ruler.cut(&line.label, SIZE, room - SAMPLE - 3.0);
        page.text(at.by(SAMPLE, 0.0).by(3.0, SIZE * 0.35), Anchor::Start, label);
    }
    height
}

fn sample(page: &mut Page, kind: Kind, line: &Line, at: Place) {
    if kind == Kind::Bars {
        let area = [at.x + SAMPLE - 10.0, at.y - 3.5, at.x + SAMPLE, at.y + 3.5];
        return bar(page, line, area);
    }
    if kind != Kind::Scatter {
        page.sheet.line(at, at.by(SAMPLE, 0.0), shapes::stroke(line));
    }
    if matches!(kind, Kind::Lines | Kind::Scatter) {
        page.sheet.fill(shapes::marker(line, at.by(SAMPLE / 2.0, 0.0), 1.9), shapes::colour(line));
    }
}

/// Draws a bar of `line`. Its tint and hatching distinguish it from other bars in grey print.
pub(super) fn bar(page: &mut Page, line: &Line, area: [f64; 4]) {
    let colour = shapes::colour(line);
    let part = [1.0, 0.25, 0.5, 0.12, 0.35][line.colour % 5];
    page.sheet.fill(shapes::rectangle(area), shapes::tint(colour, part));
    let thin = Stroke { colour, width: 0.5, dash: &[] };
    let hatching = shapes::hatching(line.colour, area);
    if !hatching.is_empty() {
        page.sheet.stroke(hatching, thin);
    }
    page.sheet.stroke(shapes::rectangle(area), Stroke { colour: BLACK, width: 0.4, dash: &[] });
}

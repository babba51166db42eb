//! A table, drawn: a row for each line, a column for each place, the paper's number below ours.

use super::axis::{number, with_interval};
use super::frame::{Columns, Place};
use super::style::{cut, escaped};
use super::{MARGIN, put};
use fairwire_study::record::{Line, Mark, Panel};

const LETTER: f64 = 7.6;
const ROW: f64 = 42.0;
/// Of a table without published numbers.
const LOW_ROW: f64 = 26.0;
const HEAD: f64 = 30.0;
const GAP: f64 = 22.0;
const MOST_NAME: usize = 30;

/// The width of the picture that it needs.
pub fn width(panel: &Panel) -> f64 {
    2.0 * MARGIN + name_width(panel) + column_widths(panel).iter().sum::<f64>()
}

/// Its height.
pub fn height(panel: &Panel) -> f64 {
    HEAD + row(panel) * panel.lines.len() as f64 + if has_published(panel) { 22.0 } else { 4.0 }
}

fn has_published(panel: &Panel) -> bool {
    panel.lines.iter().any(|line| !line.published.is_empty())
}

fn row(panel: &Panel) -> f64 {
    if has_published(panel) { ROW } else { LOW_ROW }
}

fn name_width(panel: &Panel) -> f64 {
    let longest = panel.lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
    longest.min(MOST_NAME) as f64 * LETTER + GAP
}

fn column_widths(panel: &Panel) -> Vec<f64> {
    let columns = Columns::new(panel);
    let mut letters: Vec<usize> =
        columns.names.iter().map(|name| name.chars().count().min(MOST_NAME)).collect();
    for line in &panel.lines {
        for (at, mark) in line.marks.iter().filter_map(|mark| Some((columns.of(mark)?, mark))) {
            letters[at] = letters[at].max(measured(mark).chars().count());
        }
    }
    letters.into_iter().map(|letters| letters as f64 * LETTER + GAP).collect()
}

/// Draws it, with room between the columns where the picture is wider than needed.
pub fn draw(out: &mut String, panel: &Panel, place: &Place) {
    let widths = column_widths(panel);
    let columns = Columns::new(panel);
    let mut right = MARGIN + name_width(panel);
    let rights: Vec<f64> = widths
        .iter()
        .map(|width| {
            right += width;
            right
        })
        .collect();
    let end = rights.last().copied().unwrap_or(right);
    let line = |out: &mut String, y: f64| {
        put(
            out,
            format_args!(
                "<line class=\"grid\" x1=\"{MARGIN}\" y1=\"{y:.1}\" x2=\"{end:.1}\" y2=\"{y:.1}\"/>\n"
            ),
        );
    };
    for (name, right) in columns.names.iter().zip(&rights) {
        cell(out, "head", (*right, place.ceiling + 18.0), &cut(name, MOST_NAME as f64));
    }
    line(out, place.ceiling + HEAD - 4.0);
    for (at, series) in panel.lines.iter().enumerate() {
        let y = place.ceiling + HEAD + row(panel) * at as f64;
        put(
            out,
            format_args!(
                "<text class=\"name\" x=\"{MARGIN}\" y=\"{:.1}\">{}</text>\n",
                y + 15.0,
                escaped(&cut(&series.label, MOST_NAME as f64))
            ),
        );
        cells(out, &columns, series, (&rights, y));
        line(out, y + row(panel) - 4.0);
    }
    if has_published(panel) {
        let text = "below each number, in grey: the paper's";
        put(
            out,
            format_args!(
                "<text class=\"detail\" x=\"{MARGIN}\" y=\"{:.1}\">{text}</text>\n",
                place.floor - 2.0
            ),
        );
    }
}

fn cells(out: &mut String, columns: &Columns, line: &Line, (rights, y): (&[f64], f64)) {
    for mark in &line.marks {
        if let Some(right) = columns.of(mark).and_then(|at| rights.get(at)) {
            cell(out, "cell", (*right, y + 15.0), &measured(mark));
        }
    }
    for mark in &line.published {
        if let Some(right) = columns.of(mark).and_then(|at| rights.get(at)) {
            cell(out, "detail", (*right, y + 32.0), &number(mark.y, 6));
        }
    }
}

fn cell(out: &mut String, class: &str, (right, y): (f64, f64), text: &str) {
    put(
        out,
        format_args!(
            "<text class=\"{class}\" x=\"{right:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>\n",
            escaped(text)
        ),
    );
}

fn measured(mark: &Mark) -> String {
    with_interval(mark.y, mark.y_half_width)
}

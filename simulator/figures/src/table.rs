//! Draws a table: one row per line, one column per position, with the paper's number below ours.

use crate::axis::can_show;
use crate::layout::{Bounds, Columns};
use crate::number::{number, with_interval};
use crate::panel::{Kind, Line, Mark, Panel, Scale};
use crate::style::{MARGIN, cut, escaped};

const LETTER: f64 = 7.6;
const ROW: f64 = 42.0;
/// The row height of a table without published numbers.
const LOW_ROW: f64 = 26.0;
const HEAD: f64 = 30.0;
const GAP: f64 = 22.0;
const MAX_NAME: usize = 30;
/// The colour strengths of a grid's smallest and largest values. Text is readable on both.
const SHADES: (f64, f64) = (0.04, 0.55);
const STEPS: u32 = 6;
const STEP: f64 = 14.0;

pub(super) fn width(panel: &Panel) -> f64 {
    2.0 * MARGIN + name_width(panel) + column_widths(panel).iter().sum::<f64>()
}

pub(super) fn height(panel: &Panel) -> f64 {
    HEAD + row(panel) * panel.lines.len() as f64 + if caption(panel).is_some() { 22.0 } else { 4.0 }
}

fn has_published(panel: &Panel) -> bool {
    panel.lines.iter().any(|line| !line.published.is_empty())
}

fn row(panel: &Panel) -> f64 {
    if has_published(panel) { ROW } else { LOW_ROW }
}

fn name_width(panel: &Panel) -> f64 {
    let longest = panel.lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
    longest.min(MAX_NAME) as f64 * LETTER + GAP
}

fn column_widths(panel: &Panel) -> Vec<f64> {
    let columns = Columns::new(panel);
    let mut letters: Vec<usize> =
        columns.names.iter().map(|name| name.chars().count().min(MAX_NAME)).collect();
    for line in &panel.lines {
        for (at, mark) in line.marks.iter().filter_map(|mark| Some((columns.of(mark)?, mark))) {
            letters[at] = letters[at].max(measured(panel, mark).chars().count());
        }
    }
    if panel.kind == Kind::Grid {
        // With equal widths, readers compare the colours of cells, not their areas.
        let most = letters.iter().copied().max().unwrap_or(0);
        letters.fill(most);
    }
    letters.into_iter().map(|letters| letters as f64 * LETTER + GAP).collect()
}

pub(super) fn draw(out: &mut String, panel: &Panel, bounds: &Bounds) {
    let mut end = MARGIN + name_width(panel);
    let columns = column_widths(panel).into_iter().map(|width| {
        end += width;
        Column { right: end, width }
    });
    let columns: Vec<Column> = columns.collect();
    let line = |out: &mut String, y: f64| {
        *out +=
            &format!("<line class=\"grid\" x1=\"{MARGIN}\" y1=\"{y:.1}\" x2=\"{end:.1}\" y2=\"{y:.1}\"/>\n");
    };
    if panel.kind == Kind::Grid {
        shades(out, panel, &columns, bounds.ceiling);
    }
    let anchors: Vec<Anchor> = columns.iter().map(|column| column.anchor(panel)).collect();
    for (name, anchor) in Columns::new(panel).names.iter().zip(&anchors) {
        cell(out, "head", anchor, bounds.ceiling + 18.0, &cut(name, MAX_NAME as f64));
    }
    line(out, bounds.ceiling + HEAD - 4.0);
    for (at, series) in panel.lines.iter().enumerate() {
        let y = bounds.ceiling + HEAD + row(panel) * at as f64;
        *out += &format!(
            "<text class=\"name\" x=\"{MARGIN}\" y=\"{:.1}\">{}</text>\n",
            y + 15.0,
            escaped(&cut(&series.label, MAX_NAME as f64))
        );
        cells(out, panel, series, &anchors, y);
        line(out, y + row(panel) - 4.0);
    }
    if let Some(text) = caption(panel) {
        let has_scale = panel.kind == Kind::Grid && panel.y.range.is_some();
        let x = if has_scale { scale(out, bounds.floor - 2.0) } else { MARGIN };
        *out += &format!(
            "<text class=\"detail\" x=\"{x}\" y=\"{:.1}\">{}</text>\n",
            bounds.floor - 2.0,
            escaped(&text)
        );
    }
}

fn caption(panel: &Panel) -> Option<String> {
    let shades = (panel.kind == Kind::Grid).then(|| {
        let what = if panel.y.label.is_empty() { "the number" } else { &panel.y.label };
        let across = match &*panel.x.label {
            "" => String::new(),
            across => format!("; across: {across}"),
        };
        match panel.y.range {
            Some([low, high]) => {
                format!("{what}, {} to {}{across}", in_grid(panel, low), in_grid(panel, high))
            }
            None => format!("the stronger the colour, the larger: {what}{across}"),
        }
    });
    let published = has_published(panel).then(|| "below each number, in grey: the paper's".to_string());
    let parts: Vec<String> = shades.into_iter().chain(published).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Draws the scale of a grid's colours, and returns its right end.
fn scale(out: &mut String, y: f64) -> f64 {
    for step in 0..STEPS {
        let strength = SHADES.0 + (SHADES.1 - SHADES.0) * f64::from(step) / f64::from(STEPS - 1);
        let x = MARGIN + STEP * f64::from(step);
        *out += &format!(
            "<rect class=\"f0\" fill-opacity=\"{strength:.2}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{STEP}\" height=\"10\"/>\n",
            y - 9.0
        );
    }
    MARGIN + STEP * f64::from(STEPS) + 8.0
}

fn shades(out: &mut String, panel: &Panel, columns: &[Column], ceiling: f64) {
    let named = Columns::new(panel);
    for (at, line) in panel.lines.iter().enumerate() {
        for mark in line.marks.iter().filter(|mark| can_show(&panel.y, mark.y)) {
            let Some(column) = named.of(mark) else { continue };
            let Column { right, width } = columns[column];
            let strength = SHADES.0 + (SHADES.1 - SHADES.0) * panel.shade(mark.y);
            *out += &format!(
                "<rect class=\"f0\" fill-opacity=\"{strength:.2}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
                     <title>{}, {}: {}</title></rect>\n",
                right + GAP / 2.0 - width + 1.0,
                ceiling + HEAD + row(panel) * at as f64 - 3.0,
                width - 2.0,
                row(panel) - 2.0,
                escaped(&line.label),
                escaped(&named.names[column]),
                with_interval(mark.y, mark.y_half_width)
            );
        }
    }
}

#[derive(Clone, Copy)]
struct Column {
    right: f64,
    width: f64,
}

struct Anchor {
    x: f64,
    word: &'static str,
}

impl Column {
    fn anchor(self, panel: &Panel) -> Anchor {
        match panel.kind {
            Kind::Grid => Anchor { x: self.right + (GAP - self.width) / 2.0, word: "middle" },
            _ => Anchor { x: self.right, word: "end" },
        }
    }
}

fn cells(out: &mut String, panel: &Panel, line: &Line, anchors: &[Anchor], y: f64) {
    let columns = Columns::new(panel);
    for mark in &line.marks {
        if let Some(at) = columns.of(mark).and_then(|at| anchors.get(at)) {
            cell(out, "cell", at, y + 15.0, &measured(panel, mark));
        }
    }
    for mark in &line.published {
        if let Some(at) = columns.of(mark).and_then(|at| anchors.get(at)) {
            cell(out, "detail", at, y + 32.0, &number(mark.y, 6));
        }
    }
}

fn cell(out: &mut String, class: &str, anchor: &Anchor, y: f64, text: &str) {
    *out += &format!(
        "<text class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"{}\">{}</text>\n",
        anchor.x,
        anchor.word,
        escaped(text)
    );
}

fn measured(panel: &Panel, mark: &Mark) -> String {
    if panel.kind == Kind::Grid { in_grid(panel, mark.y) } else { with_interval(mark.y, mark.y_half_width) }
}

/// Rounds a cell's number to a hundredth of the range, if the axis is linear and has a range.
fn in_grid(panel: &Panel, y: f64) -> String {
    let range = panel.y.range.filter(|_| panel.y.scale == Scale::Linear);
    match range.map(|[low, high]| high - low) {
        Some(span) if span > 0.0 => {
            let decimals = (2.0 - libm::log10(span)).ceil().clamp(0.0, 6.0) as usize;
            format!("{y:.decimals$}")
        }
        _ => number(y, 3),
    }
}

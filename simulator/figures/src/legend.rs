//! The legend, to the right of the data.

use crate::layout::{Bounds, Place};
use crate::marker::{class, dash, diamond, outline, stroke};
use crate::panel::{Kind, Line, Panel};
use crate::reference;
use crate::style::{cut, escaped};

const LETTER: f64 = 7.6;
const LINE: f64 = 20.0;
/// The width of a sign and of the space around it.
const SIGN: f64 = 44.0;
const GAP: f64 = 18.0;
const MIN_WIDTH: f64 = 118.0;
const MAX_WIDTH: f64 = 250.0;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Reference,
    InPaper,
    Interval,
}

/// The width of the legend of `panel`, including the gap before it.
pub(super) fn width(panel: &Panel) -> f64 {
    let labels = panel.lines.iter().map(|line| line.label.chars().count());
    let extra = extra(panel).map(|(_, text)| text.chars().count());
    let longest = labels.chain(extra).max().unwrap_or(0);
    (longest as f64 * LETTER + SIGN + GAP).clamp(MIN_WIDTH, MAX_WIDTH)
}

fn has_published(panel: &Panel) -> bool {
    panel.lines.iter().any(|line| !line.published.is_empty())
}

pub(super) fn extra(panel: &Panel) -> impl Iterator<Item = (Sign, String)> {
    let has_interval = panel
        .lines
        .iter()
        .flat_map(|line| &line.marks)
        .any(|mark| mark.y_half_width.is_some() || mark.x_half_width.is_some());
    let is_shown = has_interval && !matches!(panel.kind, Kind::Time | Kind::Steps);
    let published = has_published(panel).then(|| (Sign::InPaper, "hollow: the paper".into()));
    let interval = is_shown.then(|| (Sign::Interval, "95 % interval".into()));
    let reference = reference::keys(panel).map(|text| (Sign::Reference, text));
    reference.chain(published).chain(interval)
}

/// Draws the keys of as many lines as fit. Below them, explains hollow markers and whiskers.
pub(super) fn draw(out: &mut String, panel: &Panel, bounds: &Bounds) {
    let left = bounds.right + GAP;
    let letters = (width(panel) - SIGN - GAP) / LETTER;
    let extra: Vec<(Sign, String)> = extra(panel).collect();
    let room = (((bounds.floor - bounds.ceiling + LINE) / LINE) as usize).saturating_sub(extra.len());
    let shown = if panel.lines.len() <= room { panel.lines.len() } else { room.saturating_sub(1) };
    let mut y = bounds.ceiling + 6.0;
    let text = |out: &mut String, y: f64, text: &str| {
        *out += &format!(
            "<text class=\"key\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>\n",
            left + SIGN - 10.0,
            y + 4.5,
            escaped(&cut(text, letters.ceil() + 1.0))
        );
    };
    for line in &panel.lines[..shown] {
        *out += &format!("<g><title>{}</title>", escaped(&line.label));
        sign(out, panel.kind, line, Place { x: left, y });
        text(out, y, &line.label);
        y += LINE;
    }
    if shown < panel.lines.len() {
        out.push_str("<g>");
        text(out, y, &format!("and {} more", panel.lines.len() - shown));
        y += LINE;
    }
    for (sign, entry) in extra {
        let middle = left + 13.0;
        let (stroke, path) = match sign {
            Sign::Reference => (reference::stroke(panel.kind), format!("M{left} {y}h26")),
            Sign::InPaper => ("class=\"edge\"", diamond(Place { x: middle, y }, 6.0)),
            Sign::Interval => ("class=\"edge\"", format!("M{middle} {}v14m-4 0h8m-8 -14h8", y - 7.0)),
        };
        *out += &format!("<g><path {stroke} d=\"{path}\"/>");
        text(out, y, &entry);
        y += LINE;
    }
}

fn sign(out: &mut String, kind: Kind, line: &Line, at: Place) {
    let Place { x: left, y } = at;
    let class = class(line);
    if kind == Kind::Bars {
        let top = y - 7.0;
        *out += &format!(
            "<rect class=\"f{class}\" x=\"{}\" y=\"{top}\" width=\"14\" height=\"14\" rx=\"3\"/>",
            left + 6.0
        );
        return;
    }
    if kind != Kind::Scatter {
        *out += &format!("<path class=\"{}\"{} d=\"M{left} {y}h26\"/>", stroke(line), dash(line));
    }
    if matches!(kind, Kind::Lines | Kind::Scatter) {
        *out += &format!("<path class=\"f{class}\" d=\"{}\"/>", outline(line, at.by(13.0, 0.0), 3.6));
    }
}

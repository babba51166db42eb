//! The legend, beside the data.

use super::marker::{class, dash, diamond, outline};
use super::place::Place;
use super::style::{cut, escaped, put};
use fairwire_study::record::{Kind, Line, Panel};

const LETTER: f64 = 7.6;
const LINE: f64 = 20.0;
/// Its sign, and what is around it.
const SIGN: f64 = 44.0;
const GAP: f64 = 18.0;
const LEAST: f64 = 118.0;
const MOST: f64 = 250.0;
const IN_PAPER: &str = "hollow: the paper";
const INTERVAL: &str = "95 % interval";

/// The room that `panel`'s needs, the gap before it included.
pub(super) fn width(panel: &Panel) -> f64 {
    let labels = panel.lines.iter().map(|line| line.label.chars().count());
    let extra = extra(panel).map(|text| text.chars().count());
    let longest = labels.chain(extra).max().unwrap_or(0);
    (longest as f64 * LETTER + SIGN + GAP).clamp(LEAST, MOST)
}

fn has_published(panel: &Panel) -> bool {
    panel.lines.iter().any(|line| !line.published.is_empty())
}

/// What has to be explained besides the lines.
fn extra(panel: &Panel) -> impl Iterator<Item = &'static str> + use<> {
    let has_interval = panel
        .lines
        .iter()
        .flat_map(|line| &line.marks)
        .any(|mark| mark.y_half_width.is_some() || mark.x_half_width.is_some());
    let is_shown = has_interval && !matches!(panel.kind, Kind::Time | Kind::Steps);
    has_published(panel).then_some(IN_PAPER).into_iter().chain(is_shown.then_some(INTERVAL))
}

/// A key for each line, as many as have room; then what hollow markers and whiskers are.
pub(super) fn draw(out: &mut String, panel: &Panel, place: &Place) {
    let left = place.right + GAP;
    let letters = (width(panel) - SIGN - GAP) / LETTER;
    let extra: Vec<&str> = extra(panel).collect();
    let room = ((place.floor - place.ceiling + LINE) / LINE) as usize - extra.len();
    let shown = if panel.lines.len() <= room { panel.lines.len() } else { room - 1 };
    let mut y = place.ceiling + 6.0;
    let text = |out: &mut String, y: f64, text: &str| {
        put(
            out,
            format_args!(
                "<text class=\"key\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>\n",
                left + SIGN - 10.0,
                y + 4.5,
                escaped(&cut(text, letters.ceil() + 1.0))
            ),
        );
    };
    for line in &panel.lines[..shown] {
        put(out, format_args!("<g><title>{}</title>", escaped(&line.label)));
        sign(out, panel.kind, line, (left, y));
        text(out, y, &line.label);
        y += LINE;
    }
    if shown < panel.lines.len() {
        out.push_str("<g>");
        text(out, y, &format!("and {} more", panel.lines.len() - shown));
        y += LINE;
    }
    for entry in extra {
        let middle = left + 13.0;
        let path = match entry {
            IN_PAPER => diamond((middle, y), 6.0),
            _ => format!("M{middle} {}v14m-4 0h8m-8 -14h8", y - 7.0),
        };
        put(out, format_args!("<g><path class=\"edge\" d=\"{path}\"/>"));
        text(out, y, entry);
        y += LINE;
    }
}

fn sign(out: &mut String, kind: Kind, line: &Line, (left, y): (f64, f64)) {
    let class = class(line);
    if kind == Kind::Bars {
        let top = y - 7.0;
        put(
            out,
            format_args!(
                "<rect class=\"f{class}\" x=\"{}\" y=\"{top}\" width=\"14\" height=\"14\" rx=\"3\"/>",
                left + 6.0
            ),
        );
        return;
    }
    if kind != Kind::Scatter {
        put(out, format_args!("<path class=\"line s{class}\"{} d=\"M{left} {y}h26\"/>", dash(line)));
    }
    if matches!(kind, Kind::Lines | Kind::Scatter) {
        put(out, format_args!("<path class=\"f{class}\" d=\"{}\"/>", outline(line, (left + 13.0, y), 3.6)));
    }
}

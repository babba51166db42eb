//! The picture of the shares: one self-contained SVG that reads in light and in dark.
//!
//! Written by hand rather than through a plotting library, because its colours follow the reader's theme by CSS, which
//! no plotting library here can do.

use super::shown::{Headline, groups};
use crate::chart::style::{PALETTE, cut, escaped};
use fairwire_metrics::record::{Estimate, Report, Summary};
use std::fmt::Write;

const BAR: f64 = 54.0;
const BAR_GAP: f64 = 10.0;
const GROUP_GAP: f64 = 56.0;
const PLOT_HEIGHT: f64 = 300.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 132.0;
const TOP: f64 = 144.0;
const BOTTOM: f64 = 64.0;
/// Room for the title and the line below it at their sizes.
const LEAST_WIDTH: f64 = 720.0;
/// No picture is wider: many bars get narrower instead.
const MOST_WIDTH: f64 = 2400.0;
/// From the edge to the title, the legend and back.
const MARGIN: f64 = 24.0;
const LEGEND_LINE: f64 = 22.0;
/// Of a legend with more lines than this, the rest is only counted.
const MOST_LEGEND_LINES: usize = 6;
/// Widths of a letter, from above for most: of the title, of the detail, of a discipline's name, of a key.
const TITLE_LETTER: f64 = 11.0;
const DETAIL_LETTER: f64 = 7.0;
const NAME_LETTER: f64 = 9.0;
const KEY_LETTER: f64 = 8.0;
/// Room that the number above a bar needs.
const VALUE_WIDTH: f64 = 36.0;

pub(crate) const STYLE: &str = "
  .ground { fill: #ffffff; stroke: #d9dde3 }
  text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2530 }
  .title { font-size: 20px; font-weight: 650 }
  .detail, .tick, .axis { font-size: 12.5px; fill: #5b6472 }
  .name { font-size: 15px; font-weight: 600 }
  .value { font-size: 13.5px; font-weight: 600 }
  .key { font-size: 13.5px }
  .grid { stroke: #e6e9ee; stroke-width: 1 }
  .fair { stroke: #1f2530; stroke-width: 1.5; stroke-dasharray: 6 4 }
  .whisker { stroke: #1f2530; stroke-width: 1.5; fill: none }
  .fairname { font-size: 12.5px; font-weight: 600 }";

pub(crate) const DARK_STYLE: &str = "
    .ground { fill: #161a21; stroke: #2c323d }
    text { fill: #e8ebf0 }
    .detail, .tick, .axis { fill: #a3acba }
    .grid { stroke: #2a303b }
    .fair, .whisker { stroke: #e8ebf0 }";

/// The picture: for each discipline a bar per group of flows, with 95 % intervals, against the fair share.
pub(crate) fn svg(report: &Report, headline: &Headline) -> String {
    let groups = groups(report);
    let frame = Frame::new(report, &groups);
    let mut out = String::new();
    open(&mut out, &frame, headline, groups.len());
    legend(&mut out, &frame.keys);
    grid(&mut out, &frame);
    for (at, summary) in report.summary.iter().enumerate() {
        let is_named = at % frame.name_every == 0;
        discipline(&mut out, &frame, &Column { left: frame.left_of(at), summary, is_named }, &groups);
    }
    fair_line(&mut out, &frame);
    out.push_str("</svg>\n");
    out
}

/// The measures of the drawing.
struct Frame {
    width: f64,
    height: f64,
    /// Where the plot begins, below the legend.
    top: f64,
    bar: f64,
    gap: f64,
    column: f64,
    spread: f64,
    /// Every so many disciplines are named.
    name_every: usize,
    top_value: f64,
    step: f64,
    keys: Vec<Key>,
}

impl Frame {
    fn new(report: &Report, groups: &[&str]) -> Self {
        let bars = groups.len().max(1) as f64;
        let columns = report.summary.len().max(1) as f64;
        let longest =
            report.summary.iter().map(|summary| summary.discipline.chars().count()).max().unwrap_or(0);
        let name = longest as f64 * NAME_LETTER + BAR_GAP;
        let wanted = (bars * (BAR + BAR_GAP) - BAR_GAP + GROUP_GAP).max(name);
        let width = (LEFT + RIGHT + columns * wanted).clamp(LEAST_WIDTH, MOST_WIDTH);
        let spread = (width - LEFT - RIGHT) / columns;
        let shrink = (spread / wanted).min(1.0);
        let highest = highest(report, groups);
        let step = step(highest);
        let keys = keys(groups, width);
        let top = TOP + keys.last().map_or(0.0, |key| key.y);
        Frame {
            width,
            height: top + PLOT_HEIGHT + BOTTOM,
            top,
            bar: BAR * shrink,
            gap: BAR_GAP * shrink,
            column: (bars * (BAR + BAR_GAP) - BAR_GAP) * shrink,
            spread,
            name_every: (name / spread).ceil().max(1.0) as usize,
            top_value: (highest * 1.08 / step).ceil() * step,
            step,
            keys,
        }
    }

    fn left_of(&self, column: usize) -> f64 {
        LEFT + self.spread * (column as f64 + 0.5) - self.column / 2.0
    }

    fn y(&self, value: f64) -> f64 {
        self.top + PLOT_HEIGHT * (1.0 - value / self.top_value)
    }

    fn right(&self) -> f64 {
        self.width - RIGHT
    }
}

/// The highest end of an interval, and room above the fair share.
fn highest(report: &Report, groups: &[&str]) -> f64 {
    let shares =
        report.summary.iter().flat_map(|summary| groups.iter().filter_map(|group| share(summary, group)));
    shares.map(|e| e.mean + e.half_width_95.unwrap_or(0.0)).fold(1.2, f64::max)
}

/// The distance of the grid's lines: 1, 2 or 5 times a power of ten, for at most eight lines.
pub(crate) fn step(highest: f64) -> f64 {
    let power = 10f64.powf((highest / 8.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| highest / step <= 8.0)
        .unwrap_or(power * 10.0)
}

fn share<'a>(summary: &'a Summary, group: &str) -> Option<&'a Estimate> {
    summary.measures.get(&format!("share.{group}")).filter(|estimate| estimate.mean.is_finite())
}

fn open(out: &mut String, frame: &Frame, headline: &Headline, groups: usize) {
    let (width, height) = (frame.width, frame.height);
    let colours = |pick: fn(&(&'static str, &'static str)) -> &'static str| -> String {
        (0..groups.min(PALETTE.len()))
            .map(|at| format!("\n  .g{at} {{ fill: {} }}", pick(&PALETTE[at])))
            .collect()
    };
    let (light, dark) = (colours(|colour| colour.0), colours(|colour| colour.1));
    put(
        out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>{title}</title>\n<desc>{detail}</desc>\n\
         <style>{STYLE}{light}\n  @media (prefers-color-scheme: dark) {{{DARK_STYLE}{dark}\n  }}\n</style>\n\
         <rect class=\"ground\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n\
         <text class=\"title\" x=\"24\" y=\"38\">{short}</text>\n\
         {lines}",
            width - 1.0,
            height - 1.0,
            title = escaped(&headline.title),
            short = escaped(&cut(&headline.title, (width - 2.0 * MARGIN) / TITLE_LETTER)),
            detail = escaped(&headline.detail),
            lines = detail_lines(&headline.detail, (width - 2.0 * MARGIN) / DETAIL_LETTER),
        ),
    );
}

/// The detail, a line for each part: SVG does not break lines by itself.
fn detail_lines(detail: &str, letters: f64) -> String {
    let line = |(at, part): (usize, &str)| {
        format!(
            "<text class=\"detail\" x=\"24\" y=\"{}\">{}</text>\n",
            60 + 18 * at,
            escaped(&cut(part, letters))
        )
    };
    detail.split("; ").enumerate().map(line).collect()
}

/// A key of the legend; `y` from its first line.
struct Key {
    x: f64,
    y: f64,
    text: String,
    /// Its colour; what only counts the rest has none.
    class: Option<usize>,
}

/// The legend, broken into lines within `width`.
fn keys(groups: &[&str], width: f64) -> Vec<Key> {
    let most_y = (MOST_LEGEND_LINES - 1) as f64 * LEGEND_LINE;
    let (mut keys, mut x, mut y) = (Vec::new(), MARGIN, 0.0);
    for (at, group) in groups.iter().enumerate() {
        let room = 48.0 + KEY_LETTER * group.chars().count() as f64;
        if x > MARGIN && x + room > width - MARGIN {
            (x, y) = (MARGIN, y + LEGEND_LINE);
        }
        if y >= most_y && groups.len() - at > 1 {
            keys.push(Key { x, y, text: format!("and {} more", groups.len() - at), class: None });
            break;
        }
        keys.push(Key { x, y, text: (*group).into(), class: Some(at % PALETTE.len()) });
        x += room;
    }
    keys
}

fn legend(out: &mut String, keys: &[Key]) {
    for Key { x, y, text, class } in keys {
        if let Some(class) = class {
            let top = 96.0 + y;
            put(
                out,
                format_args!(
                    "<rect class=\"g{class}\" x=\"{x}\" y=\"{top}\" width=\"14\" height=\"14\" rx=\"3\"/>\n"
                ),
            );
        }
        let left = if class.is_some() { x + 20.0 } else { *x };
        put(
            out,
            format_args!("<text class=\"key\" x=\"{left}\" y=\"{}\">{}</text>\n", 108.0 + y, escaped(text)),
        );
    }
}

fn grid(out: &mut String, frame: &Frame) {
    let lines = (frame.top_value / frame.step).round() as usize;
    for line in 0..=lines {
        let value = line as f64 * frame.step;
        let y = frame.y(value);
        let digits = if frame.step < 1.0 { 1 } else { 0 };
        put(
            out,
            format_args!(
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\n\
             <text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.digits$}</text>\n",
                frame.right(),
                LEFT - 10.0,
                y + 4.5
            ),
        );
    }
    let middle = frame.top + PLOT_HEIGHT / 2.0;
    put(
        out,
        format_args!(
            "<text class=\"axis\" x=\"26\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 26 {middle})\">\
         throughput over max-min fair share</text>\n"
        ),
    );
}

/// One discipline's bars, from `left`.
struct Column<'a> {
    left: f64,
    summary: &'a Summary,
    is_named: bool,
}

fn discipline(out: &mut String, frame: &Frame, column: &Column<'_>, groups: &[&str]) {
    for (at, group) in groups.iter().enumerate() {
        if let Some(estimate) = share(column.summary, group) {
            bar(
                out,
                frame,
                column.left + at as f64 * (frame.bar + frame.gap),
                (at % PALETTE.len(), estimate),
            );
        }
    }
    if !column.is_named {
        return;
    }
    put(
        out,
        format_args!(
            "<text class=\"name\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            column.left + frame.column / 2.0,
            frame.top + PLOT_HEIGHT + 28.0,
            escaped(&column.summary.discipline)
        ),
    );
}

fn bar(out: &mut String, frame: &Frame, x: f64, (class, estimate): (usize, &Estimate)) {
    let (top, foot) = (frame.y(estimate.mean), frame.y(0.0));
    let middle = x + frame.bar / 2.0;
    let half = estimate.half_width_95.unwrap_or(0.0);
    let (high, low) = (frame.y(estimate.mean + half), frame.y((estimate.mean - half).max(0.0)));
    put(
        out,
        format_args!(
            "<path class=\"g{class}\" d=\"{}\"/>\n",
            round_topped((x, frame.bar), top, (foot - top).max(0.5))
        ),
    );
    if half > 0.0 {
        let across = frame.bar.min(12.0);
        let left = middle - across / 2.0;
        put(
            out,
            format_args!(
                "<path class=\"whisker\" d=\"M{left:.1} {high:.1}h{across:.1}M{middle:.1} {high:.1}V{low:.1}M{left:.1} {low:.1}h{across:.1}\"/>\n"
            ),
        );
    }
    if frame.bar + frame.gap < VALUE_WIDTH {
        return;
    }
    put(
        out,
        format_args!(
            "<text class=\"value\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.2}</text>\n",
            high - 8.0,
            estimate.mean
        ),
    );
}

/// A bar with its two upper corners rounded.
fn round_topped((x, width): (f64, f64), y: f64, height: f64) -> String {
    let radius = height.min(4.0).min(width / 2.0);
    let (side, across) = (height - radius, width - 2.0 * radius);
    format!(
        "M{x:.1} {:.1}v{:.1}q0 {:.1} {radius:.1} {:.1}h{across:.1}q{radius:.1} 0 {radius:.1} {radius:.1}v{side:.1}z",
        y + height,
        -side,
        -radius,
        -radius
    )
}

fn fair_line(out: &mut String, frame: &Frame) {
    let y = frame.y(1.0);
    put(
        out,
        format_args!(
            "<line class=\"fair\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\n\
         <text class=\"fairname\" x=\"{:.1}\" y=\"{:.1}\">fair share = 1</text>\n",
            frame.right() + 8.0,
            frame.right() + 16.0,
            y + 4.5
        ),
    );
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes all");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn grid_lines_are_few_and_round() {
        assert_eq!(step(1.2), 0.2);
        assert_eq!(step(5.4), 1.0);
        assert_eq!(step(9.0), 2.0);
        assert_eq!(step(38.0), 5.0);
    }

    #[test]
    fn control_characters_do_not_reach_the_picture() {
        let headline = Headline { title: "\u{1b}x".into(), detail: "\u{7}y".into() };
        let picture = svg(&samples::named(1, 1, "\u{1}"), &headline);
        assert!(!picture.contains(|c: char| c.is_control() && c != '\n'), "{picture}");
    }

    #[test]
    fn a_long_title_is_cut_where_the_picture_ends() {
        let headline = Headline { title: "W".repeat(300), detail: "w".repeat(300) };
        let picture = svg(&samples::report(1, 1), &headline);
        let shown = picture.lines().find(|line| line.contains("class=\"title\"")).expect("a title");
        assert!(shown.contains("W…") && shown.matches('W').count() < 66, "{shown}");
        assert!(
            picture.contains(&format!("<title>{}</title>", headline.title)),
            "the whole title is there to read"
        );
    }

    #[test]
    fn many_bars_get_narrower_and_lose_labels_but_the_picture_stays_within_bounds() {
        let labels = |disciplines, groups| {
            let report = samples::report(disciplines, groups);
            let frame = Frame::new(&report, &super::groups(&report));
            assert!((LEAST_WIDTH..=MOST_WIDTH).contains(&frame.width), "{}", frame.width);
            let end = frame.left_of(disciplines - 1) + frame.column;
            assert!(frame.left_of(0) >= LEFT && end <= frame.right(), "{disciplines} x {groups}: {end}");
            assert!(frame.keys.iter().all(|key| key.x < frame.width - MARGIN));
            assert!(frame.top <= TOP + MOST_LEGEND_LINES as f64 * LEGEND_LINE);
            let picture = svg(&report, &samples::headline());
            (picture.matches("class=\"value\"").count(), picture.matches("class=\"name\"").count())
        };
        assert_eq!(labels(3, 2), (6, 3));
        assert_eq!(labels(12, 2), (24, 12));
        assert_eq!(labels(3, 100), (0, 3));
        let (values, names) = labels(200, 5);
        assert_eq!(values, 0);
        assert!((1..200).contains(&names), "{names}");
    }

    #[test]
    fn a_legend_breaks_into_lines_and_counts_what_it_leaves_out() {
        let names: Vec<String> = (0..500).map(|at| format!("group-{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let few = keys(&names[..20], 720.0);
        assert_eq!(few.len(), 20);
        assert!(few[19].y > 0.0);
        let many = keys(&names, 720.0);
        let last = many.last().expect("keys");
        assert_eq!(last.text, format!("and {} more", 500 - (many.len() - 1)));
    }
}

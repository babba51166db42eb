//! The picture of the shares: one self-contained SVG that reads in light and in dark.
//!
//! Written by hand rather than through a plotting library, because its colours follow the reader's theme by CSS, which
//! no plotting library here can do.

use super::{Headline, groups};
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

/// Colours that people with any colour vision tell apart (Okabe and Ito, "Color universal design", 2008), for light and dark.
const COLOURS: [(&str, &str); 6] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ef8a4c"),
    ("#009e73", "#35c7a0"),
    ("#b5609a", "#dd9cc5"),
    ("#a67c00", "#f0d050"),
    ("#5a5a5a", "#b8b8b8"),
];

const STYLE: &str = "
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

const DARK_STYLE: &str = "
    .ground { fill: #161a21; stroke: #2c323d }
    text { fill: #e8ebf0 }
    .detail, .tick, .axis { fill: #a3acba }
    .grid { stroke: #2a303b }
    .fair, .whisker { stroke: #e8ebf0 }";

/// The picture: for each discipline a bar per group of flows, with 95 % intervals, against the fair share.
pub fn svg(report: &Report, headline: &Headline) -> String {
    let groups = groups(report);
    let frame = Frame::new(report, &groups);
    let mut out = String::new();
    open(&mut out, &frame, headline, groups.len());
    legend(&mut out, &groups);
    grid(&mut out, &frame);
    for (at, summary) in report.summary.iter().enumerate() {
        discipline(&mut out, &frame, Column { left: frame.left_of(at), summary }, &groups);
    }
    fair_line(&mut out, &frame);
    out.push_str("</svg>\n");
    out
}

/// The measures of the drawing.
struct Frame {
    width: f64,
    height: f64,
    column: f64,
    spread: f64,
    top_value: f64,
    step: f64,
}

impl Frame {
    fn new(report: &Report, groups: &[&str]) -> Self {
        let bars = groups.len().max(1) as f64;
        let column = bars * BAR + (bars - 1.0) * BAR_GAP;
        let columns = report.summary.len().max(1) as f64;
        let width = (LEFT + RIGHT + columns * (column + GROUP_GAP)).max(LEAST_WIDTH);
        let highest =
            report.summary.iter().flat_map(|summary| groups.iter().filter_map(|group| share(summary, group)));
        let highest = highest.map(|e| e.mean + e.half_width_95.unwrap_or(0.0)).fold(1.2, f64::max);
        let step = step(highest);
        Frame {
            width,
            height: TOP + PLOT_HEIGHT + BOTTOM,
            column,
            spread: (width - LEFT - RIGHT) / columns,
            top_value: (highest * 1.08 / step).ceil() * step,
            step,
        }
    }

    fn left_of(&self, column: usize) -> f64 {
        LEFT + self.spread * (column as f64 + 0.5) - self.column / 2.0
    }

    fn y(&self, value: f64) -> f64 {
        TOP + PLOT_HEIGHT * (1.0 - value / self.top_value)
    }

    fn right(&self) -> f64 {
        self.width - RIGHT
    }
}

/// The distance of the grid's lines: 1, 2 or 5 times a power of ten, for at most eight lines.
fn step(highest: f64) -> f64 {
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
        (0..groups.min(COLOURS.len()))
            .map(|at| format!("\n  .g{at} {{ fill: {} }}", pick(&COLOURS[at])))
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
         <text class=\"title\" x=\"24\" y=\"38\">{title}</text>\n\
         {lines}",
            width - 1.0,
            height - 1.0,
            title = escaped(&headline.title),
            detail = escaped(&headline.detail),
            lines = detail_lines(&headline.detail),
        ),
    );
}

/// The detail, a line for each part: SVG does not break lines by itself.
fn detail_lines(detail: &str) -> String {
    let line = |(at, part): (usize, &str)| {
        format!("<text class=\"detail\" x=\"24\" y=\"{}\">{}</text>\n", 60 + 18 * at, escaped(part))
    };
    detail.split("; ").enumerate().map(line).collect()
}

fn legend(out: &mut String, groups: &[&str]) {
    let mut x = 24.0;
    for (at, group) in groups.iter().enumerate() {
        let class = at % COLOURS.len();
        put(
            out,
            format_args!(
                "<rect class=\"g{class}\" x=\"{x}\" y=\"96\" width=\"14\" height=\"14\" rx=\"3\"/>\n\
             <text class=\"key\" x=\"{}\" y=\"108\">{}</text>\n",
                x + 20.0,
                escaped(group)
            ),
        );
        // 8 pixels a letter at this size, and room to the next key.
        x += 48.0 + 8.0 * group.chars().count() as f64;
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
    let middle = TOP + PLOT_HEIGHT / 2.0;
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
}

fn discipline(out: &mut String, frame: &Frame, column: Column<'_>, groups: &[&str]) {
    for (at, group) in groups.iter().enumerate() {
        if let Some(estimate) = share(column.summary, group) {
            bar(out, frame, column.left + at as f64 * (BAR + BAR_GAP), (at % COLOURS.len(), estimate));
        }
    }
    put(
        out,
        format_args!(
            "<text class=\"name\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            column.left + frame.column / 2.0,
            TOP + PLOT_HEIGHT + 28.0,
            escaped(&column.summary.discipline)
        ),
    );
}

fn bar(out: &mut String, frame: &Frame, x: f64, (class, estimate): (usize, &Estimate)) {
    let (top, foot) = (frame.y(estimate.mean), frame.y(0.0));
    let middle = x + BAR / 2.0;
    let half = estimate.half_width_95.unwrap_or(0.0);
    let (high, low) = (frame.y(estimate.mean + half), frame.y((estimate.mean - half).max(0.0)));
    put(
        out,
        format_args!("<path class=\"g{class}\" d=\"{}\"/>\n", round_topped(x, top, (foot - top).max(0.5))),
    );
    if half > 0.0 {
        put(
            out,
            format_args!(
                "<path class=\"whisker\" d=\"M{:.1} {high:.1}h12M{middle:.1} {high:.1}V{low:.1}M{:.1} {low:.1}h12\"/>\n",
                middle - 6.0,
                middle - 6.0
            ),
        );
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
fn round_topped(x: f64, y: f64, height: f64) -> String {
    let radius = height.min(4.0);
    let (side, across) = (height - radius, BAR - 2.0 * radius);
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

/// Text for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_lines_are_few_and_round() {
        assert_eq!(step(1.2), 0.2);
        assert_eq!(step(5.4), 1.0);
        assert_eq!(step(9.0), 2.0);
        assert_eq!(step(38.0), 5.0);
    }

    #[test]
    fn titles_cannot_break_the_picture() {
        assert_eq!(escaped("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
    }
}

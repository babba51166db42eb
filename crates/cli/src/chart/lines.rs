//! Lines with intervals, curves over time, steps, and scattered points.

use super::axis::{can_show, number, with_interval};
use super::marker::{class, dash, outline};
use super::place::Plot;
use super::style::{Setting, escaped, put};
use fairwire_study::record::{Kind, Line, Mark, Panel};

const RADIUS: f64 = 3.6;
/// A published point is a ring around ours.
const RING: f64 = 5.8;
const CAP: f64 = 3.5;
/// With more marks than this in a line, they are small and their intervals have no caps.
const MANY: usize = 40;
/// A curve has no more points: neighbours are averaged, since a screen shows no more.
const MOST_POINTS: usize = 300;
/// Steps nearer than this are one, in points of the picture.
const SEEN: f64 = 0.8;

/// Our lines, and the paper's numbers above them.
pub(super) fn draw(out: &mut String, panel: &Panel, plot: &Plot, setting: Setting) {
    // Below all lines.
    for line in panel.lines.iter().filter(|_| panel.kind == Kind::Lines) {
        let band = band(panel, line, plot);
        if !band.is_empty() {
            put(out, format_args!("<path class=\"band f{}\" d=\"{band}\"/>\n", class(line)));
        }
    }
    for line in &panel.lines {
        put(out, format_args!("<g><title>{}</title>", escaped(&line.label)));
        match panel.kind {
            Kind::Time => stroke(out, line, &curve(&averaged(panel, line), plot)),
            Kind::Steps => stroke(out, line, &path(&seen(panel, line, plot), plot, true)),
            _ => marked(out, panel, line, plot, setting),
        }
        out.push_str("</g>\n");
    }
    for line in panel.lines.iter().filter(|line| !line.published.is_empty()) {
        for mark in line.published.iter().filter(|mark| is_drawn(panel, mark)) {
            let at = (plot.x(mark.x), plot.y(mark.y));
            put(
                out,
                format_args!(
                    "<path class=\"ring s{}\" d=\"{}\"><title>{}, in the paper: {}</title></path>\n",
                    class(line),
                    outline(line, at, RING),
                    escaped(&line.label),
                    number(mark.y, 6)
                ),
            );
        }
    }
}

fn is_drawn(panel: &Panel, mark: &Mark) -> bool {
    can_show(&panel.y, mark.y) && can_show(&panel.x, mark.x)
}

fn stroke(out: &mut String, line: &Line, path: &str) {
    if !path.is_empty() {
        put(out, format_args!("<path class=\"line s{}\"{} d=\"{path}\"/>", class(line), dash(line)));
    }
}

fn marked(out: &mut String, panel: &Panel, line: &Line, plot: &Plot, setting: Setting) {
    let points: Vec<Option<(f64, f64)>> =
        line.marks.iter().map(|mark| is_drawn(panel, mark).then_some((mark.x, mark.y))).collect();
    if panel.kind == Kind::Lines {
        stroke(out, line, &path(&points, plot, false));
    }
    let is_crowded = line.marks.len() > MANY;
    let cap = if is_crowded || setting == Setting::InPage { 0.0 } else { CAP };
    let whiskers: String =
        line.marks.iter().filter(|mark| is_drawn(panel, mark)).map(|mark| whisker(mark, plot, cap)).collect();
    if !whiskers.is_empty() {
        put(out, format_args!("<path class=\"whisker s{}\" d=\"{whiskers}\"/>", class(line)));
    }
    // A page has the numbers in a table: there a line's markers are one path without titles.
    let mut together = String::new();
    for mark in line.marks.iter().filter(|mark| is_drawn(panel, mark)) {
        let radius = if is_crowded { RADIUS / 2.0 } else { RADIUS };
        if setting == Setting::InPage {
            together += &outline(line, (plot.x(mark.x), plot.y(mark.y)), radius);
            continue;
        }
        put(
            out,
            format_args!(
                "<path class=\"f{}\" d=\"{}\"><title>{} at {}: {}</title></path>",
                class(line),
                outline(line, (plot.x(mark.x), plot.y(mark.y)), radius),
                escaped(&line.label),
                number(mark.x, 4),
                with_interval(mark.y, mark.y_half_width),
            ),
        );
    }
    if !together.is_empty() {
        put(out, format_args!("<path class=\"f{}\" d=\"{together}\"/>", class(line)));
    }
}

/// What the line may be under other settings: there along the least values, and back along the greatest.
fn band(panel: &Panel, line: &Line, plot: &Plot) -> String {
    let drawn = line.marks.iter().filter(|mark| is_drawn(panel, mark));
    let ends: Vec<(f64, [f64; 2])> =
        drawn.filter_map(|mark| Some((plot.x(mark.x), mark.y_band?.map(|y| plot.y(y))))).collect();
    if ends.len() < 2 {
        return String::new();
    }
    let low = ends.iter().map(|(x, [low, _])| (x, low));
    let high = ends.iter().rev().map(|(x, [_, high])| (x, high));
    let mut path = String::new();
    for (at, (x, y)) in low.chain(high).enumerate() {
        put(&mut path, format_args!("{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' }));
    }
    path + "Z"
}

/// The intervals of `mark`. An end outside of the plot is an arrowhead at its edge.
fn whisker(mark: &Mark, plot: &Plot, cap: f64) -> String {
    let (x, y) = (plot.x(mark.x), plot.y(mark.y));
    let mut path = String::new();
    if let Some(half) = mark.y_half_width.filter(|half| *half > 0.0) {
        let (low, high) = (mark.y - half, mark.y + half);
        let [low_y, high_y] = [plot.y(low), plot.y(high)];
        put(&mut path, format_args!("M{x:.1} {low_y:.1}V{high_y:.1}"));
        for (end, down) in [(low, -1.0), (high, 1.0)] {
            if !plot.y.holds(end) {
                path += &arrowhead((x, plot.y(end)), (0.0, down));
            } else if cap > 0.0 {
                put(&mut path, format_args!("M{:.1} {:.1}h{}", x - cap, plot.y(end), 2.0 * cap));
            }
        }
    }
    if let Some(half) = mark.x_half_width.filter(|half| *half > 0.0) {
        let (low, high) = (mark.x - half, mark.x + half);
        put(&mut path, format_args!("M{:.1} {y:.1}H{:.1}", plot.x(low), plot.x(high)));
        for (end, right) in [(low, 1.0), (high, -1.0)] {
            if !plot.x.holds(end) {
                path += &arrowhead((plot.x(end), y), (right, 0.0));
            } else if cap > 0.0 {
                put(&mut path, format_args!("M{:.1} {:.1}v{:.1}", plot.x(end), y - cap, 2.0 * cap));
            }
        }
    }
    path
}

/// Where an interval leaves the plot: two strokes from the tip at `(x, y)` back in the direction `(right, down)`.
pub(super) fn arrowhead((x, y): (f64, f64), (right, down): (f64, f64)) -> String {
    const LONG: f64 = 5.0;
    const WIDE: f64 = 3.5;
    let (back_x, back_y) = (x + LONG * right, y + LONG * down);
    let (side_x, side_y) = (WIDE * down.abs(), WIDE * right.abs());
    format!(
        "M{:.1} {:.1}L{x:.1} {y:.1}L{:.1} {:.1}",
        back_x - side_x,
        back_y - side_y,
        back_x + side_x,
        back_y + side_y
    )
}

/// A line through `points`, broken where one is missing.
fn path(points: &[Option<(f64, f64)>], plot: &Plot, in_steps: bool) -> String {
    let mut path = String::new();
    let mut is_begun = false;
    for point in points {
        let Some((x, y)) = point.map(|(x, y)| (plot.x(x), plot.y(y))) else {
            is_begun = false;
            continue;
        };
        match (is_begun, in_steps) {
            (false, _) => put(&mut path, format_args!("M{x:.1} {y:.1}")),
            (true, false) => put(&mut path, format_args!("L{x:.1} {y:.1}")),
            (true, true) => put(&mut path, format_args!("H{x:.0}V{y:.0}")),
        }
        is_begun = true;
    }
    path
}

/// A curve of many points, broken where one is missing: in whole points of the picture, each from the one before.
fn curve(points: &[Option<(f64, f64)>], plot: &Plot) -> String {
    let mut path = String::new();
    let mut last: Option<(i32, i32)> = None;
    for point in points {
        let Some((x, y)) = point.map(|(x, y)| (plot.x(x).round() as i32, plot.y(y).round() as i32)) else {
            last = None;
            continue;
        };
        match last {
            None => put(&mut path, format_args!("M{x} {y}")),
            Some(last) if last == (x, y) => {}
            Some((from_x, from_y)) => put(&mut path, format_args!("l{} {}", x - from_x, y - from_y)),
        }
        last = Some((x, y));
    }
    path
}

/// As many points as are drawn, each the mean of its neighbours; none where one of these has no place.
fn averaged(panel: &Panel, line: &Line) -> Vec<Option<(f64, f64)>> {
    let together = line.marks.len().div_ceil(MOST_POINTS).max(1);
    let mean = |marks: &[Mark]| {
        let sum = marks
            .iter()
            .try_fold((0.0, 0.0), |(x, y), mark| is_drawn(panel, mark).then_some((x + mark.x, y + mark.y)))?;
        Some((sum.0 / marks.len() as f64, sum.1 / marks.len() as f64))
    };
    line.marks.chunks(together).map(mean).collect()
}

/// The steps that can be seen, and the last.
fn seen(panel: &Panel, line: &Line, plot: &Plot) -> Vec<Option<(f64, f64)>> {
    let mut kept: Vec<Option<(f64, f64)>> = Vec::new();
    let mut last: Option<(f64, f64)> = None;
    for (at, mark) in line.marks.iter().enumerate() {
        if !is_drawn(panel, mark) {
            (last, _) = (None, kept.push(None));
            continue;
        }
        let here = (plot.x(mark.x), plot.y(mark.y));
        let is_far = last.is_none_or(|last| (here.0 - last.0).abs().max((here.1 - last.1).abs()) >= SEEN);
        if is_far || at + 1 == line.marks.len() {
            kept.push(Some((mark.x, mark.y)));
            last = Some(here);
        }
    }
    kept
}

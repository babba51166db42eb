//! Lines with intervals, curves over time, steps, and scattered points.

use crate::axis::can_show;
use crate::layout::{Bounds, Place, Plot};
use crate::marker::{self, class, dash, outline};
use crate::number::{number, with_interval};
use crate::panel::{Kind, Line, Mark, Panel};
use crate::style::{Setting, escaped};

const RADIUS: f64 = 3.6;
/// The radius of a published point: a ring around our point.
const RING: f64 = 5.8;
const CAP: f64 = 3.5;
/// A line with more marks than this has small marks, and intervals without caps.
const MANY: usize = 40;
/// The maximum number of points of a curve in a page, because a page has many curves. If there are
/// more points, neighbouring points are averaged.
const MAX_IN_PAGE: usize = 300;
const MAX_ALONE: usize = 600;
/// The distance below which steps merge, in points of the picture.
const SEEN: f64 = 0.8;

pub(super) fn draw(out: &mut String, panel: &Panel, plot: &Plot, setting: Setting) {
    // Below all lines.
    for line in panel.lines.iter().filter(|_| panel.kind == Kind::Lines) {
        let band = band(panel, line, plot);
        if !band.is_empty() {
            *out += &format!("<path class=\"band f{}\" d=\"{band}\"/>\n", class(line));
        }
    }
    if let Some(from) = panel.measured_from {
        begin_of_measuring(out, plot, from);
    }
    for line in &panel.lines {
        *out += &format!("<g><title>{}</title>", escaped(&line.label));
        match panel.kind {
            Kind::Time => stroke(out, line, &curve(panel, line, plot, setting)),
            Kind::Steps => stroke(out, line, &path(seen(panel, line, plot).into_iter(), true)),
            _ => marked(out, panel, line, plot, setting),
        }
        out.push_str("</g>\n");
    }
    if panel.measured_from.is_some() {
        out.push_str("</svg>\n");
    }
    for line in panel.lines.iter().filter(|line| !line.published.is_empty()) {
        for mark in line.published.iter().filter(|mark| is_drawn(panel, mark)) {
            *out += &format!(
                "<path class=\"ring s{}\" d=\"{}\"><title>{}, in the paper: {}</title></path>\n",
                class(line),
                outline(line, plot.place(mark), RING),
                escaped(&line.label),
                number(mark.y, 6)
            );
        }
    }
}

/// Draws a vertical line where measuring begins. Opens a nested picture, which clips the data to
/// the plot.
fn begin_of_measuring(out: &mut String, plot: &Plot, from: f64) {
    let Bounds { left, right, ceiling, floor } = plot.bounds;
    let (x, width, height) = (plot.x(from), right - left, floor - ceiling);
    *out += &format!(
        "<path class=\"fair\" d=\"M{x:.1} {ceiling}V{floor}\"/>\n\
         <svg x=\"{left}\" y=\"{ceiling}\" width=\"{width:.1}\" height=\"{height:.1}\" viewBox=\"{left} {ceiling} {width:.1} {height:.1}\">\n"
    );
}

fn is_drawn(panel: &Panel, mark: &Mark) -> bool {
    can_show(&panel.y, mark.y) && can_show(&panel.x, mark.x)
}

fn placed(panel: &Panel, mark: &Mark, plot: &Plot) -> Option<Place> {
    is_drawn(panel, mark).then(|| plot.place(mark))
}

fn stroke(out: &mut String, line: &Line, path: &str) {
    if !path.is_empty() {
        *out += &format!("<path class=\"{}\"{} d=\"{path}\"/>", marker::stroke(line), dash(line));
    }
}

fn marked(out: &mut String, panel: &Panel, line: &Line, plot: &Plot, setting: Setting) {
    if panel.kind == Kind::Lines {
        let points = line.marks.iter().map(|mark| placed(panel, mark, plot));
        stroke(out, line, &path(points, false));
    }
    let is_crowded = line.marks.len() > MANY;
    let cap = if is_crowded || setting == Setting::InPage { 0.0 } else { CAP };
    let whiskers: String =
        line.marks.iter().filter(|mark| is_drawn(panel, mark)).map(|mark| whisker(mark, plot, cap)).collect();
    if !whiskers.is_empty() {
        *out += &format!("<path class=\"whisker s{}\" d=\"{whiskers}\"/>", class(line));
    }
    // In a page, the markers of a line are one path without titles, because a table has the
    // numbers.
    let mut together = String::new();
    for mark in line.marks.iter().filter(|mark| is_drawn(panel, mark)) {
        let radius = if is_crowded { RADIUS / 2.0 } else { RADIUS };
        if setting == Setting::InPage {
            together += &outline(line, plot.place(mark), radius);
            continue;
        }
        *out += &format!(
            "<path class=\"f{}\" d=\"{}\"><title>{} at {}: {}</title></path>",
            class(line),
            outline(line, plot.place(mark), radius),
            escaped(&line.label),
            number(mark.x, 4),
            with_interval(mark.y, mark.y_half_width),
        );
    }
    if !together.is_empty() {
        *out += &format!("<path class=\"f{}\" d=\"{together}\"/>", class(line));
    }
}

/// The outline of the area that the `y_band` of the line's marks covers.
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
        path += &format!("{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
    }
    path + "Z"
}

/// The path of a mark's intervals. An end outside the plot becomes an arrowhead at the plot's edge.
fn whisker(mark: &Mark, plot: &Plot, cap: f64) -> String {
    let Place { x, y } = plot.place(mark);
    let mut path = String::new();
    if let Some(half) = mark.y_half_width.filter(|half| *half > 0.0) {
        let (low, high) = (mark.y - half, mark.y + half);
        let [low_y, high_y] = [plot.y(low), plot.y(high)];
        path += &format!("M{x:.1} {low_y:.1}V{high_y:.1}");
        for (end, down) in [(low, -1.0), (high, 1.0)] {
            if !plot.y.holds(end) {
                path += &arrowhead(Place { x, y: plot.y(end) }, [0.0, down]);
            } else if cap > 0.0 {
                path += &format!("M{:.1} {:.1}h{}", x - cap, plot.y(end), 2.0 * cap);
            }
        }
    }
    if let Some(half) = mark.x_half_width.filter(|half| *half > 0.0) {
        let (low, high) = (mark.x - half, mark.x + half);
        path += &format!("M{:.1} {y:.1}H{:.1}", plot.x(low), plot.x(high));
        for (end, right) in [(low, 1.0), (high, -1.0)] {
            if !plot.x.holds(end) {
                path += &arrowhead(Place { x: plot.x(end), y }, [right, 0.0]);
            } else if cap > 0.0 {
                path += &format!("M{:.1} {:.1}v{:.1}", plot.x(end), y - cap, 2.0 * cap);
            }
        }
    }
    path
}

/// An arrowhead at `tip`, whose two strokes lead back in the direction `[right, down]`.
pub(super) fn arrowhead(tip: Place, [right, down]: [f64; 2]) -> String {
    const LONG: f64 = 5.0;
    const WIDE: f64 = 3.5;
    let (Place { x, y }, back) = (tip, tip.by(LONG * right, LONG * down));
    let (side_x, side_y) = (WIDE * down.abs(), WIDE * right.abs());
    format!(
        "M{:.1} {:.1}L{x:.1} {y:.1}L{:.1} {:.1}",
        back.x - side_x,
        back.y - side_y,
        back.x + side_x,
        back.y + side_y
    )
}

fn path(points: impl Iterator<Item = Option<Place>>, in_steps: bool) -> String {
    let mut path = String::new();
    let mut is_begun = false;
    for point in points {
        let Some(Place { x, y }) = point else {
            is_begun = false;
            continue;
        };
        match (is_begun, in_steps) {
            (false, _) => path += &format!("M{x:.1} {y:.1}"),
            (true, false) => path += &format!("L{x:.1} {y:.1}"),
            (true, true) => path += &format!("H{x:.0}V{y:.0}"),
        }
        is_begun = true;
    }
    path
}

/// A curve, interrupted where a mark cannot be drawn.
fn curve(panel: &Panel, line: &Line, plot: &Plot, setting: Setting) -> String {
    let grain = if setting == Setting::InPage { 1.0 } else { 10.0 };
    let whole = |points: f64| (points * grain).round() as i64;
    let number = |whole: i64| whole as f64 / grain;
    let mut path = String::new();
    let mut last: Option<(i64, i64)> = None;
    for mark in &line.marks {
        if !is_drawn(panel, mark) {
            last = None;
            continue;
        }
        let (x, y) = (whole(plot.x(mark.x)), whole(plot.y_beyond(mark.y)));
        match last {
            None => path += &format!("M{} {}", number(x), number(y)),
            Some(last) if last == (x, y) => {}
            Some((from_x, from_y)) => path += &format!("l{} {}", number(x - from_x), number(y - from_y)),
        }
        last = Some((x, y));
    }
    path
}

/// Replaces neighbouring marks of a long curve by their mean. If one of these marks cannot be
/// drawn, the mean is missing.
pub(super) fn thinned(panel: &Panel, setting: Setting) -> Panel {
    let mut panel = panel.clone();
    let most = if setting == Setting::InPage { MAX_IN_PAGE } else { MAX_ALONE };
    for at in (0..panel.lines.len()).filter(|_| panel.kind == Kind::Time) {
        let marks = std::mem::take(&mut panel.lines[at].marks);
        let mean = |marks: &[Mark]| {
            let is_whole = marks.iter().all(|mark| is_drawn(&panel, mark));
            let sum = |value: fn(&Mark) -> f64| marks.iter().map(value).sum::<f64>();
            let count = if is_whole { marks.len() as f64 } else { f64::NAN };
            Mark { x: sum(|mark| mark.x) / count, y: sum(|mark| mark.y) / count, ..Mark::default() }
        };
        panel.lines[at].marks = marks.chunks(marks.len().div_ceil(most).max(1)).map(mean).collect();
    }
    panel
}

fn seen(panel: &Panel, line: &Line, plot: &Plot) -> Vec<Option<Place>> {
    let mut kept: Vec<Option<Place>> = Vec::new();
    for (at, mark) in line.marks.iter().enumerate() {
        let here = placed(panel, mark, plot);
        let is_near = |last: Place, here: Place| (here.x - last.x).abs().max((here.y - last.y).abs()) < SEEN;
        match (kept.last().copied().flatten(), here) {
            (Some(last), Some(here)) if is_near(last, here) && at + 1 < line.marks.len() => {}
            _ => kept.push(here),
        }
    }
    kept
}

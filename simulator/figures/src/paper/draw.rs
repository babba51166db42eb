//! One panel: its axes, and its data.

use super::font::Ruler;
use super::page::{LINE, Page, SIZE};
use super::sheet::{Anchor, BLACK, Item, Rgb, Step, Stroke, Text, WHITE};
use super::{keys, shapes};
use crate::axis::{Span, can_show};
use crate::frame;
use crate::layout::Columns;
use crate::number::number;
use crate::panel::{Kind, Line, Mark, Panel};

/// The height of a row of a heat map.
pub(super) const ROW: f64 = 13.0;
const GRID: Stroke = Stroke { colour: [222, 222, 222], width: 0.4, dash: &[] };
const EDGE: Stroke = Stroke { colour: BLACK, width: 0.6, dash: &[] };
const REFERENCE: Stroke = Stroke { colour: [105, 105, 105], width: 0.7, dash: &[3.0, 2.0] };
/// The darkest cell of a heat map.
const DARK: Rgb = [0, 68, 110];
/// Slanted names: degrees against the clock.
const SLANT: f64 = 35.0;
/// With more marks in a line, none is drawn: only the line.
const MANY: usize = 60;

/// The place of a plot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub left: f64,
    pub right: f64,
    pub ceiling: f64,
    pub floor: f64,
}

/// A plot with its axes.
struct Plot {
    bounds: Bounds,
    x: Span,
    y: Span,
}

impl Plot {
    fn x(&self, value: f64) -> f64 {
        self.bounds.left + (self.bounds.right - self.bounds.left) * self.x.share(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.bounds.floor - (self.bounds.floor - self.bounds.ceiling) * self.y.share(value)
    }

    /// As [`Plot::y`], and outside of the plot for values beyond its ends.
    fn y_beyond(&self, value: f64) -> f64 {
        self.bounds.floor - (self.bounds.floor - self.bounds.ceiling) * self.y.beyond(value)
    }

    fn area(&self) -> [f64; 4] {
        let Bounds { left, right, ceiling, floor } = self.bounds;
        [left, ceiling, right, floor]
    }
}

/// The width of what is left of the vertical axis.
pub(super) fn ticks_width(ruler: &Ruler, panel: &Panel) -> f64 {
    upward(panel).iter().map(|name| ruler.width(name, SIZE)).fold(0.0, f64::max).min(80.0)
}

/// Draws `panel`, and returns how far down it goes.
pub(super) fn panel(page: &mut Page, panel: &Panel, bounds: &Bounds) -> f64 {
    let plot = Plot { bounds: *bounds, x: frame::across(panel), y: frame::up(panel) };
    if panel.is_table() {
        cells(page, panel, &plot);
    } else {
        upward_axis(page, &plot);
        references(page, panel, &plot);
        match panel.kind {
            Kind::Bars => bars(page, panel, &plot),
            _ => lines(page, panel, &plot),
        }
    }
    let mut floor = bounds.floor + across_axis(page, panel, &plot);
    if !panel.x.label.is_empty() {
        floor += LINE;
        let middle = (bounds.left + bounds.right) / 2.0;
        let label = page.ruler.cut(&panel.x.label, SIZE, bounds.right - bounds.left);
        page.text((middle, floor - 1.0), Anchor::Middle, label);
    }
    let x = bounds.left - ticks_width(&page.ruler, panel) - 4.0 - 3.0;
    let at = (x, (bounds.ceiling + bounds.floor) / 2.0);
    let label = page.ruler.cut(&panel.y.label, SIZE, (bounds.floor - bounds.ceiling + 40.0).max(60.0));
    let (size, anchor, turn, colour) = (SIZE, Anchor::Middle, 90.0, BLACK);
    page.sheet.text(Text { at, size, anchor, turn, colour, text: label });
    floor
}

fn upward_axis(page: &mut Page, plot: &Plot) {
    let Bounds { left, right, .. } = plot.bounds;
    for tick in &plot.y.ticks {
        let y = plot.y(*tick);
        page.sheet.line((left, y), (right, y), GRID);
        page.text((left - 3.0, y + SIZE * 0.35), Anchor::End, plot.y.name(*tick));
    }
}

/// Draws what is below the horizontal axis, and returns how high it is.
fn across_axis(page: &mut Page, panel: &Panel, plot: &Plot) -> f64 {
    let Bounds { left, right, ceiling, floor } = plot.bounds;
    if !panel.is_table() {
        let edge = vec![Step::To(left, ceiling), Step::Line(left, floor), Step::Line(right, floor)];
        page.sheet.stroke(edge, EDGE);
    }
    if frame::has_names(panel) {
        return names(page, panel, plot);
    }
    let mut free_from = f64::NEG_INFINITY;
    for tick in &plot.x.ticks {
        let (x, name) = (plot.x(*tick), plot.x.name(*tick));
        page.sheet.line((x, floor), (x, floor - 2.5), EDGE);
        let half = page.ruler.width(&name, SIZE) / 2.0;
        if x - half >= free_from {
            page.text((x, floor + SIZE + 1.5), Anchor::Middle, name);
            free_from = x + half + 4.0;
        }
    }
    SIZE + 2.5
}

/// Draws names below their columns; slanted where they would touch.
fn names(page: &mut Page, panel: &Panel, plot: &Plot) -> f64 {
    const MAX_WIDTH: f64 = 70.0;
    let names = Columns::new(panel).names;
    let room = (plot.bounds.right - plot.bounds.left) / names.len().max(1) as f64;
    let widest = names.iter().map(|name| page.ruler.width(name, SIZE)).fold(0.0, f64::max);
    let is_slanted = widest + 3.0 > room;
    let every = if is_slanted { ((SIZE + 2.0) / room).ceil().max(1.0) as usize } else { 1 };
    for (at, name) in names.iter().enumerate().step_by(every) {
        let (x, y) = (plot.x(at as f64), plot.bounds.floor + SIZE + 1.5);
        if is_slanted {
            let text = page.ruler.cut(name, SIZE, MAX_WIDTH);
            let (size, anchor, turn, colour) = (SIZE, Anchor::End, SLANT, BLACK);
            page.sheet.text(Text { at: (x + 2.0, y - 1.0), size, anchor, turn, colour, text });
        } else {
            page.text((x, y), Anchor::Middle, name.clone());
        }
    }
    let depth = if is_slanted { widest.min(MAX_WIDTH) * libm::sin(SLANT.to_radians()) } else { 0.0 };
    SIZE + 2.5 + depth
}

fn references(page: &mut Page, panel: &Panel, plot: &Plot) {
    let Bounds { left, right, .. } = plot.bounds;
    for one in panel.reference.iter().filter(|one| can_show(&panel.y, one.y)) {
        if let Some([low, high]) = one.band {
            let area = [left, plot.y(high), right, plot.y(low)];
            page.sheet.fill(shapes::rectangle(area), [235, 235, 235]);
        }
        let y = plot.y(one.y);
        page.sheet.line((left, y), (right, y), REFERENCE);
        page.coloured((right, y - 2.0), Anchor::End, one.label.clone(), REFERENCE.colour);
    }
}

fn is_drawn(panel: &Panel, mark: &Mark) -> bool {
    can_show(&panel.y, mark.y) && (frame::has_names(panel) || can_show(&panel.x, mark.x))
}

fn lines(page: &mut Page, panel: &Panel, plot: &Plot) {
    for line in &panel.lines {
        band(page, panel, line, plot);
    }
    if let Some(from) = panel.measured_from.filter(|from| plot.x.holds(*from)) {
        let x = plot.x(from);
        page.sheet.line((x, plot.bounds.ceiling), (x, plot.bounds.floor), REFERENCE);
    }
    for line in &panel.lines {
        if panel.kind != Kind::Scatter {
            let path = path(panel, line, plot);
            if !path.is_empty() {
                let (stroke, within) = (Some(shapes::stroke(line)), Some(plot.area()));
                page.sheet.items.push(Item::Path { path, fill: None, stroke, within });
            }
        }
        let is_marked = match panel.kind {
            Kind::Lines => line.marks.len() <= MANY,
            Kind::Scatter => true,
            _ => false,
        };
        for mark in line.marks.iter().filter(|mark| is_marked && is_drawn(panel, mark)) {
            whiskers(page, mark, plot, shapes::colour(line));
            let radius = if line.marks.len() > MANY { 1.1 } else { 1.7 };
            page.sheet
                .fill(shapes::marker(line, (plot.x(mark.x), plot.y(mark.y)), radius), shapes::colour(line));
        }
        for mark in line.published.iter().filter(|mark| is_drawn(panel, mark)) {
            let ring = shapes::marker(line, (plot.x(mark.x), plot.y(mark.y)), 2.8);
            page.sheet.stroke(ring, Stroke { colour: shapes::colour(line), width: 0.7, dash: &[] });
        }
    }
}

/// The line through its marks, broken where one cannot be drawn.
fn path(panel: &Panel, line: &Line, plot: &Plot) -> Vec<Step> {
    let mut path = Vec::new();
    let mut last: Option<(f64, f64)> = None;
    for mark in &line.marks {
        if !is_drawn(panel, mark) {
            last = None;
            continue;
        }
        let here = (plot.x(mark.x), plot.y_beyond(mark.y).clamp(-1e4, 1e4));
        match last {
            None => path.push(Step::To(here.0, here.1)),
            // What is nearer cannot be seen.
            Some(last) if (last.0 - here.0).abs() + (last.1 - here.1).abs() < 0.05 => continue,
            Some((_, y)) if panel.kind == Kind::Steps => {
                path.extend([Step::Line(here.0, y), Step::Line(here.0, here.1)]);
            }
            Some(_) => path.push(Step::Line(here.0, here.1)),
        }
        last = Some(here);
    }
    path
}

/// The range of the line under other settings.
fn band(page: &mut Page, panel: &Panel, line: &Line, plot: &Plot) {
    let drawn = line.marks.iter().filter(|mark| is_drawn(panel, mark));
    let ends: Vec<(f64, [f64; 2])> =
        drawn.filter_map(|mark| Some((plot.x(mark.x), mark.y_band?.map(|y| plot.y(y))))).collect();
    if ends.len() > 1 {
        let low = ends.iter().map(|(x, [low, _])| (*x, *low));
        let high = ends.iter().rev().map(|(x, [_, high])| (*x, *high));
        let corners: Vec<(f64, f64)> = low.chain(high).collect();
        page.sheet.fill(shapes::polygon(&corners), shapes::tint(shapes::colour(line), 0.15));
    }
}

/// The intervals of `mark`; a cap where an end is in the plot.
fn whiskers(page: &mut Page, mark: &Mark, plot: &Plot, colour: Rgb) {
    let thin = Stroke { colour, width: 0.6, dash: &[] };
    let (x, y) = (plot.x(mark.x), plot.y(mark.y));
    if let Some(half) = mark.y_half_width.filter(|half| *half > 0.0) {
        let ends = [mark.y - half, mark.y + half];
        page.sheet.line((x, plot.y(ends[0])), (x, plot.y(ends[1])), thin);
        for end in ends.into_iter().filter(|end| plot.y.holds(*end)) {
            page.sheet.line((x - 1.8, plot.y(end)), (x + 1.8, plot.y(end)), thin);
        }
    }
    if let Some(half) = mark.x_half_width.filter(|half| *half > 0.0) {
        let ends = [mark.x - half, mark.x + half];
        page.sheet.line((plot.x(ends[0]), y), (plot.x(ends[1]), y), thin);
        for end in ends.into_iter().filter(|end| plot.x.holds(*end)) {
            page.sheet.line((plot.x(end), y - 1.8), (plot.x(end), y + 1.8), thin);
        }
    }
}

fn bars(page: &mut Page, panel: &Panel, plot: &Plot) {
    let columns = Columns::new(panel);
    let spread = (plot.bounds.right - plot.bounds.left) / columns.names.len().max(1) as f64;
    let count = panel.lines.len().max(1) as f64;
    let wide = (spread * 0.76 / count).min(26.0);
    let foot = plot.bounds.floor - (plot.bounds.floor - plot.bounds.ceiling) * plot.y.foot();
    for (at, line) in panel.lines.iter().enumerate() {
        for mark in line.marks.iter().filter(|mark| can_show(&panel.y, mark.y)) {
            let Some(column) = columns.of(mark) else { continue };
            let left = plot.x(column as f64) + wide * (at as f64 - count / 2.0);
            let end = plot.y(mark.y);
            let area = [left + 0.6, end.min(foot), left + wide - 0.6, end.max(foot)];
            keys::bar(page, line, area);
            let middle = Mark { x: 0.0, x_half_width: None, ..mark.clone() };
            interval(page, &middle, plot, left + wide / 2.0);
        }
    }
}

/// The interval on a bar.
fn interval(page: &mut Page, mark: &Mark, plot: &Plot, x: f64) {
    let Some(half) = mark.y_half_width.filter(|half| *half > 0.0) else { return };
    let black = Stroke { colour: BLACK, width: 0.7, dash: &[] };
    let ends = [mark.y - half, mark.y + half];
    page.sheet.line((x, plot.y(ends[0])), (x, plot.y(ends[1])), black);
    for end in ends.into_iter().filter(|end| plot.y.holds(*end)) {
        page.sheet.line((x - 2.0, plot.y(end)), (x + 2.0, plot.y(end)), black);
    }
}

/// Draws a table of numbers; of a grid each cell is as dark as its value is large.
fn cells(page: &mut Page, panel: &Panel, plot: &Plot) {
    let columns = Columns::new(panel);
    let Bounds { left, right, ceiling, .. } = plot.bounds;
    let width = (right - left) / columns.names.len().max(1) as f64;
    for (row, line) in panel.lines.iter().enumerate() {
        let top = ceiling + row as f64 * ROW;
        let name = page.ruler.cut(&line.label, SIZE, 80.0);
        page.text((left - 3.0, top + ROW / 2.0 + SIZE * 0.35), Anchor::End, name);
        for (column, mark) in line.marks.iter().filter_map(|mark| Some((columns.of(mark)?, mark))) {
            let x = left + column as f64 * width;
            let is_shaded = panel.kind == Kind::Grid && mark.y.is_finite();
            let part = if is_shaded { 0.04 + 0.9 * panel.shade(mark.y) } else { 0.0 };
            page.sheet.fill(shapes::rectangle([x, top, x + width, top + ROW]), shapes::tint(DARK, part));
            let text = number(mark.y, 3);
            if page.ruler.width(&text, SIZE) + 2.0 < width {
                let colour = if part > 0.5 { WHITE } else { BLACK };
                page.coloured((x + width / 2.0, top + ROW / 2.0 + SIZE * 0.35), Anchor::Middle, text, colour);
            }
        }
    }
}

/// The names or numbers of the vertical axis.
fn upward(panel: &Panel) -> Vec<String> {
    if panel.is_table() {
        return panel.lines.iter().map(|line| line.label.clone()).collect();
    }
    let span = frame::up(panel);
    span.ticks.iter().map(|tick| span.name(*tick)).collect()
}

//! One panel: axes and data.

use super::font::Ruler;
use super::page::{LINE, Page, SIZE};
use super::sheet::{Anchor, BLACK, Item, Rgb, Step, Stroke, Text, WHITE};
use super::{keys, shapes};
use crate::axis::can_show;
use crate::frame;
use crate::layout::{Bounds, Columns, Place, Plot};
use crate::number::number;
use crate::panel::{Kind, Line, Mark, Panel};

pub(super) const ROW: f64 = 13.0;
const GRID: Stroke = Stroke { colour: [222, 222, 222], width: 0.4, dash: &[] };
const EDGE: Stroke = Stroke { colour: BLACK, width: 0.6, dash: &[] };
const REFERENCE: Stroke = Stroke { colour: [105, 105, 105], width: 0.7, dash: &[3.0, 2.0] };
/// The colour of the darkest cell of a heat map.
const DARK: Rgb = [0, 68, 110];
/// The angle of slanted names, in degrees counterclockwise.
const SLANT: f64 = 35.0;
/// If a line has more marks than this, its marks are omitted. In a scatter plot, they are smaller
/// instead.
const MANY: usize = 60;

pub(super) fn ticks_width(ruler: &Ruler, panel: &Panel) -> f64 {
    upward(panel).iter().map(|name| ruler.width(name, SIZE)).fold(0.0, f64::max).min(80.0)
}

/// Draws `panel`, and returns its lower end.
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
        page.text(Place { x: middle, y: floor - 1.0 }, Anchor::Middle, label);
    }
    let x = bounds.left - ticks_width(&page.ruler, panel) - 4.0 - 3.0;
    let at = Place { x, y: (bounds.ceiling + bounds.floor) / 2.0 };
    let label = page.ruler.cut(&panel.y.label, SIZE, (bounds.floor - bounds.ceiling + 40.0).max(60.0));
    let (size, anchor, turn, colour) = (SIZE, Anchor::Middle, 90.0, BLACK);
    page.sheet.text(Text { at, size, anchor, turn, colour, text: label });
    floor
}

fn upward_axis(page: &mut Page, plot: &Plot) {
    let Bounds { left, right, .. } = plot.bounds;
    for tick in &plot.y.ticks {
        let y = plot.y(*tick);
        let at = Place { x: left, y };
        page.sheet.line(at, Place { x: right, y }, GRID);
        page.text(at.by(-3.0, SIZE * 0.35), Anchor::End, plot.y.name(*tick));
    }
}

/// Draws everything below the horizontal axis, and returns its height.
fn across_axis(page: &mut Page, panel: &Panel, plot: &Plot) -> f64 {
    let Bounds { left, right, ceiling, floor } = plot.bounds;
    if !panel.is_table() {
        let [top, corner, end] =
            [[left, ceiling], [left, floor], [right, floor]].map(|[x, y]| Place { x, y });
        page.sheet.stroke(vec![Step::To(top), Step::Line(corner), Step::Line(end)], EDGE);
    }
    if frame::has_names(panel) {
        return names(page, panel, plot);
    }
    let mut free_from = f64::NEG_INFINITY;
    for tick in &plot.x.ticks {
        let (x, name) = (plot.x(*tick), plot.x.name(*tick));
        let at = Place { x, y: floor };
        page.sheet.line(at, at.by(0.0, -2.5), EDGE);
        let half = page.ruler.width(&name, SIZE) / 2.0;
        if x - half >= free_from {
            page.text(at.by(0.0, SIZE).by(0.0, 1.5), Anchor::Middle, name);
            free_from = x + half + 4.0;
        }
    }
    SIZE + 2.5
}

fn names(page: &mut Page, panel: &Panel, plot: &Plot) -> f64 {
    const MAX_WIDTH: f64 = 70.0;
    let names = Columns::new(panel).names;
    let room = (plot.bounds.right - plot.bounds.left) / names.len().max(1) as f64;
    let widest = names.iter().map(|name| page.ruler.width(name, SIZE)).fold(0.0, f64::max);
    let is_slanted = widest + 3.0 > room;
    let every = if is_slanted { ((SIZE + 2.0) / room).ceil().max(1.0) as usize } else { 1 };
    for (at, name) in names.iter().enumerate().step_by(every) {
        let at = Place { x: plot.x(at as f64), y: plot.bounds.floor + SIZE + 1.5 };
        if is_slanted {
            let text = page.ruler.cut(name, SIZE, MAX_WIDTH);
            let (size, anchor, turn, colour) = (SIZE, Anchor::End, SLANT, BLACK);
            page.sheet.text(Text { at: at.by(2.0, -1.0), size, anchor, turn, colour, text });
        } else {
            page.text(at, Anchor::Middle, name.clone());
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
        let end = Place { x: right, y: plot.y(one.y) };
        page.sheet.line(Place { x: left, ..end }, end, REFERENCE);
        page.coloured(end.by(0.0, -2.0), Anchor::End, one.label.clone(), REFERENCE.colour);
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
        let Bounds { ceiling, floor, .. } = plot.bounds;
        page.sheet.line(Place { x, y: ceiling }, Place { x, y: floor }, REFERENCE);
    }
    for line in &panel.lines {
        if panel.kind != Kind::Scatter {
            let path = path(panel, line, plot);
            if !path.is_empty() {
                let Bounds { left, right, ceiling, floor } = plot.bounds;
                let (stroke, within) = (Some(shapes::stroke(line)), Some([left, ceiling, right, floor]));
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
            page.sheet.fill(shapes::marker(line, plot.place(mark), radius), shapes::colour(line));
        }
        for mark in line.published.iter().filter(|mark| is_drawn(panel, mark)) {
            let ring = shapes::marker(line, plot.place(mark), 2.8);
            page.sheet.stroke(ring, Stroke { colour: shapes::colour(line), width: 0.7, dash: &[] });
        }
    }
}

fn path(panel: &Panel, line: &Line, plot: &Plot) -> Vec<Step> {
    let mut path = Vec::new();
    let mut last: Option<Place> = None;
    for mark in &line.marks {
        if !is_drawn(panel, mark) {
            last = None;
            continue;
        }
        let here = Place { x: plot.x(mark.x), y: plot.y_beyond(mark.y).clamp(-1e4, 1e4) };
        match last {
            None => path.push(Step::To(here)),
            Some(last) if (last.x - here.x).abs() + (last.y - here.y).abs() < 0.05 => continue,
            Some(last) if panel.kind == Kind::Steps => {
                path.extend([Step::Line(Place { y: last.y, ..here }), Step::Line(here)]);
            }
            Some(_) => path.push(Step::Line(here)),
        }
        last = Some(here);
    }
    path
}

fn band(page: &mut Page, panel: &Panel, line: &Line, plot: &Plot) {
    let drawn = line.marks.iter().filter(|mark| is_drawn(panel, mark));
    let ends: Vec<[Place; 2]> = drawn
        .filter_map(|mark| Some(mark.y_band?.map(|y| Place { x: plot.x(mark.x), y: plot.y(y) })))
        .collect();
    if ends.len() > 1 {
        let low = ends.iter().map(|[low, _]| *low);
        let corners: Vec<Place> = low.chain(ends.iter().rev().map(|[_, high]| *high)).collect();
        page.sheet.fill(shapes::polygon(&corners), shapes::tint(shapes::colour(line), 0.15));
    }
}

fn whiskers(page: &mut Page, mark: &Mark, plot: &Plot, colour: Rgb) {
    let thin = Stroke { colour, width: 0.6, dash: &[] };
    interval(page, mark, plot, plot.x(mark.x), thin, 1.8);
    if let Some(half) = mark.x_half_width.filter(|half| *half > 0.0) {
        let ends = [mark.x - half, mark.x + half];
        let place = |end: f64| Place { x: plot.x(end), y: plot.y(mark.y) };
        page.sheet.line(place(ends[0]), place(ends[1]), thin);
        for end in ends.into_iter().filter(|end| plot.x.holds(*end)).map(place) {
            page.sheet.line(end.by(0.0, -1.8), end.by(0.0, 1.8), thin);
        }
    }
}

fn bars(page: &mut Page, panel: &Panel, plot: &Plot) {
    let columns = Columns::new(panel);
    let spread = (plot.bounds.right - plot.bounds.left) / columns.names.len().max(1) as f64;
    let count = panel.lines.len().max(1) as f64;
    let wide = (spread * 0.76 / count).min(26.0);
    let foot = plot.up(plot.y.foot());
    let black = Stroke { colour: BLACK, width: 0.7, dash: &[] };
    for (at, line) in panel.lines.iter().enumerate() {
        for mark in line.marks.iter().filter(|mark| can_show(&panel.y, mark.y)) {
            let Some(column) = columns.of(mark) else { continue };
            let left = plot.x(column as f64) + wide * (at as f64 - count / 2.0);
            let end = plot.y(mark.y);
            let area = [left + 0.6, end.min(foot), left + wide - 0.6, end.max(foot)];
            keys::bar(page, line, area);
            interval(page, mark, plot, left + wide / 2.0, black, 2.0);
        }
    }
}

fn interval(page: &mut Page, mark: &Mark, plot: &Plot, x: f64, stroke: Stroke, cap: f64) {
    let Some(half) = mark.y_half_width.filter(|half| *half > 0.0) else { return };
    let ends = [mark.y - half, mark.y + half];
    let place = |end: f64| Place { x, y: plot.y(end) };
    page.sheet.line(place(ends[0]), place(ends[1]), stroke);
    for end in ends.into_iter().filter(|end| plot.y.holds(*end)).map(place) {
        page.sheet.line(end.by(-cap, 0.0), end.by(cap, 0.0), stroke);
    }
}

fn cells(page: &mut Page, panel: &Panel, plot: &Plot) {
    let columns = Columns::new(panel);
    let Bounds { left, right, ceiling, .. } = plot.bounds;
    let width = (right - left) / columns.names.len().max(1) as f64;
    for (row, line) in panel.lines.iter().enumerate() {
        let top = ceiling + row as f64 * ROW;
        let name = page.ruler.cut(&line.label, SIZE, 80.0);
        let below = top + ROW / 2.0 + SIZE * 0.35;
        page.text(Place { x: left - 3.0, y: below }, Anchor::End, name);
        for (column, mark) in line.marks.iter().filter_map(|mark| Some((columns.of(mark)?, mark))) {
            let x = left + column as f64 * width;
            let is_shaded = panel.kind == Kind::Grid && mark.y.is_finite();
            let part = if is_shaded { 0.04 + 0.9 * panel.shade(mark.y) } else { 0.0 };
            page.sheet.fill(shapes::rectangle([x, top, x + width, top + ROW]), shapes::tint(DARK, part));
            let text = number(mark.y, 3);
            if page.ruler.width(&text, SIZE) + 2.0 < width {
                let colour = if part > 0.5 { WHITE } else { BLACK };
                page.coloured(Place { x: x + width / 2.0, y: below }, Anchor::Middle, text, colour);
            }
        }
    }
}

fn upward(panel: &Panel) -> Vec<String> {
    if panel.is_table() {
        return panel.lines.iter().map(|line| line.label.clone()).collect();
    }
    let span = frame::up(panel);
    span.ticks.iter().map(|tick| span.name(*tick)).collect()
}

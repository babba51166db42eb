//! The layout of panels, and what surrounds the data: grid, ticks, and axis labels.

use crate::axis::{Orientation, Span, can_show, fit};
use crate::layout::{Bounds, Columns, Plot};
use crate::panel::{Kind, Mark, Panel};
use crate::style::{DETAIL_LETTER, MARGIN, cut, escaped, wrapped};
use crate::{bars, legend, reference, table};

const WIDTH: f64 = 900.0;
/// The maximum width of a picture for bars. If it is reached, bars become narrower.
const MAX_WIDTH: f64 = 2400.0;
/// The space for the ticks and the label of the vertical axis.
const LEFT: f64 = 88.0;
/// The space below a plot, for the ticks and the label of the horizontal axis.
const FOOT: f64 = 52.0;
const LABEL: f64 = 20.0;
const HEADING: f64 = 28.0;
const NAME_LETTER: f64 = 7.4;
/// The height of slanted names, as a fraction of their length.
const SLANT: f64 = 0.6;
const MAX_SLANTED_LETTERS: usize = 18;
const TICK_LETTER: f64 = 7.0;
/// The maximum fraction by which intervals may lengthen an axis at each end. On a longer axis,
/// means would be hard to read.
const ROOM_FOR_INTERVALS: f64 = 0.3;

pub(super) struct Frame {
    pub height: f64,
    pub panels: Vec<Position>,
}

pub(super) struct Position {
    /// The top of the panel, including its heading.
    top: f64,
    pub bounds: Bounds,
    is_slanted: bool,
}

impl Frame {
    pub(super) fn new(panels: &[Panel], head: f64, width: f64) -> Self {
        let plot = match panels.len() {
            0 | 1 => 330.0,
            2 => 240.0,
            _ => 190.0,
        };
        let right = width - MARGIN - keys(panels);
        let mut top = head;
        let mut positions = Vec::new();
        for panel in panels {
            let ceiling = top + if panel.title.is_empty() { 4.0 } else { HEADING };
            let is_slanted = are_slanted(panel, right - LEFT);
            let (floor, foot) = match panel.kind {
                Kind::Table | Kind::Grid => (ceiling + table::height(panel), 12.0),
                _ if is_slanted => (ceiling + plot, foot(panel) + slanted_depth(panel)),
                _ => (ceiling + plot, foot(panel)),
            };
            let [top_here, right, ceiling, floor] = [top, right, ceiling, floor].map(rounded);
            let bounds = Bounds { left: LEFT, right, ceiling, floor };
            positions.push(Position { top: top_here, bounds, is_slanted });
            top = floor + foot;
        }
        Frame { height: (top + 14.0).round(), panels: positions }
    }
}

pub(super) fn width(panels: &[Panel], is_as_wide_as_bars: bool) -> f64 {
    let wanted = |panel: &Panel| match panel.kind {
        Kind::Table | Kind::Grid => table::width(panel),
        Kind::Bars if is_as_wide_as_bars => {
            (LEFT + bars::width(panel) + keys(panels) + MARGIN).min(MAX_WIDTH)
        }
        _ => WIDTH,
    };
    panels.iter().map(wanted).fold(WIDTH, f64::max).ceil()
}

fn keys(panels: &[Panel]) -> f64 {
    panels.iter().filter(|panel| !panel.is_table()).map(legend::width).fold(0.0, f64::max)
}

/// Rounds to a tenth of a point: a screen shows no more, and a shorter file loads faster.
fn rounded(points: f64) -> f64 {
    (points * 10.0).round() / 10.0
}

pub(super) fn has_interval_outside(panel: &Panel) -> bool {
    let (x, y) = (across(panel), up(panel));
    let marks = panel.lines.iter().flat_map(|line| &line.marks);
    let is_outside = |span: &Span, middle: f64, half: Option<f64>, is_low_drawn: bool| {
        let half = half.filter(|half| *half > 0.0);
        half.is_some_and(|half| !span.holds(middle + half) || is_low_drawn && !span.holds(middle - half))
    };
    let has_whiskers = matches!(panel.kind, Kind::Lines | Kind::Scatter);
    match panel.kind {
        Kind::Bars => marks
            .filter(|mark| can_show(&panel.y, mark.y))
            .any(|mark| is_outside(&y, mark.y, mark.y_half_width, false)),
        _ if has_whiskers => {
            marks.filter(|mark| can_show(&panel.y, mark.y) && can_show(&panel.x, mark.x)).any(|mark| {
                is_outside(&y, mark.y, mark.y_half_width, true)
                    || is_outside(&x, mark.x, mark.x_half_width, true)
            })
        }
        _ => false,
    }
}

fn foot(panel: &Panel) -> f64 {
    if panel.x.label.is_empty() { FOOT - LABEL } else { FOOT }
}

pub(super) fn has_names(panel: &Panel) -> bool {
    panel.kind == Kind::Bars || !panel.categories.is_empty()
}

fn are_slanted(panel: &Panel, width: f64) -> bool {
    let names = Columns::new(panel).names;
    has_names(panel) && longest(&names) as f64 * NAME_LETTER + 8.0 > width / names.len().max(1) as f64
}

fn longest(names: &[String]) -> usize {
    names.iter().map(|name| name.chars().count()).max().unwrap_or(0)
}

fn slanted_depth(panel: &Panel) -> f64 {
    longest(&Columns::new(panel).names).min(MAX_SLANTED_LETTERS) as f64 * NAME_LETTER * SLANT
}

pub(super) fn heading(out: &mut String, panel: &Panel, at: &Position) {
    if panel.title.is_empty() {
        return;
    }
    let room = (at.bounds.right - MARGIN) / NAME_LETTER;
    *out += &format!(
        "<text class=\"name\" x=\"{MARGIN}\" y=\"{:.1}\">{}</text>\n",
        at.top + HEADING - 12.0,
        escaped(&cut(&panel.title, room))
    );
}

pub(super) fn plot(out: &mut String, panel: &Panel, at: &Position) -> Plot {
    let bounds = at.bounds;
    let plot = Plot { bounds, x: across(panel), y: up(panel) };
    let (mut grid, mut ticks) = (String::new(), String::new());
    for tick in &plot.y.ticks {
        let y = plot.y(*tick);
        grid += &format!("M{} {y:.1}H{:.1}", bounds.left, bounds.right);
        let x = bounds.left - 8.0;
        ticks += &format!("<text x=\"{x}\" y=\"{:.1}\">{}</text>", y + 4.5, plot.y.name(*tick));
    }
    together(out, &grid, "end", &ticks);
    if has_names(panel) {
        names(out, panel, &plot, at.is_slanted)
    } else {
        numbers(out, &plot)
    }
    labels(out, panel, &plot, at.is_slanted);
    if drawn(panel).next().is_none() {
        let Bounds { left, right, ceiling, floor } = bounds;
        let (x, y) = ((left + right) / 2.0, (ceiling + floor) / 2.0);
        *out += &format!(
            "<text class=\"axis\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">no values</text>\n"
        );
    }
    plot
}

fn numbers(out: &mut String, plot: &Plot) {
    let Bounds { ceiling, floor, .. } = plot.bounds;
    let mut free_from = f64::NEG_INFINITY;
    let (mut grid, mut ticks) = (String::new(), String::new());
    for tick in &plot.x.ticks {
        let (x, name) = (plot.x(*tick), plot.x.name(*tick));
        grid += &format!("M{x:.1} {ceiling}V{floor}");
        let half = name.chars().count() as f64 * TICK_LETTER / 2.0;
        if x - half >= free_from {
            ticks += &format!("<text x=\"{x:.1}\" y=\"{:.1}\">{name}</text>", floor + 18.0);
            free_from = x + half + TICK_LETTER;
        }
    }
    together(out, &grid, "middle", &ticks);
}

fn together(out: &mut String, grid: &str, anchor: &str, ticks: &str) {
    if !grid.is_empty() {
        *out += &format!(
            "<path class=\"grid\" d=\"{grid}\"/><g class=\"tick\" text-anchor=\"{anchor}\">{ticks}</g>\n"
        );
    }
}

fn names(out: &mut String, panel: &Panel, plot: &Plot, is_slanted: bool) {
    let names = Columns::new(panel).names;
    let spread = (plot.bounds.right - plot.bounds.left) / names.len().max(1) as f64;
    let every = if is_slanted { (15.0 / spread).ceil().max(1.0) as usize } else { 1 };
    let y = plot.bounds.floor + 18.0;
    let class = if panel.x.label.is_empty() { "name" } else { "tick" };
    for (at, name) in names.iter().enumerate().step_by(every) {
        let x = plot.x(at as f64);
        let (anchor, turn) = match is_slanted {
            true => ("end", format!(" transform=\"rotate(-37 {x:.1} {y:.1})\"")),
            false => ("middle", String::new()),
        };
        *out += &format!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{turn}>{}</text>\n",
            escaped(&cut(name, MAX_SLANTED_LETTERS as f64))
        );
    }
}

fn labels(out: &mut String, panel: &Panel, plot: &Plot, is_slanted: bool) {
    let Bounds { left, right, ceiling, floor } = plot.bounds;
    let slant = if is_slanted { slanted_depth(panel) } else { 0.0 };
    *out += &format!(
        "<path class=\"edge\" d=\"M{left} {ceiling}V{floor}H{right:.1}\"/>\n\
             <text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
        (left + right) / 2.0,
        floor + 38.0 + slant,
        escaped(&cut(&panel.x.label, (right - left) / DETAIL_LETTER)),
    );
    let middle = rounded((ceiling + floor) / 2.0);
    let lines = wrapped(&panel.y.label, (floor - ceiling + HEADING) / TICK_LETTER, 2);
    let first = if lines.len() > 1 { 17.0 } else { 26.0 };
    for (at, line) in lines.iter().enumerate() {
        let x = first + 14.0 * at as f64;
        *out += &format!(
            "<text class=\"axis\" x=\"{x}\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 {x} {middle})\">{}</text>\n",
            escaped(line)
        );
    }
}

pub(super) fn across(panel: &Panel) -> Span {
    if has_names(panel) {
        return Span::of_names(Columns::new(panel).names.len());
    }
    let ends = |mark: &Mark| {
        let half = mark.x_half_width.unwrap_or(0.0);
        [mark.x - half, mark.x + half]
    };
    fit(&panel.x, drawn(panel).flat_map(ends), Orientation::Horizontal)
}

pub(super) fn up(panel: &Panel) -> Span {
    let zero = (panel.kind == Kind::Bars).then_some(0.0);
    let is_measured = |mark: &&Mark| panel.measured_from.is_none_or(|from| mark.x >= from);
    let means: Vec<f64> = drawn(panel)
        .filter(is_measured)
        .map(|mark| mark.y)
        .chain(zero)
        .chain(reference::values(panel))
        .filter(|y| can_show(&panel.y, *y))
        .collect();
    if panel.y.range.is_some() {
        return fit(&panel.y, means.into_iter(), Orientation::Vertical);
    }
    let (low, high) =
        means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(*y), high.max(*y)));
    let room = (high - low.min(0.0)).max(high.abs() * 0.1) * ROOM_FOR_INTERVALS;
    let ends = drawn(panel)
        .filter_map(|mark| mark.y_half_width.map(|half| [mark.y - half, mark.y + half]))
        .flatten();
    let lowest = if low >= 0.0 { (low - room).max(0.0) } else { low - room };
    let ends = ends.filter(|end| end.is_finite()).map(|end| end.clamp(lowest, high + room));
    fit(&panel.y, means.iter().copied().chain(ends), Orientation::Vertical)
}

fn drawn(panel: &Panel) -> impl Iterator<Item = &Mark> {
    let marks = panel.lines.iter().flat_map(|line| line.marks.iter().chain(&line.published));
    let has_place = |mark: &Mark| has_names(panel) || can_show(&panel.x, mark.x);
    marks.filter(move |mark| has_place(mark) && can_show(&panel.y, mark.y))
}

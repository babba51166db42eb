//! Bars in groups.

use crate::axis::can_show;
use crate::layout::{Columns, Place, Plot};
use crate::lines::arrowhead;
use crate::marker::{class, diamond};
use crate::number::{number, with_interval};
use crate::panel::{Line, Mark, Panel};
use crate::reference;
use crate::style::escaped;

/// The fraction of a column's width that is empty, to separate groups.
const GAP: f64 = 0.24;
const MAX_WIDTH: f64 = 54.0;
const VALUE_WIDTH: f64 = 40.0;

/// The width of a plot with space for a number above each bar.
pub(super) fn width(panel: &Panel) -> f64 {
    let bars = Columns::new(panel).names.len() * panel.lines.len();
    bars as f64 * (VALUE_WIDTH + 0.1) / (1.0 - GAP)
}

/// Draws the bars. A hollow diamond is the paper's number.
pub(super) fn draw(out: &mut String, panel: &Panel, plot: &Plot) {
    let columns = Columns::new(panel);
    let spread = (plot.bounds.right - plot.bounds.left) / columns.names.len().max(1) as f64;
    let lines = panel.lines.len().max(1) as f64;
    let wide = (spread * (1.0 - GAP) / lines).min(MAX_WIDTH);
    let bar = |line, mark, at: usize| {
        let column = columns.of(mark).filter(|_| can_show(&panel.y, mark.y))?;
        let left = plot.x(column as f64) + wide * (at as f64 - lines / 2.0);
        Some(Bar { line, mark, left, wide })
    };
    for (at, line) in panel.lines.iter().enumerate() {
        line.marks.iter().filter_map(|mark| bar(line, mark, at)).for_each(|bar| bar.draw(out, plot));
    }
    // References are drawn over the bars to be visible, but below the numbers.
    reference::lines(out, panel, plot);
    for (at, line) in panel.lines.iter().enumerate() {
        for Bar { mark, left, .. } in line.published.iter().filter_map(|mark| bar(line, mark, at)) {
            *out += &format!(
                "<path class=\"hollow s{}\" d=\"{}\"><title>{}, in the paper: {}</title></path>\n",
                class(line),
                diamond(Place { x: left + wide / 2.0, y: plot.y(mark.y) }, (wide / 2.0).clamp(2.5, 6.5)),
                escaped(&line.label),
                number(mark.y, 6)
            );
        }
        line.marks.iter().filter_map(|mark| bar(line, mark, at)).for_each(|bar| bar.explain(out, plot));
    }
}

struct Bar<'a> {
    line: &'a Line,
    mark: &'a Mark,
    left: f64,
    wide: f64,
}

impl Bar<'_> {
    fn draw(&self, out: &mut String, plot: &Plot) {
        let Bar { line, mark, left, wide } = *self;
        let (end, foot) = (plot.y(mark.y), plot.up(plot.y.foot()));
        let (top, height) = (end.min(foot), (end - foot).abs().max(0.5));
        let inner = (wide - 2.0).max(0.5);
        *out += &format!(
            "<rect class=\"f{}\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{inner:.1}\" height=\"{height:.1}\" rx=\"{:.1}\">\
             <title>{}: {}</title></rect>\n",
            class(line),
            left + (wide - inner) / 2.0,
            (inner / 4.0).min(2.5),
            escaped(&line.label),
            with_interval(mark.y, mark.y_half_width)
        );
    }

    fn explain(&self, out: &mut String, plot: &Plot) {
        let Bar { line, mark, left, wide } = *self;
        let middle = left + wide / 2.0;
        let mut highest = plot.y(mark.y).min(plot.up(plot.y.foot()));
        if let Some(half) = mark.y_half_width.filter(|half| *half > 0.0) {
            let cap = (wide / 4.0).min(5.0);
            let (low, high) = (mark.y - half, mark.y + half);
            highest = highest.min(plot.y(high));
            let end = match plot.y.holds(high) {
                true => format!("M{:.1} {:.1}h{:.1}", middle - cap, plot.y(high), 2.0 * cap),
                false => arrowhead(Place { x: middle, y: plot.y(high) }, [0.0, 1.0]),
            };
            *out += &format!(
                "<path class=\"onbar\" d=\"M{middle:.1} {:.1}V{:.1}{end}\"/>\n",
                plot.y(low),
                plot.y(high)
            );
        }
        if wide >= VALUE_WIDTH {
            let from_paper =
                line.published.iter().filter(|other| other.x == mark.x).map(|other| plot.y(other.y) - 6.0);
            let highest = from_paper.fold(highest, f64::min);
            *out += &format!(
                "<text class=\"value halo\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                highest - 6.0,
                number(mark.y, 3)
            );
        }
    }
}

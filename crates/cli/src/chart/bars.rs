//! Bars in groups.

use super::axis::{can_show, number, with_interval};
use super::lines::arrowhead;
use super::marker::{class, diamond};
use super::place::{Columns, Plot};
use super::style::{escaped, put};
use fairwire_study::record::{Line, Mark, Panel};

/// Of a column, between groups.
const GAP: f64 = 0.24;
const MOST_WIDE: f64 = 54.0;
/// Room that the number above a bar needs.
const VALUE_WIDTH: f64 = 34.0;

/// A bar for each line in each column, the paper's number as a diamond on it, and above both the interval.
pub(super) fn draw(out: &mut String, panel: &Panel, plot: &Plot) {
    let columns = Columns::new(panel);
    let spread = (plot.place.right - plot.place.left) / columns.names.len().max(1) as f64;
    let lines = panel.lines.len().max(1) as f64;
    let wide = (spread * (1.0 - GAP) / lines).min(MOST_WIDE);
    let left_of = |mark: &Mark, at: usize| {
        let column = columns.of(mark).filter(|_| can_show(&panel.y, mark.y))?;
        Some(plot.x(column as f64) + wide * (at as f64 - lines / 2.0))
    };
    for (at, line) in panel.lines.iter().enumerate() {
        let placed = |mark| left_of(mark, at).map(|left| (mark, left));
        line.marks
            .iter()
            .filter_map(placed)
            .for_each(|(mark, left)| bar(out, plot, (left, wide), (line, mark)));
        for (mark, left) in line.published.iter().filter_map(placed) {
            put(
                out,
                format_args!(
                    "<path class=\"hollow s{}\" d=\"{}\"><title>{}, in the paper: {}</title></path>\n",
                    class(line),
                    diamond((left + wide / 2.0, plot.y(mark.y)), (wide / 2.0).clamp(2.5, 6.5)),
                    escaped(&line.label),
                    number(mark.y, 6)
                ),
            );
        }
        line.marks
            .iter()
            .filter_map(placed)
            .for_each(|(mark, left)| above(out, plot, (left, wide), (line, mark)));
    }
}

fn bar(out: &mut String, plot: &Plot, (left, wide): (f64, f64), (line, mark): (&Line, &Mark)) {
    let (end, foot) = (plot.y(mark.y), plot.up(plot.y.foot()));
    let (top, height) = (end.min(foot), (end - foot).abs().max(0.5));
    let inner = (wide - 2.0).max(0.5);
    put(
        out,
        format_args!(
            "<rect class=\"f{}\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{inner:.1}\" height=\"{height:.1}\" rx=\"{:.1}\">\
             <title>{}: {}</title></rect>\n",
            class(line),
            left + (wide - inner) / 2.0,
            (inner / 4.0).min(2.5),
            escaped(&line.label),
            with_interval(mark.y, mark.y_half_width)
        ),
    );
}

/// The interval, and where there is room the number.
fn above(out: &mut String, plot: &Plot, (left, wide): (f64, f64), (line, mark): (&Line, &Mark)) {
    let middle = left + wide / 2.0;
    let mut highest = plot.y(mark.y).min(plot.up(plot.y.foot()));
    if let Some(half) = mark.y_half_width.filter(|half| *half > 0.0) {
        let cap = (wide / 4.0).min(5.0);
        let (low, high) = (mark.y - half, mark.y + half);
        highest = highest.min(plot.y(high));
        let end = match plot.y.holds(high) {
            true => format!("M{:.1} {:.1}h{:.1}", middle - cap, plot.y(high), 2.0 * cap),
            false => arrowhead((middle, plot.y(high)), (0.0, 1.0)),
        };
        put(
            out,
            format_args!(
                "<path class=\"onbar\" d=\"M{middle:.1} {:.1}V{:.1}{end}\"/>\n",
                plot.y(low),
                plot.y(high)
            ),
        );
    }
    if wide >= VALUE_WIDTH {
        let from_paper =
            line.published.iter().filter(|other| other.x == mark.x).map(|other| plot.y(other.y) - 6.0);
        let highest = from_paper.fold(highest, f64::min);
        put(
            out,
            format_args!(
                "<text class=\"tick\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                highest - 6.0,
                number(mark.y, 3)
            ),
        );
    }
}

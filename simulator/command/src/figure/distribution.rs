//! Distributions: the fraction of transfers or packets whose time is at most a given value.

use super::table::Table;
use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel, Scale};
use std::collections::BTreeMap;

const MAX_POINTS: usize = 1000;
/// The axis is logarithmic if its ends differ by more than this factor.
const LOG_RATIO: f64 = 30.0;

/// The distribution of the times or slowdowns in `column`, pooled over seeds: one panel per kind
/// and group, one line per discipline.
pub(super) fn of_transfers(table: &Table, column: &str, label: &str, only: &[String]) -> Vec<Panel> {
    let mut all: Curves = Curves::new();
    let mut disciplines = Vec::new();
    for row in 0..table.len() {
        let (group, kind) = (table.text(row, "group"), table.text(row, "kind"));
        let Some(value) = table.number(row, column).filter(|_| is_wanted(&group, only)) else { continue };
        let at = place(&mut disciplines, table.text(row, "discipline"));
        all.entry(format!("{kind}s of {group}")).or_default().entry(at).or_default().push((value, 1.0));
    }
    let share = "part that took no longer";
    panels(all, &disciplines, label, if column == "slowdown" { "part below" } else { share })
}

/// The distribution of the packets' waiting times or delays: one panel per link or flow, one line
/// per discipline.
pub(super) fn of_delays(table: &Table, only: &[String]) -> Vec<Panel> {
    let mut all: Curves = Curves::new();
    let mut disciplines = Vec::new();
    for row in 0..table.len() {
        let (of, kind) = (table.text(row, "of"), table.text(row, "kind"));
        let numbers = (table.number(row, "to_s"), table.number(row, "packets"));
        let (Some(to_s), Some(packets)) = numbers else { continue };
        if is_wanted(&of, only) {
            let at = place(&mut disciplines, table.text(row, "discipline"));
            let title = format!("{kind} delay of {of}");
            all.entry(title).or_default().entry(at).or_default().push((to_s * 1e3, packets));
        }
    }
    panels(all, &disciplines, "delay, ms", "part of the packets")
}

/// Values and their counts, by panel and then by discipline.
type Curves = BTreeMap<String, BTreeMap<usize, Vec<(f64, f64)>>>;

pub(super) fn is_wanted(name: &str, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|one| one == name)
}

pub(super) fn place(all: &mut Vec<String>, name: String) -> usize {
    all.iter().position(|one| *one == name).unwrap_or_else(|| {
        all.push(name);
        all.len() - 1
    })
}

fn panels(curves: Curves, disciplines: &[String], x: &str, y: &str) -> Vec<Panel> {
    let panel = |(title, lines): (String, BTreeMap<usize, Vec<(f64, f64)>>)| {
        let values = lines.values().flatten().map(|(value, _)| *value).filter(|value| *value > 0.0);
        let (low, high) =
            values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
        let scale = if high > LOG_RATIO * low { Scale::Log } else { Scale::Linear };
        let line = |(colour, values): (usize, Vec<(f64, f64)>)| Line {
            label: disciplines[colour].clone(),
            colour,
            marks: steps(values),
            ..Line::default()
        };
        Panel {
            title,
            kind: Kind::Steps,
            x: Axis { label: x.into(), scale, range: None },
            y: Axis { label: y.into(), range: Some([0.0, 1.0]), ..Axis::default() },
            lines: lines.into_iter().map(line).collect(),
            ..Panel::default()
        }
    };
    curves.into_iter().map(panel).collect()
}

/// The empirical distribution: at each value, the fraction of values that do not exceed it.
fn steps(mut values: Vec<(f64, f64)>) -> Vec<Mark> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|(_, count)| count).sum();
    let (mut below, mut marks) = (0.0, Vec::<Mark>::new());
    for (x, count) in values {
        below += count;
        let y = below / total;
        match marks.last_mut() {
            Some(last) if last.x == x => last.y = y,
            // Steps below a thousandth are omitted, except at the end of the curve.
            Some(last) if y < 1.0 && y - last.y < 1.0 / MAX_POINTS as f64 => {}
            _ => marks.push(Mark { x, y, ..Mark::default() }),
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_ends_at_one_and_has_a_step_at_each_value() {
        let marks = steps(vec![(3.0, 1.0), (1.0, 1.0), (3.0, 1.0), (2.0, 1.0)]);
        let places: Vec<(f64, f64)> = marks.iter().map(|mark| (mark.x, mark.y)).collect();
        assert_eq!(places, [(1.0, 0.25), (2.0, 0.5), (3.0, 1.0)]);
    }

    #[test]
    fn a_long_distribution_has_few_points_without_visible_error() {
        let marks = steps((0..100_000).map(|at| (f64::from(at), 1.0)).collect());
        assert!(marks.len() <= MAX_POINTS + 2, "{}", marks.len());
        assert_eq!(marks.last().map(|mark| (mark.x, mark.y)), Some((99_999.0, 1.0)));
        for mark in &marks {
            assert!((mark.y - (mark.x + 1.0) / 1e5).abs() < 1e-9, "{mark:?}");
        }
    }
}

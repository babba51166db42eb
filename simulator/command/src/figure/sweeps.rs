//! Draws the means of a sweep: over one axis as lines, or over two axes as a heat map.

use super::distribution::place;
use super::table::{Table, leading, unit, worded};
use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel, Scale};
use fairwire_metrics::interval;
use fairwire_metrics::record::Estimate;
use fairwire_sweep::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The axis is logarithmic if its ends differ by at least this factor.
const LOG_RATIO: f64 = 10.0;

#[derive(Debug)]
pub(crate) struct Sweep<'a> {
    table: &'a Table,
    /// The axes, without the discipline.
    pub axes: Vec<String>,
    /// The recorded measures of each run.
    pub measures: Vec<String>,
    /// The rows of each cell: one per seed, all from the engine with the most rows.
    cells: Vec<Vec<usize>>,
}

impl<'a> Sweep<'a> {
    pub(super) fn of(table: &'a Table) -> Self {
        let at = |name: &str| table.names.iter().position(|own| own == name);
        let (first, last) = (at("scenario").map_or(0, |at| at + 1), at("given").unwrap_or(0));
        let is_number = |name: &&String| (0..table.len()).any(|row| table.number(row, name).is_some());
        let own = ["cell", "engine", "scenario", "given", "discipline", "seed"];
        let axes: Vec<String> = table.names[first..last.max(first)].to_vec();
        let measures =
            table.names.iter().filter(|name| !own.contains(&name.as_str()) && !axes.contains(name));
        let mut engines: BTreeMap<String, usize> = BTreeMap::new();
        (0..table.len()).for_each(|row| *engines.entry(table.text(row, "engine")).or_default() += 1);
        let engine = engines.into_iter().max_by_key(|(_, rows)| *rows).map(|(engine, _)| engine);
        let mut seen = BTreeSet::new();
        let mut by_cell: Vec<(String, Vec<usize>)> = Vec::new();
        for row in (0..table.len()).filter(|row| Some(table.text(*row, "engine")) == engine) {
            let cell = table.text(row, "cell");
            if !seen.insert((cell.clone(), table.text(row, "seed"))) {
                continue;
            }
            match by_cell.iter_mut().find(|(own, _)| *own == cell) {
                Some((_, rows)) => rows.push(row),
                None => by_cell.push((cell, vec![row])),
            }
        }
        // Cells are sorted here, since the parts of a store have no order.
        let values = |row: usize| axes.iter().map(move |axis| table.value(row, axis));
        let of = |row: usize| (table.text(row, "discipline"), values(row));
        by_cell.sort_by(|(_, one), (_, other)| {
            let ((one, first), (other, second)) = (of(one[0]), of(other[0]));
            one.cmp(&other).then_with(|| {
                let place = |value: Option<&Value>| value.and_then(leading).unwrap_or(0.0);
                let all = first.zip(second).map(|(one, other)| {
                    let by_number = place(one).total_cmp(&place(other));
                    by_number.then_with(|| one.map(worded).cmp(&other.map(worded)))
                });
                all.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
            })
        });
        let measures = measures.filter(is_number).cloned().collect();
        Sweep { table, measures, axes, cells: by_cell.into_iter().map(|(_, rows)| rows).collect() }
    }

    /// The axes with at least two different values, all of which start with a number.
    pub(super) fn numeric(&self) -> Vec<String> {
        let is_one = |axis: &&String| {
            let values: Option<BTreeSet<u64>> =
                self.cells.iter().map(|rows| Some(self.place(rows, axis)?.to_bits())).collect();
            values.is_some_and(|values| values.len() > 1)
        };
        self.axes.iter().filter(is_one).cloned().collect()
    }

    fn value(&self, rows: &[usize], axis: &str) -> Option<&Value> {
        self.table.value(rows[0], axis)
    }

    fn place(&self, rows: &[usize], axis: &str) -> Option<f64> {
        leading(self.value(rows, axis)?)
    }

    fn mean(&self, rows: &[usize], measure: &str) -> Option<Estimate> {
        let values: Vec<f64> = rows.iter().filter_map(|row| self.table.number(*row, measure)).collect();
        interval::estimate(&values)
    }

    fn axis(&self, axis: &str) -> Axis {
        let unit = self.cells.first().and_then(|rows| self.value(rows, axis)).map_or("", unit);
        let label = if unit.is_empty() { axis.to_owned() } else { format!("{axis} [{unit}]") };
        let places: Vec<f64> = self.cells.iter().filter_map(|rows| self.place(rows, axis)).collect();
        let (low, high) = places
            .iter()
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(*x), high.max(*x)));
        let scale = if low > 0.0 && high >= LOG_RATIO * low { Scale::Log } else { Scale::Linear };
        Axis { label, scale, range: None }
    }

    fn others(&self, rows: &[usize], drawn: &[&str]) -> Vec<String> {
        let others = self.axes.iter().filter(|axis| !drawn.contains(&axis.as_str()));
        let others = others.filter_map(|axis| Some(worded(self.value(rows, axis)?)));
        [self.table.text(rows[0], "discipline")].into_iter().chain(others).collect()
    }

    pub(super) fn dimensions(&self) -> Vec<Vec<String>> {
        let disciplines: BTreeSet<String> =
            self.cells.iter().map(|rows| self.table.text(rows[0], "discipline")).collect();
        let axes = self.axes.iter().map(|axis| self.values(axis));
        [disciplines.into_iter().collect()].into_iter().chain(axes).collect()
    }

    /// Keeps the cells selected by `only`. If `only` names values of a
    /// [dimension](Sweep::dimensions), a cell must have one of these values.
    pub(super) fn only(mut self, only: &[String], dimensions: &[Vec<String>]) -> Self {
        let is_named = |at: &usize| dimensions[*at].iter().any(|value| only.contains(value));
        let named: Vec<usize> = (0..dimensions.len()).filter(is_named).collect();
        let cells = std::mem::take(&mut self.cells);
        let own = |rows: &[usize], at: usize| match at.checked_sub(1) {
            None => Some(self.table.text(rows[0], "discipline")),
            Some(axis) => self.value(rows, &self.axes[axis]).map(worded),
        };
        let is_wanted = |rows: &Vec<usize>| {
            named.iter().all(|at| own(rows, *at).is_some_and(|value| only.contains(&value)))
        };
        self.cells = cells.into_iter().filter(is_wanted).collect();
        // Disciplines are drawn in the order of `only`, because a store does not know the order of
        // the plan.
        let table = &self.table;
        let place =
            |rows: &Vec<usize>| only.iter().position(|name| *name == table.text(rows[0], "discipline"));
        self.cells.sort_by_key(place);
        self
    }

    /// Means drawn over an axis: one panel per measure, and per value of the axis `panels` if
    /// given. Each line is a combination of the other axes.
    pub(super) fn lines(&self, measures: &[String], over: &str, panels: Option<&str>) -> Vec<Panel> {
        let drawn: Vec<&str> = [over].into_iter().chain(panels).collect();
        let mut labels = Vec::new();
        let line_of: Vec<usize> =
            self.cells.iter().map(|rows| place(&mut labels, self.others(rows, &drawn).join(", "))).collect();
        let panel = |measure: &String, value: Option<&String>| {
            let is_here = |rows: &[usize]| match (panels, value) {
                (Some(axis), Some(value)) => self.value(rows, axis).map(worded).as_ref() == Some(value),
                _ => true,
            };
            let line = |(colour, label): (usize, &String)| {
                let own = self.cells.iter().zip(&line_of);
                let own = own.filter(|(rows, line)| **line == colour && is_here(rows));
                let mark = |(rows, _): (&Vec<usize>, &usize)| {
                    let Estimate { mean, half_width_95, .. } = self.mean(rows, measure)?;
                    Some(Mark {
                        x: self.place(rows, over)?,
                        y: mean,
                        y_half_width: half_width_95,
                        ..Mark::default()
                    })
                };
                let mut marks: Vec<Mark> = own.filter_map(mark).collect();
                marks.sort_by(|a, b| a.x.total_cmp(&b.x));
                Line { label: label.clone(), colour, marks, ..Line::default() }
            };
            let title = match (panels, value) {
                (Some(axis), Some(value)) => format!("{measure}, {axis}: {value}"),
                _ => measure.clone(),
            };
            Panel {
                title,
                kind: Kind::Lines,
                x: self.axis(over),
                y: Axis { label: labelled(measure), ..Axis::default() },
                lines: labels.iter().enumerate().map(line).collect(),
                ..Panel::default()
            }
        };
        let values = panels.map(|axis| self.values(axis)).unwrap_or_default();
        let of_measure = |measure: &String| match values.as_slice() {
            [] => vec![panel(measure, None)],
            values => values.iter().map(|value| panel(measure, Some(value))).collect(),
        };
        measures.iter().flat_map(of_measure).collect()
    }

    /// Means drawn over two axes, the first across and the second upwards: one panel per measure
    /// and combination of the remaining axes.
    pub(super) fn heat(&self, measures: &[String], [across, up]: [&str; 2]) -> Vec<Panel> {
        let (xs, ys) = (self.values(across), self.values(up));
        let mut labels = Vec::new();
        let label = |rows: &Vec<usize>| self.others(rows, &[across, up]).join(", ");
        let panel_of: Vec<usize> = self.cells.iter().map(|rows| place(&mut labels, label(rows))).collect();
        let panel = |(measure, (at, label)): (&String, (usize, &String))| {
            let own = || self.cells.iter().zip(&panel_of).filter(move |(_, of)| **of == at);
            // The largest value is at the top, as on an axis.
            let line = |(colour, y): (usize, &String)| {
                let in_row = own().filter(|(rows, _)| self.value(rows, up).map(worded).as_ref() == Some(y));
                let mark = |(rows, _): (&Vec<usize>, &usize)| {
                    let x = self.value(rows, across).map(worded)?;
                    let at = xs.iter().position(|one| *one == x)?;
                    Some(Mark { x: at as f64, y: self.mean(rows, measure)?.mean, ..Mark::default() })
                };
                let mut marks: Vec<Mark> = in_row.filter_map(mark).collect();
                marks.sort_by(|a, b| a.x.total_cmp(&b.x));
                Line { label: y.clone(), colour, marks, ..Line::default() }
            };
            Panel {
                title: format!("{measure}: {label}"),
                kind: Kind::Grid,
                x: Axis { label: format!("{across}; down: {up}"), ..Axis::default() },
                y: Axis { label: labelled(measure), ..Axis::default() },
                categories: xs.clone(),
                lines: ys.iter().rev().enumerate().map(line).collect(),
                ..Panel::default()
            }
        };
        let pairs =
            measures.iter().flat_map(|measure| labels.iter().enumerate().map(move |one| (measure, one)));
        let mut panels: Vec<Panel> = pairs.map(panel).collect();
        // Equal values have equal shades in all panels of a measure.
        for panels in panels.chunks_mut(labels.len().max(1)) {
            let marks = panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.marks);
            let (low, high) = marks
                .map(|mark| mark.y)
                .filter(|y| y.is_finite())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
            panels.iter_mut().for_each(|panel| panel.y.range = (low < high).then_some([low, high]));
        }
        panels
    }

    fn values(&self, axis: &str) -> Vec<String> {
        let mut values: Vec<(f64, String)> = Vec::new();
        for value in self.cells.iter().filter_map(|rows| self.value(rows, axis)) {
            let text = worded(value);
            if !values.iter().any(|(_, own)| *own == text) {
                values.push((leading(value).unwrap_or(0.0), text));
            }
        }
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.into_iter().map(|(_, text)| text).collect()
    }
}

/// A measure in words, with its unit: `sojourn_p95_s` becomes `sojourn p95 [s]`, and
/// `throughput_bps.web` becomes `throughput of web [bit/s]`.
fn labelled(measure: &str) -> String {
    let (name, of) = measure.split_once('.').map_or((measure, ""), |(name, of)| (name, of));
    let units = [("_s", "s"), ("_bps", "bit/s"), ("_packets", "packets"), ("_bytes", "B")];
    let unit = units.into_iter().find_map(|(suffix, unit)| Some((name.strip_suffix(suffix)?, unit)));
    let (name, unit) = unit.map_or((name, String::new()), |(name, unit)| (name, format!(" [{unit}]")));
    let of = if of.is_empty() { String::new() } else { format!(" of {of}") };
    format!("{}{of}{unit}", name.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::labelled;

    #[test]
    fn measures_are_in_words_with_their_unit() {
        let cases = [
            ("sojourn_p95_s", "sojourn p95 [s]"),
            ("throughput_bps.web", "throughput of web [bit/s]"),
            ("transfer_p90_s.web.to_10kB", "transfer p90 of web.to_10kB [s]"),
            ("jain", "jain"),
            ("drops.push-out", "drops of push-out"),
        ];
        cases.iter().for_each(|(measure, label)| assert_eq!(labelled(measure), *label));
    }
}

//! A sweep, as text, as a picture and as a page.

mod page;

pub(crate) use page::page;

use super::csv;
use super::latex;
use super::table::{empty, header};
use crate::args::Format;
use comfy_table::CellAlignment;
use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel, Scale};
use fairwire_figures::{Figure, Setting, number};
use fairwire_metrics::record::Estimate;
use fairwire_sweep::{CellSummary, Cost, Plan, Run, Value};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::terminal::{columns, wrapped};
use serde_json::json;

const MAX_COLUMNS: usize = 6;
const MAX_PANELS: usize = 8;
/// The axis is logarithmic if its ends differ by at least this factor.
const LOG_RATIO: f64 = 10.0;

/// A run in words, such as `link.buffer=50 packets, discipline=faba, seed=3`.
pub(crate) fn run(plan: &Plan, run: Run) -> String {
    let cell = &plan.cells[run.cell];
    let axes = plan
        .axes
        .iter()
        .zip(&cell.at)
        .map(|(axis, at)| format!("{}={}", axis.key, value(&axis.values[*at].1)));
    let own = [format!("discipline={}", cell.discipline), format!("seed={}", plan.seeds[run.seed])];
    axes.chain(own).collect::<Vec<_>>().join(", ")
}

fn value(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}

fn values(plan: &Plan, cell: usize) -> Vec<String> {
    let cell = &plan.cells[cell];
    let axes = plan.axes.iter().zip(&cell.at).map(|(axis, at)| value(&axis.values[*at].1));
    axes.chain([cell.discipline.to_string()]).collect()
}

fn heads(plan: &Plan) -> Vec<String> {
    plan.axes.iter().map(|axis| axis.key.clone()).chain(["discipline".to_owned()]).collect()
}

pub(crate) fn cost(plan: &Plan, cost: &Cost, format: Format) -> Result<String, Failure> {
    let hours = cost.seconds / 3600.0;
    Ok(match format {
        Format::Json => json(&json!(cost)),
        Format::Csv => csv::text(
            [
                ["runs", "missing", "pilot", "seconds", "bytes"].map(str::to_owned).to_vec(),
                vec![
                    cost.runs.to_string(),
                    cost.missing.to_string(),
                    cost.pilot.to_string(),
                    cost.seconds.to_string(),
                    cost.bytes.to_string(),
                ],
            ]
            .into_iter(),
        )?,
        Format::Table | Format::Latex => format!(
            "cells    {}\nruns     {}{}\nmissing  {}{}\ntime     {:.0} s of one core ({hours:.2} hours)\nroom     {:.1} MB\n",
            plan.cells.len(),
            cost.runs,
            if plan.precision.is_some() { " at most, by `precision`" } else { "" },
            cost.missing,
            match (plan.precision, cost.pilot) {
                (Some(_), pilot) => format!(
                    " in the next round, after which intervals are looked at (and {pilot} were made, and are kept)"
                ),
                (None, 0) => String::new(),
                (None, pilot) => format!(" (a pilot of {pilot} was made, and is kept)"),
            },
            cost.seconds,
            cost.bytes as f64 / 1e6,
        ),
    })
}

pub(crate) fn missing(plan: &Plan, missing: &[Run]) -> Result<String, Failure> {
    let head = ["row".to_owned()].into_iter().chain(heads(plan)).chain(["seed".to_owned()]).collect();
    let row = |run: &Run| {
        let number = run.cell * plan.seeds.len() + run.seed;
        let own = values(plan, run.cell).into_iter().chain([plan.seeds[run.seed].to_string()]);
        [number.to_string()].into_iter().chain(own).collect::<Vec<_>>()
    };
    csv::text(std::iter::once(head).chain(missing.iter().map(row)))
}

/// The means.
pub(crate) fn summary(plan: &Plan, summary: &[CellSummary], format: Format) -> Result<String, Failure> {
    match format {
        Format::Table => Ok(table(plan, summary)),
        Format::Latex => {
            let (head, rows) = cells(plan, summary, plan.measures.len());
            Ok(latex::table(&head, &rows))
        }
        Format::Csv => {
            let estimates =
                plan.measures.iter().flat_map(|name| [name.clone(), format!("{name}_half_width_95")]);
            let head = heads(plan).into_iter().chain(["runs".to_owned()]).chain(estimates).collect();
            let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            let row = |cell: &CellSummary| {
                let estimates = cell.measures.iter().flat_map(|estimate| {
                    let half = estimate.as_ref().and_then(|estimate| estimate.half_width_95);
                    [number(estimate.as_ref().map(|estimate| estimate.mean)), number(half)]
                });
                values(plan, cell.cell)
                    .into_iter()
                    .chain([cell.runs.to_string()])
                    .chain(estimates)
                    .collect::<Vec<_>>()
            };
            csv::text(std::iter::once(head).chain(summary.iter().map(row)))
        }
        Format::Json => {
            let cell = |cell: &CellSummary| {
                let at = &plan.cells[cell.cell];
                let axes: serde_json::Map<String, serde_json::Value> = plan
                    .axes
                    .iter()
                    .zip(&at.at)
                    .map(|(axis, at)| (axis.key.clone(), json!(axis.values[*at].1)))
                    .collect();
                let measures: serde_json::Map<String, serde_json::Value> = plan
                    .measures
                    .iter()
                    .zip(&cell.measures)
                    .filter_map(|(name, estimate)| Some((name.clone(), json!(estimate.as_ref()?))))
                    .collect();
                json!({ "values": axes, "discipline": &*at.discipline, "runs": cell.runs, "measures": measures })
            };
            Ok(json(&json!(summary.iter().map(cell).collect::<Vec<_>>())))
        }
    }
}

fn json(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

fn cells(plan: &Plan, summary: &[CellSummary], shown: usize) -> (Vec<String>, Vec<Vec<String>>) {
    let names = heads(plan).into_iter().chain(["runs".to_owned()]);
    let names = names.chain(plan.measures[..shown].iter().cloned()).collect();
    let row = |cell: &CellSummary| {
        let estimates =
            cell.measures[..shown].iter().map(|number| number.as_ref().map_or(String::new(), estimate));
        values(plan, cell.cell).into_iter().chain([cell.runs.to_string()]).chain(estimates).collect()
    };
    (names, summary.iter().map(row).collect())
}

fn table(plan: &Plan, summary: &[CellSummary]) -> String {
    let shown = plan.measures.len().min(MAX_COLUMNS);
    let (names, rows) = cells(plan, summary, shown);
    let mut table = empty();
    table.set_header(header(&names));
    table.add_rows(rows);
    for column in plan.axes.len() + 1..names.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let more = match plan.measures.len() - shown {
        0 => String::new(),
        more => format!(
            "{more} more measures: name those that you want in `measures`, or print them with --format csv.\n"
        ),
    };
    let notes: String =
        plan.notes.iter().map(|note| wrapped(&format!("note: {note}"), columns(), "  ") + "\n").collect();
    let gap = if notes.is_empty() { "" } else { "\n" };
    format!("{notes}{gap}{table}\n\nMeans over the seeds, each ± half of its 95 % interval.\n{more}")
}

/// A mean with the half-width of its interval, both rounded to the second digit of the half-width.
fn estimate(estimate: &Estimate) -> String {
    let power = match estimate.mean.abs() {
        size if size == 0.0 || (1e-4..1e6).contains(&size) => 0,
        size => size.log10().floor() as i32,
    };
    let by_interval = |half| number::spread_in_power(estimate.mean, half, power);
    match estimate.half_width_95 {
        // Such a small half-width is a rounding error: all values are equal.
        Some(half) if half < 1e-12 * estimate.mean.abs() => format!("{} ± 0", digits(estimate.mean)),
        Some(half) => {
            by_interval(half).unwrap_or_else(|| format!("{} ± {}", digits(estimate.mean), digits(half)))
        }
        None => digits(estimate.mean),
    }
}

fn digits(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        size if !(1e-4..1e6).contains(&size) => format!("{number:.3e}"),
        size => {
            let before = size.log10().floor() as i32 + 1;
            format!("{number:.*}", usize::try_from(4 - before).unwrap_or(0).min(6))
        }
    }
}

/// The index of the first axis whose values all start with a number, and these numbers.
pub(crate) fn drawn_over(plan: &Plan) -> Result<(usize, Vec<f64>), Failure> {
    let numbers = |axis: &fairwire_sweep::Axis| -> Option<Vec<f64>> {
        axis.values.iter().map(|(_, value)| leading(value)).collect()
    };
    let along = plan.axes.iter().enumerate().find_map(|(at, axis)| Some((at, numbers(axis)?)));
    along.filter(|(_, xs)| xs.len() > 1).ok_or_else(|| {
        Failure::user(
            "no axis of this sweep has two numbers to draw over",
            "allowed: a key in `vary` with two numbers or more, such as \"link.buffer\" = [\"50 packets\", \"100 packets\"]",
        )
    })
}

/// The means, drawn over the axis of [`drawn_over`]: one panel per measure, and one line per
/// combination of the other axes.
pub(crate) fn figure(plan: &Plan, summary: &[CellSummary], setting: Setting) -> Result<String, Failure> {
    let (along, xs) = drawn_over(plan)?;
    let axis = &plan.axes[along];
    let unit = match &axis.values[0].1 {
        Value::Text(text) => {
            text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim().to_owned()
        }
        Value::Number(_) => String::new(),
    };
    let label = if unit.is_empty() { axis.key.clone() } else { format!("{} [{unit}]", axis.key) };
    let is_log = xs.iter().all(|x| *x > 0.0)
        && xs.iter().copied().fold(0.0, f64::max)
            >= LOG_RATIO * xs.iter().copied().fold(f64::INFINITY, f64::min);
    let scale = if is_log { Scale::Log } else { Scale::Linear };
    let line_of = |cell: &CellSummary| {
        let mut words = values(plan, cell.cell);
        words.remove(along);
        words.rotate_right(1); // discipline first
        words.join(", ")
    };
    let mut labels: Vec<String> = Vec::new();
    for cell in summary {
        let label = line_of(cell);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let panel = |(at, name): (usize, &String)| {
        let line = |(colour, label): (usize, &String)| {
            let mark = |cell: &CellSummary| {
                let estimate = cell.measures[at].as_ref()?;
                Some(Mark {
                    x: xs[plan.cells[cell.cell].at[along]],
                    y: estimate.mean,
                    y_half_width: estimate.half_width_95,
                    ..Mark::default()
                })
            };
            let mut marks: Vec<Mark> =
                summary.iter().filter(|cell| line_of(cell) == *label).filter_map(mark).collect();
            marks.sort_by(|a, b| a.x.total_cmp(&b.x));
            Line { label: label.clone(), colour, marks, ..Line::default() }
        };
        Panel {
            title: name.clone(),
            kind: Kind::Lines,
            x: Axis { label: label.clone(), scale, range: None },
            y: Axis { label: name.clone(), ..Axis::default() },
            lines: labels.iter().enumerate().map(line).collect(),
            ..Panel::default()
        }
    };
    let panels: Vec<Panel> = plan.measures.iter().take(MAX_PANELS).enumerate().map(panel).collect();
    let title = format!("Sweep over {}", heads(plan).join(", "));
    let detail = match setting {
        Setting::Alone => {
            vec![format!("Means over at most {} seeds, with 95 % intervals", plan.seeds.len())]
        }
        Setting::InPage => Vec::new(), // the page has this text around the picture
    };
    Ok(Figure { title: &title, detail, panels: &panels, ..Figure::default() }.svg(setting))
}

fn leading(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Text(text) => {
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            text[..end].parse().ok()
        }
    }
}

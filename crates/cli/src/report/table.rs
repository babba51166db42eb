//! Results as a table for people: with lines and colours on a terminal, Markdown elsewhere.

use super::{Headline, groups};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, presets};
use fairwire_metrics::record::{Estimate, Report, Summary};
use std::io::IsTerminal;

/// A number's look: `value * scale` with so many digits after the point.
#[derive(Clone, Copy)]
struct Look {
    scale: f64,
    digits: usize,
}

const SHARE: Look = Look { scale: 1.0, digits: 3 };
const COUNT: Look = Look { scale: 1.0, digits: 0 };
const MILLISECONDS: Look = Look { scale: 1e3, digits: 1 };
const PERCENT: Look = Look { scale: 100.0, digits: 2 };

/// The whole text: headline, table, and what the columns mean.
pub fn text(report: &Report, headline: &Headline) -> String {
    let mut out = format!("{}\n{}\n\n", headline.title, headline.detail);
    if report.summary.is_empty() {
        return out + "No run finished.\n";
    }
    let groups = groups(report);
    let mut table = empty();
    let mut columns: Vec<String> = vec!["discipline".into()];
    columns.extend(groups.iter().map(|group| format!("share of {group}")));
    columns
        .extend(["Jain", "drops", "sojourn mean, ms", "sojourn p99, ms", "utilization, %"].map(String::from));
    table.set_header(header(&columns));
    table.add_rows(report.summary.iter().map(|summary| row(summary, &groups)));
    for column in 1..columns.len() {
        table.column_mut(column).expect("it was just made").set_cell_alignment(CellAlignment::Right);
    }
    out += &format!("{table}\n\n{}\n", legend(report));
    out
}

/// An empty table in the style that fits where stdout goes.
pub fn empty() -> Table {
    let mut table = Table::new();
    if std::io::stdout().is_terminal() {
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    } else {
        table.load_style(presets::ASCII_MARKDOWN).force_no_tty();
    }
    table
}

/// Header cells.
pub fn header(columns: &[impl ToString]) -> Vec<Cell> {
    columns.iter().map(|column| Cell::new(column.to_string()).add_attribute(Attribute::Bold)).collect()
}

/// Colours are left out where NO_COLOR is set (no-color.org). Where there is no terminal, the table has none anyway.
fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn legend(report: &Report) -> String {
    let mut text = String::from("share: what the group got over what is max-min fair; 1 is fair.");
    if report.summary.iter().any(|summary| summary.runs > 1) {
        text += " ±: half of the 95 % interval over runs (Student's t).";
    }
    text
}

fn row(summary: &Summary, groups: &[&str]) -> Vec<Cell> {
    let mut row = vec![Cell::new(&summary.discipline).add_attribute(Attribute::Bold)];
    row.extend(groups.iter().map(|group| share(summary.measures.get(&format!("share.{group}")))));
    let plain = [
        ("jain", SHARE),
        ("drops", COUNT),
        ("sojourn_mean_s", MILLISECONDS),
        ("sojourn_p99_s", MILLISECONDS),
        ("utilization", PERCENT),
    ];
    row.extend(plain.map(|(measure, look)| Cell::new(shown(summary.measures.get(measure), look))));
    row
}

/// A share in a colour: green near 1, red where a group is robbed or robs.
fn share(estimate: Option<&Estimate>) -> Cell {
    let colour = match estimate.map(|estimate| estimate.mean) {
        Some(mean) if (0.9..=1.1).contains(&mean) => Color::Green,
        Some(mean) if (0.75..=1.5).contains(&mean) => Color::Yellow,
        _ => Color::Red,
    };
    let cell = Cell::new(shown(estimate, SHARE));
    if has_colour() { cell.fg(colour) } else { cell }
}

fn shown(estimate: Option<&Estimate>, look: Look) -> String {
    let Some(estimate) = estimate else { return "-".into() };
    let Look { scale, digits } = look;
    let mean = format!("{:.digits$}", estimate.mean * scale);
    match estimate.half_width_95 {
        Some(half) => format!("{mean} ± {:.digits$}", half * scale),
        None => mean,
    }
}

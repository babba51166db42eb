//! Flows and groups: throughput over round-trip time, and bars with intervals.

use super::distribution::{is_wanted, place};
use super::table::Table;
use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel, Reference};
use fairwire_metrics::record::{Report, Summary};

/// Each flow's throughput over its round-trip time in the empty network: one panel per discipline,
/// one type of mark per group.
pub(super) fn scatter(table: &Table, only: &[String]) -> Vec<Panel> {
    let (mut disciplines, mut groups) = (Vec::new(), Vec::new());
    let mut marks: Vec<(usize, usize, Mark)> = Vec::new();
    for row in 0..table.len() {
        let numbers = (table.number(row, "base_rtt_s"), table.number(row, "throughput_bps"));
        let (Some(rtt_s), Some(bps)) = numbers else { continue };
        let group = table.text(row, "group");
        if is_wanted(&group, only) {
            let at = (place(&mut disciplines, table.text(row, "discipline")), place(&mut groups, group));
            marks.push((at.0, at.1, Mark { x: rtt_s * 1e3, y: bps / 1e6, ..Mark::default() }));
        }
    }
    let panel = |(at, discipline): (usize, &String)| {
        let line = |(colour, group): (usize, &String)| {
            let own = marks.iter().filter(|(of, by, _)| (*of, *by) == (at, colour));
            let mut marks: Vec<Mark> = own.map(|(_, _, mark)| mark.clone()).collect();
            marks.sort_by(|a, b| a.x.total_cmp(&b.x));
            Line { label: group.clone(), colour, marks, ..Line::default() }
        };
        Panel {
            title: discipline.clone(),
            kind: Kind::Scatter,
            x: Axis { label: "round-trip time without queues, ms".into(), ..Axis::default() },
            y: Axis { label: "throughput, Mbit/s".into(), ..Axis::default() },
            lines: groups.iter().enumerate().map(line).collect(),
            ..Panel::default()
        }
    };
    disciplines.iter().enumerate().map(panel).collect()
}

/// Bars of `measures` with 95 % intervals, one per measure and discipline. A measure that ends with
/// a dot selects all measures with this prefix.
pub(super) fn bars(report: &Report, measures: &[String]) -> Vec<Panel> {
    let panel = |measure: &String| {
        let named = named(report, measure);
        let line = |(colour, name): (usize, &String)| {
            let mark = |(at, summary): (usize, &Summary)| {
                let estimate = summary.measures.get(name)?;
                let y_half_width = estimate.half_width_95;
                Some(Mark { x: at as f64, y: estimate.mean, y_half_width, ..Mark::default() })
            };
            let marks = report.summary.iter().enumerate().filter_map(mark).collect();
            let label = name.strip_prefix(measure.as_str()).filter(|rest| !rest.is_empty());
            Line { label: label.unwrap_or_default().into(), colour, marks, ..Line::default() }
        };
        let is_share = measure == "share.";
        Panel {
            title: if is_share { "shares".into() } else { measure.trim_end_matches('.').into() },
            kind: Kind::Bars,
            y: Axis {
                label: if is_share {
                    "throughput over max-min fair share".into()
                } else {
                    measure.trim_end_matches('.').into()
                },
                ..Axis::default()
            },
            categories: report.summary.iter().map(Summary::label).collect(),
            lines: named.iter().enumerate().map(line).collect(),
            reference: is_share
                .then(|| Reference { y: 1.0, label: "fair".into(), band: None })
                .into_iter()
                .collect(),
            ..Panel::default()
        }
    };
    measures.iter().map(panel).collect()
}

pub(super) fn named(report: &Report, measure: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in report.summary.iter().flat_map(|summary| summary.measures.keys()) {
        let is_it = name == measure || measure.ends_with('.') && name.starts_with(measure);
        if is_it && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

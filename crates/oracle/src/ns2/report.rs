//! What is shown and kept of the comparison.

use super::Outcome;
use super::cell::Cell;
use super::judge::{Figure, Row, Verdict, compare};
use serde::Serialize;
use std::fmt::Write;

/// One cell with its figures.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The cell.
    pub cell: &'static str,
    /// Its queue in ns-2, with limit and variables.
    pub ns2_queue: String,
    /// Ours, with its parameters.
    pub our_queue: String,
    /// Its classes, as `dumbbell.tcl` takes them.
    pub classes: Vec<String>,
    /// The rate of the bottleneck, bit/s.
    pub rate_bps: u64,
    /// The length of a run, seconds.
    pub duration_s: u32,
    /// What is not measured of it, seconds.
    pub warm_up_s: u32,
    /// Runs on either side.
    pub seeds: u64,
    /// The figures.
    pub rows: Vec<Row>,
}

/// Everything that one command compared.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this schema.
    pub schema_version: u32,
    /// What ours was compared with.
    pub oracle: &'static str,
    /// The cells.
    pub cells: Vec<Finding>,
}

impl Finding {
    /// The finding of `cell` from its runs on both sides.
    pub fn new(cell: &Cell, ns2: &[Outcome], ours: &[Outcome]) -> Finding {
        let limit = cell.queue.ns2_limit(cell.buffer);
        let variables = cell.queue.ns2_variables(cell.buffer, cell.flows());
        Finding {
            cell: cell.name,
            ns2_queue: format!("{} limit {limit} {variables}", cell.queue.ns2_name()).trim_end().to_owned(),
            our_queue: cell.queue.ours(cell.buffer).1,
            classes: cell.classes.iter().map(|class| class.ns2_words()).collect(),
            rate_bps: cell.mbps * 1_000_000,
            duration_s: cell.duration_s,
            warm_up_s: cell.warm_up_s,
            seeds: ours.len() as u64,
            rows: compare(cell, ns2, ours),
        }
    }

    /// Does a figure differ, with no reason known?
    pub fn is_bad(&self) -> bool {
        self.rows.iter().any(Row::is_bad)
    }

    /// Its lines of the table.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            let name = if at == 0 { self.cell } else { "" };
            let (unit, digits) = match row.figure {
                Figure::Throughput => (1e6, 3),
                Figure::Drops => (1.0, 1),
            };
            let side = |told: &fairwire_metrics::record::Estimate| {
                let half = told.half_width_95.map_or("-".into(), |half| format!("{:.digits$}", half / unit));
                format!("{:>10.digits$} ±{half:>7}", told.mean / unit)
            };
            let difference = row.difference.map_or("-".into(), |part| format!("{:+.1} %", 100.0 * part));
            let verdict = match (row.verdict, &row.because) {
                (Verdict::WithinTolerance, _) => "agrees",
                (Verdict::WithinIntervals, _) => "agrees within the intervals",
                (Verdict::Differs, Some(_)) => "differs, explained",
                (Verdict::Differs, None) => "DIFFERS",
            };
            let _ = writeln!(
                text,
                "{name:<26} {:<9} {:<11} {}  {}  {difference:>9}  {verdict}",
                row.class,
                row.figure.name(),
                side(&row.ns2),
                side(&row.ours),
            );
        }
        text
    }
}

/// The first line of the table.
pub fn heading() -> String {
    format!("{:<26} {:<9} {:<11} {:>19}  {:>19}  {:>9}", "cell", "class", "figure", "ns-2", "ours", "apart")
        + "\n(throughput in Mbit/s on the wire, drops in packets; means over the seeds, with their 95 % intervals)"
}

/// Every figure as a line of comma-separated values. No field holds a comma.
pub fn csv(findings: &[Finding]) -> String {
    let mut text = "cell,class,figure,seeds,ns2_mean,ns2_half_width_95,ours_mean,ours_half_width_95,difference,verdict,is_explained\n".to_owned();
    for finding in findings {
        for row in &finding.rows {
            let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            let verdict = match row.verdict {
                Verdict::WithinTolerance => "within-tolerance",
                Verdict::WithinIntervals => "within-intervals",
                Verdict::Differs => "differs",
            };
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{},{verdict},{}",
                finding.cell,
                row.class,
                row.figure.name(),
                finding.seeds,
                row.ns2.mean,
                number(row.ns2.half_width_95),
                row.ours.mean,
                number(row.ours.half_width_95),
                number(row.difference),
                row.because.is_some(),
            );
        }
    }
    text
}

#[cfg(test)]
impl Finding {
    /// Five runs each, where ours has so many times ns-2's throughput and drops.
    pub(crate) fn of_test(cell: &Cell, throughput: f64, drops: f64) -> Finding {
        use super::ClassOutcome;
        let runs = |throughput: f64, drops: f64| -> Vec<Outcome> {
            let class = ClassOutcome { throughput_bps: 1e6 * throughput, drops: (100.0 * drops) as u64 };
            let classes = || cell.classes.iter().map(|of| (of.name.to_owned(), class)).collect();
            (0..5).map(|_| Outcome { classes: classes(), ..Outcome::default() }).collect()
        };
        Finding::new(cell, &runs(1.0, 1.0), &runs(throughput, drops))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ns2::grid::CELLS;

    #[test]
    fn a_difference_shouts_until_it_is_explained() {
        let mut finding = Finding::of_test(&CELLS[0], 1.2, 1.0);
        assert!(finding.is_bad() && finding.text().contains("DIFFERS"), "{}", finding.text());
        finding.rows[0].because = Some("a reason".into());
        assert!(!finding.is_bad() && finding.text().contains("explained"), "{}", finding.text());
    }

    #[test]
    fn every_line_of_the_values_has_as_many_fields_as_the_first() {
        let text = csv(&[Finding::of_test(&CELLS[0], 1.0, 1.3)]);
        let fields: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(fields, [11; 3]);
        assert!(text.contains(",differs,false"), "{text}");
    }
}

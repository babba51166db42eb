//! The time that flows needed to reach their new shares after other flows started or stopped.

use super::table::{Look, shown, table};
use comfy_table::{Attribute, Cell};
use fairwire_metrics::interval::estimate;
use fairwire_metrics::record::{ChangeRecord, Report, RunRecord, Summary};

/// The maximum number of rows, beyond which a file is easier to read.
const MAX_ROWS: usize = 20;
const SECONDS: Look = Look { scale: 1.0, digits: 3, unit: "" };

/// One row per change, one column per discipline; empty if no change was recorded.
pub(super) fn text(report: &Report) -> String {
    let of = |run: &RunRecord| run.presence.as_ref().map_or(0, |all| all.changes.len());
    let Some(longest) = report.runs.iter().max_by_key(|run| of(run)).filter(|run| of(run) > 0) else {
        return String::new();
    };
    let changes = longest.presence.iter().flat_map(|all| &all.changes);
    let mut header = vec![Cell::new("at, s"), Cell::new("change")];
    header.extend(report.summary.iter().map(|summary| Cell::new(summary.label())));
    let header = header.into_iter().map(|cell| cell.add_attribute(Attribute::Bold)).collect();
    let row = |(at, change): (usize, &ChangeRecord)| {
        let mut row = vec![Cell::new(change.at_s), Cell::new(named(change))]; // exact
        row.extend(report.summary.iter().map(|summary| reached(report, summary, at)));
        row
    };
    let rows = changes.clone().enumerate().take(MAX_ROWS).map(row);
    let table = table(&std::iter::once(header).chain(rows).collect::<Vec<_>>());
    let more = changes.count().saturating_sub(MAX_ROWS);
    let more = if more > 0 { format!("and {more} more, which `--format json` has\n") } else { String::new() };
    format!(
        "\nTime until each flow whose fair share rose had 90 % of it, s; - where one had not before the next change:\n{table}\n{more}"
    )
}

/// The mean time to reach the new shares, over the discipline's runs that reached them.
fn reached(report: &Report, summary: &Summary, at: usize) -> Cell {
    let is_of = |run: &&RunRecord| run.discipline == summary.discipline && run.stage == summary.stage;
    let runs = report.runs.iter().filter(is_of);
    let times: Vec<f64> = runs.filter_map(|run| run.presence.as_ref()?.changes.get(at)?.reached_s).collect();
    Cell::new(shown(estimate(&times).as_ref(), SECONDS))
}

/// A change in words, such as `b starts; a and 1 more stop`.
fn named(change: &ChangeRecord) -> String {
    let of = |groups: &[String], verb: &str| match groups {
        [] => None,
        [one] => Some(format!("{one} {verb}s")),
        [first, others @ ..] => Some(format!("{first} and {} more {verb}", others.len())),
    };
    let parts = [of(&change.starts, "start"), of(&change.stops, "stop")];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn each_change_has_a_mean_over_runs_that_reached_the_share() {
        let mut report = samples::report(1, 1);
        assert_eq!(text(&report), "");
        for (run, reached) in report.runs.iter_mut().zip([Some(1.0), Some(3.0), None]) {
            let changes = serde_json::json!([
                { "at_s": 10.0, "starts": ["b"], "reached_s": reached },
                { "at_s": 20.0625, "stops": ["a", "b"] },
            ]);
            let presence = serde_json::json!({ "active_s": [1.0], "changes": changes });
            run.presence = Some(serde_json::from_value(presence).expect("a record"));
        }
        let text = text(&report);
        let rows: Vec<&str> =
            text.lines().filter(|line| line.starts_with("| 10 ") || line.starts_with("| 20.0625 ")).collect();
        assert_eq!(rows.len(), 2, "{text}");
        assert!(rows[0].contains("b starts") && rows[0].contains("| 2.000 ± "), "{text}");
        assert!(rows[1].contains("a and 1 more stop ") && rows[1].ends_with("- |"), "{text}");
    }
}

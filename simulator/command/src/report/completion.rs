//! Transfer times and slowdowns: percentiles, by size.

use super::table::{Look, shown, table, width};
use comfy_table::{Attribute, Cell, Table};
use fairwire_metrics::record::{Estimate, Report, Summary, TransferRecord};
use fairwire_metrics::summary::summarize_with;
use fairwire_metrics::{Kind, OfTransfers};

struct Part {
    heading: &'static str,
    /// The names of the measures, without the kind of transfer and the group.
    percentiles: [&'static str; 5],
    look: Look,
}

const PARTS: [Part; 2] = [
    Part {
        heading: "Completion times, s",
        percentiles: ["p50_s", "p90_s", "p95_s", "p99_s", "p99_9_s"],
        look: Look { scale: 1.0, digits: 3, unit: "" },
    },
    Part {
        heading: "Slowdowns: completion times over those of the same transfer alone",
        percentiles: ["slowdown_p50", "slowdown_p90", "slowdown_p95", "slowdown_p99", "slowdown_p99_9"],
        look: Look { scale: 1.0, digits: 2, unit: "" },
    },
];

struct Row<'a> {
    kind: Kind,
    group: &'a str,
    /// The size class; `None` for all sizes.
    size: Option<String>,
}

impl Row<'_> {
    fn number(&self) -> String {
        format!("{}.{}", self.kind.plural(), self.of())
    }

    fn measure(&self, percentile: &str) -> String {
        format!("{}_{percentile}.{}", self.kind.name(), self.of())
    }

    fn of(&self) -> String {
        self.size.as_ref().map_or_else(|| self.group.to_owned(), |size| format!("{}.{size}", self.group))
    }
}

/// Tables of the transfers and pages of `report`, if any. If a table is too wide for `columns`, it
/// is printed without the intervals. If it is still too wide, it is omitted.
pub(super) fn text(report: &Report, columns: usize) -> String {
    let rows = rows(report);
    let measures: Vec<String> = rows
        .iter()
        .flat_map(|row| {
            let percentiles = PARTS.iter().flat_map(|part| part.percentiles);
            percentiles.map(|it| row.measure(it)).chain([row.number()])
        })
        .collect();
    let summaries = if rows.is_empty() { Vec::new() } else { summarize_with(&report.runs, &measures) };
    PARTS.iter().map(|part| part.text(&rows, &summaries, columns)).collect()
}

impl Part {
    fn text(&self, rows: &[Row<'_>], summaries: &[Summary], columns: usize) -> String {
        let is_there = |row: &&Row<'_>| {
            summaries.iter().any(|it| it.measures.contains_key(&row.measure(self.percentiles[0])))
        };
        let rows: Vec<&Row<'_>> = rows.iter().filter(is_there).collect();
        if rows.is_empty() {
            return String::new();
        }
        let tables = [true, false].map(|has_intervals| self.table(&rows, summaries, has_intervals));
        let fitting = tables.into_iter().find(|table| width(table) <= columns);
        fitting.map_or_else(String::new, |table| format!("\n{}:\n{table}\n", self.heading))
    }

    fn table(&self, rows: &[&Row<'_>], summaries: &[Summary], has_intervals: bool) -> Table {
        let has_stages = summaries.iter().any(|summary| !summary.stage.is_empty());
        let stage = |text: &str| has_stages.then(|| Cell::new(text));
        let mut header = vec![Cell::new("of"), Cell::new("size"), Cell::new("discipline")];
        header.extend(stage("stage"));
        header.extend(["number", "p50", "p90", "p95", "p99", "p99.9"].map(Cell::new));
        let header = header.into_iter().map(|cell| cell.add_attribute(Attribute::Bold)).collect();
        let number = Look { scale: 1.0, digits: 0, unit: "" };
        let cells = |row: &Row<'_>, summary: &Summary| {
            let cell = |measure: &str, look| {
                let known = summary.measures.get(measure).copied();
                let interval = |known: Estimate| known.half_width_95.filter(|_| has_intervals);
                let known = known.map(|known| Estimate { half_width_95: interval(known), ..known });
                Cell::new(shown(known.as_ref(), look))
            };
            let mut cells = vec![
                Cell::new(format!("{} of {}", row.kind.plural(), row.group)),
                Cell::new(row.size.as_deref().unwrap_or("all")),
                Cell::new(&summary.discipline),
            ];
            cells.extend(stage(&summary.stage));
            cells.push(cell(&row.number(), number));
            cells.extend(self.percentiles.map(|it| cell(&row.measure(it), self.look)));
            cells
        };
        let rows = rows.iter().flat_map(|row| summaries.iter().map(|summary| cells(row, summary)));
        table(&std::iter::once(header).chain(rows).collect::<Vec<_>>())
    }
}

fn rows(report: &Report) -> Vec<Row<'_>> {
    let records = || report.runs.iter().flat_map(|run| &run.transfers);
    // A viewer does not notice single chunks of a video, so their times are omitted.
    let is_video = |group: &str| records().any(|it| it.group == group && it.kind == Kind::Stall.name());
    let mut rows: Vec<Row<'_>> = Vec::new();
    for TransferRecord { group, kind, .. } in records().filter(|record| !is_video(&record.group)) {
        let Some(kind @ (Kind::Transfer | Kind::Page)) = Kind::of(kind) else { continue };
        if rows.iter().any(|row| (row.kind, row.group) == (kind, group)) {
            continue;
        }
        let names = OfTransfers::names(kind, group);
        let numbers =
            names.iter().filter_map(|name| OfTransfers::parse(name)).filter(|of| of.statistic.is_none());
        rows.extend(numbers.map(|of| Row { kind, group, size: of.size.map(str::to_owned) }));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn report() -> Report {
        let mut report = samples::report(2, 1);
        for (run, add) in report.runs.iter_mut().zip(0..) {
            let add = f64::from(add % 3);
            let times = |s: f64| {
                serde_json::json!({
                    "completed": 100, "mean_s": s, "p50_s": s + add, "p90_s": s, "p95_s": s, "p99_s": s, "p99_9_s": s,
                    "max_s": s,
                    "slowdown": { "mean": s, "p50": s + 1.0, "p90": s, "p95": s, "p99": s, "p99_9": s, "max": s }
                })
            };
            let with = |mut value: serde_json::Value, more: serde_json::Value| {
                value.as_object_mut().expect("one").extend(more.as_object().expect("one").clone());
                value
            };
            let sizes = [
                with(times(2.0), serde_json::json!({ "size": "to_10kB" })),
                with(times(3.0), serde_json::json!({ "size": "over_1MB" })),
            ];
            let all = serde_json::json!({ "group": "web", "kind": "transfer", "sizes": sizes });
            let mut page = with(times(9.0), serde_json::json!({ "group": "web", "kind": "page" }));
            page.as_object_mut().expect("one").remove("slowdown");
            let records = [with(times(1.0), all), page];
            run.transfers =
                records.into_iter().map(|it| serde_json::from_value(it).expect("a record")).collect();
        }
        report
    }

    #[test]
    fn each_size_has_percentiles_of_times_and_slowdowns_for_each_discipline() {
        let text = text(&report(), usize::MAX);
        let rows = |part: &str| text.lines().filter(|line| line.contains(part)).count();
        // Times have 4 rows: all transfers, two sizes and pages. Slowdowns have 3, without pages.
        assert_eq!((rows(" d0 |"), rows(" d1 |")), (4 + 3, 4 + 3), "{text}");
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let row = text.lines().find(|line| line.contains("to_10kB")).expect("the class");
        // The medians 2, 3 and 4 s have a standard deviation of 1 s, so Student's t gives the
        // half-width 4.303 s / sqrt(3) = 2.484 s.
        let expected = ["", "transfers of web", "to_10kB", "d0", "100 ± 0", "3.000 ± 2.484", "2.000 ± 0.000"];
        assert_eq!(cells(row)[..7], expected, "{text}");
    }

    #[test]
    fn intervals_are_omitted_without_room_and_tables_if_nothing_fits() {
        let report = report();
        let narrow = text(&report, 100);
        assert!(narrow.contains("| 3.000 |") && !narrow.contains('±'), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 100), "{narrow}");
        assert_eq!(text(&report, 40), "");
        assert_eq!(text(&samples::report(2, 1), usize::MAX), "");
    }
}

//! Results as CSV: the summary, one row per run, and one row per run and flow.

use fairwire_metrics::record::{Difference, Estimate, FlowRecord, Report, RunRecord};
use fairwire_metrics::summary;
use fairwire_terminal::failure::Failure;
use std::collections::BTreeSet;

pub(crate) fn flow_columns() -> impl Iterator<Item = &'static str> {
    FlowRecord::COLUMNS.iter().map(|(name, _)| if *name == "name" { "flow" } else { *name })
}

/// One row per discipline and measure, then one row per pair of `differences` and measure. The
/// column `minus` names the subtracted discipline, and exists only if there are differences.
pub(crate) fn summary(report: &Report, differences: &[Difference]) -> Result<String, Failure> {
    let columns =
        Columns { file: None, has_stage: has_stages(&report.runs), has_minus: !differences.is_empty() };
    text(std::iter::once(columns.head()).chain(columns.rows(report, differences)))
}

/// The summary of one of several files. All files have the same columns, and only the first has the
/// heading.
pub(super) fn summary_of_file(report: &Report, file: &str, is_first: bool) -> Result<String, Failure> {
    let columns = Columns { file: Some(file), has_stage: true, has_minus: true };
    text(is_first.then(|| columns.head()).into_iter().chain(columns.rows(report, &report.differences)))
}

struct Columns<'a> {
    file: Option<&'a str>,
    has_stage: bool,
    has_minus: bool,
}

impl Columns<'_> {
    fn head(&self) -> Vec<String> {
        let cells = ["runs", "measure", "mean", "half_width_95", "min", "max"].map(String::from);
        let row = self.row(["discipline", "stage", "minus"], cells);
        self.file.iter().map(|_| "file".to_string()).chain(row).collect()
    }

    fn rows<'a>(
        &'a self,
        report: &'a Report,
        differences: &'a [Difference],
    ) -> impl Iterator<Item = Vec<String>> + 'a {
        let numbers = |runs: u64, measure: &str, estimate: &Estimate| {
            let half = estimate.half_width_95.map_or(String::new(), |half| half.to_string());
            let [mean, min, max] =
                [estimate.mean, estimate.min, estimate.max].map(|number| number.to_string());
            [runs.to_string(), measure.to_string(), mean, half, min, max]
        };
        let own = report.summary.iter().flat_map(move |summary| {
            let names = [summary.discipline.as_str(), summary.stage.as_str(), ""];
            let of = move |(measure, estimate): (&String, &Estimate)| {
                self.row(names, numbers(summary.runs, measure, estimate))
            };
            summary.measures.iter().map(of)
        });
        let paired = differences.iter().flat_map(move |pair| {
            let names = [pair.first.as_str(), "", pair.second.as_str()];
            let of = move |(measure, estimate): (&String, &Estimate)| {
                self.row(names, numbers(pair.runs, measure, estimate))
            };
            pair.measures.iter().map(of)
        });
        let with_file = |row: Vec<String>| self.file.iter().map(ToString::to_string).chain(row).collect();
        own.chain(paired).map(with_file)
    }

    fn row(&self, [discipline, stage, minus]: [&str; 3], cells: [String; 6]) -> Vec<String> {
        let stage = self.has_stage.then(|| stage.to_string());
        let minus = self.has_minus.then(|| minus.to_string());
        std::iter::once(discipline.to_string()).chain(stage).chain(minus).chain(cells).collect()
    }
}

pub(crate) fn differences(report: &Report) -> Result<String, Failure> {
    let head = ["first", "second", "runs", "measure", "difference", "half_width_95", "min", "max"];
    let rows = report.differences.iter().flat_map(|difference| {
        difference.measures.iter().map(|(measure, estimate)| {
            vec![
                difference.first.clone(),
                difference.second.clone(),
                difference.runs.to_string(),
                measure.clone(),
                estimate.mean.to_string(),
                estimate.half_width_95.map_or(String::new(), |half| half.to_string()),
                estimate.min.to_string(),
                estimate.max.to_string(),
            ]
        })
    });
    text(std::iter::once(head.map(String::from).to_vec()).chain(rows))
}

pub(crate) fn runs(report: &Report) -> Result<String, Failure> {
    let measures: BTreeSet<&String> =
        report.summary.iter().flat_map(|summary| summary.measures.keys()).collect();
    let has_stages = has_stages(&report.runs);
    let stage = has_stages.then(|| "stage".to_string());
    let mut head: Vec<String> =
        std::iter::once("discipline".to_string()).chain(stage).chain(["seed".to_string()]).collect();
    head.extend(measures.iter().map(|measure| measure.to_string()));
    let rows = report.runs.iter().map(|run| run_row(run, has_stages, &measures));
    text(std::iter::once(head).chain(rows))
}

pub(crate) fn flows(report: &Report) -> Result<String, Failure> {
    let has_stages = has_stages(&report.runs);
    let stage = has_stages.then_some("stage");
    let head = ["discipline"].into_iter().chain(stage).chain(["seed"]).chain(flow_columns());
    let head = head.map(String::from).collect();
    let row = move |run: &RunRecord, flow: &FlowRecord| {
        let cells = flow.row().iter().map(ToString::to_string).collect();
        [named(run, has_stages), cells].concat()
    };
    let rows = report.runs.iter().flat_map(|run| run.flows.iter().map(move |flow| row(run, flow)));
    text(std::iter::once(head).chain(rows))
}

fn has_stages(runs: &[RunRecord]) -> bool {
    runs.iter().any(|run| !run.stage.is_empty())
}

fn named(run: &RunRecord, has_stages: bool) -> Vec<String> {
    let stage = has_stages.then(|| run.stage.clone());
    std::iter::once(run.discipline.clone()).chain(stage).chain([run.seed.to_string()]).collect()
}

pub(crate) fn text(rows: impl Iterator<Item = Vec<String>>) -> Result<String, Failure> {
    let fault = |error: ::csv::Error| Failure::Ours(format!("CSV could not be made: {error}"));
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).map_err(fault)?;
    }
    let bytes =
        writer.into_inner().map_err(|error| Failure::Ours(format!("CSV could not be made: {error}")))?;
    String::from_utf8(bytes).map_err(|error| Failure::Ours(format!("CSV could not be made: {error}")))
}

fn run_row(run: &RunRecord, has_stages: bool, measures: &BTreeSet<&String>) -> Vec<String> {
    let own = summary::measures(run);
    let mut row = named(run, has_stages);
    row.extend(measures.iter().map(|measure| {
        match own.get(*measure).copied().or_else(|| summary::measure(run, measure)) {
            Some(value) => value.to_string(),
            None if measure.starts_with("drops.") => "0".into(),
            None => String::new(),
        }
    }));
    row
}

//! A result in a notebook: its summary as a table, and its shares as a picture.

use fairwire_figures::shares::{self, Group};
use fairwire_figures::{Figure, Setting, escaped};
use fairwire_metrics::judge::Verdict;
use fairwire_metrics::record::{Agreement, Estimate, Report, Summary};
use pyo3::prelude::*;
use std::collections::BTreeSet;

pub(crate) fn html(py: Python<'_>, report: &Report) -> PyResult<String> {
    let notes: String =
        report.manifest.notes.iter().map(|note| format!("<p>Note: {}</p>", escaped(note))).collect();
    Ok(notes
        + &table(report)
        + &agreement(report)
        + &image(py, &svg(report), &format!("shares of {}", report.manifest.scenario))?)
}

/// A picture in a notebook. It is a separate image, so its style sheet does not affect the page.
pub(crate) fn image(py: Python<'_>, svg: &str, alt: &str) -> PyResult<String> {
    let bytes = py.import("base64")?.call_method1("b64encode", (svg.as_bytes(),))?;
    let encoded: String = bytes.call_method1("decode", ("ascii",))?.extract()?;
    let alt = escaped(alt);
    Ok(format!("<img alt=\"{alt}\" style=\"max-width: 100%\" src=\"data:image/svg+xml;base64,{encoded}\"/>"))
}

fn table(report: &Report) -> String {
    let cell = |tag: &str, text: &str| format!("<{tag}>{}</{tag}>", escaped(text));
    let summaries = &report.summary;
    let names: BTreeSet<&String> = summaries.iter().flat_map(|summary| summary.measures.keys()).collect();
    let head: String = summaries.iter().map(|summary| cell("th", &summary.label())).collect();
    let row = |name: &&String| {
        let cells = summaries
            .iter()
            .map(|summary| cell("td", &summary.measures.get(*name).map_or(String::new(), shown)));
        format!("<tr>{}{}</tr>", cell("th", name), cells.collect::<String>())
    };
    let rows: String = names.iter().map(row).collect();
    let runs = report.runs.len();
    let plural = if runs == 1 { "" } else { "s" };
    let caption = format!(
        "{}: {runs} run{plural}; mean ± half of the 95 % interval over the seeds",
        report.manifest.scenario
    );
    format!(
        "<table><caption>{}</caption><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>",
        escaped(&caption)
    )
}

fn agreement(report: &Report) -> String {
    let judged = report.agreement.iter().filter_map(|one| Some((one, one.verdict?)));
    let row = |(one, verdict): (&Agreement, Verdict)| {
        let allowed = one.allowed.map_or(String::new(), |allowed| format!("{allowed:.4}"));
        let cells = [&one.discipline, &one.stage, &one.measure, &format!("{:.4}", one.difference), &allowed];
        let cells: String = cells.iter().map(|text| format!("<td>{}</td>", escaped(text))).collect();
        format!("<tr>{cells}<td>{}</td></tr>", verdict.words())
    };
    let rows: String = judged.map(row).collect();
    let first = report.manifest.stages.first().map_or("", String::as_str);
    let head = "<th>discipline</th><th>stage</th><th>measure</th><th>difference</th><th>allowed</th><th>verdict</th>";
    match rows.is_empty() {
        true => rows,
        false => format!(
            "<table><caption>how near stages came to {first}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        ),
    }
}

/// A mean with four digits, and the half-width of its interval with the same number of decimals.
fn shown(estimate: &Estimate) -> String {
    let Estimate { mean, half_width_95, .. } = *estimate;
    let magnitude = if mean == 0.0 { 0 } else { mean.abs().log10().floor() as i32 };
    let decimals = (3 - magnitude).clamp(0, 6) as usize;
    let half = half_width_95.map_or(String::new(), |half| format!(" ± {half:.decimals$}"));
    format!("{mean:.decimals$}{half}")
}

fn svg(report: &Report) -> String {
    const SHARE: &str = "share.";
    let summaries = &report.summary;
    let mut names: Vec<&str> = Vec::new();
    for name in summaries.iter().flat_map(|summary| summary.measures.keys()) {
        match name.strip_prefix(SHARE) {
            Some(group) if !names.contains(&group) => names.push(group),
            _ => {}
        }
    }
    let of = |group: &str| {
        let share = |summary: &Summary| {
            let estimate = summary.measures.get(&format!("{SHARE}{group}"))?;
            Some((estimate.mean, estimate.half_width_95))
        };
        Group { name: group.into(), shares: summaries.iter().map(share).collect() }
    };
    let categories = summaries.iter().map(Summary::label).collect();
    let panels = [shares::panel(categories, names.into_iter().map(of).collect())];
    let title = format!("{}: the share of each group", report.manifest.scenario);
    Figure { title: &title, panels: &panels, is_as_wide_as_bars: true, ..Figure::default() }
        .svg(Setting::Alone)
}

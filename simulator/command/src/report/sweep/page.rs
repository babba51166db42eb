//! The page of a sweep: its picture, and one row per cell.

use super::{estimate, figure, heads, value};
use crate::html::{self, Choice};
use fairwire_figures::{Setting, escaped};
use fairwire_sweep::{CellSummary, Plan};

/// The maximum number of values in an axis's menu.
const MAX_CHOICES: usize = 40;
/// The maximum number of columns on paper. Each row of a wider table is printed as a block.
const MAX_ON_PAPER: usize = 7;

pub(crate) fn page(plan: &Plan, summary: &[CellSummary], command: &str, missing: usize) -> String {
    let axes = axes(plan);
    let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
    let mut out = html::open(&format!("{}: sweep over {}", plan.title, keys.join(", ")));
    let runs: usize = summary.iter().map(|cell| cell.runs).sum();
    out += &format!(
        "<p>{} cells and {runs} runs, made with fairwire {}. Each number is the mean over the seeds, ± half of its 95 % \
             interval (Student's t).</p>\n<pre>{}</pre>\n",
        summary.len(),
        env!("CARGO_PKG_VERSION"),
        escaped(command),
    );
    if missing > 0 {
        out += &format!(
            "<p><strong>{missing} runs of the plan are missing: the means are over the others.</strong></p>\n"
        );
    }
    plan.notes.iter().for_each(|note| out += &format!("<p>Note: {}</p>\n", escaped(note)));
    if let Ok(picture) = figure(plan, summary, Setting::InPage) {
        out += &format!("<figure>\n{picture}</figure>\n");
    }
    let choices: Vec<Choice> = axes.iter().enumerate().filter_map(|(at, axis)| choice(at, axis)).collect();
    html::filter(&mut out, "cells", &choices);
    table(&mut out, plan, summary, &axes);
    html::close(&mut out);
    out
}

struct Column {
    key: String,
    values: Vec<String>,
    /// The index of each cell's value in `values`.
    at: Vec<usize>,
}

fn axes(plan: &Plan) -> Vec<Column> {
    let column = |(index, key): (usize, String)| {
        let own = |cell: &fairwire_sweep::Cell| match plan.axes.get(index) {
            Some(axis) => value(&axis.values[cell.at[index]].1),
            None => cell.discipline.to_string(),
        };
        let mut values: Vec<String> = Vec::new();
        let at = plan.cells.iter().map(|cell| {
            let own = own(cell);
            values.iter().position(|each| *each == own).unwrap_or_else(|| {
                values.push(own);
                values.len() - 1
            })
        });
        let at = at.collect();
        Column { key, values, at }
    };
    heads(plan).into_iter().enumerate().map(column).collect()
}

fn choice(at: usize, column: &Column) -> Option<Choice> {
    let options = column.values.iter().enumerate().map(|(value, text)| (word(at, value), text.clone()));
    let choice = Choice { label: column.key.clone(), all: "all".into(), options: options.collect() };
    (2..=MAX_CHOICES).contains(&column.values.len()).then_some(choice)
}

fn word(column: usize, value: usize) -> String {
    format!("{column}.{value}")
}

fn table(out: &mut String, plan: &Plan, summary: &[CellSummary], axes: &[Column]) {
    let columns = axes.len() + 1 + plan.measures.len();
    let many = if columns > MAX_ON_PAPER { " many" } else { "" };
    *out += &format!(
        "<div class=\"wide\" role=\"region\" aria-label=\"Means of each cell\" tabindex=\"0\">\
             <table class=\"sortable{many}\">\n<thead><tr>"
    );
    axes.iter().for_each(|axis| *out += &format!("<th scope=\"col\">{}</th>", escaped(&axis.key)));
    for name in [RUNS].into_iter().chain(plan.measures.iter().map(String::as_str)) {
        *out += &format!("<th scope=\"col\" class=\"number\">{}</th>", escaped(name));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    summary.iter().for_each(|cell| row(out, plan, cell, axes));
    out.push_str("</tbody>\n</table></div>\n");
}

const RUNS: &str = "runs";

fn row(out: &mut String, plan: &Plan, cell: &CellSummary, axes: &[Column]) {
    let is: Vec<String> = axes.iter().enumerate().map(|(at, axis)| word(at, axis.at[cell.cell])).collect();
    *out += &format!("<tr data-is=\"{}\">", is.join(" "));
    for axis in axes {
        let value = axis.at[cell.cell];
        field(out, &axis.key, Some(value as f64), "", &axis.values[value]);
    }
    field(out, RUNS, Some(cell.runs as f64), NUMBER, &cell.runs.to_string());
    for (name, measured) in plan.measures.iter().zip(&cell.measures) {
        let mean = measured.as_ref().map(|measured| measured.mean);
        field(out, name, mean, NUMBER, &measured.as_ref().map_or("\u{2013}".into(), estimate));
    }
    out.push_str("</tr>\n");
}

const NUMBER: &str = " class=\"number\"";

/// Adds a cell. On paper, `name` is next to `text`.
fn field(out: &mut String, name: &str, order: Option<f64>, class: &str, text: &str) {
    let order = order.map_or(String::new(), |order| format!(" data-value=\"{order}\""));
    *out += &format!("<td{class}{order} data-name=\"{}\">{}</td>", escaped(name), escaped(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::is_balanced;
    use fairwire_metrics::record::Estimate;
    use fairwire_sweep::Base;

    const SCENARIO: &str = "format = 2\nname = \"n\"\ntitle = \"<b>Two & three</b>\"\nduration = \"2 s\"\ndisciplines = [\"red\"]\n\
        [link]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"10 packets\"\n\
        [[flow]]\ngroup = \"a\"\nsource = \"bulk\"\ntcp = { profile = \"ns2-2002\" }\naccess = { rate = \"10 Mbit/s\", delay = \"1 ms\" }\n";

    fn plan(vary: &str) -> Plan {
        let base = Base::text(SCENARIO);
        let text =
            format!("format = 1\nmeasures = [\"jain\", \"utilization\"]\nseeds = \"1..=3\"\n[vary]\n{vary}");
        Plan::parse("plan.toml", &text, base).expect("a plan")
    }

    fn summary(plan: &Plan) -> Vec<CellSummary> {
        let cell = |cell: usize| CellSummary {
            cell,
            runs: 3,
            measures: vec![
                Some(Estimate { mean: 0.5 + cell as f64, half_width_95: Some(0.01), min: 0.0, max: 9.0 }),
                None,
            ],
        };
        (0..plan.cells.len()).map(cell).collect()
    }

    #[test]
    fn each_cell_has_a_row_with_its_filter_and_sort_keys() {
        let plan =
            plan("discipline = [\"red\", \"faba\"]\n\"link.buffer\" = [\"9 packets\", \"30 packets\"]\n");
        let page = page(&plan, &summary(&plan), "fairwire sweep <x>", 2);
        assert!(is_balanced(&page), "{page}");
        assert_eq!(page.matches("<tr data-is=").count(), 4);
        assert!(
            page.contains("<tr data-is=\"1.0 0.1\">") || page.contains("<tr data-is=\"0.1 1.0\">"),
            "{page}"
        );
        assert!(page.contains("<option value=\"0.1\">30 packets</option>"), "{page}");
        assert!(page.contains("data-value=\"1.5\" data-name=\"jain\">1.500 ± 0.010</td>"), "{page}");
        assert!(page.contains("data-name=\"utilization\">\u{2013}</td>"), "what no run has sorts last");
        assert!(page.contains("2 runs of the plan are missing") && page.contains("fairwire sweep &lt;x&gt;"));
        assert_eq!((page.matches("<svg").count(), page.matches("<script").count()), (1, 1));
    }

    #[test]
    fn without_a_numeric_axis_it_is_a_table_and_no_filter_has_one_value() {
        let plan = plan("discipline = [\"red\"]\n\"flow.a.tcp.control\" = [\"cubic\", \"reno\"]\n");
        let page = page(&plan, &summary(&plan), "c", 0);
        assert!(is_balanced(&page) && !page.contains("<svg") && !page.contains("missing"));
        assert_eq!(page.matches("<select>").count(), 1);
    }
}

//! Tables of numbers in the page: panels that are tables, and the numbers of exhibits.

use super::crosstab::{Crosstab, tables};
use fairwire_figures::escaped;
use fairwire_figures::number::{number, with_interval};
use fairwire_study::record::{Exhibit, Kind, Line, Mark, Measured, Panel};

const SHADES: f64 = 9.0;
/// The number of significant digits of our value if the paper prints no value for comparison.
const DIGITS: usize = 3;

pub(super) fn figure(out: &mut String, panel: &Panel) {
    if !panel.title.is_empty() {
        *out += &format!("<h4>{}</h4>\n", escaped(&panel.title));
    }
    let series = distinct(panel.lines.iter().map(|line| line.series.as_str()));
    let measures = distinct(panel.lines.iter().map(|line| line.measure.as_str()));
    out.push_str("<div class=\"wide\"><table class=\"cells\">\n");
    if series.len() > 1 && measures.len() > 1 {
        grouped(out, panel, &series);
    } else {
        plain(out, panel);
    }
    out.push_str("</table></div>\n");
    let marks: Vec<(&Line, &Mark)> =
        panel.lines.iter().flat_map(|line| line.marks.iter().map(move |mark| (line, mark))).collect();
    let has_printed = panel.lines.iter().any(|line| !line.published.is_empty());
    let is_one_off = marks.iter().any(|(line, mark)| is_off(mark, printed(line, mark)));
    let mut notes: Vec<String> = Vec::new();
    if has_printed {
        notes.push("Small: as printed".into());
    }
    if is_one_off {
        notes.push("tinted, with \u{2260}: further from it than the claim allows".into());
    }
    if panel.kind == Kind::Grid {
        let what = if panel.y.label.is_empty() { "the number" } else { &panel.y.label };
        notes.push(format!("the stronger the colour, the larger: {what}"));
    }
    if !notes.is_empty() {
        *out += &format!("<p class=\"faint\">{}.</p>\n", escaped(&notes.join("; ")));
    }
}

fn plain(out: &mut String, panel: &Panel) {
    *out += &format!("<tr><th>{}</th>", escaped(&panel.x.label));
    panel.categories.iter().for_each(|name| head(out, name));
    out.push_str("</tr>\n");
    for line in &panel.lines {
        *out += &format!("<tr><th>{}</th>", escaped(&line.label));
        for place in 0..panel.categories.len() {
            cell(out, panel, line, place);
        }
        out.push_str("</tr>\n");
    }
}

/// Adds a table with one row per category of `panel`. Each series has one column per measure.
fn grouped(out: &mut String, panel: &Panel, series: &[&str]) {
    let of = |name: &&str| panel.lines.iter().filter(|line| line.series == *name).collect::<Vec<&Line>>();
    let groups: Vec<Vec<&Line>> = series.iter().map(of).collect();
    *out += &format!("<tr><th rowspan=\"2\">{}</th>", escaped(&panel.x.label));
    for (name, lines) in series.iter().zip(&groups) {
        *out += &format!("<th class=\"group\" colspan=\"{}\">{}</th>", lines.len(), escaped(name));
    }
    out.push_str("</tr>\n<tr>");
    groups.iter().flatten().for_each(|line| head(out, &line.measure));
    out.push_str("</tr>\n");
    for (place, name) in panel.categories.iter().enumerate() {
        *out += &format!("<tr><th>{}</th>", escaped(name));
        groups.iter().flatten().for_each(|line| cell(out, panel, line, place));
        out.push_str("</tr>\n");
    }
}

fn head(out: &mut String, name: &str) {
    *out += &format!("<th>{}</th>", escaped(name));
}

/// A cell with our value, and the paper's value in small type below. The tooltip has the interval.
fn cell(out: &mut String, panel: &Panel, line: &Line, place: usize) {
    let is_here = |mark: &&Mark| (mark.x - place as f64).abs() < 0.5;
    let (ours, theirs) = (line.marks.iter().find(is_here), line.published.iter().find(is_here));
    let printed = theirs.map_or(String::new(), |mark| mark.y.to_string());
    let Some(mark) = ours else {
        *out += &format!("<td>\u{2013}<small>{printed}</small></td>");
        return;
    };
    let is_off = is_off(mark, theirs);
    let class = match panel.kind {
        Kind::Grid => format!(" class=\"g{}\"", (panel.shade(mark.y) * SHADES).round()),
        _ if is_off => " class=\"off\"".into(),
        _ => String::new(),
    };
    *out += &format!("<td{class} title=\"{}\">", with_interval(mark.y, mark.y_half_width));
    out.push_str(&if theirs.is_some() { as_printed(line, mark.y) } else { number(mark.y, DIGITS) });
    if theirs.is_some() {
        *out += &format!("<small>{printed}{}</small>", if is_off { " \u{2260}" } else { "" });
    }
    out.push_str("</td>");
}

fn printed<'a>(line: &'a Line, mark: &Mark) -> Option<&'a Mark> {
    line.published.iter().find(|other| (other.x - mark.x).abs() < 0.5)
}

fn is_off(mark: &Mark, printed: Option<&Mark>) -> bool {
    printed.is_some_and(|printed| {
        printed.allowed.is_some_and(|allowed| (mark.y - printed.y).abs() > allowed * (1.0 + 1e-9))
    })
}

fn as_printed(line: &Line, value: f64) -> String {
    let decimals = |mark: &Mark| mark.y.to_string().split_once('.').map_or(0, |(_, rest)| rest.len());
    let most = line.published.iter().map(decimals).max().unwrap_or(0).min(6);
    format!("{value:.most$}")
}

pub(super) fn numbers(out: &mut String, exhibit: &Exhibit) {
    let measures: Vec<&Measured> = exhibit.measures.iter().collect();
    for table in tables(exhibit, &measures) {
        crosstab(out, &table);
    }
}

fn crosstab(out: &mut String, table: &Crosstab<'_>) {
    *out += &format!("<div class=\"wide\"><table class=\"cells\">\n<tr><th>{}</th>", escaped(&table.of));
    table.columns.iter().for_each(|name| head(out, name));
    out.push_str("</tr>\n");
    for (name, cells) in &table.rows {
        *out += &format!("<tr><th>{}</th>", escaped(name));
        for cell in cells {
            out.push_str("<td>");
            if let Some(cell) = cell {
                let ours = cell.number.estimate.map(|e| with_interval(e.mean, e.half_width_95));
                out.push_str(&ours.unwrap_or_else(|| "no value".into()));
                if let Some(printed) = cell.printed {
                    *out += &format!("<small>{}</small>", number(printed.value, 7));
                }
            }
            out.push_str("</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names.filter(|name| !name.is_empty()) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_figures::samples::table1;

    fn drawn(panel: &Panel) -> String {
        let mut out = String::new();
        figure(&mut out, panel);
        out
    }

    #[test]
    fn printed_numbers_are_below_ours_and_misses_are_marked() {
        let mut panel = table1(Kind::Table);
        panel.lines[0].published.iter_mut().for_each(|mark| mark.allowed = Some(0.02));
        let near = drawn(&panel);
        assert!(near.contains(">0.541<small>0.551</small>") && !near.contains('\u{2260}'), "{near}");
        panel.lines[0].published[0].allowed = Some(0.005);
        let off = drawn(&panel);
        assert!(off.contains("class=\"off\"") && off.contains("0.541<small>0.551 \u{2260}</small>"), "{off}");
        assert_eq!(off.matches("<tr>").count(), 6, "a head and five disciplines");
    }

    #[test]
    fn series_with_several_measures_are_side_by_side() {
        let one = table1(Kind::Table);
        let mut panel = one.clone();
        panel.lines = ["TB", "ATB"]
            .iter()
            .flat_map(|series| ["r1", "G1"].map(|measure| (series, measure)))
            .map(|(series, measure)| Line {
                label: format!("{series}: {measure}"),
                series: series.to_string(),
                measure: measure.into(),
                ..one.lines[0].clone()
            })
            .collect();
        let table = drawn(&panel);
        assert!(
            table.contains(
                "<th class=\"group\" colspan=\"2\">TB</th><th class=\"group\" colspan=\"2\">ATB</th>"
            )
        );
        assert_eq!(table.matches("<tr>").count(), 2 + 5, "two heads and a row for each size of the buffer");
    }

    #[test]
    fn the_cells_of_a_grid_have_shades() {
        let grid = drawn(&table1(Kind::Grid));
        assert!(grid.contains("class=\"g0\"") && grid.contains("class=\"g9\""), "{grid}");
    }
}

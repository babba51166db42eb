//! Results as a table for people. On a terminal, it has lines and colours. Elsewhere, it is
//! Markdown.

use super::completion;
use super::latex;
use super::presence;
use super::shown::{Headline, groups};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, presets};
use fairwire_metrics::Kind;
use fairwire_metrics::judge::Verdict;
use fairwire_metrics::record::{Agreement, Difference, Estimate, Report, Summary};
use fairwire_terminal::terminal::{self, has_colour, wrapped};
use std::io::IsTerminal;

/// The format of a number: `value * scale`, with `digits` decimals.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub scale: f64,
    pub digits: usize,
    /// The unit after the number, if no heading has it.
    pub unit: &'static str,
}

const SHARE: Look = Look { scale: 1.0, digits: 3, unit: "" };
const COUNT: Look = Look { scale: 1.0, digits: 0, unit: " packets" };
const MILLISECONDS: Look = Look { scale: 1e3, digits: 1, unit: " ms" };
const SECONDS: Look = Look { scale: 1.0, digits: 3, unit: " s" };
const PERCENT: Look = Look { scale: 100.0, digits: 2, unit: " %" };

const PLAIN: [(&str, Look); 5] = [
    ("jain", SHARE),
    ("drops", COUNT),
    ("sojourn_mean_s", MILLISECONDS),
    ("sojourn_p99_s", MILLISECONDS),
    ("utilization", PERCENT),
];

pub(crate) fn text(report: &Report, headline: &Headline) -> String {
    text_within(report, headline, terminal::columns())
}

pub(crate) fn for_latex(report: &Report, headline: &Headline) -> String {
    let rows = rows(report).into_iter().map(|row| row.iter().map(Cell::content).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    format!("% {}\n{}", headline.title, latex::table(&rows[0], &rows[1..]))
}

/// Like [`text`], for a terminal of `columns`. Numbers are never broken. A table that is too wide
/// is transposed. With too many disciplines, it is also split.
fn text_within(report: &Report, headline: &Headline, columns: usize) -> String {
    let [title, detail] = [&headline.title, &headline.detail].map(|line| wrapped(line, columns, ""));
    let mut out = format!("{title}\n{detail}\n");
    report
        .manifest
        .notes
        .iter()
        .for_each(|note| out += &format!("{}\n", wrapped(&format!("note: {note}"), columns, "  ")));
    out.push('\n');
    if report.summary.is_empty() {
        return out + "No run finished.\n";
    }
    let rows = rows(report);
    let upright = table(&rows);
    let tables = if width(&upright) <= columns { vec![upright] } else { on_their_side(&rows, columns) };
    tables.iter().for_each(|table| out += &format!("{table}\n\n"));
    out += &format!("{}\n", wrapped(&legend(report), columns, ""));
    out + &completion::text(report, columns)
        + &presence::text(report)
        + &agreement(report)
        + &differences(report)
}

/// Paired differences, one line each: `share.tcp: faba - red = 0.104 ± 0.012`.
fn differences(report: &Report) -> String {
    let mut out = String::new();
    for difference in &report.differences {
        let Difference { first, second, runs, measures } = difference;
        out +=
            &format!("\n{first} - {second}, paired over {runs} seed{}:\n", if *runs == 1 { "" } else { "s" });
        let shares =
            measures.keys().filter(|name| name.starts_with("share.")).map(|name| (name.as_str(), SHARE));
        let plain = PLAIN.iter().map(|(measure, look)| (*measure, *look));
        let timed = timed(report, &groups(report));
        let timed = timed.iter().map(|(_, measure)| (measure.as_str(), look_of(measure)));
        for (measure, look) in shares.chain(plain).chain(timed) {
            let unit = look.unit;
            out +=
                &format!("  {measure}: {first} - {second} = {}{unit}\n", shown(measures.get(measure), look));
        }
    }
    out
}

fn rows(report: &Report) -> Vec<Vec<Cell>> {
    let groups = groups(report);
    let mut columns: Vec<String> = vec!["discipline".into()];
    columns.extend(has_stages(report).then(|| "stage".into()));
    columns.extend(counts_runs(report).then(|| "runs".into()));
    columns.extend(groups.iter().map(|group| format!("share of {group}")));
    columns
        .extend(["Jain", "drops", "sojourn mean, ms", "sojourn p99, ms", "utilization, %"].map(String::from));
    let timed = timed(report, &groups);
    columns.extend(timed.iter().map(|(heading, _)| heading.clone()));
    let rows = report.summary.iter().map(|summary| row(report, summary, &groups, &timed));
    std::iter::once(header(&columns)).chain(rows).collect()
}

fn has_stages(report: &Report) -> bool {
    report.summary.iter().any(|summary| !summary.stage.is_empty())
}

fn agreement(report: &Report) -> String {
    let Some(first) = report.agreement.first() else { return String::new() };
    let columns = ["discipline", "stage", "measure", "difference", "allowed", "verdict"];
    let row = |one: &Agreement| {
        let look = look_of_difference(&one.measure);
        let digits = look.digits;
        let interval =
            one.half_width_95.map_or(String::new(), |half| format!(" ± {:.digits$}", half * look.scale));
        let allowed = |allowed: f64| format!("{:.digits$}{}", allowed * look.scale, look.unit);
        vec![
            Cell::new(&one.discipline).add_attribute(Attribute::Bold),
            Cell::new(&one.stage),
            Cell::new(&one.measure),
            Cell::new(format!("{:+.digits$}{interval}{}", one.difference * look.scale, look.unit))
                .set_alignment(CellAlignment::Right),
            Cell::new(one.allowed.map_or("-".into(), allowed)).set_alignment(CellAlignment::Right),
            verdict(one.verdict),
        ]
    };
    let mut table = empty();
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header(&columns));
    table.add_rows(report.agreement.iter().map(row));
    let mut text = format!("\nDifferences from {}, with Welch's 95 % interval:\n{table}\n", first.against);
    for one in report.agreement.iter().filter(|one| one.verdict == Some(Verdict::Known)) {
        let Agreement { discipline, stage, measure, known, .. } = one;
        let why = known.as_deref().unwrap_or_default();
        text += &format!("known: {measure} of {discipline} on {stage}: {why}\n");
    }
    text
}

fn look_of_difference(measure: &str) -> Look {
    match measure.split('.').next().unwrap_or(measure) {
        "fraction" | "utilization" => Look { scale: 100.0, digits: 2, unit: " points" },
        "drop_fraction" | "mark_fraction" | "loss_fraction" => {
            Look { scale: 100.0, digits: 2, unit: " points" }
        }
        "sojourn_mean_s" | "sojourn_p95_s" | "sojourn_p99_s" => MILLISECONDS,
        "throughput_bps" | "goodput_bps" | "aggregate_bps" => {
            Look { scale: 1e-3, digits: 1, unit: " kbit/s" }
        }
        "drops"
        | "marks"
        | "lost"
        | "held_back"
        | "duplicated"
        | "packets_dropped"
        | "backlog_mean_packets" => Look { digits: 1, ..COUNT },
        _ => SHARE,
    }
}

fn verdict(verdict: Option<Verdict>) -> Cell {
    let (text, colour) = match verdict {
        Some(Verdict::Holds) => ("agrees", Some(Color::Green)),
        Some(Verdict::Unclear) => ("unclear: more runs would decide", Some(Color::Yellow)),
        Some(Verdict::Known) => ("differs as known", Some(Color::Yellow)),
        Some(Verdict::Fails) => ("differs", Some(Color::Red)),
        Some(Verdict::NotTestable) | None => ("-", None),
    };
    let cell = Cell::new(text);
    match colour.filter(|_| has_colour()) {
        Some(colour) => cell.fg(colour),
        None => cell,
    }
}

/// Did a discipline have fewer runs than there are seeds, as after Ctrl-C?
fn counts_runs(report: &Report) -> bool {
    report.summary.iter().any(|summary| summary.runs != report.manifest.seeds.len() as u64)
}

fn timed(report: &Report, groups: &[&str]) -> Vec<(String, String)> {
    let is_there =
        &|measure: &String| report.summary.iter().any(|summary| summary.measures.contains_key(measure));
    let of = |group: &&str| {
        // A viewer does not notice single chunks of a video, so their times are omitted.
        let is_video = is_there(&format!("{}.{group}", Kind::Stall.plural()));
        let timed = [Kind::Page, Kind::Transfer].into_iter().filter(|_| !is_video);
        timed.chain([Kind::Frame]).map(Kind::name).find_map(|kind| {
            let measure = format!("{kind}_p95_s.{group}");
            is_there(&measure).then(|| (format!("{kind} p95 of {group}, s"), measure))
        })
    };
    let of_viewers = groups.iter().flat_map(|group| {
        let column = move |(what, measure): (&str, &str)| {
            let measure = format!("{measure}.{group}");
            is_there(&measure).then(|| (format!("{what} of {group}{}", unit_of(&measure)), measure))
        };
        VIEWERS.into_iter().filter_map(column)
    });
    let has_marks = |summary: &Summary| summary.measures.get("marks").is_some_and(|marks| marks.mean > 0.0);
    let marks = report.summary.iter().any(has_marks).then(|| ("marks".to_owned(), "marks".to_owned()));
    let gains = report.summary.first().into_iter().flat_map(|summary| summary.measures.keys());
    let gains = gains.filter_map(|measure| {
        measure.strip_prefix("gain.").map(|name| (format!("gain of {name}"), measure.clone()))
    });
    let lost = ("lost on wires".to_owned(), "lost".to_owned());
    let loses = |summary: &Summary| summary.measures.get("lost").is_some_and(|lost| lost.mean > 0.0);
    let lost = Some(lost).filter(|_| report.summary.iter().any(loses));
    let timed = groups.iter().filter_map(of).chain(of_viewers);
    marks.into_iter().chain(timed).chain(gains).chain(lost).collect()
}

/// Measures that a viewer of a call or a video notices, in addition to late frames.
const VIEWERS: [(&str, &str); 4] =
    [("freezes", "freezes"), ("stalls", "stalls"), ("stalled part", "stall_part"), ("bitrate", "play_bps")];

fn unit_of(measure: &str) -> &'static str {
    match measure.split('.').next() {
        Some("play_bps") => ", Mbit/s",
        Some("stall_part") => ", %",
        _ => "",
    }
}

/// Transposed tables with one row per measure. Each has as many disciplines as fit on `columns`.
fn on_their_side(rows: &[Vec<Cell>], columns: usize) -> Vec<Table> {
    let (header, mut rest) = rows.split_first().expect("a header");
    let with_header = |rows: &[Vec<Cell>]| table(&transposed(&[std::slice::from_ref(header), rows].concat()));
    let mut tables = Vec::new();
    while !rest.is_empty() {
        let fits = |count: &usize| width(&with_header(&rest[..*count])) <= columns;
        let count = (2..=rest.len()).take_while(fits).last().unwrap_or(1);
        tables.push(with_header(&rest[..count]));
        rest = &rest[count..];
    }
    tables
}

fn transposed(rows: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    (0..rows[0].len()).map(|at| rows.iter().map(|row| row[at].clone()).collect()).collect()
}

pub(super) fn table(rows: &[Vec<Cell>]) -> Table {
    let mut table = empty();
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(rows[0].clone());
    table.add_rows(rows[1..].iter().cloned());
    for column in 1..rows[0].len() {
        table.column_mut(column).expect("it was just made").set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The width of `table` in terminal columns. Each cell has a space to its left and right, and a
/// line to its left. One more line ends the row.
pub(super) fn width(table: &Table) -> usize {
    table.column_max_content_widths().iter().map(|content| usize::from(*content) + 3).sum::<usize>() + 1
}

pub(crate) fn empty() -> Table {
    let mut table = Table::new();
    if std::io::stdout().is_terminal() {
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    } else {
        table.load_style(presets::ASCII_MARKDOWN).force_no_tty();
    }
    table
}

pub(crate) fn header(columns: &[impl ToString]) -> Vec<Cell> {
    columns.iter().map(|column| Cell::new(column.to_string()).add_attribute(Attribute::Bold)).collect()
}

fn legend(report: &Report) -> String {
    let mut text = String::from(
        "share: what the group got over what is max-min fair; 1 is fair. Jain: over the shares of all flows.",
    );
    if report.runs.iter().any(|run| run.presence.is_some()) {
        text += " Both are over the time in which each flow is on.";
    }
    if report.summary.iter().any(|summary| summary.runs > 1) {
        text += " ±: half of the 95 % interval over runs (Student's t).";
    }
    text
}

fn row(report: &Report, summary: &Summary, groups: &[&str], timed: &[(String, String)]) -> Vec<Cell> {
    let mut row = vec![Cell::new(&summary.discipline).add_attribute(Attribute::Bold)];
    row.extend(has_stages(report).then(|| Cell::new(&summary.stage)));
    row.extend(counts_runs(report).then(|| Cell::new(summary.runs)));
    row.extend(groups.iter().map(|group| share(summary.measures.get(&format!("share.{group}")))));
    row.extend(PLAIN.map(|(measure, look)| Cell::new(shown(summary.measures.get(measure), look))));
    row.extend(
        timed.iter().map(|(_, measure)| Cell::new(shown(summary.measures.get(measure), look_of(measure)))),
    );
    row
}

fn look_of(measure: &str) -> Look {
    match measure.split('.').next().unwrap_or(measure) {
        "lost" | "marks" => COUNT,
        "gain" => SHARE,
        "freezes" | "stalls" => Look { digits: 1, unit: "", ..COUNT },
        "stall_part" => PERCENT,
        "play_bps" => Look { scale: 1e-6, digits: 3, unit: " Mbit/s" },
        _ => SECONDS,
    }
}

fn share(estimate: Option<&Estimate>) -> Cell {
    let colour = match estimate.map(|estimate| estimate.mean) {
        Some(mean) if (0.9..=1.1).contains(&mean) => Color::Green,
        Some(mean) if (0.75..=1.5).contains(&mean) => Color::Yellow,
        _ => Color::Red,
    };
    let cell = Cell::new(shown(estimate, SHARE));
    if has_colour() && estimate.is_some() { cell.fg(colour) } else { cell }
}

pub(super) fn shown(estimate: Option<&Estimate>, look: Look) -> String {
    let Some(estimate) = estimate else { return "-".into() };
    let Look { scale, digits, .. } = look;
    let mean = format!("{:.digits$}", estimate.mean * scale);
    match estimate.half_width_95 {
        Some(half) => format!("{mean} ± {:.digits$}", half * scale),
        None => mean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn lines_within(columns: usize) -> Vec<String> {
        let text = text_within(&samples::report(3, 2), &samples::headline(), columns);
        text.lines().filter(|line| line.starts_with('|')).map(String::from).collect()
    }

    #[test]
    fn runs_are_counted_where_some_are_missing() {
        let mut report = samples::report(2, 2);
        assert!(!text_within(&report, &samples::headline(), usize::MAX).contains("| runs |"));
        report.summary[1].runs = 2;
        let text = text_within(&report, &samples::headline(), usize::MAX);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert!(rows[0].contains("| runs |"), "{text}");
        assert!(
            rows[2].starts_with("| d0         |    3 |") && rows[3].starts_with("| d1         |    2 |"),
            "{text}"
        );
    }

    #[test]
    fn differences_cover_every_column_of_the_table() {
        let mut report = samples::report(2, 2);
        samples::fill(&mut report);
        let estimate = report.summary[0].measures["jain"];
        for measure in ["page_p95_s.g1", "transfer_p95_s.g0", "gain.gold"] {
            report.summary[0].measures.insert(measure.into(), estimate);
            report.differences[0].measures.insert(measure.into(), estimate);
        }
        let text = text_within(&report, &samples::headline(), usize::MAX);
        for part in ["  page_p95_s.g1: a - b = ", "  transfer_p95_s.g0: a - b = ", "  gain.gold: a - b = "] {
            assert!(text.contains(part), "no `{part}` in {text}");
        }
    }

    #[test]
    fn stages_have_a_column_and_differences_use_the_unit_of_their_measure() {
        let mut report = samples::report(1, 1);
        assert!(!text_within(&report, &samples::headline(), 400).contains("stage"));
        samples::fill(&mut report);
        report.summary[0].stage = "lab".into();
        let text = text_within(&report, &samples::headline(), 400);
        assert!(text.contains("| discipline | stage |"), "{text}");
        let line = text.lines().find(|line| line.contains("fraction.g0")).expect("the difference");
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert_eq!(cells[1..7], ["d0", "lab", "fraction.g0", "-1.23 ± 0.40 points", "3.00 points", "agrees"]);
    }

    #[test]
    fn notes_are_above_the_table() {
        let mut report = samples::report(1, 1);
        report.manifest.notes = vec!["`tcp`: something was taken".into()];
        let text = text_within(&report, &samples::headline(), usize::MAX);
        assert!(text.contains("twice\nnote: `tcp`: something was taken\n\n|"), "{text}");
    }

    #[test]
    fn a_group_with_timed_pages_has_a_further_column() {
        let mut report = samples::report(2, 2);
        assert!(!text_within(&report, &samples::headline(), 400).contains("p95 of"));
        let estimate = report.summary[0].measures["jain"];
        for measure in ["page_p95_s.g1", "transfer_p95_s.g1", "transfer_p95_s.g0"] {
            report.summary[0].measures.insert(measure.into(), estimate);
        }
        let text = text_within(&report, &samples::headline(), 400);
        let header = text.lines().find(|line| line.starts_with('|')).expect("a table");
        assert!(header.contains("transfer p95 of g0, s") && header.contains("page p95 of g1, s"), "{header}");
        assert!(!header.contains("transfer p95 of g1"), "{header}");
    }

    fn widest(lines: &[String]) -> usize {
        lines.iter().map(|line| line.chars().count()).max().expect("a table")
    }

    #[test]
    fn a_table_that_fits_has_a_row_per_discipline() {
        let lines = lines_within(400);
        let needed = widest(&lines);
        assert_eq!(lines.len(), 2 + 3, "{lines:?}");
        assert_eq!(lines_within(needed), lines, "it fits exactly");
        assert_ne!(lines_within(needed - 1), lines, "it does not fit any more");
    }

    #[test]
    fn a_narrow_terminal_gets_a_row_per_measure() {
        let lines = lines_within(90);
        assert!(widest(&lines) <= 90, "{lines:?}");
        assert_eq!(lines.len(), 2 + 7, "two shares and five more measures: {lines:?}");
        assert!(lines[0].contains("d0") && lines[0].contains("d1") && lines[0].contains("d2"), "{lines:?}");
    }

    #[test]
    fn no_number_is_broken_on_the_narrowest_terminal() {
        let lines = lines_within(10);
        assert_eq!(lines, lines_within(1), "nothing depends on the width any more");
        assert_eq!(lines.len(), 3 * (2 + 7), "a table for each discipline");
        for table in lines.chunks(2 + 7) {
            assert!(
                table[2..].iter().all(|line| line.matches('±').count() == 1),
                "every cell is whole: {table:?}"
            );
        }
    }

    #[test]
    fn forty_disciplines_and_long_groups_stay_within_the_columns() {
        let report = samples::named(40, 12, "a-group-with-a-long-name");
        for columns in [80, 120, 160] {
            let text = text_within(&report, &samples::headline(), columns);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns, "{widest} of {columns}");
            assert!((0..40).all(|at| text.contains(&format!(" d{at} "))), "{text}");
        }
    }
}

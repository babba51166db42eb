//! `fairwire list`.

use crate::args::{Format, List};
use crate::failure::{Ending, Failure};
use crate::report::{self, table};
use fairwire_disciplines::{catalogue, marker};
use fairwire_study::Study;
use fairwire_study::record::Verdict;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Prints a list.
pub fn list(list: &List) -> Result<Ending, Failure> {
    let (table, json, format) = match list {
        List::Disciplines { format } => (disciplines(), disciplines_as_json(), format),
        List::Exhibits { format, studies } => {
            let exhibits = exhibits(&super::reproduce::studies(studies.as_deref())?);
            (exhibits_as_rows(&exhibits), exhibits_as_json(&exhibits), format)
        }
        List::Markers { format } => (markers(), markers_as_json(), format),
    };
    let text = match format {
        Format::Table => as_table(&table),
        Format::Json => format!("{json:#}\n"),
        Format::Csv => report::csv::text(table.into_iter())?,
    };
    report::print(text.as_bytes())?;
    Ok(Ending::Done)
}

/// A header and rows.
type Rows = Vec<Vec<String>>;

fn as_table(rows: &Rows) -> String {
    let mut table = table::empty();
    table.set_header(table::header(&rows[0]));
    table.add_rows(&rows[1..]);
    format!("{table}\n")
}

fn disciplines() -> Rows {
    let header =
        ["name", "also", "family", "what it does", "state", "cost per packet", "early signals", "source"];
    let rows = catalogue::all().iter().map(|entry| {
        let signals = if entry.marks { "drop or ECN mark" } else { "none" };
        let also = entry.aliases.join(", ");
        let family = entry.family.to_string();
        let cells: [&str; 8] =
            [entry.name, &also, &family, entry.summary, entry.state, entry.cost, signals, entry.source];
        cells.map(String::from).to_vec()
    });
    std::iter::once(header.map(String::from).to_vec()).chain(rows).collect()
}

fn disciplines_as_json() -> Value {
    let one = |entry: &catalogue::Entry| {
        json!({
            "name": entry.name,
            "aliases": entry.aliases,
            "family": entry.family.to_string(),
            "summary": entry.summary,
            "state": entry.state,
            "cost": entry.cost,
            "signals_early": entry.marks,
            "source": entry.source,
        })
    };
    catalogue::all().iter().map(one).collect()
}

/// An exhibit, and what is recorded of it.
struct State {
    name: String,
    title: String,
    source: String,
    claims: usize,
    /// Of which depth the recorded verdicts are, and how many there are of each kind.
    recorded: Option<(&'static str, [usize; 3])>,
}

fn exhibits(studies: &[Study]) -> Vec<State> {
    let of = |study: &Study, at: usize| {
        let exhibit = &study.spec.exhibit[at];
        let counted = |verdicts: &BTreeMap<String, Verdict>| {
            let names: Vec<String> =
                exhibit.claim.iter().map(|claim| format!("{}.{}", exhibit.id, claim.id)).collect();
            let found: Vec<Verdict> = names.iter().filter_map(|name| verdicts.get(name).copied()).collect();
            let count = |verdict| found.iter().filter(|one| **one == verdict).count();
            (!found.is_empty()).then(|| Verdict::ALL.map(count))
        };
        let full = counted(&study.recorded.full).map(|counts| ("full", counts));
        State {
            name: study.name(at),
            title: exhibit.title.clone(),
            source: study.spec.source.clone(),
            claims: exhibit.claim.len(),
            recorded: full.or_else(|| counted(&study.recorded.quick).map(|counts| ("quick", counts))),
        }
    };
    let all = |study| (0..Study::len(study)).map(move |at| of(study, at));
    studies.iter().flat_map(all).collect()
}

fn exhibits_as_rows(exhibits: &[State]) -> Rows {
    let row = |state: &State| {
        let told = match state.recorded {
            None if state.claims == 0 => "no claims".into(),
            None => "never run".into(),
            Some((depth, [holds, not, untestable])) => {
                format!("{holds} hold, {not} do not, {untestable} not testable ({depth})")
            }
        };
        vec![state.name.clone(), state.title.clone(), told]
    };
    let head = ["name", "what it shows", "claims"].map(String::from).to_vec();
    std::iter::once(head).chain(exhibits.iter().map(row)).collect()
}

fn exhibits_as_json(exhibits: &[State]) -> Value {
    let recorded = |(depth, [holds, not, untestable]): (&str, [usize; 3])| json!({ "depth": depth, "holds": holds, "does_not_hold": not, "not_testable": untestable });
    let one = |state: &State| {
        json!({
            "name": state.name,
            "title": state.title,
            "source": state.source,
            "claims": state.claims,
            "recorded": state.recorded.map(recorded),
        })
    };
    exhibits.iter().map(one).collect()
}

fn markers() -> Rows {
    let rows = marker::all().iter().map(|entry| [entry.name, entry.summary, entry.source]);
    let all = std::iter::once(["name", "what it does", "source"]).chain(rows);
    all.map(|cells| cells.map(String::from).to_vec()).collect()
}

fn markers_as_json() -> Value {
    let one = |entry: &marker::Entry| json!({ "name": entry.name, "summary": entry.summary, "source": entry.source });
    marker::all().iter().map(one).collect()
}

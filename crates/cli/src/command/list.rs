//! `fairwire list`.

use crate::args::{Format, List};
use crate::failure::{Ending, Failure};
use crate::report::{self, table};
use fairwire_disciplines::{catalogue, marker};
use serde_json::{Value, json};

/// Prints a list.
pub fn list(list: &List) -> Result<Ending, Failure> {
    let (table, json, format) = match list {
        List::Disciplines { format } => (disciplines(), disciplines_as_json(), format),
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

fn markers() -> Rows {
    let rows = marker::all().iter().map(|entry| [entry.name, entry.summary, entry.source]);
    let all = std::iter::once(["name", "what it does", "source"]).chain(rows);
    all.map(|cells| cells.map(String::from).to_vec()).collect()
}

fn markers_as_json() -> Value {
    let one = |entry: &marker::Entry| json!({ "name": entry.name, "summary": entry.summary, "source": entry.source });
    marker::all().iter().map(one).collect()
}

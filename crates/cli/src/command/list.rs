//! `fairwire list`.

use crate::args::{Format, List};
use crate::failure::{Ending, Failure};
use crate::report::{self, table};
use fairwire_disciplines::catalogue::{self, Entry};
use serde_json::json;

/// Prints a list.
pub fn list(list: &List) -> Result<Ending, Failure> {
    let List::Disciplines { format } = list;
    let text = match format {
        Format::Table => as_table(),
        Format::Json => {
            format!("{:#}\n", catalogue::all().iter().map(as_json).collect::<serde_json::Value>())
        }
        Format::Csv => as_csv()?,
    };
    report::print(text.as_bytes())?;
    Ok(Ending::Done)
}

const COLUMNS: [&str; 8] =
    ["name", "also", "family", "what it does", "state", "cost per packet", "early signals", "source"];

fn row(entry: &Entry) -> [String; 8] {
    [
        entry.name.into(),
        entry.aliases.join(", "),
        entry.family.to_string(),
        entry.summary.into(),
        entry.state.into(),
        entry.cost.into(),
        if entry.marks { "drop or ECN mark" } else { "none" }.into(),
        entry.source.into(),
    ]
}

fn as_table() -> String {
    let mut table = table::empty();
    table.set_header(table::header(&COLUMNS));
    table.add_rows(catalogue::all().iter().map(row));
    format!("{table}\n")
}

fn as_json(entry: &Entry) -> serde_json::Value {
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
}

fn as_csv() -> Result<String, Failure> {
    let rows = std::iter::once(COLUMNS.map(String::from)).chain(catalogue::all().iter().map(row));
    report::csv::text(rows.map(Vec::from))
}

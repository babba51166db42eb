//! flent (flent.org) data files, from fairwire or flent itself, as time series.

use super::table::Table;
use crate::gzip;
use fairwire_sweep::Value;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::io;

/// The supported version of the format, which flent has written since its version 1.0.
const VERSION: u64 = 4;

/// The maximum number of values drawn, which take 2.5 GB in a table.
const MAX_VALUES: usize = 5_000_000;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    metadata: Json,
    x_values: Vec<f64>,
    results: BTreeMap<String, Vec<Cell>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Cell {
    Number(f64),
    Missing(()),
    /// Neither a number nor null. Only series that are not drawn may have such a value.
    Other(IgnoredAny),
}

/// The series of the file `packed`. Rates become a group's `egress` in bit/s, and times become
/// `ping` in s. Series in other units, and sums or means of series, are omitted.
pub(super) fn table(packed: &[u8]) -> io::Result<Table> {
    let bytes = gzip::unpacked(packed)?;
    let File { metadata: meta, x_values: times, results } = read(&bytes)?;
    let values: usize = results.values().map(Vec::len).sum();
    if values > MAX_VALUES {
        let most = MAX_VALUES / 1_000_000;
        return Err(refuse(format!("it has {values} values; at most {most} million are drawn")));
    }
    let words =
        |keys: [&str; 2]| keys.iter().find_map(|key| meta[key].as_str()).unwrap_or("flent").to_owned();
    let discipline = words(["DISCIPLINE", "TITLE"]);
    let seed = match &meta["SEED"] {
        Json::Null => 1.0, // a file of flent itself is the first repetition
        given => given.as_f64().ok_or_else(|| refuse(format!("`SEED` is {given}; allowed: a number")))?,
    };
    let text = |text: &str| Value::Text(text.to_owned());
    let mut rows = Vec::new();
    for (name, values) in &results {
        let Some(of) = of(name, &meta["SERIES_META"][name]) else { continue };
        if values.len() != times.len() {
            let (given, needed) = (values.len(), times.len());
            return Err(refuse(format!("`{name}` has {given} values; allowed: {needed}, as `x_values`")));
        }
        let called = meta["SERIES_META"][name]["FLOW"].as_str().unwrap_or(name);
        for (at, (time, value)) in times.iter().zip(values).enumerate() {
            let value = match *value {
                Cell::Number(value) => value,
                Cell::Missing(()) => continue,
                Cell::Other(_) => {
                    return Err(refuse(format!("value {} of `{name}` is no number, and not null", at + 1)));
                }
            };
            let row = [
                text(&discipline),
                Value::Number(seed),
                Value::Number(*time),
                text("group"),
                text(called),
                text(of.measure),
                text(of.unit),
                Value::Number(value * of.scale),
            ];
            rows.push((at, row));
        }
    }
    rows.sort_by_key(|(at, _)| *at); // by time
    let columns = ["discipline", "seed", "time_s", "kind", "name", "measure", "unit", "value"];
    Ok(Table::of(columns, rows.into_iter().map(|(_, row)| row)))
}

fn refuse(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn read(bytes: &[u8]) -> io::Result<File> {
    #[derive(Deserialize)]
    struct OfVersion {
        version: Option<Json>,
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes); // byte order mark
    match serde_json::from_slice::<OfVersion>(bytes)?.version {
        None => Err(refuse("it is no data file of flent: it has no `version`".into())),
        Some(version) if version == VERSION => serde_json::from_slice(bytes)
            .map_err(|error| refuse(format!("it is no data file of flent as its version 4: {error}"))),
        Some(other) => Err(refuse(format!("it is of flent's version {other}; version {VERSION} is read"))),
    }
}

#[derive(Clone, Copy)]
struct Of {
    measure: &'static str,
    unit: &'static str,
    scale: f64,
}

fn of(name: &str, meta: &Json) -> Option<Of> {
    const RATE: Of = Of { measure: "egress", unit: "bit/s", scale: 1e6 };
    const TIME: Of = Of { measure: "ping", unit: "s", scale: 1e-3 };
    if [" avg", " sum", " totals"].iter().any(|end| name.ends_with(end)) {
        return None;
    }
    match meta["UNITS"].as_str() {
        Some("Mbits/s") => Some(RATE),
        Some("ms") => Some(TIME),
        Some(_) => None,
        None if name.starts_with("Ping") => Some(TIME),
        None => (name.starts_with("TCP ") || name.starts_with("UDP ")).then_some(RATE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as flent 2 writes it.
    const FILE: &str = r#"{
        "version": 4,
        "metadata": { "NAME": "rrul", "TITLE": "at home", "SERIES_META": { "TCP upload::1": { "UNITS": "Mbits/s" } } },
        "x_values": [0.2, 0.4],
        "results": {
            "TCP upload::1": [1.5, null], "TCP upload sum": [1.5, 2.0],
            "Ping (ms) ICMP": [20.0, 30.0], "cpu": [1.0, 2.0]
        },
        "raw_values": {}
    }"#;

    #[test]
    fn rates_and_times_become_series_and_missing_values_no_rows() {
        let table = table(&gzip::packed(FILE.as_bytes())).expect("a file");
        let rows: Vec<(String, f64)> = (0..table.len())
            .map(|row| (table.text(row, "measure"), table.number(row, "value").expect("a number")))
            .collect();
        assert_eq!(rows, [("ping".into(), 0.02), ("egress".into(), 1.5e6), ("ping".into(), 0.03)]);
        assert_eq!((table.text(0, "discipline"), table.number(0, "seed")), ("at home".into(), Some(1.0)));
        let marked = format!("\u{feff}{}", FILE.replace("\"cpu\": [1.0, 2.0]", "\"cpu\": [\"a\", [{}]]"));
        assert_eq!(super::table(&gzip::packed(marked.as_bytes())).expect("a file").len(), 3);
    }

    #[test]
    fn other_files_and_versions_are_refused_by_name() {
        let refused = |text: &str| table(&gzip::packed(text.as_bytes())).expect_err("no file").to_string();
        assert!(refused("{}").contains("no `version`"));
        assert!(
            refused(&FILE.replace("\"version\": 4", "\"version\": 3"))
                .contains("flent's version 3; version 4")
        );
        assert!(refused("{\"version\": 4}").contains("missing field `x_values`"));
        assert!(refused("{\"version\": \"4\"}").contains("version \"4\"; version 4"));
        for (from, to, why) in [
            ("[20.0, 30.0]", "[20.0]", "`Ping (ms) ICMP` has 1 values; allowed: 2, as `x_values`"),
            ("[20.0, 30.0]", "[20.0, 30.0, 1]", "has 3 values"),
            ("[1.5, null]", "[1.5, \"x\"]", "value 2 of `TCP upload::1` is no number"),
            ("[0.2, 0.4]", "[0.2, \"x\"]", "invalid type: string \"x\", expected f64"),
            ("\"NAME\": \"rrul\"", "\"SEED\": \"one\"", "`SEED` is \"one\"; allowed: a number"),
        ] {
            let error = refused(&FILE.replace(from, to));
            assert!(error.contains(why), "no `{why}` in: {error}");
        }
        assert!(table(b"no gzip").expect_err("no gzip").to_string().contains("no gzip file"));
        assert!(refused("{").contains("EOF"));
    }
}

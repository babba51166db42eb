//! Data files of flent (flent.org), ours and its own, as time series.

use super::table::Table;
use crate::gzip;
use fairwire_sweep::Value;
use serde_json::Value as Json;
use std::io;

/// The version that is read: flent writes it since 1.0.
const VERSION: u64 = 4;

/// The series of the file `packed`: rates as what left the link for a group, in bit/s, and times as
/// the measure `ping`, in s. Sums and means of other series are left out, and so is what is of
/// another unit.
pub(super) fn table(packed: &[u8]) -> io::Result<Table> {
    let refuse = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let file: Json = serde_json::from_slice(&gzip::unpacked(packed)?)?;
    let Some(version) = file["version"].as_u64() else {
        return Err(refuse("it is no data file of flent: it has no `version`".into()));
    };
    if version != VERSION {
        return Err(refuse(format!("it is of flent's version {version}; version {VERSION} is read")));
    }
    let (Some(times), Some(results)) = (file["x_values"].as_array(), file["results"].as_object()) else {
        return Err(refuse("it is no data file of flent: it has no `x_values` or no `results`".into()));
    };
    let meta = &file["metadata"];
    let words =
        |keys: [&str; 2]| keys.iter().find_map(|key| meta[key].as_str()).unwrap_or("flent").to_owned();
    let discipline = words(["DISCIPLINE", "TITLE"]);
    // One of flent's is the first repetition.
    let seed = meta["SEED"].as_f64().unwrap_or(1.0);
    let series: Vec<(&String, Of, &Vec<Json>)> = results
        .iter()
        .filter_map(|(name, values)| Some((name, of(name, &meta["SERIES_META"][name])?, values.as_array()?)))
        .collect();
    let text = |text: &str| Value::Text(text.to_owned());
    let row = |at: usize, (name, of, values): &(&String, Of, &Vec<Json>)| {
        let (at_s, value) = (times[at].as_f64()?, values.get(at)?.as_f64()?);
        let called = meta["SERIES_META"][name.as_str()]["FLOW"].as_str().unwrap_or(name);
        Some([
            text(&discipline),
            Value::Number(seed),
            Value::Number(at_s),
            text("group"),
            text(called),
            text(of.measure),
            text(of.unit),
            Value::Number(value * of.scale),
        ])
    };
    let columns = ["discipline", "seed", "time_s", "kind", "name", "measure", "unit", "value"];
    Ok(Table::of(columns, (0..times.len()).flat_map(|at| series.iter().filter_map(move |one| row(at, one)))))
}

/// What a series is of.
#[derive(Clone, Copy)]
struct Of {
    measure: &'static str,
    unit: &'static str,
    scale: f64,
}

/// By its unit, or where none is given by its name.
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

    /// As flent 2 writes them, with and without units.
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
    fn rates_and_times_are_series_and_what_is_missing_is_no_row() {
        let table = table(&gzip::packed(FILE.as_bytes())).expect("a file");
        let rows: Vec<(String, f64)> = (0..table.len())
            .map(|row| (table.text(row, "measure"), table.number(row, "value").expect("a number")))
            .collect();
        assert_eq!(rows, [("ping".into(), 0.02), ("egress".into(), 1.5e6), ("ping".into(), 0.03)]);
        assert_eq!((table.text(0, "discipline"), table.number(0, "seed")), ("at home".into(), Some(1.0)));
    }

    #[test]
    fn other_files_and_other_versions_are_refused_with_what_they_are() {
        let refused = |text: &str| table(&gzip::packed(text.as_bytes())).expect_err("no file").to_string();
        assert!(refused("{}").contains("no `version`"));
        assert!(
            refused(&FILE.replace("\"version\": 4", "\"version\": 3"))
                .contains("flent's version 3; version 4")
        );
        assert!(refused("{\"version\": 4}").contains("no `x_values`"));
        assert!(table(b"no gzip").expect_err("no gzip").to_string().contains("no gzip file"));
        assert!(refused("{").contains("EOF"));
    }
}

//! Flow records in Parquet equal those in CSV. DuckDB and Arrow read the file too, if Python has
//! them.

use crate::common::{Contest, SCENARIO, code, run, stderr};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use fairwire_testing::skipped_for_want_of_a_peer;
use std::fs::{self, File};
use std::process::Command;

pub(crate) fn columns(path: &str) -> Vec<(String, Vec<String>)> {
    let reader = SerializedFileReader::new(File::open(path).expect("it was written")).expect("a table");
    let fields = reader.metadata().file_metadata().schema().get_fields().iter();
    let mut columns: Vec<_> = fields.map(|field| (field.name().to_string(), Vec::new())).collect();
    for row in reader.get_row_iter(None).expect("rows") {
        for ((name, value), (column, values)) in row.expect("a row").get_column_iter().zip(&mut columns) {
            assert_eq!(name, column);
            values.push(match value {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                Field::ULong(count) => count.to_string(),
                Field::Double(real) => real.to_string(),
                other => panic!("{name}: no type of ours: {other:?}"),
            });
        }
    }
    columns
}

fn both(contest: &Contest) -> (String, Vec<(String, Vec<String>)>) {
    let path = |name: &str| contest.path(name).display().to_string();
    for name in ["f.csv", "f.parquet"] {
        let output = run(&["run", &contest.file(), "--flows", &path(name)]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    let text = fs::read_to_string(contest.path("f.csv")).expect("it was written");
    let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let rows: Vec<Vec<String>> = lines.collect();
    let of = |at: usize| rows.iter().map(|row| row[at].clone()).collect();
    (path("f.parquet"), head.into_iter().enumerate().map(|(at, name)| (name, of(at))).collect())
}

#[test]
fn parquet_holds_the_same_rows_as_csv() {
    let contest = Contest::of(SCENARIO);
    let (parquet, expected) = both(&contest);
    assert_eq!(expected[0].1.len(), 2 * 3 * 4, "two disciplines, three seeds, four flows");
    let offered = &expected[5].1;
    assert!(offered.iter().any(String::is_empty) && offered.iter().any(|value| value == "1000000"));
    let timeouts = &expected.iter().find(|(name, _)| name == "timeouts").expect("a column").1;
    assert!(timeouts.iter().any(String::is_empty) && timeouts.iter().any(|count| !count.is_empty()));
    assert_eq!(columns(&parquet), expected);
}

#[test]
fn duckdb_and_pyarrow_read_it_too() {
    const DUCKDB: &str = "import duckdb, sys\n\
    t = duckdb.sql(f\"select * from '{sys.argv[1]}'\")\n\
    names, rows = t.columns, t.fetchall()\n";
    const ARROW: &str = "import pyarrow.parquet, sys\n\
    t = pyarrow.parquet.read_table(sys.argv[1])\n\
    names, rows = t.column_names, list(zip(*[c.to_pylist() for c in t.columns]))\n";
    const PRINT: &str =
        "for row in [names] + rows:\n print(','.join('' if v is None else str(v) for v in row))\n";
    let contest = Contest::of(SCENARIO);
    let (parquet, expected) = both(&contest);
    let python = |reader: &str| {
        let output =
            Command::new("python3").args(["-c", &format!("{reader}{PRINT}"), &parquet]).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).expect("UTF-8"))
    };
    for (name, reader) in [("duckdb", DUCKDB), ("pyarrow", ARROW)] {
        if python(&format!("import {name}\nnames, rows = [], []\n")).is_none() {
            skipped_for_want_of_a_peer(format_args!("Parquet read by {name}: python3 has no {name}"));
            continue;
        }
        let text = python(reader).expect(name);
        let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let head = rows.next().expect("a head");
        let rows: Vec<_> = rows.collect();
        for (at, (column, values)) in expected.iter().enumerate() {
            assert_eq!(head[at], column);
            assert_eq!(rows.len(), values.len());
            for (row, value) in rows.iter().zip(values) {
                let numbers = (row[at].parse::<f64>(), value.parse::<f64>());
                let is_same = if let (Ok(a), Ok(b)) = numbers { a == b } else { row[at] == value };
                assert!(is_same, "{name}, {column}: {} is not {value}", row[at]);
            }
        }
    }
}

//! A table of results, read from a file.

use super::flent;
use fairwire_sweep::columns::Column;
use fairwire_sweep::{Value, parquet};
use fairwire_terminal::failure::Failure;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// The maximum size of a file, in bytes; its table takes ten times as much memory.
const MAX_BYTES: u64 = 1 << 30;

pub(super) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if about.len() >= MAX_BYTES {
        return Err(io::Error::other(format!(
            "it has {} bytes, and must be smaller than 1 GiB",
            about.len()
        )));
    }
    fs::read(path)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub names: Vec<String>,
    columns: Vec<Vec<Option<Value>>>,
}

impl Table {
    pub(super) fn read(path: &Path) -> Result<Table, Failure> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let read = match ending {
            "csv" => bytes(path).and_then(|bytes| csv(&bytes)),
            "ndjson" => {
                bytes(path).and_then(|bytes| ndjson(str::from_utf8(&bytes).map_err(io::Error::other)?))
            }
            "gz" => bytes(path).and_then(|bytes| flent::table(&bytes)),
            _ => parquet_file(path),
        };
        read.map_err(|error| {
            Failure::user(
                format!("`{}` cannot be read: {error}", path.display()),
                "allowed: a file that `fairwire` wrote: .csv, .ndjson, .parquet, or report.json; or a data file of flent, .flent.gz",
            )
        })
    }

    pub(super) fn of<const COLUMNS: usize>(
        names: [&str; COLUMNS],
        rows: impl Iterator<Item = [Value; COLUMNS]>,
    ) -> Table {
        let mut columns = vec![Vec::new(); COLUMNS];
        rows.for_each(|row| columns.iter_mut().zip(row).for_each(|(column, cell)| column.push(Some(cell))));
        Table { names: names.map(str::to_owned).to_vec(), columns }
    }

    /// Appends the rows of `other`. Columns missing from one table are empty in its rows.
    pub(super) fn append(&mut self, other: Table) {
        let (mine, theirs) = (self.len(), other.len());
        for (name, values) in other.names.into_iter().zip(other.columns) {
            match self.names.iter().position(|own| *own == name) {
                Some(at) => self.columns[at].extend(values),
                None => {
                    self.names.push(name);
                    self.columns.push([vec![None; mine], values].concat());
                }
            }
        }
        self.columns.iter_mut().for_each(|column| column.resize(mine + theirs, None));
    }

    pub(super) fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.names.iter().any(|own| own == name))
    }

    pub(super) fn value(&self, row: usize, name: &str) -> Option<&Value> {
        let at = self.names.iter().position(|own| own == name)?;
        self.columns[at][row].as_ref()
    }

    pub(super) fn number(&self, row: usize, name: &str) -> Option<f64> {
        match self.value(row, name)? {
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
        }
    }

    pub(super) fn text(&self, row: usize, name: &str) -> String {
        self.value(row, name).map_or(String::new(), worded)
    }
}

pub(super) fn worded(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}

/// The number at the start of a value, such as 50 for `50 packets`.
pub(super) fn leading(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Text(text) => {
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            text[..end].parse().ok()
        }
    }
}

pub(super) fn unit(value: &Value) -> &str {
    match value {
        Value::Number(_) => "",
        Value::Text(text) => text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim(),
    }
}

fn cell(text: &str) -> Option<Value> {
    let value = || text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Number);
    (!text.is_empty()).then(value)
}

fn csv(bytes: &[u8]) -> io::Result<Table> {
    let mut reader = ::csv::Reader::from_reader(bytes);
    let names: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let mut columns = vec![Vec::new(); names.len()];
    let mut row = ::csv::StringRecord::new();
    while reader.read_record(&mut row)? {
        columns.iter_mut().zip(&row).for_each(|(column, text)| column.push(cell(text)));
    }
    Ok(Table { names, columns })
}

fn ndjson(text: &str) -> io::Result<Table> {
    let mut table = Table::default();
    for (at, line) in text.lines().enumerate() {
        let row: BTreeMap<String, Json> = serde_json::from_str(line)?;
        for name in row.keys() {
            if !table.names.contains(name) {
                table.names.push(name.clone());
                table.columns.push(vec![None; at]);
            }
        }
        for (name, column) in table.names.iter().zip(&mut table.columns) {
            column.push(row.get(name).and_then(|value| match value {
                Json::Number(number) => number.as_f64().map(Value::Number),
                Json::String(text) => Some(Value::Text(text.clone())),
                _ => None,
            }));
        }
    }
    Ok(table)
}

fn parquet_file(path: &Path) -> io::Result<Table> {
    let mut table = Table::default();
    parquet::read(path, |rows| {
        let len = rows.len();
        let column = |column: Column| (column.name, (0..len).map(|row| column.cells.value(row)).collect());
        let (names, columns) = rows.into_columns().into_iter().map(column).unzip();
        table.append(Table { names, columns });
    })?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_different_columns_are_one_with_gaps() {
        let mut table = csv(b"a,b\n1,x\n2,\n").unwrap();
        table.append(csv(b"c,b\n3.5,y\n").unwrap());
        assert_eq!((table.len(), table.names.join(" ")), (3, "a b c".into()));
        assert_eq!((table.number(0, "a"), table.number(2, "a")), (Some(1.0), None));
        assert_eq!((table.text(1, "b"), table.text(2, "b")), (String::new(), "y".into()));
        assert_eq!((table.number(0, "c"), table.number(2, "c")), (None, Some(3.5)));
    }

    #[test]
    fn lines_of_json_are_rows() {
        let table = ndjson("{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\"}\n").unwrap();
        assert_eq!(
            (table.number(0, "a"), table.number(1, "a"), table.text(1, "b")),
            (Some(1.0), None, "y".into())
        );
        assert!(ndjson("no json").is_err());
    }
}

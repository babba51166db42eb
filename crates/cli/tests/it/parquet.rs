//! Records of flows in Parquet hold what those in CSV hold: read back by a reader of this test's own, and by DuckDB or Arrow where
//! Python has one of them.

use crate::common;

use common::{Contest, SCENARIO, code, run, stderr};
use fairwire_testing::skipped_for_want_of_a_peer;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// What Thrift's compact protocol can say, as far as it is met here.
#[derive(Clone, Debug)]
enum Thrift {
    Number(i64),
    Text(Vec<u8>),
    List(Vec<Thrift>),
    Struct(BTreeMap<u8, Thrift>),
}

impl Thrift {
    fn at(&self, field: u8) -> &Thrift {
        match self {
            Thrift::Struct(fields) => &fields[&field],
            other => panic!("no struct: {other:?}"),
        }
    }
    fn has(&self, field: u8) -> bool {
        matches!(self, Thrift::Struct(fields) if fields.contains_key(&field))
    }
    fn number(&self, field: u8) -> usize {
        match self.at(field) {
            Thrift::Number(number) => usize::try_from(*number).expect("not negative"),
            other => panic!("no number: {other:?}"),
        }
    }
    fn text(&self, field: u8) -> String {
        match self.at(field) {
            Thrift::Text(bytes) => String::from_utf8(bytes.clone()).expect("UTF-8"),
            other => panic!("no text: {other:?}"),
        }
    }
    fn list(&self, field: u8) -> &[Thrift] {
        match self.at(field) {
            Thrift::List(items) => items,
            other => panic!("no list: {other:?}"),
        }
    }
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().expect("there is more");
        self.0 = rest;
        *first
    }
    fn some(&mut self, length: usize) -> Vec<u8> {
        let (first, rest) = self.0.split_at(length);
        self.0 = rest;
        first.to_vec()
    }
    fn varint(&mut self) -> u64 {
        let [byte] = self.take();
        let low = u64::from(byte & 0x7f);
        if byte & 0x80 == 0 { low } else { low | self.varint() << 7 }
    }
    fn thrift(&mut self, kind: u8) -> Thrift {
        match kind {
            1 | 2 => Thrift::Number(i64::from(kind == 1)),
            3 => Thrift::Number(i64::from(self.take::<1>()[0])),
            4..=6 => {
                let zigzag = self.varint();
                Thrift::Number((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
            }
            8 => {
                let length = self.varint() as usize;
                Thrift::Text(self.some(length))
            }
            9 => {
                let [head] = self.take();
                let length = if head >> 4 == 15 { self.varint() } else { u64::from(head >> 4) };
                Thrift::List((0..length).map(|_| self.thrift(head & 15)).collect())
            }
            12 => {
                let (mut fields, mut number) = (BTreeMap::new(), 0);
                loop {
                    let [head] = self.take();
                    if head == 0 {
                        return Thrift::Struct(fields);
                    }
                    assert!(head >> 4 > 0, "steps are short here");
                    number += head >> 4;
                    fields.insert(number, self.thrift(head & 15));
                }
            }
            other => panic!("type {other}"),
        }
    }
}

/// The columns of a file by name, each value as CSV has it.
fn columns(file: &[u8]) -> Vec<(String, Vec<String>)> {
    assert_eq!((&file[..4], &file[file.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
    let end = file.len() - 8;
    let length = u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
    let footer = Bytes(&file[end - length..end]).thrift(12);
    let (root, leaves) = footer.list(2).split_first().expect("a root");
    assert_eq!(root.number(5), leaves.len());
    let mut columns: Vec<_> = leaves.iter().map(|leaf| (leaf.text(4), Vec::new())).collect();
    for group in footer.list(4) {
        let mut bytes = 0;
        for ((leaf, chunk), (name, values)) in leaves.iter().zip(group.list(1)).zip(&mut columns) {
            let about = chunk.at(3);
            let Thrift::Text(path) = &about.list(3)[0] else { panic!("no path") };
            assert_eq!((path, about.number(4)), (&name.clone().into_bytes(), 0), "plain and uncompressed");
            assert_eq!(about.number(5), group.number(3), "a value, or none, for each row");
            let start = about.number(9);
            values.extend(page(&file[start..start + about.number(7)], leaf));
            bytes += about.number(7);
        }
        assert_eq!(group.number(2), bytes);
    }
    assert!(columns.iter().all(|(_, values)| values.len() == footer.number(3)));
    columns
}

/// The values of a page of version 1.
fn page(bytes: &[u8], leaf: &Thrift) -> Vec<String> {
    let mut bytes = Bytes(bytes);
    let header = bytes.thrift(12);
    assert_eq!((header.number(1), header.number(2), header.number(3)), (0, bytes.0.len(), bytes.0.len()));
    let rows = header.at(5).number(1);
    let mut there = vec![true; rows];
    if leaf.number(3) == 1 {
        there.clear();
        let length = u32::from_le_bytes(bytes.take()) as usize;
        let levels = bytes.some(length);
        let mut levels = Bytes(&levels);
        while !levels.0.is_empty() {
            let run = levels.varint();
            assert_eq!(run & 1, 0, "a run of equal ones");
            let [level] = levels.take();
            there.extend(std::iter::repeat_n(level == 1, (run >> 1) as usize));
        }
        assert_eq!(there.len(), rows);
    }
    let mut value = |is_there: bool| match leaf.number(1) {
        _ if !is_there => String::new(),
        2 => {
            assert_eq!(leaf.number(6), 14, "without a sign");
            u64::from_le_bytes(bytes.take()).to_string()
        }
        5 => f64::from_le_bytes(bytes.take()).to_string(),
        6 => {
            assert!(leaf.number(6) == 0 && leaf.at(10).has(1), "UTF-8, said twice");
            let length = u32::from_le_bytes(bytes.take()) as usize;
            String::from_utf8(bytes.some(length)).expect("UTF-8")
        }
        other => panic!("type {other}"),
    };
    let values = there.into_iter().map(&mut value).collect();
    assert!(bytes.0.is_empty(), "nothing is left");
    values
}

/// Both files of one contest: the Parquet's place, and the CSV's columns.
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
    assert_eq!(columns(&fs::read(parquet).expect("it was written")), expected);
}

#[test]
fn others_read_it_too() {
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

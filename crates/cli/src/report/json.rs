//! The report as JSON: the public, versioned form.
//!
//! A report on many flows is long, so it is written as it is made, and never held as one text by who prints it. Its lines are indented
//! by two spaces for each level, as `serde_json` does; that writes each level by itself, which took half of the time. Most of the text is
//! that of the flows, in which only the numbers differ, so [`flows`] writes what is alike in one piece.

mod flows;

use fairwire_metrics::record::{Report, RunRecord};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// The report, as one text.
pub fn text(report: &Report) -> String {
    let mut bytes = Vec::new();
    put(report, &mut bytes).expect("a report has only strings for keys, and memory takes everything in");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// Writes the report to `out`.
pub fn write(report: &Report, out: impl Write) -> io::Result<()> {
    put(report, out)
}

/// So many bytes are written at once, and some more.
const AT_ONCE: usize = 64 << 10;

/// A text in pieces, which go out when there are many.
struct Sheet<W> {
    text: Vec<u8>,
    out: W,
}

impl<W: Write> Sheet<W> {
    /// What was written goes out, if it is enough.
    fn pass_on(&mut self) -> io::Result<()> {
        if self.text.len() < AT_ONCE {
            return Ok(());
        }
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

fn put(report: &Report, out: impl Write) -> io::Result<()> {
    let Report { schema_version, manifest, runs, summary, differences, delays } = report;
    let mut sheet = Sheet { text: Vec::with_capacity(2 * AT_ONCE), out };
    let mut object = Object::begin(&mut sheet, 0);
    object.field("schema_version", schema_version)?;
    object.field("manifest", manifest)?;
    object.key("runs");
    put_runs(runs, object.sheet)?;
    object.field("summary", summary)?;
    object.list("differences", differences)?;
    object.list("delays", delays)?;
    object.end();
    sheet.text.push(b'\n');
    sheet.out.write_all(&sheet.text)?;
    sheet.out.flush()
}

/// The list of `runs`, whose fields are four levels in.
fn put_runs(runs: &[RunRecord], sheet: &mut Sheet<impl Write>) -> io::Result<()> {
    if runs.is_empty() {
        sheet.text.extend_from_slice(b"[]");
        return Ok(());
    }
    for (at, run) in runs.iter().enumerate() {
        sheet.text.extend_from_slice(if at == 0 { b"[\n    " } else { b",\n    " });
        put_run(run, sheet)?;
    }
    sheet.text.extend_from_slice(b"\n  ]");
    Ok(())
}

fn put_run(run: &RunRecord, sheet: &mut Sheet<impl Write>) -> io::Result<()> {
    let RunRecord { discipline, seed, flows, links, transfers, aggregates, fairness, events } = run;
    let mut object = Object::begin(sheet, 2);
    object.field("discipline", discipline)?;
    object.field("seed", seed)?;
    object.key("flows");
    flows::put(flows, object.sheet)?;
    object.field("links", links)?;
    object.list("transfers", transfers)?;
    object.list("aggregates", aggregates)?;
    object.field("fairness", fairness)?;
    if let Some(events) = events {
        object.field("events", events)?;
    }
    object.end();
    Ok(())
}

/// An object whose fields are written one by one.
struct Object<'a, W> {
    sheet: &'a mut Sheet<W>,
    layout: Indented,
    is_empty: bool,
}

impl<'a, W: Write> Object<'a, W> {
    /// One that stands so many levels in.
    fn begin(sheet: &'a mut Sheet<W>, level: usize) -> Self {
        sheet.text.push(b'{');
        Object { sheet, layout: Indented { level: level + 1, is_filled: false }, is_empty: true }
    }

    fn key(&mut self, key: &str) {
        let is_first = std::mem::replace(&mut self.is_empty, false);
        let text = &mut self.sheet.text;
        self.layout.begin_value(text, is_first).expect("memory takes everything in");
        text.push(b'"');
        text.extend_from_slice(key.as_bytes());
        text.extend_from_slice(b"\": ");
    }

    fn field(&mut self, key: &str, value: &impl Serialize) -> io::Result<()> {
        self.key(key);
        let layout = Indented { is_filled: false, ..self.layout };
        value.serialize(&mut Serializer::with_formatter(&mut self.sheet.text, layout))?;
        self.sheet.pass_on()
    }

    /// A field that is left out where there is nothing.
    fn list(&mut self, key: &str, values: &[impl Serialize]) -> io::Result<()> {
        if values.is_empty() { Ok(()) } else { self.field(key, &values) }
    }

    fn end(mut self) {
        self.layout.level -= 1;
        self.layout.begin_value(&mut self.sheet.text, true).expect("memory takes everything in");
        self.sheet.text.push(b'}');
    }
}

/// An end of line, and the indentation of as many levels as a report has, and more.
const LINE: &[u8; 33] = b"\n                                ";

/// A comma, and the same.
const NEXT: &[u8; 34] = b",\n                                ";

/// Where values stand.
#[derive(Clone, Copy, Debug, Default)]
struct Indented {
    level: usize,
    /// Has what was closed, or is open, any values?
    is_filled: bool,
}

impl Indented {
    #[inline]
    fn begin_value(&mut self, out: &mut (impl Write + ?Sized), is_first: bool) -> io::Result<()> {
        let spaces = 2 * self.level;
        match (is_first, NEXT.get(..2 + spaces)) {
            (true, Some(_)) => out.write_all(&LINE[..1 + spaces]),
            (false, Some(next)) => out.write_all(next),
            (_, None) => {
                out.write_all(if is_first { b"\n" } else { b",\n" })?;
                (0..self.level).try_for_each(|_| out.write_all(b"  "))
            }
        }
    }

    #[inline]
    fn open(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8; 1]) -> io::Result<()> {
        self.level += 1;
        self.is_filled = false;
        out.write_all(bracket)
    }

    #[inline]
    fn close(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8; 1]) -> io::Result<()> {
        self.level -= 1;
        if self.is_filled {
            self.begin_value(out, true)?;
        }
        out.write_all(bracket)
    }
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.begin_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.begin_value(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use serde_json::{Value, json};

    #[test]
    fn a_report_looks_as_serde_json_would_lay_it_out() {
        let mut report = samples::named(2, 3, "a \"name\"\n");
        assert_laid_out(&report);
        samples::fill(&mut report);
        assert_laid_out(&report);
        report.runs.clear();
        assert_laid_out(&report);
    }

    #[test]
    fn a_report_that_is_longer_than_what_is_written_at_once_is_whole() {
        let mut report = samples::report(1, 1);
        let flow = report.runs[0].flows[0].clone();
        report.runs[0].flows = vec![flow; 3 * AT_ONCE / 200];
        assert_laid_out(&report);
    }

    fn assert_laid_out(report: &Report) {
        let expected = serde_json::to_string_pretty(report).unwrap() + "\n";
        assert_eq!(text(report), expected);
        let mut written = Vec::new();
        write(report, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn what_is_empty_stays_on_its_line_and_what_is_deep_is_indented() {
        let deep =
            (0..40).fold(json!({ "a": [], "b": {}, "c": [1, [], "x"] }), |inner, _| json!([inner, {}]));
        let mut ours = Vec::new();
        Value::serialize(&deep, &mut Serializer::with_formatter(&mut ours, Indented::default())).unwrap();
        assert_eq!(String::from_utf8(ours).unwrap(), serde_json::to_string_pretty(&deep).unwrap());
    }

    #[test]
    fn one_who_does_not_take_it_is_told_of() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = write(&samples::named(1, 1, "n"), Full).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

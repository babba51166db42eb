//! The report as JSON: the public, versioned form.
//!
//! A report on many flows is long, so it is written as it is made, and never held as one text by who prints it. Its lines are indented
//! by two spaces for each level, as `serde_json` does; that writes each level by itself, which took half of the time.

use fairwire_metrics::record::Report;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, BufWriter, Write};

/// The report, as one text.
pub fn text(report: &Report) -> String {
    let mut bytes = Vec::new();
    put(report, &mut bytes).expect("a report has only strings for keys, and memory takes everything in");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// Writes the report to `out`.
pub fn write(report: &Report, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(AT_ONCE, out);
    put(report, &mut out)?;
    out.flush()
}

/// So many bytes are written at once.
const AT_ONCE: usize = 64 << 10;

fn put(report: &Report, out: &mut impl Write) -> io::Result<()> {
    report.serialize(&mut Serializer::with_formatter(&mut *out, Indented::default()))?;
    out.write_all(b"\n")
}

/// An end of line, and the indentation of as many levels as a report has, and more.
const LINE: &[u8; 33] = b"\n                                ";

/// A comma, and the same.
const NEXT: &[u8; 34] = b",\n                                ";

/// Where values stand.
#[derive(Debug, Default)]
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
        let report = samples::named(2, 3, "a \"name\"\n");
        let expected = serde_json::to_string_pretty(&report).unwrap() + "\n";
        assert_eq!(text(&report), expected);
        let mut written = Vec::new();
        write(&report, &mut written).unwrap();
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

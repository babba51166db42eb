//! The report as JSON: the public, versioned form.

use fairwire_metrics::record::Report;
use std::io::{self, BufWriter, Write};

pub(super) fn text(report: &Report) -> String {
    let mut bytes = Vec::new();
    write(report, &mut bytes).expect("a report has only strings for keys, and memory takes everything in");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

pub(super) fn write(report: &Report, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, report)?;
    out.write_all(b"\n")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_writer_that_fails_is_reported() {
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

//! Tables as CSV.

use crate::output::delays::Histogram;
use crate::output::series::{Form, Of, SampleRow};
use crate::report::csv;
use fairwire_metrics::Bin;
use fairwire_metrics::record::{CompletedRecord, DelayRecord, Percentile, Report};
use fairwire_sweep::records;
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file;
use std::io::{self, Write};
use std::path::Path;

pub(in crate::output) const SERIES: Form = Form { head: HEADS, row };

const HEADS: [&str; 2] = [
    "discipline,seed,time_s,kind,name,measure,unit,value\n",
    "discipline,stage,seed,time_s,kind,name,measure,unit,value\n",
];

/// The row never needs quotes. Scenarios allow no commas in names, and commas in a gauge's prefix
/// were replaced by spaces.
fn row(out: &mut dyn Write, run: Of<'_>, time: &str, row: SampleRow<'_>) -> io::Result<()> {
    let Of { discipline, stage, seed } = run;
    let SampleRow { kind, name, measure, unit, value } = row;
    write!(out, "{discipline},")?;
    if let Some(stage) = stage {
        write!(out, "{stage},")?;
    }
    writeln!(out, "{seed},{time},{kind},{name},{measure},{unit},{value}")
}

pub(in crate::output) fn flows(path: &Path, report: &Report) -> Result<(), Failure> {
    file::write(path, csv::flows(report)?.as_bytes())
}

pub(in crate::output) fn transfers(path: &Path, completed: &[CompletedRecord]) -> Result<(), Failure> {
    let fault = |error: ::csv::Error| Failure::Ours(format!("CSV could not be made: {error}"));
    let mut writer = ::csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record(records::names::<CompletedRecord>()).map_err(fault)?;
    for record in completed {
        writer.serialize(record).map_err(fault)?;
    }
    let bytes = writer.into_inner().map_err(|error| fault(error.into_error().into()))?;
    file::write(path, &bytes)
}

pub(in crate::output) fn histograms(all: &[Histogram]) -> Result<String, Failure> {
    let head = ["discipline", "seed", "kind", "of", "from_s", "to_s", "packets"].map(String::from).to_vec();
    let row = |run: &[String; 4], bin: &Bin| {
        let own = [bin.from.secs().to_string(), bin.to.secs().to_string(), bin.packets.to_string()];
        run.iter().cloned().chain(own).collect()
    };
    let rows =
        all.iter().flat_map(|histogram| histogram.bins.iter().map(move |bin| row(&histogram.run, bin)));
    csv::text(std::iter::once(head).chain(rows))
}

pub(in crate::output) fn percentiles(records: &[DelayRecord]) -> Result<String, Failure> {
    let head = ["discipline", "seed", "kind", "of", "packets", "mean_s", "percent", "delay_s"]
        .map(String::from)
        .to_vec();
    let row = |record: &DelayRecord, at: &Percentile| {
        vec![
            record.discipline.clone(),
            record.seed.to_string(),
            record.kind.clone(),
            record.of.clone(),
            record.packets.to_string(),
            record.mean_s.to_string(),
            at.percent.to_string(),
            at.delay_s.to_string(),
        ]
    };
    let rows = records.iter().flat_map(|record| record.percentiles.iter().map(move |at| row(record, at)));
    csv::text(std::iter::once(head).chain(rows))
}

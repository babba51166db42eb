//! Time series: one row per time, object and measure.

use super::formats;
use super::plan::{Destination, Request};
use super::written::{Done, Kept, Looks, Place, Recorder, Run, Wants, Writer};
use fairwire_core::Time;
use fairwire_metrics::record::Report;
use fairwire_scenario::Output;
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file::{self, Part, Scratch};
use std::io::{self, Write};
use std::path::Path;

pub(super) use fairwire_scenario::SampleRow;

pub(super) const FORMS: [(&str, Form); 2] =
    [("csv", formats::csv::SERIES), ("ndjson", formats::ndjson::SERIES)];

#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// The header of a file without stages, and the header of a file with stages.
    pub head: [&'static str; 2],
    /// Writes a row of a run. The third argument is the time in seconds.
    pub row: fn(&mut dyn Write, Of<'_>, &str, SampleRow<'_>) -> io::Result<()>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'a> {
    pub discipline: &'a str,
    /// The stage; `None` if results do not name it.
    pub stage: Option<&'static str>,
    pub seed: u64,
}

pub(super) fn prepare<'a>(request: &Request<'a>) -> Result<Option<Box<dyn Writer + 'a>>, Failure> {
    let series = |(place, form)| AllSeries {
        place,
        form,
        has_flows: request.has_series_flows(),
        has_stages: request.has_stages,
        kept: Kept::default(),
    };
    Ok(request.destination(Output::Series, &FORMS)?.map(|made| Box::new(series(made)) as _))
}

struct AllSeries {
    place: Destination,
    form: Form,
    has_flows: bool,
    has_stages: bool,
    kept: Kept<Part>,
}

impl AllSeries {
    fn joined(&self, path: &Path) -> io::Result<()> {
        let mut out = Scratch::begin(path)?;
        out.write_all(self.form.head[usize::from(self.has_stages)].as_bytes())?;
        self.kept.take().into_iter().try_for_each(|part| part.pour(&mut out))?;
        out.finish().map(|_| ())
    }
}

impl Writer for AllSeries {
    fn looks(&self) -> Looks {
        Looks::AtSamples
    }

    fn wants(&self) -> Wants {
        Wants { samples: true, flows: self.has_flows, ..Wants::default() }
    }

    fn begin<'a>(&'a self, run: Run<'_>) -> Result<Option<Box<dyn Recorder + 'a>>, Failure> {
        let path = &self.place.path;
        Ok(Some(Box::new(Series {
            all: self,
            at: run.place(),
            out: Scratch::begin(path).map_err(|error| file::fault(path, &error))?,
            discipline: run.which.discipline.to_string(),
            stage: run.stage,
            seed: run.which.seed,
            failed: None,
        })))
    }

    fn close(&self, _: &mut Report, done: &mut Done) {
        let path = &self.place.path;
        done.wrote(path, self.joined(path).map_err(|error| file::fault(path, &error)));
    }
}

struct Series<'a> {
    all: &'a AllSeries,
    at: Place,
    out: Scratch,
    discipline: String,
    stage: Option<&'static str>,
    seed: u64,
    failed: Option<io::Error>,
}

impl Recorder for Series<'_> {
    fn row(&mut self, at: Time, row: SampleRow<'_>) {
        if self.failed.is_none() {
            let of = Of { discipline: &self.discipline, stage: self.stage, seed: self.seed };
            self.failed = (self.all.form.row)(&mut self.out, of, &seconds(at), row).err();
        }
    }

    fn finish(self: Box<Self>) -> Result<(), Failure> {
        let fault = |error| file::fault(&self.all.place.path, &error);
        let part = self.failed.map_or(Ok(self.out), Err).and_then(Scratch::close).map_err(fault)?;
        self.all.kept.keep(self.at, part);
        Ok(())
    }
}

fn seconds(at: Time) -> String {
    format!("{}.{:09}", at.ns() / 1_000_000_000, at.ns() % 1_000_000_000)
}

//! The plan of outputs: options of the command line, or else the scenario's `[output]`.

use super::format::Format;
use super::{file, formats};
use crate::args::OutputArgs;
use crate::failure::Failure;
use fairwire_core::Duration;
use fairwire_scenario::OutputSpec;
use std::path::{Path, PathBuf};

/// The default interval between two samples.
const EVERY: Duration = Duration::from_ms(100);

/// The files to write, and how.
#[derive(Debug)]
pub(super) struct OutputPlan<'a> {
    pub series: Option<Destination<'a>>,
    pub trace: Option<Destination<'a>>,
    pub flows: Option<Destination<'a>>,
    pub transfers: Option<Destination<'a>>,
    pub histogram: Option<Destination<'a>>,
    pub percentiles: Option<Destination<'a>>,
    pub plot: Option<Destination<'a>>,
    pub every: Duration,
    pub series_flows: bool,
    pub one_way: bool,
    pub check_warm_up: bool,
}

/// The path of a file to write, and the option or key that gave it.
#[derive(Debug)]
pub(super) struct Destination<'a> {
    given_by: String,
    path: &'a Path,
}

impl<'a> OutputPlan<'a> {
    /// Options go before the scenario's keys.
    pub(super) fn of(args: &'a OutputArgs, spec: &'a OutputSpec) -> Self {
        let place = |key: &str, option: &'a Option<PathBuf>, typed: &'a Option<String>| {
            let option = option.as_deref().map(|path| Destination { given_by: format!("--{key}"), path });
            let typed = || {
                typed
                    .as_ref()
                    .map(|path| Destination { given_by: format!("output.{key}"), path: Path::new(path) })
            };
            option.or_else(typed)
        };
        OutputPlan {
            series: place("series", &args.series, &spec.series),
            trace: place("trace", &args.trace, &spec.trace),
            flows: place("flows", &args.flows, &spec.flows),
            transfers: place("transfers", &args.transfers, &spec.transfers),
            histogram: place("histogram", &args.histogram, &spec.histogram),
            percentiles: place("percentiles", &args.percentiles, &spec.percentiles),
            plot: place("plot", &args.plot, &spec.plot),
            every: args.every.or(spec.every.map(|every| every.0)).unwrap_or(EVERY),
            series_flows: args.series_flows || spec.series_flows,
            one_way: args.one_way || spec.one_way,
            check_warm_up: args.check_warm_up || spec.check_warm_up,
        }
    }

    /// Is the state looked at from time to time?
    pub(super) fn has_samples(&self) -> bool {
        self.series.is_some() || self.plot.is_some() || self.check_warm_up
    }

    /// Are delays counted?
    pub(super) fn has_delays(&self) -> bool {
        self.histogram.is_some() || self.percentiles.is_some() || self.one_way
    }

    pub(super) fn series(&self) -> Option<&Path> {
        self.series.as_ref().map(Destination::path)
    }

    pub(super) fn trace(&self) -> Option<&Path> {
        self.trace.as_ref().map(Destination::path)
    }
}

impl Destination<'_> {
    /// The option or key that gave it.
    pub(super) fn given_by(&self) -> &str {
        &self.given_by
    }

    pub(super) fn path(&self) -> &Path {
        self.path
    }

    /// Checks that a format has the extension of the file, and that it can be written. Returns the
    /// part of the format that `of` selects.
    pub(super) fn check_writable<T>(&self, of: impl Fn(&Format) -> Option<T>) -> Result<T, Failure> {
        let able: Vec<(&Format, T)> =
            formats::ALL.iter().filter_map(|format| Some((format, of(format)?))).collect();
        let endings: Vec<&str> = able.iter().map(|(format, _)| format.ending).collect();
        let ending = file::check_writable(&self.given_by, self.path, &endings)?;
        let found = able.into_iter().find(|(format, _)| format.ending == ending);
        Ok(found.expect("it is one of these endings").1)
    }
}

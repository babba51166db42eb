//! What a format is: how files of one ending are written.

use super::delays::Histogram;
use super::plot::Curve;
use super::{series, trace};
use crate::failure::Failure;
use fairwire_core::Time;
use fairwire_metrics::record::{CompletedRecord, DelayRecord, Report};
use std::path::Path;

/// How files of one ending are written: for each kind of output, what writes it, if anything does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// The ending of its files.
    pub ending: &'static str,
    /// Time series.
    pub series: Option<series::Form>,
    /// Packets.
    pub trace: Option<trace::Form>,
    /// A row per run and flow.
    pub flows: Option<Flows>,
    /// A row per completed transfer and page.
    pub transfers: Option<Transfers>,
    /// Histograms of delays.
    pub histogram: Option<Histograms>,
    /// Percentiles of delays.
    pub percentiles: Option<Percentiles>,
    /// The picture of throughput over time.
    pub plot: Option<Plot>,
}

/// Writes a row per run and flow to a file.
pub(super) type Flows = fn(&Path, &Report) -> Result<(), Failure>;

/// Writes a row per completed transfer and page to a file.
pub(super) type Transfers = fn(&Path, &[&CompletedRecord]) -> Result<(), Failure>;

/// The file of histograms.
pub(super) type Histograms = fn(&[&Histogram]) -> Result<String, Failure>;

/// The file of percentiles.
pub(super) type Percentiles = fn(&[DelayRecord]) -> Result<String, Failure>;

/// The picture of these runs, with this title; the warm-up ends there.
pub(super) type Plot = fn(&[&Curve], &str, Time) -> String;

impl Format {
    /// One that writes nothing yet.
    pub(super) const fn new(ending: &'static str) -> Self {
        Format {
            ending,
            series: None,
            trace: None,
            flows: None,
            transfers: None,
            histogram: None,
            percentiles: None,
            plot: None,
        }
    }
}

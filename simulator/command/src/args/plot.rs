//! The arguments of `plot`.

use crate::figure::{Show, Wanted};
use clap::{Args, ValueEnum};
use fairwire_figures::{Paper, Width};
use std::path::PathBuf;

pub(super) const PLOT_EXAMPLES: &str = "\
Examples:
  fairwire plot series.csv --figure rate.pdf
  fairwire plot series.csv --show delay --figure delay.svg
  fairwire plot transfers.csv --show slowdown --bare --width two-column --figure slowdown.pdf
  fairwire plot out --show bars --of share.,jain --figure shares.tex
  fairwire plot out --show scatter --figure rtt.pdf
  fairwire plot out/buffers --show heat --of jain --figure jain.pdf   # the store of a sweep";

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Finished results: a folder of `run --out`, the store of a sweep, or files of `--series`,
    /// `--flows`, `--transfers` or `--histogram`. Only a report contains the start of measuring.
    #[arg(required = true, value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// Write the picture to this file: .svg, .pdf, or .tex for pgfplots.
    #[arg(long, value_name = "FILE")]
    pub figure: PathBuf,
    /// The type of figure. Default: the first of rate, completion, wait, lines, bars and scatter
    /// for which there are results.
    #[arg(long, value_name = "WHAT")]
    pub show: Option<Show>,
    /// Draw these measures, separated by commas. A series allows only one measure, and a summary or
    /// sweep allows several. For a summary, `share.` selects all measures with this prefix.
    #[arg(long, value_name = "MEASURE", value_delimiter = ',')]
    pub of: Vec<String>,
    /// Draw over these axes of a sweep: one for lines, two for a heat map.
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub over: Vec<String>,
    /// For lines of a sweep: draw one panel for each value of this axis.
    #[arg(long, value_name = "KEY")]
    pub panels: Option<String>,
    /// Draw only these groups, flows, or links' delays, separated by commas. For a sweep, draw only
    /// these axis values and disciplines, with the disciplines in this order.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,
    /// For figures over time: the seed to draw. Default: the first.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// For a paper: omit the title and the conditions, which belong in its caption.
    #[arg(long)]
    pub bare: bool,
    /// For a paper: the width of one column (88.9 mm) or two (181.9 mm).
    #[arg(long, value_name = "one-column|two-column", hide_possible_values = true)]
    pub width: Option<Columns>,
    /// The title. Default: a description of the figure.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Columns {
    /// 88.9 mm.
    OneColumn,
    /// 181.9 mm.
    TwoColumn,
}

impl PlotArgs {
    pub(crate) fn wanted(&self) -> Wanted {
        let PlotArgs { show, of, over, panels, only, seed, .. } = self;
        Wanted {
            show: *show,
            of: of.clone(),
            over: over.clone(),
            panels: panels.clone(),
            only: only.clone(),
            seed: *seed,
        }
    }

    pub(crate) fn paper(&self) -> Option<Paper> {
        let width = match self.width {
            Some(Columns::TwoColumn) => Width::TwoColumns,
            Some(Columns::OneColumn) | None => Width::OneColumn,
        };
        (self.bare || self.width.is_some()).then_some(Paper { width, is_bare: self.bare })
    }
}

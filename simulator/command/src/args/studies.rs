//! The arguments of `reproduce` and `calibrate`.

use super::format::Format;
use clap::Args;
use fairwire_terminal::values::whole;
use std::path::PathBuf;

pub(super) const REPRODUCE_EXAMPLES: &str = "\
Examples:
  fairwire reproduce --quick               # a first verdict on every claim
  fairwire reproduce faba.table1 --full
  fairwire reproduce faba afd --jobs 2 --out results
  fairwire reproduce faba --studies studies --record

Finished runs are kept in the user's cache folder (`fairwire cache`): the same command goes on where it was stopped.";

pub(super) const CALIBRATE_EXAMPLES: &str = "\
Examples:
  fairwire calibrate faba.table1                  # in how much of what the paper leaves open does each claim hold?
  fairwire calibrate sut afd --full --jobs 2
  fairwire calibrate faba --full --studies studies --record

What each paper leaves open is in the `space.toml` of its study. Finished runs are kept (`fairwire cache`): the same command
goes on where it was stopped, and gives the same answer with any number of jobs.";

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The papers or exhibits to repeat: a paper such as `faba`, or an exhibit such as
    /// `faba.table1`. Default: all.
    #[arg(value_name = "PAPER[.EXHIBIT]")]
    pub exhibits: Vec<String>,
    /// Few seeds, and only some points of long sweeps (the default).
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// All seeds that verdicts need, and complete sweeps.
    #[arg(long)]
    pub full: bool,
    /// The number of simultaneous runs. Default, or 0: the number of cores.
    #[arg(long, value_name = "N", value_parser = whole(0..=u16::MAX))]
    pub jobs: Option<u16>,
    /// The format of the claims.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Write results, figures and the report into this folder.
    #[arg(long, value_name = "DIR", default_value = "out/reproduction")]
    pub out: PathBuf,
    /// Repeat every run, even if it has a stored result.
    #[arg(long)]
    pub fresh: bool,
    /// Read the studies from this folder instead of the built-in ones.
    #[arg(long, value_name = "DIR")]
    pub studies: Option<PathBuf>,
    /// Write the verdicts into the `verdicts.toml` of each study.
    #[arg(long, requires = "studies")]
    pub record: bool,
    /// Write the outcome of each claim of all exhibits as a documentation page.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "docs/reproduction.md",
        conflicts_with = "exhibits"
    )]
    pub write_docs: Option<PathBuf>,
    /// Exit with code 3 if a verdict differs from the recorded one.
    #[arg(long)]
    pub expect_recorded: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// The papers or exhibits to vary: a paper such as `faba`, or an exhibit such as `faba.table1`.
    /// Default: all papers with a `space.toml`.
    #[arg(value_name = "PAPER[.EXHIBIT]")]
    pub exhibits: Vec<String>,
    /// 8 random settings (the default).
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// 32 random settings.
    #[arg(long)]
    pub full: bool,
    /// Use this number of random settings; a power of two spreads them most evenly.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "full"], value_parser = whole(1..=65_536_u32))]
    pub draws: Option<u32>,
    /// The number of simultaneous runs. Default, or 0: the number of cores.
    #[arg(long, value_name = "N", value_parser = whole(0..=u16::MAX))]
    pub jobs: Option<u16>,
    /// The format of the claims.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Repeat every run, even if it has a stored result.
    #[arg(long)]
    pub fresh: bool,
    /// Read the studies from this folder instead of the built-in ones.
    #[arg(long, value_name = "DIR")]
    pub studies: Option<PathBuf>,
    /// Write the findings, which `reproduce` shows, into the `calibration.toml` of each study. Only
    /// for entire papers.
    #[arg(long, requires = "studies")]
    pub record: bool,
}

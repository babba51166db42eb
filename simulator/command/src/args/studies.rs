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
    /// Only these: a paper such as `faba`, or an exhibit such as `faba.table1`. Left out: all.
    #[arg(value_name = "PAPER[.EXHIBIT]")]
    pub exhibits: Vec<String>,
    /// Few seeds, and of long sweeps not every point; this is so when neither is given.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// As many seeds as a verdict deserves, and every point.
    #[arg(long)]
    pub full: bool,
    /// Runs at the same time; as many as there are cores when left out or 0.
    #[arg(long, value_name = "N", value_parser = whole(0..=u16::MAX))]
    pub jobs: Option<u16>,
    /// How to print the claims.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Write results, figures and the report into this folder.
    #[arg(long, value_name = "DIR", default_value = "out/reproduction")]
    pub out: PathBuf,
    /// Make every run again, also where there is a result.
    #[arg(long)]
    pub fresh: bool,
    /// Read the studies in this folder in place of those that came with the command.
    #[arg(long, value_name = "DIR")]
    pub studies: Option<PathBuf>,
    /// Write the verdicts into the `verdicts.toml` of each study.
    #[arg(long, requires = "studies")]
    pub record: bool,
    /// Write what came of each claim as a page of the documentation, of all exhibits.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "docs/reproduction.md",
        conflicts_with = "exhibits"
    )]
    pub write_docs: Option<PathBuf>,
    /// End with code 3 where a verdict is not the recorded one.
    #[arg(long)]
    pub expect_recorded: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Only these: a paper such as `faba`, or an exhibit such as `faba.table1`. Left out: all
    /// papers with a `space.toml`.
    #[arg(value_name = "PAPER[.EXHIBIT]")]
    pub exhibits: Vec<String>,
    /// 8 draws; this is so when neither is given.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// 32 draws.
    #[arg(long)]
    pub full: bool,
    /// This number of draws in place of those; powers of two fill the space most evenly.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "full"], value_parser = whole(1..=65_536_u32))]
    pub draws: Option<u32>,
    /// Runs at the same time; as many as there are cores when left out or 0.
    #[arg(long, value_name = "N", value_parser = whole(0..=u16::MAX))]
    pub jobs: Option<u16>,
    /// How to print the claims.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Make every run again, also where there is a result.
    #[arg(long)]
    pub fresh: bool,
    /// Read the studies in this folder in place of those that came with the command.
    #[arg(long, value_name = "DIR")]
    pub studies: Option<PathBuf>,
    /// Write what was found into the `calibration.toml` of each study, for `reproduce` to show;
    /// whole papers only.
    #[arg(long, requires = "studies")]
    pub record: bool,
}

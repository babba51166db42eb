//! The arguments of `sweep`.

use super::format::Format;
use clap::{Args, Subcommand};
use fairwire_sweep::Share;
use fairwire_terminal::values::whole;
use std::path::PathBuf;

pub(super) const SWEEP_EXAMPLES: &str = "\
Examples:
  fairwire sweep cost proof/suite/sweeps/buffers.toml          # how many runs, how long, how large
  fairwire sweep proof/suite/sweeps/buffers.toml               # make what is missing, and show the means
  fairwire sweep proof/suite/sweeps/buffers.toml --plot buffers.svg
  fairwire sweep proof/suite/sweeps/buffers.toml --plot buffers.html
  fairwire sweep proof/suite/sweeps/buffers.toml --shard 3/8   # the third of eight processes
  fairwire sweep script proof/suite/sweeps/buffers.toml --slurm --tasks 100 > job.sh && sbatch job.sh

Results are kept: the same command goes on where it was stopped, and makes no run twice.";

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true
)]
pub(crate) struct SweepArgs {
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    #[command(flatten)]
    pub run: SweepRunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SweepRunArgs {
    #[command(flatten)]
    pub plan: PlanArgs,
    /// The number of simultaneous runs. Default, or 0: the number of cores.
    #[arg(long, value_name = "N", value_parser = whole(0..=u16::MAX))]
    pub jobs: Option<u16>,
    /// Run only this fraction of the sweep, as one of several processes: 3/8 is the third of eight.
    #[arg(long, value_name = "I/N", value_parser = share, default_value = "1/1", hide_default_value = true)]
    pub shard: Share,
    /// The format of the means: a table, JSON or CSV, with one row per cell.
    #[arg(long, value_name = "table|json|csv", default_value = "table", hide_possible_values = true)]
    pub format: Format,
    /// Draw the means over the first numeric axis, with one panel for each of `measures`. With the
    /// extension .html, write a page with the figure and the table. The page loads nothing from the
    /// network.
    #[arg(long, value_name = "FILE.svg|html")]
    pub plot: Option<PathBuf>,
    /// Permit more than 10 million runs, more than 20 GB on disk, and runs that together take more
    /// than 8 GB of memory.
    #[arg(long)]
    pub yes: bool,
}

/// A plan, and the location of its results.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The plan of the sweep.
    #[arg(value_name = "PLAN.toml", required = true)]
    pub plan: Option<PathBuf>,
    /// Keep results in this folder instead of the folder that the plan names.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SweepCommand {
    /// Show how many runs are missing and estimate their duration, by making one run in a hundred.
    Cost {
        #[command(flatten)]
        plan: PlanArgs,
        /// The output format: a table, JSON or CSV.
        #[arg(long, value_name = "table|json|csv", default_value = "table", hide_possible_values = true)]
        format: Format,
    },
    /// List the runs missing from the store, as CSV.
    Missing(PlanArgs),
    /// Show why a run is missing: which input changed.
    Explain {
        #[command(flatten)]
        plan: PlanArgs,
        /// The number of the run, counted from 0, as `missing` shows it.
        #[arg(value_name = "ROW", value_parser = whole(0..=u64::MAX))]
        row: u64,
    },
    /// Merge the many small files in the store into few large ones that contain each run once.
    Compact(PlanArgs),
    /// Print a script that runs the sweep as many jobs on a cluster.
    Script {
        #[command(flatten)]
        plan: PlanArgs,
        /// Print a Slurm job array.
        #[arg(long, required = true)]
        slurm: bool,
        /// The number of jobs; many clusters allow 1000.
        #[arg(long, value_name = "N", value_parser = whole(1..=100_000u32), default_value = "100")]
        tasks: u32,
        /// The number of cores of each job.
        #[arg(long, value_name = "N", value_parser = whole(1..=1024u16), default_value = "1")]
        cores: u16,
        /// The time limit of a job, in Slurm's format.
        #[arg(long, value_name = "H:MM:SS", default_value = "1:00:00")]
        time: String,
    },
}

fn share(text: &str) -> Result<Share, String> {
    let allowed = "allowed: I/N with I from 1 to N, such as 3/8";
    let (index, of) = text.split_once('/').ok_or(allowed)?;
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let share = number(index).zip(number(of)).map(|(index, of)| Share { index, of });
    share.filter(|share| (1..=share.of).contains(&share.index)).ok_or(allowed.into())
}

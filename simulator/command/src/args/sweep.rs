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
    /// Runs at the same time; as many as there are cores when left out or 0.
    #[arg(long, value_name = "N", value_parser = whole(0..=u16::MAX))]
    pub jobs: Option<u16>,
    /// Make only this part of the runs, as one of several processes: 3/8 is the third of eight.
    #[arg(long, value_name = "I/N", value_parser = share, default_value = "1/1", hide_default_value = true)]
    pub shard: Share,
    /// How to print the means: a table, JSON or CSV, each with a row for each cell.
    #[arg(long, value_name = "table|json|csv", default_value = "table", hide_possible_values = true)]
    pub format: Format,
    /// Draw the means over the first axis that has numbers, a panel for each of `measures`. With
    /// the extension .html: a page that has the table besides and needs no network.
    #[arg(long, value_name = "FILE.svg|html")]
    pub plot: Option<PathBuf>,
    /// Make also more than 10 million runs, or more than 20 GB on disk, and runs that together take
    /// more than 8 GB of memory.
    #[arg(long)]
    pub yes: bool,
}

/// A plan, and where its results are.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The plan.
    #[arg(value_name = "PLAN.toml", required = true)]
    pub plan: Option<PathBuf>,
    /// Keep results in this folder, in place of the one that the plan names.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SweepCommand {
    /// Show how many runs are missing, and about how long they take: a hundredth of them is made.
    Cost {
        #[command(flatten)]
        plan: PlanArgs,
        /// How to print it: a table, JSON or CSV.
        #[arg(long, value_name = "table|json|csv", default_value = "table", hide_possible_values = true)]
        format: Format,
    },
    /// List the runs that the store lacks, as CSV.
    Missing(PlanArgs),
    /// Show why a run is missing: which input changed.
    Explain {
        #[command(flatten)]
        plan: PlanArgs,
        /// The run, counted from 0 as `missing` counts them.
        #[arg(value_name = "ROW", value_parser = whole(0..=u64::MAX))]
        row: u64,
    },
    /// Make few large files of the many small ones in the store, with each run once.
    Compact(PlanArgs),
    /// Print a script that makes the sweep with many jobs of a cluster.
    Script {
        #[command(flatten)]
        plan: PlanArgs,
        /// For Slurm: a job array.
        #[arg(long, required = true)]
        slurm: bool,
        /// The number of jobs; many clusters allow 1000.
        #[arg(long, value_name = "N", value_parser = whole(1..=100_000u32), default_value = "100")]
        tasks: u32,
        /// Cores of each job.
        #[arg(long, value_name = "N", value_parser = whole(1..=1024u16), default_value = "1")]
        cores: u16,
        /// The longest time of a job, as Slurm takes it.
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

//! The arguments of `list`.

use super::format::Format;
use clap::Subcommand;
use std::path::PathBuf;

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  fairwire list disciplines
  fairwire list disciplines --long
  fairwire list disciplines --format json
  fairwire list controllers
  fairwire list sources
  fairwire list stages
  fairwire list markers
  fairwire list networks
  fairwire list lessons
  fairwire list exhibits";

#[derive(Debug, Subcommand)]
pub(crate) enum List {
    /// The queue disciplines.
    #[command(after_help = LIST_EXAMPLES)]
    Disciplines {
        /// The output format.
        #[arg(long, default_value = "table")]
        format: Format,
        /// Also show the other names, state, cost and source of each discipline.
        #[arg(long)]
        long: bool,
    },
    /// The exhibits of papers that `fairwire reproduce` repeats, with the recorded verdicts.
    #[command(after_help = LIST_EXAMPLES)]
    Exhibits {
        /// The output format.
        #[arg(long, default_value = "table")]
        format: Format,
        /// Read the studies from this folder instead of the built-in ones.
        #[arg(long, value_name = "DIR")]
        studies: Option<PathBuf>,
    },
    /// The stages that can run a scenario, for `run --on`.
    #[command(after_help = LIST_EXAMPLES)]
    Stages {
        /// The output format.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The TCP congestion controllers.
    #[command(after_help = LIST_EXAMPLES)]
    Controllers {
        /// The output format.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The traffic sources.
    #[command(after_help = LIST_EXAMPLES)]
    Sources {
        /// The output format.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The markers, which colour packets before a discipline receives them.
    #[command(after_help = LIST_EXAMPLES)]
    Markers {
        /// The output format.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The generated networks, each with a description.
    #[command(after_help = LIST_EXAMPLES)]
    Networks {
        /// The output format.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The lessons and exercises in folders of scenarios, each with its question.
    #[command(after_help = LIST_EXAMPLES)]
    Lessons {
        /// The output format.
        #[arg(long, default_value = "table")]
        format: Format,
        /// The folders. Default: `lessons` and `exercises`.
        folders: Vec<PathBuf>,
    },
}

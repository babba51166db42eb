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
        /// How to print them.
        #[arg(long, default_value = "table")]
        format: Format,
        /// Also their other names, state, cost and source.
        #[arg(long)]
        long: bool,
    },
    /// The exhibits of papers that `fairwire reproduce` makes again, with the verdicts recorded.
    #[command(after_help = LIST_EXAMPLES)]
    Exhibits {
        /// How to print them.
        #[arg(long, default_value = "table")]
        format: Format,
        /// Read the studies in this folder in place of those that came with the command.
        #[arg(long, value_name = "DIR")]
        studies: Option<PathBuf>,
    },
    /// The stages on which a scenario can be run, for `run --on`.
    #[command(after_help = LIST_EXAMPLES)]
    Stages {
        /// How to print them.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The congestion controllers of TCP.
    #[command(after_help = LIST_EXAMPLES)]
    Controllers {
        /// How to print them.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The sources of traffic.
    #[command(after_help = LIST_EXAMPLES)]
    Sources {
        /// How to print them.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The markers, which colour packets in front of a discipline.
    #[command(after_help = LIST_EXAMPLES)]
    Markers {
        /// How to print them.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The networks that are generated, each with what it is.
    #[command(after_help = LIST_EXAMPLES)]
    Networks {
        /// How to print them.
        #[arg(long, default_value = "table")]
        format: Format,
    },
    /// The lessons and exercises in folders of scenarios, each with its question.
    #[command(after_help = LIST_EXAMPLES)]
    Lessons {
        /// How to print them.
        #[arg(long, default_value = "table")]
        format: Format,
        /// The folders; `lessons` and `exercises` when none is given.
        folders: Vec<PathBuf>,
    },
}

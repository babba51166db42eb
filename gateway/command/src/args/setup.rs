//! The arguments of `fairwire-gateway setup`.

use clap::Args;
use fairwire_core::{Duration, Rate};
use std::path::PathBuf;

pub(super) const SETUP_EXAMPLES: &str = "\
Examples:
  fairwire-gateway setup home.toml              # five questions
  fairwire-gateway setup home.toml --measure \"30 s\"   # the line's rates from a speed test of yours
  fairwire-gateway setup tower.toml --outside backhaul0 --inside tower0 --download \"1 Gbit/s\" --upload \"500 Mbit/s\" \\
      --share subscribers.csv

It looks at the machine, writes FILE, and changes nothing else. A file that is there is never written over.";

/// Omitted options are read from the terminal; without a terminal, the survey's suggestions apply.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// The configuration to write, which must not exist yet.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The interface towards the line [default: the interface of the default route].
    #[arg(long, value_name = "INTERFACE")]
    pub outside: Option<String>,
    /// The interface towards the users [default: the other interface of the same type].
    #[arg(long, value_name = "INTERFACE")]
    pub inside: Option<String>,
    /// The line's rate towards the inside; the gateway gets 95 % of it.
    #[arg(long, value_name = "RATE")]
    pub download: Option<Rate>,
    /// The line's rate towards the outside; the gateway gets 95 % of it.
    #[arg(long, value_name = "RATE")]
    pub upload: Option<Rate>,
    /// The units that share the line: `hosts`, or a file of subscribers [default: hosts].
    #[arg(long, value_name = "WHO")]
    pub share: Option<String>,
    /// Take the line's rates from the outside interface's counters for this long, while you run a
    /// speed test.
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Duration>,
}

//! The arguments of `new`.

use clap::Args;
use fairwire_core::{Duration, Rate};
use std::path::PathBuf;

pub(super) const NEW_EXAMPLES: &str = "\
Examples:
  fairwire new mine.toml          # five questions; or five lines that are piped in
  fairwire new mine.toml --rate \"50 Mbit/s\" --rtt \"30 ms\" --senders \"4 cubic, 1 bbr, 1 cbr 5 Mbit/s\" \\
      --disciplines tail-drop,fq-codel --duration \"60 s\"

A sender is a congestion controller (`fairwire list controllers`), or a source (`fairwire list sources`), perhaps with a
number before it and a rate behind it. A file that is there is never written over.";

/// The arguments of `new`. Each missing option is read from one line of the input. After the last
/// line, the remaining options take their defaults.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The file to write, which must not exist yet.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The rate of the shared link [default: 10 Mbit/s].
    #[arg(long)]
    pub rate: Option<Rate>,
    /// The round-trip time without queueing [default: 40 ms].
    #[arg(long)]
    pub rtt: Option<Duration>,
    /// The senders [default: 4 cubic, 1 cbr 2 Mbit/s].
    #[arg(long, value_name = "LIST")]
    pub senders: Option<String>,
    /// The disciplines to compare [default: tail-drop, fq-codel].
    #[arg(long, value_name = "LIST")]
    pub disciplines: Option<String>,
    /// The length of a run, the first fifth of which is not measured [default: 30 s].
    #[arg(long)]
    pub duration: Option<Duration>,
}

//! The arguments of `fairwire-gateway import`.

use super::WhomArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

pub(super) const IMPORT_EXAMPLES: &str = "\
Examples:
  fairwire-gateway import libreqos tower.toml ShapedDevices.csv --network network.json --dry-run
  fairwire-gateway import libreqos tower.toml ShapedDevices.csv --network network.json

Exit codes: 0 done, or nothing differs; 1 with --dry-run: something differs; 2 refused, and nothing was changed.";

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Take the circuits of LibreQoS as subscribers, and its network as classes. A running
    /// gateway applies the change at once.
    #[command(after_help = IMPORT_EXAMPLES)]
    Libreqos(LibreqosArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LibreqosArgs {
    #[command(flatten)]
    pub whom: WhomArgs,
    /// The table `ShapedDevices.csv`.
    #[arg(value_name = "DEVICES")]
    pub devices: PathBuf,
    /// The file `network.json`, whose nodes become classes.
    #[arg(long, value_name = "FILE")]
    pub network: Option<PathBuf>,
    /// Show what would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}

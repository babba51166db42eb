//! The arguments of `watch`.

use super::keys;
use clap::Args;
use clap_complete::ArgValueCompleter;
use std::path::PathBuf;

pub(super) const WATCH_EXAMPLES: &str = "\
Examples:
  fairwire watch scenarios/selfish-flow.toml
  fairwire watch scenarios/selfish-flow.toml --discipline red,faba --speed 5

Keys: q quit, space pause, . step, + - speed (0.1 to 100), up down rate, [ ] buffer, d D discipline of either side.";

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The scenario; its first two disciplines are shown side by side.
    #[arg(value_name = "FILE")]
    pub scenario: PathBuf,
    /// Show these disciplines instead of the scenario's. Repeatable, or two with a comma.
    #[arg(long, value_name = "NAME")]
    pub discipline: Vec<String>,
    /// Change a value of the scenario by its dotted path, such as `flow.GROUP.rtt`; repeatable.
    #[arg(long, value_name = "PATH=VALUE", add = ArgValueCompleter::new(keys::candidates))]
    pub set: Vec<String>,
    /// The seed. Default: the scenario's first.
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Simulated seconds per second at the start, 0.1 to 100.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = super::values::speed)]
    pub speed: f64,
}

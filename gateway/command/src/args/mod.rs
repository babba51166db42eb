//! The command line.

mod import;
mod setup;
mod subscriber;
mod values;

pub(crate) use import::{ImportCommand, LibreqosArgs};
pub(crate) use setup::SetupArgs;
pub(crate) use subscriber::{FollowArgs, SubscriberArgs, SubscriberCommand, UsageArgs};

use clap::{Args, Parser, Subcommand, ValueEnum};
use fairwire_core::{Duration, Rate};
use fairwire_terminal::values::whole;
use fairwire_wire::Way;
use import::IMPORT_EXAMPLES;
use setup::SETUP_EXAMPLES;
use std::path::PathBuf;
use subscriber::{FOLLOW_EXAMPLES, SUBSCRIBER_EXAMPLES, USAGE_EXAMPLES};
use values::{way, weight};

const GATEWAY_EXAMPLES: &str = "\
Examples:
  fairwire-gateway setup home.toml
  fairwire-gateway run docs/gateway/home.toml
  fairwire-gateway status docs/gateway/home.toml
  fairwire-gateway reload docs/gateway/home.toml
  fairwire-gateway set-weight docs/gateway/home.toml children 0.5
  fairwire-gateway set-rate docs/gateway/home.toml download '40 Mbit/s'

A gateway needs CAP_NET_ADMIN and CAP_NET_RAW; its clients need the right to use its socket.
Exit codes of reload, set-weight, set-rate, status and capture: 0 done, 2 no gateway answers, or it refused.";

const TOP_EXAMPLES: &str = "\
Examples:
  fairwire-gateway top /etc/fairwire/home.toml
  fairwire-gateway top --socket /run/fairwire/home.sock --every 10
  fairwire-gateway top /etc/fairwire/home.toml --once

Keys: d u way, c classes, f flows, s order, p pause, q quit.";

const CHECK_EXAMPLES: &str = "\
Examples:
  fairwire-gateway check /etc/fairwire/gateway.toml
  fairwire-gateway check docs/gateway/wisp.toml --offline
  fairwire-gateway check docs/gateway/wisp.toml --offline --format json";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  fairwire-gateway schema configuration > docs/schema/gateway.json
  fairwire-gateway schema snapshot > docs/schema/snapshot.json";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  fairwire-gateway completions bash > ~/.local/share/bash-completion/completions/fairwire-gateway
  fairwire-gateway completions zsh > ~/.zfunc/_fairwire-gateway
  fairwire-gateway completions fish > ~/.config/fish/completions/fairwire-gateway.fish";

/// Shapes a real link: each subscriber and each flow gets its fair share.
#[derive(Debug, Parser)]
#[command(name = "fairwire-gateway", version, after_help = GATEWAY_EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a configuration would do, and whether this machine can do it; changes nothing.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Survey this machine, and write a configuration from the answers to five questions.
    #[command(after_help = SETUP_EXAMPLES)]
    Setup(SetupArgs),
    /// Watch a running gateway in the terminal: rates, queues, drops, and how fair it is.
    #[command(after_help = TOP_EXAMPLES)]
    Top(TopArgs),
    /// Run one or more gateways in one process, in the foreground, until stopped (SIGTERM, Ctrl-C).
    /// SIGHUP reloads the configurations.
    Run {
        /// The configurations, in TOML: one for each link.
        #[arg(required = true, value_name = "CONFIG")]
        configs: Vec<PathBuf>,
        /// Wait up to `safety.patience` (without limit by default) for missing interfaces, as at
        /// boot.
        #[arg(long)]
        wait: bool,
        /// Take over from the process that runs this gateway. The old process forwards until the
        /// new one does. Use this for another version of the program, or a change that a reload
        /// cannot make. Only one link is allowed.
        #[arg(long, conflicts_with = "wait")]
        take_over: bool,
        /// Allow all system calls, for debuggers.
        #[arg(long)]
        no_seccomp: bool,
        /// Forward with an ordinary priority. By default, forwarding precedes other programs if the
        /// machine has more processors than forwarding threads.
        #[arg(long)]
        no_real_time: bool,
    },
    /// Let the running gateway read its configuration again. If the configuration is refused,
    /// nothing changes.
    Reload {
        #[command(flatten)]
        whom: WhomArgs,
    },
    /// Give a class or a subscriber another weight, until a reload.
    SetWeight {
        #[command(flatten)]
        whom: WhomArgs,
        /// The class or subscriber.
        name: String,
        /// The weight, from 0.000001 to 1000000.
        #[arg(allow_negative_numbers = true, value_parser = weight)]
        weight: f64,
    },
    /// Give the link of a direction another rate, until a reload. The discipline keeps the
    /// parameters computed from the file's rate.
    SetRate {
        #[command(flatten)]
        whom: WhomArgs,
        /// The direction: "upload" or "download".
        #[arg(value_parser = way)]
        way: Way,
        /// The rate, such as "5 Mbit/s".
        rate: Rate,
        /// The pause in sending before the new rate, such as "80 ms".
        #[arg(long, value_name = "TIME")]
        down: Option<Duration>,
    },
    /// Add, change, suspend or remove a subscriber, in the subscriber file and in the running
    /// gateway.
    #[command(after_help = SUBSCRIBER_EXAMPLES, subcommand)]
    Subscriber(SubscriberCommand),
    /// Write the bytes sent to each class and subscriber since the gateway's start, as CSV, for
    /// billing.
    #[command(after_help = USAGE_EXAMPLES)]
    Usage(UsageArgs),
    /// Update the addresses of subscribers from DHCP leases or RADIUS sessions, until stopped.
    #[command(after_help = FOLLOW_EXAMPLES)]
    Follow(FollowArgs),
    /// Turn the files of another program into classes and subscribers; differences are shown.
    #[command(after_help = IMPORT_EXAMPLES, subcommand)]
    Import(ImportCommand),
    /// Show what the running gateway does.
    Status {
        #[command(flatten)]
        whom: WhomArgs,
        /// The output format.
        #[arg(long, default_value = "table")]
        format: StatusFormat,
        /// Show every class, not only the busiest.
        #[arg(long)]
        classes: bool,
        /// Show the counts since the start of the N flows that got most bytes.
        #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", conflicts_with = "classes", value_parser = whole(0..=u32::MAX))]
        flows: Option<u32>,
    },
    /// Write the latest drops and marks, each with its reason, as pcapng.
    Capture {
        #[command(flatten)]
        whom: WhomArgs,
        /// A new file, in a folder that you may write to.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Print the JSON Schema of configurations, or of snapshots.
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema {
        /// The schema.
        which: SchemaKind,
    },
    /// Print completions for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands.
    #[command(hide = true)]
    Man {
        /// The folder to write to.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// The process that watches over a gateway. Started by `run`, not by users.
    #[command(hide = true, name = "gateway-guard", disable_help_flag = true)]
    Guard {
        /// Its parameters.
        #[arg(allow_hyphen_values = true, default_value = "")]
        charge: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// Configurations.
    Configuration,
    /// The snapshots that a running gateway sends over its socket.
    Snapshot,
}

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// The gateway's configuration, which has the path of its socket.
    #[arg(value_name = "CONFIG", required_unless_present = "socket")]
    pub config: Option<PathBuf>,
    /// The gateway's socket, without a configuration.
    #[arg(long, value_name = "PATH", conflicts_with = "config")]
    pub socket: Option<PathBuf>,
    /// Print one picture as text and end; the default if the output is no terminal.
    #[arg(long)]
    pub once: bool,
    /// Milliseconds between two snapshots. The gateway sends at most one per `telemetry.interval`.
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = whole(10..=1000_u32))]
    pub every: u32,
}

/// Selects the gateway.
#[derive(Debug, Args)]
pub(crate) struct WhomArgs {
    /// The gateway's configuration; only `name` and `telemetry.socket` are read.
    pub config: PathBuf,
    /// The gateway's socket, if it differs from the configuration's.
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The configuration, in TOML.
    pub config: PathBuf,
    /// Leave out the checks of this machine: interfaces, back end and rights.
    #[arg(long)]
    pub offline: bool,
    /// The output format.
    #[arg(long, default_value = "text")]
    pub format: CheckFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Text for people, with only the first classes of the tree.
    Text,
    /// JSON with everything, including every class.
    Json,
}

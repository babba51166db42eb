//! The command line.

mod format;
mod keys;
mod lab;
mod list;
mod new;
mod output;
mod plot;
mod refused;
mod setup;
mod studies;
mod subscriber;
mod sweep;
mod values;
mod watch;

pub(crate) use format::Format;
pub(crate) use lab::{LabCommand, Outside, ShareArgs, ShellArgs};
pub(crate) use list::List;
pub(crate) use new::NewArgs;
pub(crate) use output::OutputArgs;
pub(crate) use plot::PlotArgs;
pub(crate) use refused::failure;
pub(crate) use setup::SetupArgs;
pub(crate) use studies::{CalibrateArgs, ReproduceArgs};
pub(crate) use subscriber::{FollowArgs, SubscriberArgs, SubscriberCommand, UsageArgs};
pub(crate) use sweep::{PlanArgs, SweepArgs, SweepCommand, SweepRunArgs};
pub(crate) use watch::WatchArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;
use fairwire_core::{Duration, Rate};
use fairwire_gateway::class_book::Way;
use fairwire_scenario::ENGINE;
use lab::LAB_EXAMPLES;
use list::LIST_EXAMPLES;
use new::NEW_EXAMPLES;
use plot::PLOT_EXAMPLES;
use setup::SETUP_EXAMPLES;
use std::path::PathBuf;
use std::sync::LazyLock;
use studies::{CALIBRATE_EXAMPLES, REPRODUCE_EXAMPLES};
use subscriber::{FOLLOW_EXAMPLES, SUBSCRIBER_EXAMPLES, USAGE_EXAMPLES};
use sweep::SWEEP_EXAMPLES;
use values::{way, weight, whole};
use watch::WATCH_EXAMPLES;

const EXAMPLES: &str = "\
Examples:
  fairwire run scenarios/selfish-flow.toml
  fairwire list disciplines
  fairwire lab share --discipline tail-drop --discipline faba

Exit codes:
  0 done, 1 our fault, 2 yours (a bad file or argument), 3 an expectation stated in a scenario failed,
  130 interrupted (what was finished has been reported)";

const RUN_EXAMPLES: &str = "\
Examples:
  fairwire run scenarios/selfish-flow.toml
  fairwire run scenarios/selfish-flow.toml --discipline faba --seeds 1..=30
  fairwire run scenarios/selfish-flow.toml --set link.buffer=\"390 packets\" --set flow.tcp.count=20
  fairwire run scenarios/selfish-flow.toml --format json > report.json
  fairwire run scenarios/selfish-flow.toml --paired --series series.csv --every \"50 ms\" --plot series.svg
  fairwire run scenarios/selfish-flow.toml --discipline faba --seeds 1 --trace packets.pcapng
  fairwire run scenarios/selfish-flow.toml --out results   # report.json, *.csv and shares.svg
  fairwire run proof/suite/ns2 --on ns2,sim   # every scenario of a folder, on two stages";

const CACHE_EXAMPLES: &str = "\
Examples:
  fairwire cache         # where it is, how large, and how large it may become
  fairwire cache clean

It is $XDG_CACHE_HOME/fairwire, or else ~/.cache/fairwire. What was not used for longest goes first.";

const DESCRIBE_EXAMPLES: &str = "\
Examples:
  fairwire describe faba
  fairwire describe red --format markdown
  fairwire describe --out docs/reference   # a page for each, and an index";

const RATES_EXAMPLES: &str = "\
Examples:
  fairwire trace rates capture.pcap
  fairwire trace rates capture.pcapng --interval \"100 ms\" --format json
  fairwire run scenarios/web-beside-bulk.toml --discipline faba --seeds 1 --trace web.pcapng
  fairwire trace rates web.pcapng --format csv > rates.csv";

const TOP_EXAMPLES: &str = "\
Examples:
  fairwire gateway top /etc/fairwire/home.toml
  fairwire gateway top --socket /run/fairwire/home.sock --every 10
  fairwire gateway top /etc/fairwire/home.toml --once

Keys: d u way, c classes, f flows, s order, p pause, q quit.";

const CHECK_EXAMPLES: &str = "\
Examples:
  fairwire gateway check /etc/fairwire/gateway.toml
  fairwire gateway check docs/gateway/wisp.toml --offline
  fairwire gateway check docs/gateway/wisp.toml --offline --format json";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  fairwire schema scenario > docs/schema/scenario.json
  fairwire schema results > docs/schema/results.json
  fairwire schema gateway > docs/schema/gateway.json
  fairwire schema snapshot > docs/schema/snapshot.json
  fairwire schema sweep > docs/schema/sweep.json";

const GATEWAY_EXAMPLES: &str = "\
Examples:
  fairwire gateway setup home.toml
  fairwire gateway run docs/gateway/home.toml
  fairwire gateway status docs/gateway/home.toml
  fairwire gateway reload docs/gateway/home.toml
  fairwire gateway set-weight docs/gateway/home.toml children 0.5
  fairwire gateway set-rate docs/gateway/home.toml download '40 Mbit/s'

A gateway needs CAP_NET_ADMIN and CAP_NET_RAW; its clients need the right to use its socket.
Exit codes of reload, set-weight, set-rate, status and capture: 0 done, 2 no gateway answers, or it refused.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  fairwire completions bash > ~/.local/share/bash-completion/completions/fairwire
  fairwire completions zsh > ~/.zfunc/_fairwire
  fairwire completions fish > ~/.config/fish/completions/fairwire.fish
Where the shell calls the command itself, the keys of --set are completed too (bash, elvish, fish, powershell, zsh):
  source <(FAIRWIRE_COMPLETE=bash fairwire)";

const DEMO_EXAMPLES: &str = "\
Examples:
  fairwire demo   # results go to out/demo";

const PLAY_EXAMPLES: &str = "\
Examples:
  fairwire play
  fairwire play scenarios/mixed-rtt.toml
  fairwire play scenarios/lessons/01-distance.toml --port 8000 --no-open";

/// The version and the engine: builds of one version may simulate differently; where both agree,
/// they do not.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    format!("{}\nengine {} (simulated results agree where this does)", env!("CARGO_PKG_VERSION"), ENGINE)
});

/// Shares a network link fairly: simulated, and on real packets.
#[derive(Debug, Parser)]
#[command(name = "fairwire", version, long_version = LONG_VERSION.as_str(), after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Show no progress.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run scenarios under each of their disciplines and seeds.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Make the figures and tables of papers again, and hold each claim against what was measured.
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArgs),
    /// Draw the settings that papers leave open: which printed numbers can be reached, and how much
    /// of each claim depends on them.
    #[command(after_help = CALIBRATE_EXAMPLES)]
    Calibrate(CalibrateArgs),
    /// Run a scenario under every combination of values, disciplines and seeds, and keep the
    /// results.
    #[command(after_help = SWEEP_EXAMPLES)]
    Sweep(SweepArgs),
    /// Show where `run` and `reproduce` keep finished runs, how much room they take, and how much
    /// they may.
    #[command(after_help = CACHE_EXAMPLES)]
    Cache {
        #[command(subcommand)]
        cache: Option<CacheCommand>,
    },
    /// Draw finished results for a screen or a paper: rates, queues, delays, windows,
    /// distributions, throughput over round-trip time, bars, sweeps.
    #[command(after_help = PLOT_EXAMPLES)]
    Plot(PlotArgs),
    /// List what there is.
    #[command(after_help = LIST_EXAMPLES)]
    List {
        #[command(subcommand)]
        list: List,
    },
    /// Show one discipline or marker: what it does, its parameters with unit, default and source,
    /// an example.
    #[command(after_help = DESCRIBE_EXAMPLES)]
    Describe(DescribeArgs),
    /// Contests with this machine's own network stack, and a shell behind a link.
    #[command(after_help = LAB_EXAMPLES)]
    Lab {
        #[command(subcommand)]
        lab: LabCommand,
    },
    /// Show the product: nine TCP flows against a selfish one, simulated and live.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo,
    /// Open a page on which one watches a contest and changes it while it runs.
    #[command(after_help = PLAY_EXAMPLES)]
    Play(PlayArgs),
    /// Write a commented scenario from five answers.
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// Play a run in the terminal, and change it while it goes on.
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(WatchArgs),
    /// Look into a capture.
    #[command(after_help = RATES_EXAMPLES)]
    Trace {
        #[command(subcommand)]
        trace: TraceCommand,
    },
    /// Print the JSON Schema of scenario files, of results, of gateway configurations or of a
    /// gateway's snapshots.
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema {
        /// Which schema.
        which: SchemaKind,
    },
    /// Print completions for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Shape a real link: a bump in the wire between two interfaces.
    #[command(after_help = GATEWAY_EXAMPLES)]
    Gateway {
        #[command(subcommand)]
        gateway: GatewayCommand,
    },
    /// Write the manual pages of all commands.
    #[command(hide = true)]
    Man {
        /// Into this folder.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// The process that watches over a gateway. Started by `gateway run`, not by people.
    #[command(hide = true, name = "gateway-guard", disable_help_flag = true)]
    GatewayGuard {
        /// What it must know.
        #[arg(allow_hyphen_values = true, default_value = "")]
        charge: String,
    },
    /// One process of a live contest. Started by `lab share`, not by people.
    #[command(hide = true, name = "lab-agent", disable_help_flag = true)]
    LabAgent {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlayArgs {
    /// The scenario to begin with. Without one, TCP flows of two distances meet a flood.
    pub scenario: Option<PathBuf>,
    /// The port on this machine's own address, 127.0.0.1; 0 takes any that is free.
    #[arg(long, value_name = "N", default_value_t = 8417)]
    pub port: u16,
    /// Open no browser; the address is printed in any case.
    #[arg(long)]
    pub no_open: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Remove all finished runs.
    #[command(after_help = CACHE_EXAMPLES)]
    Clean,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GatewayCommand {
    /// Show what a configuration would do, and whether this machine can do it; changes nothing.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Look at this machine, and write a configuration by the answers to five questions.
    #[command(after_help = SETUP_EXAMPLES)]
    Setup(SetupArgs),
    /// Watch a running gateway in the terminal: rates, queues, drops, and how fair it is.
    #[command(after_help = TOP_EXAMPLES)]
    Top(TopArgs),
    /// Run a gateway, or several in one process, in the foreground, until it is stopped (SIGTERM,
    /// Ctrl-C). SIGHUP has it read its configuration again.
    Run {
        /// The configurations, in TOML: one for each link.
        #[arg(required = true, value_name = "CONFIG")]
        configs: Vec<PathBuf>,
        /// Wait for interfaces that are not there yet, for as long as `safety.patience` says (by
        /// default for ever), as at boot.
        #[arg(long)]
        wait: bool,
        /// Take over from the process that runs this gateway, which forwards until this one does:
        /// for another version of the program, or what a reload cannot change. For one link.
        #[arg(long, conflicts_with = "wait")]
        take_over: bool,
        /// Allow all system calls: for debuggers.
        #[arg(long)]
        no_seccomp: bool,
    },
    /// Let the running gateway read its configuration again. Where it is refused, nothing changes.
    Reload {
        #[command(flatten)]
        whom: WhomArgs,
    },
    /// Give a class or a subscriber another weight, until the next reload.
    SetWeight {
        #[command(flatten)]
        whom: WhomArgs,
        /// The class or subscriber.
        name: String,
        /// Its weight, from 0.000001 to 1000000.
        #[arg(allow_negative_numbers = true, value_parser = weight)]
        weight: f64,
    },
    /// Give the link of a way another rate, until the next reload. Its discipline goes by the rate
    /// of the file as before.
    SetRate {
        #[command(flatten)]
        whom: WhomArgs,
        /// The way: "upload" or "download".
        #[arg(value_parser = way)]
        way: Way,
        /// Its rate, such as "5 Mbit/s".
        rate: Rate,
        /// For how long nothing is sent before that, such as "80 ms".
        #[arg(long, value_name = "TIME")]
        down: Option<Duration>,
    },
    /// Add, change, suspend or remove a subscriber: in the subscriber file, and in the running
    /// gateway.
    #[command(after_help = SUBSCRIBER_EXAMPLES, subcommand)]
    Subscriber(SubscriberCommand),
    /// Write what each class and subscriber was sent since the gateway's start, as CSV, for
    /// billing.
    #[command(after_help = USAGE_EXAMPLES)]
    Usage(UsageArgs),
    /// Keep the addresses of subscribers as DHCP servers lease them, until it is stopped.
    #[command(after_help = FOLLOW_EXAMPLES)]
    Follow(FollowArgs),
    /// Show what the running gateway does.
    Status {
        #[command(flatten)]
        whom: WhomArgs,
        /// How to print it.
        #[arg(long, default_value = "table")]
        format: StatusFormat,
        /// Every class, and not only the busiest.
        #[arg(long)]
        classes: bool,
        /// What the N flows that got most were counted for since the start.
        #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", conflicts_with = "classes", value_parser = whole(0..=u32::MAX))]
        flows: Option<u32>,
    },
    /// Write the latest drops and marks, each with its reason, as pcapng.
    Capture {
        #[command(flatten)]
        whom: WhomArgs,
        /// A file that is not there yet, in a folder that you may write to.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// The gateway's configuration, which has the path of its socket.
    #[arg(value_name = "CONFIG", required_unless_present = "socket")]
    pub config: Option<PathBuf>,
    /// The gateway's socket, where there is no configuration at hand.
    #[arg(long, value_name = "PATH", conflicts_with = "config")]
    pub socket: Option<PathBuf>,
    /// Print one picture as text and end; so it is too where the output is no terminal.
    #[arg(long)]
    pub once: bool,
    /// Milliseconds between two snapshots; the gateway gives no more than its own interval.
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = whole(10..=1000_u32))]
    pub every: u32,
}

/// Which gateway is meant.
#[derive(Debug, Args)]
pub(crate) struct WhomArgs {
    /// Its configuration; only `name` and `telemetry.socket` are read.
    pub config: PathBuf,
    /// Its socket, should it be another than the configuration says.
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
pub(crate) struct RunArgs {
    /// A scenario file, in TOML; or several, or folders, of which each file `*.toml` is run.
    #[arg(required = true, value_name = "FILE")]
    pub scenarios: Vec<PathBuf>,
    /// Compare this discipline instead of the scenario's; may be given again, or several with
    /// commas. A name, or a table as in a scenario.
    #[arg(long, value_name = "NAME")]
    pub discipline: Vec<String>,
    /// Change the scenario first: a dotted path, groups of flows by name; may be given again.
    #[arg(long, value_name = "PATH=VALUE", add = ArgValueCompleter::new(keys::candidates))]
    pub set: Vec<String>,
    /// Run under these seeds: 7, 1,2,3 or 1..=10.
    #[arg(long)]
    pub seeds: Option<String>,
    /// Run on these stages, side by side: sim, lab, gateway, linux, kernel, ns2. The first is what
    /// the others are compared with. Left out: sim.
    #[arg(long, value_name = "STAGE", value_delimiter = ',')]
    pub on: Vec<String>,
    /// Runs at the same time, in the simulator, in ns-2 and in guests; as many as there are cores
    /// when left out.
    #[arg(long, value_name = "N", value_parser = whole(1..=u16::MAX))]
    pub jobs: Option<u16>,
    /// Make all runs again, and keep none (`fairwire cache` shows where finished runs are).
    #[arg(long)]
    pub no_cache: bool,
    /// How to print the results.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Also write report.json, runs.csv, flows.csv, summary.csv, shares.svg, and scenario.toml to
    /// run it again, into this folder; of several files each into one of its own there.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// The name of a discipline, a marker, a controller, a source, a network or a parameter.
    pub name: Option<String>,
    /// How to print it.
    #[arg(long, default_value = "text")]
    pub format: Look,
    /// Write the pages of all disciplines and markers into this folder, in Markdown.
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub out: Option<PathBuf>,
}

/// How a page is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Look {
    /// For people.
    Text,
    /// As in docs/reference.
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The configuration, in TOML.
    pub config: PathBuf,
    /// Leave out the checks of this machine: interfaces, back end and rights.
    #[arg(long)]
    pub offline: bool,
    /// How to print it.
    #[arg(long, default_value = "text")]
    pub format: CheckFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people; of the tree the first classes.
    Text,
    /// Everything, every class included.
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// How fast the flows of a capture are, and which part of the bytes the fastest tenth has.
    #[command(after_help = RATES_EXAMPLES)]
    Rates(RatesArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RatesArgs {
    /// The capture, pcap or pcapng.
    pub file: PathBuf,
    /// Rates are means over intervals of this length.
    #[arg(long, value_name = "DURATION", default_value = "1 s")]
    pub interval: Duration,
    /// How to print the rates: as CSV, only their complementary distribution.
    #[arg(long, default_value = "table")]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// Scenario files.
    Scenario,
    /// What `--format json` prints.
    Results,
    /// What a running gateway sends over its socket.
    Snapshot,
    /// Configurations of the gateway.
    Gateway,
    /// Plans of sweeps.
    Sweep,
}

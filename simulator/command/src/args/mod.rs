//! The command line.

mod format;
mod keys;
mod lab;
mod list;
mod new;
mod output;
mod plot;
mod studies;
mod sweep;
mod values;
mod watch;

pub(crate) use format::Format;
pub(crate) use lab::{LabCommand, Outside, ShareArgs, ShellArgs};
pub(crate) use list::List;
pub(crate) use new::NewArgs;
pub(crate) use output::OutputArgs;
pub(crate) use plot::PlotArgs;
pub(crate) use studies::{CalibrateArgs, ReproduceArgs};
pub(crate) use sweep::{PlanArgs, SweepArgs, SweepCommand, SweepRunArgs};
pub(crate) use values::changes;
pub(crate) use watch::WatchArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;
use fairwire_core::Duration;
use fairwire_scenario::ENGINE;
use fairwire_terminal::values::whole;
use lab::LAB_EXAMPLES;
use list::LIST_EXAMPLES;
use new::NEW_EXAMPLES;
use plot::PLOT_EXAMPLES;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;
use studies::{CALIBRATE_EXAMPLES, REPRODUCE_EXAMPLES};
use sweep::SWEEP_EXAMPLES;
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
  fairwire run scenarios/exercises --on sim,lab   # every scenario of a folder, on two stages";

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

const SCHEMA_EXAMPLES: &str = "\
Examples:
  fairwire schema scenario > docs/schema/scenario.json
  fairwire schema results > docs/schema/results.json
  fairwire schema sweep > docs/schema/sweep.json";

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

static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    format!("{}\nengine {} (simulated results agree where this does)", env!("CARGO_PKG_VERSION"), ENGINE)
});

/// Shares a network link fairly: simulated, and on real packets.
#[derive(Debug, Parser)]
#[command(name = "fairwire", version, long_version = LONG_VERSION.as_str(), after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Show no progress and no notes.
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
    /// Repeat the figures and tables of papers, and check each claim against the measurements.
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArgs),
    /// Vary the settings that papers leave open, to show which printed numbers can be reached, and
    /// how much each claim depends on the settings.
    #[command(after_help = CALIBRATE_EXAMPLES)]
    Calibrate(CalibrateArgs),
    /// Run a scenario under every combination of values, disciplines and seeds, and keep the
    /// results.
    #[command(after_help = SWEEP_EXAMPLES)]
    Sweep(SweepArgs),
    /// Show the folder in which `run` and `reproduce` keep finished runs, their number and size,
    /// and the size limit.
    #[command(after_help = CACHE_EXAMPLES)]
    Cache {
        #[command(subcommand)]
        cache: Option<CacheCommand>,
    },
    /// Draw finished results for a screen or a paper: rates, queues, delays, windows,
    /// distributions, throughput over round-trip time, bars, sweeps.
    #[command(after_help = PLOT_EXAMPLES)]
    Plot(PlotArgs),
    /// List disciplines, controllers, sources, stages and other components.
    #[command(after_help = LIST_EXAMPLES)]
    List {
        #[command(subcommand)]
        list: List,
    },
    /// Show one discipline or marker: its function, its parameters with unit, default and source,
    /// and an example.
    #[command(after_help = DESCRIBE_EXAMPLES)]
    Describe(DescribeArgs),
    /// Run contests on this machine's own network stack, or a shell behind a link.
    #[command(after_help = LAB_EXAMPLES)]
    Lab {
        #[command(subcommand)]
        lab: LabCommand,
    },
    /// Show fairwire at work: nine TCP flows against a selfish one, simulated and live.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo,
    /// Open a page that shows a contest and lets you change it while it runs.
    #[command(after_help = PLAY_EXAMPLES)]
    Play(PlayArgs),
    /// Write a commented scenario from five answers.
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// Play a run in the terminal, and change it while it runs.
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(WatchArgs),
    /// Analyse a capture.
    #[command(after_help = RATES_EXAMPLES)]
    Trace {
        #[command(subcommand)]
        trace: TraceCommand,
    },
    /// Print the JSON Schema of scenarios, results or sweep plans.
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
    /// Shape a real link by running the program fairwire-gateway with these arguments.
    #[command(disable_help_flag = true)]
    Gateway {
        /// The arguments of fairwire-gateway; `--help` lists them.
        #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Write the manual pages of all commands.
    #[command(hide = true)]
    Man {
        /// The folder to write to.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Run one process of a live contest; started by `lab share`, not by people.
    #[command(hide = true, name = "lab-agent", disable_help_flag = true)]
    LabAgent {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlayArgs {
    /// The initial scenario. Default: TCP flows at two distances, and a flood.
    pub scenario: Option<PathBuf>,
    /// The port on 127.0.0.1; 0 takes any free one.
    #[arg(long, value_name = "N", default_value_t = 8417)]
    pub port: u16,
    /// Do not open a browser; the address is printed in any case.
    #[arg(long)]
    pub no_open: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Remove all finished runs.
    #[command(after_help = CACHE_EXAMPLES)]
    Clean,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// TOML scenario files, or folders whose `*.toml` files are all run.
    #[arg(required = true, value_name = "FILE")]
    pub scenarios: Vec<PathBuf>,
    /// Compare this discipline instead of the scenario's disciplines: a name, or a table as in a
    /// scenario. Repeatable, or a list with commas.
    #[arg(long, value_name = "NAME")]
    pub discipline: Vec<String>,
    /// Change a value of the scenario by its dotted path, such as `flow.GROUP.rtt`; repeatable.
    #[arg(long, value_name = "PATH=VALUE", add = ArgValueCompleter::new(keys::candidates))]
    pub set: Vec<String>,
    /// Run under these seeds: 7, 1,2,3 or 1..=10.
    #[arg(long)]
    pub seeds: Option<String>,
    /// Run on these stages, and compare each with the first. `fairwire list stages` shows all
    /// stages, such as sim and lab. Default: sim.
    #[arg(long, value_name = "STAGE", value_delimiter = ',')]
    pub on: Vec<String>,
    /// The number of simultaneous runs in the simulator, ns-2 and guests. Default, or 0: the number
    /// of cores.
    #[arg(long, value_name = "N", value_parser = whole(0..=u16::MAX))]
    pub jobs: Option<u16>,
    /// Repeat all runs, and keep none (`fairwire cache` shows where finished runs are).
    #[arg(long)]
    pub no_cache: bool,
    /// The format of the results.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Also write report.json, runs.csv, flows.csv, summary.csv, shares.svg, and a scenario.toml
    /// that repeats the run, into this folder; with several scenarios, one subfolder each.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// The name of a discipline, a marker, a controller, a source, a network or a parameter.
    pub name: Option<String>,
    /// The output format.
    #[arg(long, default_value = "text")]
    pub format: Look,
    /// Write the Markdown pages of all disciplines and markers into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Look {
    /// Text for people.
    Text,
    /// Markdown, as in docs/reference.
    Markdown,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Show the rates of a capture's flows, and the fraction of the bytes that the fastest tenth of
    /// the flows carried.
    #[command(after_help = RATES_EXAMPLES)]
    Rates(RatesArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RatesArgs {
    /// The capture: pcap or pcapng.
    pub file: PathBuf,
    /// The interval over which rates are averaged.
    #[arg(long, value_name = "DURATION", default_value = "1 s")]
    pub interval: Duration,
    /// The output format. CSV has only the complementary distribution of the rates.
    #[arg(long, default_value = "table")]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// Scenario files.
    Scenario,
    /// Results, as `--format json` prints them.
    Results,
    /// Sweep plans.
    Sweep,
}

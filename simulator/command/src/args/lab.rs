//! The arguments of `lab`.

use super::format::Format;
use super::keys;
use super::values::{loss, packet, process, seconds, warm_up};
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;
use fairwire_core::units::{Amount, Room};
use fairwire_core::{Duration, Rate};
use fairwire_terminal::values::whole;
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) const LAB_EXAMPLES: &str = "\
Examples:
  fairwire lab share --discipline faba
  fairwire lab shell --rate \"10 Mbit/s\" --delay \"20 ms\" -- curl -O http://100.64.0.1:8000/file

Both need the right to make network namespaces: run them as root, or where the kernel lets users make them.";

const SHARE_EXAMPLES: &str = "\
Examples:
  fairwire lab share
  fairwire lab share --discipline faba --rate 20Mbit/s --tcp 4 --udp 8Mbit/s --seconds 20
  fairwire lab share --runs 5 --format json --out results

It needs the right to make network namespaces: run it as root, or where the kernel lets users make them.";

const SHELL_EXAMPLES: &str = "\
Examples:
  fairwire lab shell                                  # 10 Mbit/s, 20 ms each way, 100 packets
  fairwire lab shell --down \"20 Mbit/s\" --up \"2 Mbit/s\" --discipline fq-codel
  fairwire lab shell --trace lte --buffer \"200 ms\" -- chromium --no-sandbox
  fairwire lab shell --set link.rate=\"5 Mbit/s\" scenarios/selfish-flow.toml -- iperf3 -c 100.64.0.1 -R
  fairwire lab shell --watch                          # in another terminal

The exit code is the command's. In it you are root of its own namespaces, and of nothing else.";

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Run TCP flows of this kernel against one UDP flow, through a gateway that runs a discipline.
    #[command(after_help = SHARE_EXAMPLES)]
    Share(ShareArgs),
    /// Run a shell, or any command, behind a link with a discipline: all its traffic passes the
    /// link.
    #[command(after_help = SHELL_EXAMPLES)]
    Shell(ShellArgs),
}

/// The arguments of `lab shell`. Each option changes the scenario, as `--set` does.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShellArgs {
    /// A scenario with `[link]` to the command and `[return]` from the command. Default: 10 Mbit/s,
    /// 20 ms and 100 packets in each direction.
    #[arg(value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// The rate in each direction.
    #[arg(long)]
    pub rate: Option<Rate>,
    /// The rate towards the command.
    #[arg(long, value_name = "RATE")]
    pub down: Option<Rate>,
    /// The rate from the command.
    #[arg(long, value_name = "RATE")]
    pub up: Option<Rate>,
    /// The one-way delay in each direction; a round trip takes twice as long.
    #[arg(long)]
    pub delay: Option<Duration>,
    /// The buffer in each direction: packets, bytes, time at the link's rate, or `1.5 bdp`.
    #[arg(long)]
    pub buffer: Option<Room>,
    /// The discipline in each direction: a name, or a table as in a scenario. Default: the
    /// scenario's first discipline, or tail-drop.
    #[arg(long, value_name = "NAME")]
    pub discipline: Option<String>,
    /// A trace of the rate towards the command: a file of mahimahi delivery opportunities, a file
    /// with columns of seconds and Mbit/s, or a built-in trace such as `lte`.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// A trace of the rate from the command, in the forms of --trace.
    #[arg(long, value_name = "FILE")]
    pub up_trace: Option<PathBuf>,
    /// Change a value of the scenario by its dotted path; repeatable.
    #[arg(long, value_name = "PATH=VALUE", add = ArgValueCompleter::new(keys::candidates))]
    pub set: Vec<String>,
    /// The share of packets lost on the wire in each direction: 0 to 0.99.
    #[arg(long, value_name = "P", value_parser = loss)]
    pub loss: Option<f64>,
    /// The seed of all randomness.
    #[arg(long, default_value_t = 1, value_parser = whole(0..=u64::MAX))]
    pub seed: u64,
    /// The network on the far side of the link.
    #[arg(long, value_enum, default_value_t = Outside::Any)]
    pub outside: Outside,
    /// Watch a running shell in this terminal; give its process number if several are running.
    #[arg(long, value_name = "PID", num_args = 0..=1, default_missing_value = "0", value_parser = process, conflicts_with_all = ["scenario", "command"])]
    pub watch: Option<u32>,
    /// The command and its arguments. Default: your shell.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Outside {
    /// This machine's network if that is permitted, otherwise a relay.
    Any,
    /// This machine's network, through an interface and a NAT rule that are removed when the
    /// command ends.
    Machine,
    /// A relay of TCP connections, which needs no privileges and changes nothing on this machine.
    Relay,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ShareArgs {
    /// Run this discipline: a name, or a table as in a scenario. Repeatable, or a list with commas.
    /// Default: tail-drop, then faba.
    #[arg(long, value_name = "NAME")]
    pub discipline: Vec<String>,
    /// The rate of the shared link.
    #[arg(long, default_value = "10 Mbit/s")]
    pub rate: Rate,
    /// The round-trip time without queueing.
    #[arg(long, default_value = "32 ms")]
    pub rtt: Duration,
    /// The buffer: packets, bytes, or time at the link's rate.
    #[arg(long, default_value = "780 packets")]
    pub buffer: Amount,
    /// The number of TCP flows.
    #[arg(long, default_value_t = 9, value_parser = whole(0..=200_u32))]
    pub tcp: u32,
    /// The rate of the UDP flow.
    #[arg(long, default_value = "5 Mbit/s")]
    pub udp: Rate,
    /// The size of UDP packets, including the IP header, and of TCP payloads.
    #[arg(long, default_value = "512 B", value_parser = packet)]
    pub packet: u32,
    /// The congestion control of the TCP flows, by its kernel name.
    #[arg(long, default_value = "reno")]
    pub congestion: String,
    /// The length of each run in seconds, including the warm-up.
    #[arg(long, default_value_t = 10.0, allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: f64,
    /// Seconds at the start that are not measured. Default: a fifth of the run.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = warm_up)]
    pub warm_up: Option<f64>,
    /// The number of runs of each discipline.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(1..=1000_u32))]
    pub runs: u32,
    /// Show the link in the terminal during the contest.
    #[arg(long)]
    pub watch: bool,
    /// The format of the results.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Also write report.json, runs.csv, flows.csv, summary.csv and shares.svg into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

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
    /// TCP flows of this kernel against one UDP flow, through a gateway that runs a discipline.
    #[command(after_help = SHARE_EXAMPLES)]
    Share(ShareArgs),
    /// Run a shell, or any command, behind a link with a discipline: all that it sends and receives
    /// passes the link.
    #[command(after_help = SHELL_EXAMPLES)]
    Shell(ShellArgs),
}

/// Each option changes the scenario, as `--set` does.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShellArgs {
    /// A scenario, whose `[link]` leads to the command and whose `[return]` leads away from it.
    /// Left out: 10 Mbit/s, 20 ms and 100 packets, each way.
    #[arg(value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// The rate, each way.
    #[arg(long)]
    pub rate: Option<Rate>,
    /// The rate to the command.
    #[arg(long, value_name = "RATE")]
    pub down: Option<Rate>,
    /// The rate away from it.
    #[arg(long, value_name = "RATE")]
    pub up: Option<Rate>,
    /// The delay, each way: a round trip takes twice as long.
    #[arg(long)]
    pub delay: Option<Duration>,
    /// How much may wait, each way: packets, bytes, time at the link's rate, or `1.5 bdp`.
    #[arg(long)]
    pub buffer: Option<Room>,
    /// What shares the link, each way. A name, or a table as in a scenario. Left out: the
    /// scenario's first, or else tail-drop.
    #[arg(long, value_name = "NAME")]
    pub discipline: Option<String>,
    /// A file of delivery opportunities as mahimahi has them, or of seconds and Mbit/s in two columns,
    /// to the command; or a trace that comes along, such as `lte`.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// The same, away from it.
    #[arg(long, value_name = "FILE")]
    pub up_trace: Option<PathBuf>,
    /// Change the scenario: a dotted path; may be given again.
    #[arg(long, value_name = "PATH=VALUE", add = ArgValueCompleter::new(keys::candidates))]
    pub set: Vec<String>,
    /// The part of the packets that is lost on the wire, each way: 0 to 0.99.
    #[arg(long, value_name = "P", value_parser = loss)]
    pub loss: Option<f64>,
    /// The seed of all that is random.
    #[arg(long, default_value_t = 1, value_parser = whole(0..=u64::MAX))]
    pub seed: u64,
    /// What is on the other side.
    #[arg(long, value_enum, default_value_t = Outside::Any)]
    pub outside: Outside,
    /// Watch a shell that is running, in this terminal; by its process number where there are
    /// several.
    #[arg(long, value_name = "PID", num_args = 0..=1, default_missing_value = "0", value_parser = process, conflicts_with_all = ["scenario", "command"])]
    pub watch: Option<u32>,
    /// The command and its arguments. Left out: your shell.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// What is on the other side of a shell's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Outside {
    /// This machine where that is allowed, and a relay elsewhere.
    Any,
    /// This machine's network, by an interface and a rule of NAT that go with the command.
    Machine,
    /// A relay of TCP connections, which needs no rights and changes nothing of this machine.
    Relay,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ShareArgs {
    /// Run this discipline; may be given again, or several with commas. A name, or a table as in a
    /// scenario. Left out: tail-drop, then faba.
    #[arg(long, value_name = "NAME")]
    pub discipline: Vec<String>,
    /// Rate of the shared link.
    #[arg(long, default_value = "10 Mbit/s")]
    pub rate: Rate,
    /// Round-trip time without queueing.
    #[arg(long, default_value = "32 ms")]
    pub rtt: Duration,
    /// How much may wait: packets, bytes, or time at the link's rate.
    #[arg(long, default_value = "780 packets")]
    pub buffer: Amount,
    /// TCP flows.
    #[arg(long, default_value_t = 9, value_parser = whole(0..=200_u32))]
    pub tcp: u32,
    /// Rate of the UDP flow.
    #[arg(long, default_value = "5 Mbit/s")]
    pub udp: Rate,
    /// A UDP packet on the IP level, and the payload of a TCP segment.
    #[arg(long, default_value = "512 B", value_parser = packet)]
    pub packet: u32,
    /// Congestion control of the TCP flows, as the kernel calls it.
    #[arg(long, default_value = "reno")]
    pub congestion: String,
    /// Length of each run in seconds, warm-up included.
    #[arg(long, default_value_t = 10.0, allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: f64,
    /// Seconds at the start that are not measured; a fifth of the run when left out.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = warm_up)]
    pub warm_up: Option<f64>,
    /// Repetitions of each discipline.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(1..=1000_u32))]
    pub runs: u32,
    /// Show the link in the terminal while the contest goes on.
    #[arg(long)]
    pub watch: bool,
    /// How to print the results.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Also write report.json, runs.csv, flows.csv, summary.csv and shares.svg into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

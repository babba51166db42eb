//! A user's command behind a scenario's link.
//!
//! A [datapath](fairwire_datapath) forwards between two devices, each with a
//! [wire](fairwire_testbed::path::WiredPort) behind it. Events are handled with their exact due
//! times, even if this process wakes late. So a busy machine does not reduce the rate.

mod drain;
mod links;
mod meter;
mod signals;
mod watched;

pub use links::{Line, line};
pub use watched::{Watched, running, views};

use crate::stage::CannotRun;
use drain::{Left, Progress};
use fairwire_core::{Duration, Time};
use fairwire_datapath::driver::{Next, emulate};
use fairwire_datapath::{Datapath, DatapathPlan, Wire};
use fairwire_linux::clock;
use fairwire_linux::port::PortError;
use fairwire_linux::tun::Tun;
use fairwire_testbed::enclosure::{Beyond, Enclosure, Way};
use fairwire_testbed::error::{TestbedError, Trouble};
use fairwire_testbed::path::WiredPort;
use fairwire_testbed::relay::{listen_for_names, name_server, serve_names};
use meter::{Meter, Metered};
use signals::Signals;
use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;

/// The command to run, and its environment.
#[derive(Clone, Debug)]
pub struct ShellCommand {
    /// The command and its arguments.
    pub command: Vec<OsString>,
    /// A short description of the link, for the shell's prompt.
    pub prompt: String,
    /// The network on the far side of the link.
    pub way: Way,
}

/// The reason why a command could not run to its end behind a link.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// The scenario's links do not suit a shell.
    #[error(transparent)]
    Link(#[from] CannotRun),
    /// The network could not be built.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// A device failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// Another request to the system failed.
    #[error("{operation}: {source}")]
    System {
        /// The operation.
        operation: &'static str,
        /// The cause.
        source: io::Error,
    },
}

impl From<Trouble> for ShellError {
    fn from(trouble: Trouble) -> Self {
        ShellError::Testbed(trouble.into_error("network"))
    }
}

const LOOK: Duration = Duration::from_ms(20);

/// Runs the command of `order` behind `line`. Returns the command's exit code once all data that
/// the command sent has arrived. `say` receives notes for the user before the start and after the
/// end.
///
/// This process must have only one thread. Ctrl-C is left to the command; SIGTERM and SIGHUP end
/// the command and this process. After the command has ended, any of these signals stops the wait
/// for remaining data.
pub fn run(order: &ShellCommand, line: Line, say: &mut dyn FnMut(&str)) -> Result<u8, ShellError> {
    let signals = Signals::listen().map_err(|source| system("listening to signals", source))?;
    let enclosure = Enclosure::new(order.way)?;
    let names = open_beyond(&enclosure, say)?;
    let watched = Watched::serve().map_err(|source| system("listening for `--watch`", source))?;
    let running = enclosure.start(&order.command, &environment(order, &enclosure), names)?;
    let Enclosure { inside, outside, beyond, network, .. } = enclosure;
    let mut passing = Passing::new(line, Ends { inside, outside }, watched);
    let mut signal = None;
    passing.until(&mut |_, _| {
        running.is_over() || {
            signal = signals.end();
            signal.is_some()
        }
    })?;
    if signal.is_some() {
        running.kill(); // with its children; we then exit as if by the signal
    }
    let code = running.exit_code()?;
    let left = |packets| Left::of(&network, &beyond, packets);
    if let Some(lost) = drained(&mut passing, &left, &signals)? {
        say(&lost.to_string());
    }
    Ok(signal.map_or(code, |signal| 128 + signal))
}

/// Forwards until no data is in transit, progress ends, or a signal arrives. Returns the lost data,
/// if any.
fn drained(
    passing: &mut Passing,
    left: &dyn Fn(u64) -> Left,
    signals: &Signals,
) -> Result<Option<Left>, PortError> {
    signals.is_interrupted(); // discard one meant for the command
    let (mut progress, mut last) = (Progress::default(), Left::NOTHING);
    passing.until(&mut |now, packets| {
        last = left(packets);
        progress.is_over(last, now) || signals.end().is_some() || signals.is_interrupted()
    })?;
    Ok(Some(last).filter(|left| *left != Left::NOTHING))
}

struct Ends {
    inside: Tun,
    outside: Tun,
}

struct Passing {
    /// The datapath, whose forward direction is towards the command.
    datapath: Datapath,
    wire: Wire<WiredPort<Tun>>,
    meter: Meter,
}

impl Passing {
    fn new(Line { to_command, away }: Line, Ends { inside, outside }: Ends, watched: Watched) -> Self {
        let plan = DatapathPlan { forward: to_command.plan, backward: away.plan };
        let (mut datapath, start) = (Datapath::new(plan), clock::now());
        let rates = [to_command.rate, away.rate];
        for (way, rate) in [&mut datapath.forward, &mut datapath.backward].into_iter().zip(&rates) {
            rate.iter().for_each(|rate| way.follow(&rate.law, start, start));
        }
        let wire = Wire {
            left: WiredPort::new(outside, (away.delay, away.wire), start),
            right: WiredPort::new(inside, (to_command.delay, to_command.wire), start),
        };
        Passing { datapath, wire, meter: Meter::new(watched, rates, start) }
    }

    /// Forwards until `is_over` returns true. `is_over` gets the time and the number of packets in
    /// transit from the command.
    fn until(&mut self, is_over: &mut dyn FnMut(Time, u64) -> bool) -> Result<(), PortError> {
        let Passing { datapath, wire, meter } = self;
        emulate(datapath, wire, &mut |now, datapath, wire| {
            let Datapath { forward, backward, .. } = datapath;
            let way = |link, lost| Metered { link, lost };
            meter.look(now, [way(forward, wire.right.lost()), way(backward, wire.left.lost())]);
            let away = backward.packets_inside() + wire.left.under_way();
            if is_over(now, away as u64) { Next::Stop } else { Next::CallAt(now + LOOK) }
        })
    }
}

/// Provides the outside network. Returns the command's name server, or `None` if the command keeps
/// the machine's name server.
fn open_beyond(enclosure: &Enclosure, say: &mut dyn FnMut(&str)) -> Result<Option<Ipv4Addr>, ShellError> {
    let address = enclosure.place.outside();
    match &enclosure.beyond {
        Beyond::Relay(relay) => {
            relay.serve()?;
            say(&format!(
                "TCP connections are relayed; this machine is {address}, and of UDP only names pass"
            ));
            Ok(Some(address))
        }
        Beyond::Machine { nat, forwards } => {
            if let Err(trouble) = nat {
                say(&format!("only this machine is reached, at {address}: {trouble}"));
            } else if !forwards {
                say(&format!(
                    "only this machine is reached, at {address}: it forwards nothing to others (`sysctl \
                     net.ipv4.ip_forward=1`)"
                ));
            }
            Ok(local_names(address))
        }
    }
}

/// Serves names at `address` if this machine's name server is on a loopback address, which the
/// command cannot reach. `None` if names are not served.
fn local_names(address: Ipv4Addr) -> Option<Ipv4Addr> {
    let is_local = name_server().is_some_and(|server| server.is_loopback());
    let served = || serve_names(listen_for_names(address).ok()?).ok();
    is_local.then(served).flatten().map(|()| address)
}

fn environment(order: &ShellCommand, enclosure: &Enclosure) -> Vec<(String, String)> {
    let before = std::env::var(PROMPT).unwrap_or_default();
    let prompt = format!("{before}[{}] ", order.prompt);
    // Bash runs this once, before the first prompt.
    let once = format!("PS1=\"{prompt}$PS1\" PROMPT_COMMAND=");
    vec![
        (PROMPT.into(), prompt),
        ("PROMPT_COMMAND".into(), once),
        ("FAIRWIRE_OUTSIDE".into(), enclosure.place.outside().to_string()),
    ]
}

/// The environment variable with this shell's prompt, which a nested shell puts before its own.
const PROMPT: &str = "FAIRWIRE_LAB";

fn system(operation: &'static str, source: io::Error) -> ShellError {
    ShellError::System { operation, source }
}

//! A command of the user's behind a scenario's link: all that it sends and receives passes a queue,
//! a transmitter and a wire, each way.
//!
//! The links are those of `fairwire-link`, driven by the clock. They do what is due at the exact
//! time at which it was due, however late this process wakes, so a busy machine takes nothing from
//! the rate. The [enclosure](fairwire_testbed::enclosure) has the devices and the command.

mod forward;
mod links;
mod meter;
mod watched;

pub use links::{Line, line};
pub use watched::{Watched, running, views};

use crate::stage::CannotRun;
use fairwire_core::{Duration, Time};
use fairwire_link::Duplex;
use fairwire_linux::clock;
use fairwire_linux::port::PortError;
use fairwire_testbed::enclosure::{Beyond, Enclosure, Way};
use fairwire_testbed::error::{TestbedError, Trouble};
use fairwire_testbed::relay::{listen_for_names, name_server, serve_names};
use fairwire_wire::join::TcpOffsets;
use forward::Forwarder;
use meter::Meter;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Both ways of the link: forward is towards the command.
pub type Links = Duplex<Frame, Time>;

/// A packet on its way.
#[derive(Clone, Debug)]
pub struct Frame {
    /// From its IP header on.
    bytes: Box<[u8]>,
    /// What is needed to send it in one piece with those that follow it.
    offsets: Option<TcpOffsets>,
}

/// What is to be run, and how.
#[derive(Clone, Debug)]
pub struct Order {
    /// The command and its arguments.
    pub command: Vec<OsString>,
    /// What the link is, in a few words: for the prompt of a shell.
    pub prompt: String,
    /// What is to be outside.
    pub way: Way,
}

/// Why a command could not be run behind a link, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// The scenario has more than a link there and back.
    #[error(transparent)]
    Link(#[from] CannotRun),
    /// There is no network for it.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// A device failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The system refused something else.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl From<Trouble> for ShellError {
    fn from(trouble: Trouble) -> Self {
        ShellError::Testbed(trouble.into_error("network"))
    }
}

/// How often the end of the command is looked for.
const LOOK: Duration = Duration::from_ms(20);

/// Runs the command of `order` behind `line`, and returns its exit code. `say` is called with
/// what the user should know before it starts.
///
/// This process must have one thread only. Ctrl-C is left to the command; SIGTERM and SIGHUP end
/// both.
pub fn run(order: &Order, line: Line, say: &mut dyn FnMut(&str)) -> Result<u8, ShellError> {
    let ends = signals()?;
    let enclosure = Enclosure::new(order.way)?;
    let names = open_beyond(&enclosure, say)?;
    let watched = Watched::serve().map_err(|source| system("listening for `--watch`", source))?;
    let running = enclosure.start(&order.command, &environment(order, &enclosure), names)?;
    let Enclosure { inside, outside, beyond: _beyond, .. } = enclosure;
    let Line { mut links, rates_bps } = line;
    let mut meter = Meter::new(watched, rates_bps, clock::now());
    let mut forwarder = Forwarder::new(inside, outside);
    loop {
        let now = clock::now();
        forwarder.step(&mut links, &mut meter, now)?;
        meter.look(&mut links, now);
        if running.is_over() {
            return Ok(running.exit_code()?);
        }
        if let Some(signal) = u8::try_from(ends.load(Ordering::Relaxed)).ok().filter(|signal| *signal > 0) {
            // It is killed with all that it started, and we end as by the signal.
            running.kill();
            running.exit_code()?;
            return Ok(128 + signal);
        }
        forwarder.wait(&links, meter.due().min(now + LOOK))?;
    }
}

/// The number of the signal that requests the end, once one has come. Ctrl-C and Ctrl-\ are the
/// command's.
fn signals() -> Result<Arc<AtomicUsize>, ShellError> {
    let [ends, ignored] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let register = |(signal, number): (i32, &Arc<AtomicUsize>)| {
        signal_hook::flag::register_usize(signal, Arc::clone(number), signal.unsigned_abs() as usize)
            .map(drop)
    };
    let all = [(SIGTERM, &ends), (SIGHUP, &ends), (SIGINT, &ignored), (SIGQUIT, &ignored)];
    let registered = all.into_iter().try_for_each(register);
    registered.map_err(|source| system("listening to signals", source))?;
    Ok(ends)
}

/// Serves what is outside, and gives the name server of the command; none for the machine's own.
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

/// A name server at this machine's own address is not reached by another host: one is put in its
/// place at `address`.
fn local_names(address: Ipv4Addr) -> Option<Ipv4Addr> {
    let is_local = name_server().is_some_and(|server| server.is_loopback());
    let served = || serve_names(listen_for_names(address).ok()?).ok();
    is_local.then(served).flatten().map(|()| address)
}

/// What the command finds in its environment.
fn environment(order: &Order, enclosure: &Enclosure) -> Vec<(String, String)> {
    let before = std::env::var(PROMPT).unwrap_or_default();
    let prompt = format!("{before}[{}] ", order.prompt);
    // As bash has it: once, before the first prompt.
    let once = format!("PS1=\"{prompt}$PS1\" PROMPT_COMMAND=");
    vec![
        (PROMPT.into(), prompt),
        ("PROMPT_COMMAND".into(), once),
        ("FAIRWIRE_OUTSIDE".into(), enclosure.place.outside().to_string()),
    ]
}

/// What is before the prompt of a shell within another one.
const PROMPT: &str = "FAIRWIRE_LAB";

fn system(operation: &'static str, source: io::Error) -> ShellError {
    ShellError::System { operation, source }
}

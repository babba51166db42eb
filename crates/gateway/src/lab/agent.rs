//! The helper processes: this program, started again. One makes the namespaces and joins them, one sends, one receives.

use super::message::{Order, Report, send};
use super::plan::Traffic;
use super::{sink, source};
use fairwire_linux::af_packet::open_socket;
use fairwire_linux::port::PortError;
use fairwire_testbed::bed::{Bed, Side};
use fairwire_testbed::error::{During, Trouble};
use fairwire_testbed::host::Host;
use fairwire_testbed::namespace::die_with_parent;
use std::io::Write;
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

/// The argument after which the program hands over to [`agent_main`].
pub const AGENT_COMMAND: &str = "lab-agent";

/// The role of the helper that makes the namespaces and starts the other two.
pub(super) const NETWORK: &str = "network";
const SOURCE: &str = "source";
const SINK: &str = "sink";

/// Runs a helper with the arguments that follow [`AGENT_COMMAND`], and returns its exit code.
///
/// For the program that calls [`share`](super::share): its `main` calls this first of all when it is started so, before it
/// makes a thread. It is no command for people: standard input and output are channels to the process that started it.
pub fn agent_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    let mut arguments = arguments.into_iter();
    let (Some(role), Some(plan)) = (arguments.next(), arguments.next()) else {
        let message = "is how fairwire starts the helpers of a lab; it is no command for people";
        let _ = writeln!(std::io::stderr(), "`{AGENT_COMMAND}` {message}"); // nobody may be listening
        return 2;
    };
    match run(&role, &plan) {
        Ok(()) => 0,
        Err(trouble) => {
            // Nobody is left to be told when this fails: the lab's process is gone.
            let _ = report(&Report::Failed { role, trouble }, &[]);
            1
        }
    }
}

fn run(role: &str, plan: &str) -> Result<(), Trouble> {
    die_with_parent()?;
    let traffic: Traffic = serde_json::from_str(plan).during("reading the plan")?;
    match role {
        NETWORK => network(&traffic, plan),
        SOURCE => source::run(&traffic),
        SINK => sink::run(&traffic),
        other => Err(Trouble::new(format!("acting as `{other}`"), &std::io::ErrorKind::Unsupported.into())),
    }
}

/// Tells the process that started the lab, through standard output.
pub(super) fn report(report: &Report, descriptors: &[std::os::fd::BorrowedFd<'_>]) -> Result<(), Trouble> {
    send(std::io::stdout(), report, descriptors).during("reporting")
}

/// Orders as they come. The process ends, whatever it is doing, when there can be no more: the lab is over.
pub(super) fn orders() -> Receiver<Order> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        while let Some(order) = Order::read_next() {
            // A role that listens no more still ends when the lab does.
            let _ = sender.send(order);
        }
        std::process::exit(0);
    });
    receiver
}

fn network(traffic: &Traffic, plan: &str) -> Result<(), Trouble> {
    let Bed { source, gateway, sink } = Bed::new(traffic.mtu)?;
    let sockets = Side::BOTH.map(|side| open_socket(side.name()));
    let [left, right] = sockets.map(|socket| socket.map_err(port_trouble));
    report(&Report::Wired, &[left?.as_fd(), right?.as_fd()])?;
    let helpers = [Helper::start(SINK, plan, &sink)?, Helper::start(SOURCE, plan, &source)?];
    gateway.enter()?; // so that each host's network lives as long as its helper
    relay_orders(helpers)
}

/// A helper of the helper, watched by a thread.
struct Helper {
    orders: ChildStdin,
    watcher: JoinHandle<()>,
}

impl Helper {
    /// Starts one in the namespace of `host`. What it reports goes straight to the lab's process.
    fn start(role: &'static str, plan: &str, host: &Host) -> Result<Self, Trouble> {
        host.enter()?;
        let program = std::env::current_exe().during("finding this program")?;
        let mut child = Command::new(program)
            .args([AGENT_COMMAND, role, plan])
            .stdin(Stdio::piped())
            .spawn()
            .during("starting a helper")?;
        let orders = child.stdin.take().expect("its standard input is a pipe");
        Ok(Helper { orders, watcher: thread::spawn(move || watch(role, child)) })
    }

    /// Ends it: it leaves when its orders end.
    fn end(self) {
        drop(self.orders);
        // A watcher that panicked has nothing to tell.
        let _ = self.watcher.join();
    }
}

/// Waits for a helper's end and tells of it if it is out of time. One that could say itself what was wrong has done so.
fn watch(role: &str, mut child: Child) {
    let status = child.wait();
    if status.as_ref().is_ok_and(ExitStatus::success) {
        return;
    }
    let reason = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let trouble = Trouble::new("ended", &std::io::Error::other(reason));
    let _ = report(&Report::Failed { role: role.to_owned(), trouble }, &[]);
}

/// Passes orders on until there can be no more, then ends the helpers.
fn relay_orders(mut helpers: [Helper; 2]) -> Result<(), Trouble> {
    while let Some(order) = Order::read_next() {
        for helper in &mut helpers {
            helper.orders.write_all(order.to_line().as_bytes()).during("passing an order on")?;
        }
    }
    for helper in helpers {
        helper.end();
    }
    Ok(())
}

fn port_trouble(error: PortError) -> Trouble {
    match error {
        PortError::System { operation, source, .. } => Trouble::new(operation, &source),
        gone => Trouble::new("opening a packet socket", &std::io::Error::other(gone.to_string())),
    }
}

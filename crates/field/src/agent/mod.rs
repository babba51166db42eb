//! A host of a field run: this program, started again in the host's namespace.
//!
//! It is told the traffic and which way it sends, and then by lines on standard input what to do: `connect` once both hosts
//! listen, `start NS` with the time of the monotonic clock at which the run begins. It answers `listening`, `connected`, and
//! when the run is over what it [saw](crate::traffic::Seen), in JSON.

mod datagrams;
mod pace;
mod raw;
mod stage;
mod streams;
mod tap;

use crate::fallible::Fallible;
use crate::traffic::{FlowSeen, Seen, Sends, Traffic};
use crate::world::HOST;
use fairwire_core::{Duration, Time};
use fairwire_gateway::class_book::Way;
use fairwire_linux::clock;
use fairwire_testbed::host::Host;
use fairwire_testbed::namespace::die_with_parent;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stage::{Slots, Stage};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// The first argument with which a program must hand over to [`main`].
pub const COMMAND: &str = "field-agent";

/// After the end of the run: what is on its way arrives.
const DRAIN: Duration = Duration::from_ms(300);

/// Acts as a host, with the arguments that follow [`COMMAND`]: the way that it sends, and the file with the traffic.
pub fn main(arguments: &[String]) -> ExitCode {
    match act(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("a host of the field run: {error}");
            ExitCode::FAILURE
        }
    }
}

fn act(arguments: &[String]) -> Fallible<()> {
    die_with_parent()?;
    let [way, file] = arguments else { return Err("it is told its way and a file".into()) };
    let traffic: Traffic = serde_json::from_slice(&std::fs::read(file)?)?;
    let way = if way == Way::Download.name() { Way::Download } else { Way::Upload };
    open_many_files();
    let stage =
        Arc::new(Stage { traffic, way, start_ns: AtomicU64::new(0), is_over: AtomicBool::new(false) });
    let (mut reader, opened) = streams::Reader::listen(&stage)?;
    let catcher = datagrams::Catcher::listen(&stage)?;
    let tap = tap::Tap::open(&stage, HOST.name)?;
    say("listening");
    expect("connect")?;
    catcher.open()?;
    let other = if way == Way::Download { Way::Upload } else { Way::Download };
    reader.add(streams::connect_all(&stage, other)?)?;
    let (read, caught, seen) = (
        thread::spawn(move || reader.run()),
        thread::spawn(move || catcher.run()),
        thread::spawn(move || tap.run()),
    );
    let writer = streams::Writer::new(&stage, streams::connect_all(&stage, way)?, opened);
    let pacer = pace::Pacer::open(&stage)?;
    say("connected");
    let start: u64 = expect("start")?.parse()?;
    stage.start_ns.store(start, Ordering::Release);
    let (write, pace) = (thread::spawn(move || writer.run()), thread::spawn(move || pacer.run()));
    end_with_orders();
    clock::sleep_until(Time::from_ns(start) + Duration::from_ns(stage.traffic.duration_ns) + DRAIN);
    stage.is_over.store(true, Ordering::Relaxed);
    write.join().map_err(|_| "the writer panicked")??;
    let sent = pace.join().map_err(|_| "the pacer panicked")?;
    let payload = read.join().map_err(|_| "the reader panicked")??;
    let caught = caught.join().map_err(|_| "the catcher panicked")?;
    let tapped = seen.join().map_err(|_| "the tap panicked")??;
    say(&serde_json::to_string(&gathered(&stage, payload, caught, tapped, sent))?);
    Ok(())
}

fn gathered(
    stage: &Stage,
    payload: Vec<Slots>,
    caught: datagrams::Caught,
    tapped: tap::Tapped,
    sent: Vec<pace::Sent>,
) -> Seen {
    let mut flows: Vec<FlowSeen> = Vec::new();
    for (flow, ((stream, datagrams), (link, back))) in
        payload.into_iter().zip(caught.payload).zip(tapped.link.into_iter().zip(tapped.back)).enumerate()
    {
        let is_stream = matches!(stage.traffic.flows[flow].sends, Sends::Tcp(_));
        flows.push(FlowSeen {
            link_bytes: link,
            back_bytes: back,
            payload_bytes: if is_stream { stream } else { datagrams },
            ..FlowSeen::default()
        });
    }
    for (flow, number, delay) in caught.delays {
        flows[flow].delays_ns.push(delay);
        flows[flow].numbers.push(number);
    }
    for sent in sent {
        (flows[sent.flow].sent, flows[sent.flow].refused) = (sent.sent, sent.refused);
    }
    Seen { flows, strange_bytes: tapped.strange, missed: tapped.missed }
}

/// A thousand connections, and more.
fn open_many_files() {
    let most = getrlimit(Resource::Nofile).maximum;
    // Refused, a run with many flows says which socket it could not open.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most });
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody is left to be told when this fails.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The rest of the next order, which must begin with `word`.
fn expect(word: &str) -> Fallible<String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    match line.strip_prefix(word) {
        Some(rest) => Ok(rest.trim().to_owned()),
        None => Err(format!("ordered `{}`, expected `{word}`", line.trim()).into()),
    }
}

/// No more orders come: when the pipe closes the run was given up.
fn end_with_orders() {
    thread::spawn(|| {
        let mut line = String::new();
        while std::io::stdin().lock().read_line(&mut line).is_ok_and(|count| count > 0) {}
        std::process::exit(1);
    });
}

/// A host at work, seen from the process that started it.
#[derive(Debug)]
pub struct Agent {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Agent {
    /// Starts the process that sends what goes `way`, at `host`; the traffic stands in `file`.
    pub fn start(host: &Host, way: Way, file: &str) -> Fallible<Agent> {
        host.enter()?;
        let mut child = Command::new(fairwire_testbed::pen::THIS_PROGRAM)
            .args([COMMAND, way.name(), file])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = child.stdin.take().ok_or("no pipe to a host")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe from a host")?);
        Ok(Agent { child, orders, answers })
    }

    /// Gives an order.
    pub fn order(&mut self, line: &str) -> Fallible<()> {
        Ok(writeln!(self.orders, "{line}")?)
    }

    /// Waits for the next answer.
    pub fn answer(&mut self) -> Fallible<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(format!("a host ended before its time: {}", self.child.wait()?).into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended already: either way it is waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

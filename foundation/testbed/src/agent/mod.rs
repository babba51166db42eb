//! A helper process: this program, started again.

mod datagrams;
mod pace;
mod raw;
mod stage;
mod streams;
mod tap;

use super::bed::Side;
use super::enclosure::first;
use super::error::{During, Trouble};
use super::message::{AGENT_COMMAND, Answer, Instruction, Role, next_instruction, to_line};
use super::namespace::die_with_parent;
use super::processes::{become_program, network};
use super::scratch::keep;
use super::traffic::{FlowCounts, HostCounts};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stage::{Slots, Stage};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// The time after the run in which packets in transit arrive.
const DRAIN: Duration = Duration::from_ms(300);

/// Runs a helper with the arguments after [`AGENT_COMMAND`], and returns its exit code.
///
/// A program that starts [hosts](crate::agents) or [a bed in processes](crate::processes) must call
/// this from `main` if its first argument is [`AGENT_COMMAND`], before it creates a thread. Stdin
/// and stdout are channels to the parent.
pub fn main(arguments: impl IntoIterator<Item = String>) -> i32 {
    let mut arguments = arguments.into_iter();
    let Some(role) = arguments.next().as_deref().and_then(Role::named) else {
        let message = "is how fairwire starts the helpers of a lab; it is no command for people";
        let _ = writeln!(io::stderr(), "`{AGENT_COMMAND}` {message}"); // there may be no reader
        return 2;
    };
    let done = match role {
        Role::Keeper => keep(&arguments.next().unwrap_or_default()),
        Role::First => return first(arguments),
        role => die_with_parent().and_then(|()| match role {
            Role::Host(side) => act(side).inspect_err(|trouble| say(&Answer::Failed(trouble.clone()))),
            Role::Gateway => become_program(arguments),
            _ => network(),
        }),
    };
    i32::from(done.is_err())
}

/// Acts as a host. Returns `Ok` early if the run is abandoned.
fn act(side: Side) -> Result<(), Trouble> {
    let Some(Instruction::Send(traffic)) = next_instruction().during("reading instructions")? else {
        return Ok(());
    };
    open_many_files();
    let stage =
        Arc::new(Stage { traffic, side, start_ns: AtomicU64::new(0), is_over: AtomicBool::new(false) });
    let (mut reader, opened) = streams::Reader::listen(&stage).during("listening for TCP")?;
    let catcher = datagrams::Catcher::listen(&stage).during("listening for UDP")?;
    let tap = stage.traffic.is_tapped.then(|| tap::Tap::open(&stage).map_err(io::Error::other));
    let tap = tap.transpose().during("watching what arrives")?;
    say(&Answer::Listening);
    let Some(Instruction::Connect) = next_instruction().during("reading instructions")? else {
        return Ok(());
    };
    catcher.open().during("opening the way through NAT")?;
    reader.add(streams::connect_all(&stage, side.other())?).during("reading connections")?;
    let read = thread::spawn(move || reader.run());
    let caught = thread::spawn(move || catcher.run());
    let seen = tap.map(|tap| thread::spawn(move || tap.run()));
    let writer = streams::Writer::new(&stage, streams::connect_all(&stage, side)?, opened);
    let pacer = pace::Pacer::open(&stage).during("opening what sends by the clock")?;
    say(&Answer::Connected);
    let Some(Instruction::Start { at_ns }) = next_instruction().during("reading instructions")? else {
        return Ok(());
    };
    stage.start_ns.store(at_ns, Ordering::Release);
    let (write, pace) = (thread::spawn(move || writer.run()), thread::spawn(move || pacer.run()));
    end_with_orders();
    clock::sleep_until(Time::from_ns(at_ns) + Duration::from_ns(stage.traffic.duration_ns) + DRAIN);
    stage.is_over.store(true, Ordering::Relaxed);
    let tcp = joined(write, "the writer")?.during("writing connections")?;
    let sent = joined(pace, "what sends by the clock")?;
    let payload = joined(read, "the reader")?.during("reading connections")?;
    let caught = joined(caught, "the receiver of datagrams")?;
    let tapped = seen.map_or(Ok(tap::Tapped::nothing(&stage)), |seen| joined(seen, "the tap"))?;
    let mut seen = gathered(&stage, payload, caught, tapped, sent);
    seen.flows.iter_mut().zip(tcp).for_each(|(flow, samples)| flow.tcp = samples);
    say(&Answer::Counted(seen));
    Ok(())
}

fn joined<T>(thread: JoinHandle<T>, what: &str) -> Result<T, Trouble> {
    thread.join().map_err(|_| Trouble::new(what, &io::Error::other("it panicked")))
}

fn gathered(
    stage: &Stage,
    payload: Vec<Slots>,
    caught: datagrams::Caught,
    tapped: tap::Tapped,
    sent: Vec<pace::Sent>,
) -> HostCounts {
    let mut flows: Vec<FlowCounts> = Vec::new();
    for (flow, ((stream, datagrams), (link, back))) in
        payload.into_iter().zip(caught.payload).zip(tapped.link.into_iter().zip(tapped.back)).enumerate()
    {
        let is_stream = stage.traffic.flows[flow].sends.control().is_some();
        flows.push(FlowCounts {
            link_bytes: link,
            back_bytes: back,
            payload_bytes: if is_stream { stream } else { datagrams },
            ..FlowCounts::default()
        });
    }
    for (flow, number, delay) in caught.delays {
        flows[flow].delays_ns.push(delay);
        flows[flow].numbers.push(number);
    }
    for sent in sent {
        (flows[sent.flow].sent, flows[sent.flow].refused) = (sent.sent, sent.refused);
    }
    HostCounts { flows, strange_bytes: tapped.strange, missed: tapped.missed, ..HostCounts::default() }
}

fn open_many_files() {
    let most = getrlimit(Resource::Nofile).maximum;
    // If the kernel refuses, a run with many flows reports the socket that it could not open.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most });
}

fn say(answer: &Answer) {
    let mut out = io::stdout().lock();
    // A failure is ignored, because no process could receive a report.
    let _ = out.write_all(to_line(answer).as_bytes()).and_then(|()| out.flush());
}

/// Ends the process when stdin closes, because the run has ended or was abandoned.
fn end_with_orders() {
    thread::spawn(|| {
        while let Ok(Some(_)) = next_instruction() {}
        std::process::exit(1);
    });
}

//! A [bed](crate::bed) whose hosts are separate processes, for a program that stays in its own
//! network, already has threads, or has rights only in a user namespace.

use super::again;
use super::agents::{Agents, Failed};
use super::bed::{Bed, Side};
use super::error::{During, TestbedError, Trouble};
use super::message::{
    AtGateway, BuilderMessage, Instruction, Program, Role, next_instruction, receive, send, to_line,
};
use super::path::Path;
use super::program::command;
use super::shaping::Shaping;
use super::traffic::Traffic;
use fairwire_core::{Duration, Time};
use fairwire_linux::af_packet::open_socket;
use fairwire_linux::clock;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// The helper processes. Dropping this value ends them.
#[derive(Debug)]
pub struct BedProcesses {
    child: Child,
    instructions: Option<ChildStdin>,
    reports: UnixDatagram,
}

impl BedProcesses {
    /// Starts helpers that run this program, which must pass control to
    /// [`agent::main`](crate::agent::main). The helpers make a bed whose wires have this MTU, with
    /// `path` between gateway and sink. It is an error if a program at the gateway ends early.
    pub fn start(mtu: u32, path: Option<Path>, at_gateway: AtGateway) -> Result<Self, TestbedError> {
        let (reports, theirs) =
            UnixDatagram::pair().map_err(failed("making a channel to the lab's helpers"))?;
        let mut child = again::command(Role::Network)
            .stdin(Stdio::piped())
            .stdout(OwnedFd::from(theirs))
            // Ctrl-C in a terminal reaches an entire process group. The helpers have another group,
            // because this process must end them.
            .process_group(0)
            .spawn()
            .map_err(failed("starting the lab's helpers"))?;
        let instructions = child.stdin.take();
        let mut helpers = BedProcesses { child, instructions, reports };
        helpers.instruct(&Instruction::Make { mtu, path: path.map(Box::new), at_gateway })?;
        Ok(helpers)
    }

    /// Connects the flows of `traffic`. The gateway must already forward.
    pub fn connect(&mut self, traffic: &Traffic) -> Result<(), TestbedError> {
        self.instruct(&Instruction::Send(traffic.clone()))
    }

    /// The next report, if any, with its descriptors. Never blocks. A helper's failure is an error.
    pub fn next_report(&mut self) -> Result<Option<(BuilderMessage, Vec<OwnedFd>)>, TestbedError> {
        match receive(&self.reports).map_err(failed("listening to the lab's helpers"))? {
            Some((BuilderMessage::Failed { role, trouble }, _)) => Err(trouble.into_error(&role)),
            Some(report) => Ok(Some(report)),
            None => self.check_alive().map(|()| None),
        }
    }

    /// Starts traffic at a time of the monotonic clock.
    pub fn begin(&mut self, at: Time) -> Result<(), TestbedError> {
        self.instruct(&Instruction::Start { at_ns: at.ns() })
    }

    fn instruct(&mut self, instruction: &Instruction) -> Result<(), TestbedError> {
        let instructions = self.instructions.as_mut().expect("instructions end with the helpers");
        match instructions.write_all(to_line(instruction).as_bytes()) {
            Ok(()) => Ok(()),
            // The helper has ended, and may have reported the reason.
            Err(error) => {
                Err(self.check_alive().err().unwrap_or_else(|| failed("talking to the lab's helpers")(error)))
            }
        }
    }

    fn check_alive(&mut self) -> Result<(), TestbedError> {
        match self.child.try_wait().map_err(failed("looking after the lab's helpers"))? {
            None => Ok(()),
            Some(status) => match receive(&self.reports) {
                Ok(Some((BuilderMessage::Failed { role, trouble }, _))) => Err(trouble.into_error(&role)),
                _ => Err(TestbedError::HelperEnded { status: status.to_string() }),
            },
        }
    }
}

const GRACE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_ms(2);

impl Drop for BedProcesses {
    /// Ends the helpers by closing `instructions`. A child that outlives `GRACE` is killed; the
    /// kernel then kills its children.
    fn drop(&mut self) {
        self.instructions = None;
        let until = clock::now() + GRACE;
        while clock::now() < until {
            match self.child.try_wait() {
                Ok(None) => clock::sleep_until(clock::now() + PAUSE),
                _ => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn failed(operation: &'static str) -> impl FnOnce(io::Error) -> TestbedError {
    move |source| TestbedError::System { operation, source }
}

/// Makes the bed and runs its traffic, as the parent process instructs. Reports through stdout.
pub(crate) fn network() -> Result<(), Trouble> {
    let outcome = make_network();
    if let Err(Failed { role, trouble }) = &outcome {
        report(&BuilderMessage::Failed { role: (*role).to_owned(), trouble: trouble.clone() }, &[])?;
    }
    outcome.map_err(|failed| failed.trouble)
}

fn make_network() -> Result<(), Failed> {
    let own = |trouble| Failed { role: Role::Network.name(), trouble };
    let Some(Instruction::Make { mtu, path, at_gateway }) =
        next_instruction().during("reading instructions").map_err(own)?
    else {
        return Ok(()); // the run was given up
    };
    // Only a process with one thread can create a user namespace.
    let mut bed = Bed::with_path(mtu, path.as_deref()).map_err(own)?;
    match &at_gateway {
        AtGateway::Maker => {
            let sockets = Side::BOTH.map(|side| open_socket(side.name()));
            let [left, right] = sockets.map(|socket| socket.map_err(|error| own(error.into())));
            report(&BuilderMessage::Wired, &[left?.as_fd(), right?.as_fd()]).map_err(own)?;
        }
        AtGateway::Program(program) => {
            start(program).map_err(|trouble| Failed { role: Role::Gateway.name(), trouble })?;
            report(&BuilderMessage::Wired, &[]).map_err(own)?;
        }
        AtGateway::Kernel(shaping) => {
            let handed = bed
                .let_kernel_forward(shaping)
                .map_err(|trouble| Failed { role: Role::Gateway.name(), trouble })?;
            report(&BuilderMessage::Wired, &handed.each_ref().map(OwnedFd::as_fd)).map_err(own)?;
        }
    }
    let Some(Instruction::Send(traffic)) = next_instruction().during("reading instructions").map_err(own)?
    else {
        return Ok(());
    };
    let instructions = instructions();
    let mut agents = Agents::start([&bed.source, &bed.sink], &traffic)?;
    bed.gateway.enter().map_err(own)?;
    report(&BuilderMessage::Connected, &[]).map_err(own)?;
    let Ok(Instruction::Start { at_ns }) = instructions.recv() else { return Ok(()) };
    if let AtGateway::Kernel(shaping) = at_gateway {
        thread::spawn(move || change_rates(&shaping, Time::from_ns(at_ns)));
    }
    bed.begin_path(Time::from_ns(at_ns));
    agents.begin(Time::from_ns(at_ns))?;
    let mut seen = agents.finish()?;
    seen.path = bed.finish_path().map_err(own)?;
    report(&BuilderMessage::Counted(seen), &[]).map_err(own)?;
    while instructions.recv().is_ok() {}
    Ok(())
}

fn change_rates(shaping: &Shaping, start: Time) {
    for (at_ns, rate_bps) in &shaping.changes {
        clock::sleep_until(start + Duration::from_ns(*at_ns));
        if let Err(trouble) = command(&format!("tc {}", shaping.change(Side::Right.name(), *rate_bps))) {
            let _ = report(&BuilderMessage::Failed { role: Role::Gateway.name().to_owned(), trouble }, &[]);
        }
    }
}

/// Starts `program`, which the kernel kills when this thread ends.
fn start(program: &Program) -> Result<(), Trouble> {
    let log = OpenOptions::new().append(true).open(&program.log).during("opening the gateway's log")?;
    let mut child = again::command(Role::Gateway)
        .arg(&program.file)
        .args(&program.arguments)
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(log.try_clone().during("opening the gateway's log")?)
        .stderr(log)
        .spawn()
        .during("starting a program at the gateway")?;
    thread::spawn(move || {
        let how = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let trouble = Trouble::new("ended before its time", &io::Error::other(how));
        let _ = report(&BuilderMessage::Failed { role: Role::Gateway.name().to_owned(), trouble }, &[]);
    });
    Ok(())
}

pub(crate) fn become_program(words: impl IntoIterator<Item = String>) -> Result<(), Trouble> {
    let mut words = words.into_iter();
    let file = words.next().unwrap_or_default();
    Err(Command::new(file).args(words).exec()).during("becoming the program at the gateway")
}

fn report(report: &BuilderMessage, descriptors: &[BorrowedFd<'_>]) -> Result<(), Trouble> {
    send(io::stdout(), report, descriptors).during("reporting")
}

/// Reads instructions in another thread. When the input closes, this process exits.
fn instructions() -> Receiver<Instruction> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        while let Ok(Some(instruction)) = next_instruction() {
            let _ = sender.send(instruction);
        }
        std::process::exit(0);
    });
    receiver
}

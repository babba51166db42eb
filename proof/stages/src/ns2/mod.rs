//! ns-2 2.35, a separate simulator whose code is not copied. Our script `dumbbell.tcl` gets a
//! plan's link, flows and start times as arguments.

mod printed;
mod queue;
mod words;

use fairwire_experiment::{About, CannotRun, Clock, Failed, Plan, Stage, Watch};
use fairwire_metrics::record::RunRecord;
use printed::Printed;
pub use queue::Queue;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration as StdDuration;
use words::Dumbbell;

const SCRIPT: &str = include_str!("dumbbell.tcl");

/// The interval at which a run checks whether it must stop.
const LOOK: StdDuration = StdDuration::from_millis(100);

/// The installed ns-2.
#[derive(Clone, Copy, Debug)]
pub struct Ns2;

impl Stage for Ns2 {
    fn about(&self) -> About {
        About {
            name: "ns2",
            summary: "the simulator ns-2 2.35, with its own queue and its own TCP",
            clock: Clock::Simulated,
        }
    }

    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Failed> {
        // Support does not depend on the seed.
        Dumbbell::of(plan, 0)?;
        Ok(program().map(drop)?)
    }

    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed> {
        let dumbbell = Dumbbell::of(plan, seed)?;
        let duration = plan.duration().secs();
        let mut reached = |seconds: f64| watch.reached((seconds / duration).min(1.0));
        let printed = match simulate(&program()?, &dumbbell.words, &mut reached, stop) {
            Ok(Some(printed)) => printed,
            Ok(None) => return Ok(None),
            Err(what) => return Err(Failed::Machine(format!("ns-2, seed {seed}: {what}"))),
        };
        let (flows, link) = printed
            .records(&dumbbell, plan.duration() - plan.warm_up())
            .map_err(|what| Failed::Machine(format!("ns-2, seed {seed}: {what}")))?;
        watch.reached(1.0);
        Ok(Some(plan.record(seed, flows, None, link)))
    }
}

fn program() -> Result<PathBuf, CannotRun> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join("ns")).find(|file| file.is_file()).ok_or_else(
        || CannotRun::lacking("ns-2 (`ns`) is missing", "`apt-get install ns2` on Debian and Ubuntu"),
    )
}

/// Returns `None` if `stop` became true.
fn simulate(
    program: &Path,
    words: &[String],
    reached: &mut dyn FnMut(f64),
    stop: &AtomicBool,
) -> Result<Option<Printed>, String> {
    // The files are in memory, so they never need to be removed.
    let file = |name, content: &str| -> io::Result<File> {
        let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC)?);
        file.write_all(content.as_bytes()).map(|()| file)
    };
    let in_memory = |error| format!("a file in memory: {error}");
    let script = file("dumbbell.tcl", SCRIPT).map_err(in_memory)?;
    let complaints = file("stderr", "").map_err(in_memory)?;
    let mut command = Command::new(program);
    command.arg(format!("/proc/{}/fd/{}", std::process::id(), script.as_raw_fd())).args(words);
    // ns-2 has a separate process group, since we handle Ctrl-C. If we are killed, ns-2's stdin is
    // closed, and ns-2 ends.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    command.stderr(complaints.try_clone().map_err(in_memory)?);
    let child = command.spawn().map_err(|error| format!("starting {}: {error}", program.display()))?;
    let mut running = Running(child);
    let lines = lines(running.0.stdout.take().expect("it is piped"));
    let mut printed = Printed::default();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match lines.recv_timeout(LOOK) {
            Ok(line) => printed.take(&line)?.into_iter().for_each(&mut *reached),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = running.0.wait().map_err(|error| format!("waiting for it: {error}"))?;
    if status.success() { Ok(Some(printed)) } else { Err(failure(status, complaints)) }
}

fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    receive
}

fn failure(status: ExitStatus, mut complaints: File) -> String {
    let mut said = Vec::new();
    // Ignore unreadable output.
    let _ = complaints.rewind().and_then(|()| complaints.read_to_end(&mut said));
    let said = String::from_utf8_lossy(&said);
    match said.trim() {
        "" => format!("it ended with {status}"),
        said => format!("it ended with {status}: {said}"),
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended already
        let _ = self.0.wait();
    }
}

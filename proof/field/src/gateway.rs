//! The gateway under test: the program as an operator runs it.

use crate::config::{Document, SUBSCRIBERS};
use crate::fallible::Fallible;
use crate::world::World;
use fairwire_control::protocol::{Answer, Reloaded, Request};
use fairwire_control::snapshot::Snapshot;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::program::find;
use fairwire_testbed::host::Host;
use fairwire_testbed::pid_namespace::SCRATCH;
use fairwire_testbed::schedule::{ran, waited};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

/// The environment variable with the path of the program to test, and the arguments that precede
/// the configuration file.
pub const PROGRAM: &str = "FAIRWIRE_GATEWAY";

/// A running gateway.
#[derive(Debug)]
pub struct Gateway {
    child: Child,
    /// Its configuration file.
    pub file: PathBuf,
    socket: PathBuf,
    log: PathBuf,
    /// The time from the gateway's start to its first answer.
    pub took: Duration,
}

const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_ms(2);

impl Gateway {
    /// Starts a gateway at its place in `world`, and waits until it forwards.
    pub fn start(world: &World, document: &Document) -> Fallible<Gateway> {
        let folder = Path::new(SCRATCH).join(format!("gateway-{}", clock::now().ns()));
        fs::create_dir_all(&folder)?;
        if let Some(subscribers) = document.subscribers() {
            fs::write(folder.join(SUBSCRIBERS), subscribers)?;
        }
        Gateway::start_in(&world.gateway, &folder, &|socket| document.text(socket))
    }

    /// Starts a gateway at `host`, and waits until it forwards. Creates its `gateway.toml` in
    /// `folder`, with the text that `text_of` returns for the socket's path. Leaves this thread in
    /// the host's namespace.
    pub fn start_in(host: &Host, folder: &Path, text_of: &dyn Fn(&Path) -> String) -> Fallible<Gateway> {
        host.enter()?;
        let began = clock::now();
        let (file, socket, log) =
            (folder.join("gateway.toml"), folder.join("gateway.sock"), folder.join("log"));
        let _ = fs::remove_file(&socket);
        fs::write(&file, text_of(&socket))?;
        let (program, arguments) = program()?;
        let output = File::create(&log)?;
        let child = Command::new(&program)
            .args(arguments)
            .arg(&file)
            .stdin(std::process::Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let mut gateway = Gateway { child, file, socket, log, took: Duration::ZERO };
        gateway.wait_until_ready(began)?;
        Ok(gateway)
    }

    fn wait_until_ready(&mut self, began: Time) -> Fallible<()> {
        while UnixStream::connect(&self.socket).is_err() {
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("the gateway ended ({status}): {}", self.last_words()).into());
            }
            if clock::now() > began + PATIENCE {
                return Err(format!("the gateway does not answer: {}", self.last_words()).into());
            }
            clock::sleep_until(clock::now() + PAUSE);
        }
        self.took = clock::now().since(began);
        Ok(())
    }

    /// The gateway's output on stdout and stderr.
    pub fn last_words(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default().trim().to_owned()
    }

    /// Sends the gateway a request over its socket, and returns the answer.
    pub fn send(&self, request: &Request) -> Fallible<Answer> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(std::time::Duration::from_secs(10)))?;
        writeln!(stream, "{}", serde_json::to_string(request)?)?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(serde_json::from_str(&line).map_err(|error| format!("its answer `{}`: {error}", line.trim()))?)
    }

    /// Changes the weight of a class or a subscriber, and returns the old one.
    pub fn set_weight(&self, class: &str, weight: f64) -> Fallible<f64> {
        match self.send(&Request::SetWeight { class: class.into(), weight })? {
            Answer::WeightSet { before } => Ok(before),
            other => Err(format!("the answer to a new weight of `{class}` is {other:?}").into()),
        }
    }

    /// Its measurements.
    pub fn status(&self) -> Fallible<Snapshot> {
        self.snapshot(false)
    }

    /// The gateway's measurements, with all classes.
    pub fn status_with_classes(&self) -> Fallible<Snapshot> {
        self.snapshot(true)
    }

    fn snapshot(&self, classes: bool) -> Fallible<Snapshot> {
        match self.send(&Request::Status { classes })? {
            Answer::Snapshot(snapshot) => Ok(*snapshot),
            other => Err(format!("the answer to a request for its status is {other:?}").into()),
        }
    }

    /// The number of frames that the kernel dropped because they were not fetched in time.
    pub fn overflows(&self) -> Fallible<u64> {
        Ok(self.status()?.ports.iter().map(|port| port.overflows).sum())
    }

    /// Loads another configuration.
    pub fn reload(&self, document: &Document) -> Fallible<Reloaded> {
        write_files(document, &self.file, &self.socket)?;
        match self.send(&Request::Reload { files: Vec::new(), keeps: false, handed: Default::default() })? {
            Answer::Reloaded(reloaded) => Ok(reloaded),
            other => Err(format!("the answer to a reload is {other:?}").into()),
        }
    }

    /// Starts another process that takes over the link, and continues with that process. Returns
    /// the time in which nothing was forwarded, in milliseconds, as measured by the previous
    /// process.
    pub fn take_over(&mut self) -> Fallible<f64> {
        let (program, arguments) = program()?;
        let log = self.log.with_extension(clock::now().ns().to_string());
        let output = File::create(&log)?;
        let next = Command::new(&program)
            .args(arguments)
            .arg(&self.file)
            .arg("--take-over")
            .stdin(std::process::Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let mut before = std::mem::replace(&mut self.child, next);
        let said = self.last_words();
        let until = clock::now() + PATIENCE;
        let status = loop {
            match before.try_wait()? {
                Some(status) => break status,
                None if clock::now() > until => {
                    before.kill()?;
                    break before.wait()?;
                }
                None => clock::sleep_until(clock::now() + PAUSE),
            }
        };
        let words = self.last_words();
        let words = words.strip_prefix(&said).unwrap_or(&words).to_owned();
        self.log = log;
        let took = words.lines().find_map(|line| line.strip_prefix("handed over to another process, with"));
        let ms = took.and_then(|line| line.trim_end_matches(" ms").rsplit(' ').next()?.parse().ok());
        match ms.filter(|_| status.success() && !words.contains("MISSING")) {
            Some(ms) => Ok(ms),
            None => Err(format!("not handed over ({status}): {words}\n{}", self.last_words()).into()),
        }
    }

    /// Has it ended?
    pub fn end(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Sends the gateway a signal.
    pub fn signal(&self, signal: Signal) -> Fallible<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// The memory of the gateway and of its child processes, bytes.
    pub fn resident_bytes(&self) -> u64 {
        self.family().into_iter().map(|pid| field_kib(pid, "VmRSS:") * 1024).sum()
    }

    /// The CPU time of the gateway and of its child processes, seconds.
    pub fn processor_s(&self) -> f64 {
        self.family().into_iter().map(processor_s).sum()
    }

    /// The time for which the threads of the gateway and of its child processes were ready without
    /// a free processor, seconds; 0 if the kernel does not report it.
    pub fn waited_s(&self) -> f64 {
        let tasks = self.family().into_iter().flat_map(|pid| fs::read_dir(format!("/proc/{pid}/task")));
        tasks.flatten().flatten().map(|task| waited(&task.path()).secs()).sum()
    }

    /// The CPU time of the gateway and its child processes, seconds: of threads called `name`, and
    /// of all other threads.
    pub fn ran_s(&self, name: &str) -> [f64; 2] {
        let tasks = self.family().into_iter().flat_map(|pid| fs::read_dir(format!("/proc/{pid}/task")));
        let mut sums = [0.0; 2];
        for task in tasks.flatten().flatten() {
            let own = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            sums[usize::from(own.trim_end() != name)] += ran(&task.path()).secs();
        }
        sums
    }

    fn family(&self) -> Vec<u32> {
        let mut all = vec![self.child.id()];
        let mut at = 0;
        while let Some(pid) = all.get(at).copied() {
            at += 1;
            for task in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
                let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
                all.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            }
        }
        all
    }

    /// Signals the gateway to end, as `systemctl stop` does, and waits.
    pub fn stop(&mut self) -> Fallible<ExitStatus> {
        self.signal(Signal::TERM)?;
        let until = clock::now() + PATIENCE;
        while clock::now() < until {
            if let Some(status) = self.end() {
                return Ok(status);
            }
            clock::sleep_until(clock::now() + PAUSE);
        }
        Err("the gateway does not end on SIGTERM".into())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // The process may have ended already; in either case, wait for it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_files(document: &Document, file: &Path, socket: &Path) -> Fallible<()> {
    fs::write(file, document.text(socket))?;
    if let Some(subscribers) = document.subscribers() {
        fs::write(file.with_file_name(SUBSCRIBERS), subscribers)?;
    }
    Ok(())
}

/// The program to test and its arguments: from the environment, or the `fairwire-gateway` next to
/// this program.
pub fn program() -> Fallible<(PathBuf, Vec<String>)> {
    if let Ok(line) = std::env::var(PROGRAM) {
        let mut words = line.split_whitespace().map(str::to_owned);
        let program = words.next().ok_or_else(|| format!("{PROGRAM} is empty"))?;
        return Ok((program.into(), words.collect()));
    }
    let program = find("fairwire-gateway")
        .ok_or("the program `fairwire-gateway` is not built: cargo build -p fairwire-gateway")?;
    Ok((program, vec!["run".into()]))
}

pub(crate) fn simulator() -> Fallible<PathBuf> {
    Ok(find("fairwire").ok_or("the program `fairwire` is not built: cargo build -p fairwire")?)
}

fn field_kib(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Clock ticks per second, as in `/proc` on every Linux (proc(5)).
const TICKS: f64 = 100.0;

fn processor_s(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // Fields 14 and 15 are user and system time. The text after the name begins with field 3.
    let ticks: u64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
    ticks as f64 / TICKS
}

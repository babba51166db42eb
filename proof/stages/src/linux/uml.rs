//! User Mode Linux on the host: finds it, starts it with a job, and waits for the results.

use super::guest::{FAILURE, JOB_VARIABLE, Job, PROGRESS, Run};
use super::keeper;
use fairwire_linux::clock;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::de::{DeserializeOwned, IgnoredAny};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The installed User Mode Linux.
#[derive(Clone, Debug)]
pub struct Uml {
    /// The kernel, an executable program.
    pub program: PathBuf,
    /// The version, such as `6.1.176`.
    pub version: String,
    /// The folder of the kernel's modules.
    pub modules: PathBuf,
    /// The library of the virtual clock.
    pub clock: PathBuf,
}

/// Why User Mode Linux gave no result.
#[derive(Debug, thiserror::Error)]
pub enum UmlError {
    /// A program must be installed first.
    #[error("{0}")]
    Missing(String),
    /// A request to the host failed.
    #[error("{0}: {1}")]
    System(String, io::Error),
    /// The guest gave up or did not respond.
    #[error("the guest failed: {0}")]
    Guest(String),
    /// The caller requested the stop.
    #[error("it was stopped before its end")]
    Stopped,
}

const MODULES: &str = "/usr/lib/uml/modules";
const INSTALL: &str = "on Debian and Ubuntu: apt install user-mode-linux iproute2";
/// The time limit for all guests, which take a few minutes on an idle machine.
const PATIENCE_NS: u64 = 1_800_000_000_000;
/// The maximum number of guests, each using one processor.
const GUESTS: usize = 2;
/// The interval between checks of the guests.
const LOOK: Duration = Duration::from_millis(20);
const CONSOLE: &str = "console.txt";
const MEMORY: &str = "mem=256M";

impl Uml {
    /// Finds the installed version.
    ///
    /// # Errors
    /// The missing program, and how to get it.
    pub fn find() -> Result<Uml, UmlError> {
        let program = in_path("linux.uml").ok_or_else(|| missing("User Mode Linux (linux.uml)"))?;
        for tool in ["tc", "ip", "mount"] {
            in_path(tool).ok_or_else(|| missing(&format!("the command {tool}")))?;
        }
        let output = Command::new(&program).arg("--version").output();
        let output = output.map_err(|error| UmlError::System(program.display().to_string(), error))?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let modules = Path::new(MODULES).join(&version);
        if version.is_empty() || !modules.join("modules.dep").is_file() {
            return Err(missing(&format!("the modules of User Mode Linux ({})", modules.display())));
        }
        Ok(Uml { program, version, modules, clock: virtual_clock()? })
    }

    /// Distributes `runs` over guests, which write results to files in `folder`. Passes the
    /// fraction done to `progress`. Ends the guests when `stop` becomes true.
    ///
    /// # Errors
    /// If a guest cannot be started, gives up, or takes more than half an hour.
    pub fn run(
        &self,
        folder: &Path,
        runs: &[Run],
        progress: &mut dyn FnMut(f64),
        stop: &AtomicBool,
    ) -> Result<(), UmlError> {
        let mut guests = Vec::new();
        for number in 0..GUESTS.min(runs.len()) {
            let share = runs.iter().skip(number).step_by(GUESTS).cloned().collect();
            guests.push(self.start(folder, &folder.join(format!("guest-{number}")), share)?);
        }
        let ends_ns = clock::now().ns() + PATIENCE_NS;
        let count = guests.len() as f64;
        let (mut at_work, mut failed) = (guests, None);
        // If one guest fails, this loop still waits for the others.
        while !at_work.is_empty() {
            let mut left = Vec::new();
            for mut guest in at_work {
                match guest.is_finished(ends_ns, stop) {
                    Ok(false) => left.push(guest),
                    Ok(true) => {}
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            at_work = left;
            progress(1.0 - at_work.iter().map(|guest| 1.0 - guest.done()).sum::<f64>() / count);
            std::thread::sleep(LOOK);
        }
        match failed {
            Some(error) => Err(error),
            None => runs.iter().try_for_each(|run| result::<IgnoredAny>(folder, run).map(drop)),
        }
    }

    /// Starts a guest in the folder `own`, with results in `folder`.
    fn start(&self, folder: &Path, own: &Path, runs: Vec<Run>) -> Result<Guest, UmlError> {
        fs::create_dir_all(own).map_err(|error| system("making", own, error))?;
        let job = Job { folder: folder.to_owned(), modules: self.modules.clone(), runs };
        let file = own.join("job.json");
        let text = serde_json::to_vec(&job).expect("plain data");
        fs::write(&file, text).map_err(|error| system("writing", &file, error))?;
        let console = own.join(CONSOLE);
        let log = File::create(&console).map_err(|error| system("writing", &console, error))?;
        Ok(Guest { child: self.command(own, &file, log)?, is_over: false, folder: own.to_owned() })
    }

    fn command(&self, folder: &Path, job: &Path, log: File) -> Result<Child, UmlError> {
        let own =
            std::env::current_exe().map_err(|error| UmlError::System("finding ourselves".into(), error))?;
        let errors = log.try_clone().map_err(|error| UmlError::System("the console".into(), error))?;
        keeper::command(&self.program, &self.clock)
            .args([
                MEMORY,
                "quiet",
                "rootfstype=hostfs",
                "rootflags=/",
                "rw",
                "panic=-1",
                "con=null",
                "con0=null,fd:1",
            ])
            .arg(format!("init={}", own.display()))
            .arg(format!("uml_dir={}", folder.display()))
            .arg(format!("{JOB_VARIABLE}={}", job.display()))
            .stdin(Stdio::null())
            .process_group(0)
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(|error| system("starting", &self.program, error))
    }
}

/// The result of a run that a guest completed.
///
/// # Errors
/// If the result is missing or cannot be read.
pub fn result<T: DeserializeOwned>(folder: &Path, run: &Run) -> Result<T, UmlError> {
    let file = folder.join(run.file());
    let text = fs::read(&file).map_err(|error| system("reading", &file, error))?;
    serde_json::from_slice(&text).map_err(|error| UmlError::Guest(format!("{}: {error}", run.file())))
}

/// A running guest.
struct Guest {
    child: Child,
    /// Has the guest ended normally?
    is_over: bool,
    folder: PathBuf,
}

impl Guest {
    /// Has the guest ended? Returns an error if the guest failed, if `stop` is true, or if the
    /// guest still runs at `ends_ns`. Then the caller drops the guest, which ends it.
    fn is_finished(&mut self, ends_ns: u64, stop: &AtomicBool) -> Result<bool, UmlError> {
        let status = self.child.try_wait();
        let status = status.map_err(|error| UmlError::System("waiting for the guest".into(), error))?;
        let Some(status) = status else {
            let is_stopped = stop.load(Ordering::Relaxed);
            if is_stopped {
                return Err(UmlError::Stopped);
            }
            if clock::now().ns() > ends_ns {
                return Err(UmlError::Guest(format!("it took too long; {}", self.last_words())));
            }
            return Ok(false);
        };
        self.is_over = status.success();
        match fs::read_to_string(self.folder.join(FAILURE)) {
            Ok(why) => Err(UmlError::Guest(format!("{why}; {}", self.last_words()))),
            Err(_) if !status.success() => {
                Err(UmlError::Guest(format!("it ended before its time ({status}); {}", self.last_words())))
            }
            Err(_) => Ok(true),
        }
    }

    fn done(&self) -> f64 {
        let said = fs::read_to_string(self.folder.join(PROGRESS)).ok();
        said.and_then(|said| said.parse().ok()).unwrap_or(0.0)
    }

    fn last_words(&self) -> String {
        let said = fs::read(self.folder.join(CONSOLE)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        let last: Vec<&str> = said.lines().rev().take(5).collect();
        format!("the last lines of its console, newest first: {last:?}")
    }
}

impl Drop for Guest {
    /// Kills the guest's process group, which contains its child processes. After a normal end, no
    /// process is left.
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

fn virtual_clock() -> Result<PathBuf, UmlError> {
    let own = std::env::current_exe().map_err(|error| UmlError::System("finding ourselves".into(), error))?;
    // Cargo puts programs next to the folder `examples`, and tests one folder deeper.
    let folders = own.ancestors().skip(1).take(2);
    let mut clocks = folders.map(|folder| folder.join("examples").join("libvirtual_clock.so"));
    if let Some(clock) = clocks.find(|clock| clock.is_file()) {
        return Ok(clock);
    }
    Err(UmlError::Missing(
        "the virtual clock of User Mode Linux is not built: cargo build --release -p fairwire-stages --example virtual_clock"
            .into(),
    ))
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(PathBuf::from); // not in every user's PATH
    std::env::split_paths(&path).chain(system).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn missing(what: &str) -> UmlError {
    UmlError::Missing(format!("{what} is not there; {INSTALL}"))
}

fn system(doing: &str, file: &Path, error: io::Error) -> UmlError {
    UmlError::System(format!("{doing} {}", file.display()), error)
}

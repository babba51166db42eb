//! Keeps the processors of a virtual machine from sleeping during measurements.
//!
//! A hypervisor takes back an idle virtual processor, and on a busy host returns it only after
//! milliseconds. A process of the class `SCHED_IDLE` therefore keeps each processor busy, and
//! yields as soon as another process is ready.
//!
//! A kernel with autogroups shares processors between sessions before it considers classes. Each
//! spinning process therefore has a separate session, with the minimum weight.

use std::process::{Child, Command, Stdio};
use std::{fs, io, thread};

/// Spins, with the session's minimum weight if the kernel has autogroups.
const SPIN: &str = "{ echo 19 > /proc/self/autogroup; } 2>/dev/null; while :; do :; done";

/// Keeps processors awake until this value is dropped.
#[derive(Debug, Default)]
pub struct Awake(Vec<Child>);

impl Awake {
    /// Keeps all processors awake on a virtual machine. Does nothing on other machines, whose
    /// processors wake in microseconds.
    ///
    /// # Errors
    /// If `setpriv` or `chrt` of util-linux is missing or refused.
    pub fn keep() -> io::Result<Awake> {
        Self::start().map_err(|error| {
            let why = "processors may sleep, so that rates and delays suffer; install util-linux (`setpriv`, `chrt`)";
            io::Error::new(error.kind(), format!("{why}: {error}"))
        })
    }

    fn start() -> io::Result<Awake> {
        let is_virtual = fs::read_to_string("/proc/cpuinfo")?.contains(" hypervisor");
        let count = if is_virtual { thread::available_parallelism()?.get() } else { 0 };
        let mut awake = Awake::default();
        if count > 0 {
            // Without this check, the spinning processes would fail later and unnoticed.
            let status = Command::new("chrt").args(["--idle", "0", "true"]).status()?;
            status.success().then_some(()).ok_or_else(|| io::Error::other("`chrt --idle 0` was refused"))?;
        }
        for _ in 0..count {
            // The kernel kills the process when the thread that started it ends.
            let mut command = Command::new("setpriv");
            command.args(["--pdeathsig", "KILL", "setsid", "chrt", "--idle", "0", "sh", "-c", SPIN]);
            awake.0.push(command.stdin(Stdio::null()).spawn()?);
        }
        Ok(awake)
    }

    /// The number of processors kept awake.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

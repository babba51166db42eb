//! Keeps the processors of a virtual machine from sleeping while something is measured.
//!
//! A virtual processor that has nothing to do is given back to the host, and comes back when the host has time: on a busy host after
//! milliseconds, at each of the thousands of wake-ups a second of a network. A process of the class `SCHED_IDLE` on each processor runs
//! only while nobody else wants to, and makes way at once, so that the processor stays.

use std::fs;
use std::io;
use std::process::{Child, Command, Stdio};
use std::thread;

/// Keeps processors awake until it is dropped.
#[derive(Debug, Default)]
pub struct Awake(Vec<Child>);

impl Awake {
    /// Keeps all processors awake where this is a virtual machine. Does nothing on others, whose processors wake in microseconds.
    ///
    /// Needs `chrt` and `setpriv` of util-linux.
    pub fn keep() -> io::Result<Awake> {
        let is_virtual = fs::read_to_string("/proc/cpuinfo")?.contains(" hypervisor");
        let count = if is_virtual { thread::available_parallelism()?.get() } else { 0 };
        let mut awake = Awake::default();
        for _ in 0..count {
            // The kernel ends it with the thread that started it.
            let mut command = Command::new("setpriv");
            command.args(["--pdeathsig", "KILL", "chrt", "--idle", "0", "sh", "-c", "while :; do :; done"]);
            awake.0.push(command.stdin(Stdio::null()).spawn()?);
        }
        Ok(awake)
    }

    /// How many processors are kept awake.
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

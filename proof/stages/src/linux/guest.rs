//! The first and only process in User Mode Linux, which runs the guest's jobs.

use super::keeper;
use super::modules::Modules;
use super::program::{Fallible, command};
use rustix::system::RebootCommand;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable with the job file's path, set by the kernel's command line.
pub(super) const JOB_VARIABLE: &str = "FAIRWIRE_GUEST_JOB";
pub(super) const PROGRESS: &str = "progress.txt";
pub(super) const FAILURE: &str = "failure.txt";
/// The creation of this file, next to the job file, starts the virtual clock.
/// `examples/virtual_clock.rs` repeats the name.
const CLOCK_STARTS: &str = "virtual-clock-starts";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// The folder for results.
    pub folder: PathBuf,
    /// The folder of the kernel's modules.
    pub modules: PathBuf,
    /// The runs, in order.
    pub runs: Vec<Run>,
}

/// One run of a guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The name of the run and of its result, unique in the job.
    pub name: String,
    /// The parameters of the run, in the format of its [`Work`].
    pub work: serde_json::Value,
}

impl Run {
    /// The name of the result file in the job's folder.
    pub fn file(&self) -> String {
        format!("{}.json", self.name)
    }
}

/// Performs a run, and returns the content of the result file. The last argument receives the
/// fraction done.
pub type Work<'a> = dyn FnMut(&Run, &Modules, &mut dyn FnMut(f64)) -> Fallible<Vec<u8>> + 'a;

/// If this process belongs to a guest, takes over and does not return. In the guest, performs each
/// run with `work`, and then switches the guest off. Must be called first in `main`.
pub fn take_over(work: &mut Work<'_>) {
    keeper::take_over();
    let Some(job) = std::env::var_os(JOB_VARIABLE) else { return };
    if let Err((folder, error)) = try_run(job.as_ref(), work) {
        let _ = fs::write(folder.join(FAILURE), error.to_string());
    }
    let _ = rustix::system::reboot(RebootCommand::PowerOff);
    std::process::exit(1); // unreachable: the guest is off
}

fn try_run(file: &Path, work: &mut Work<'_>) -> Result<(), (PathBuf, Box<dyn Error>)> {
    let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
    let mut all = || -> Fallible<()> {
        let job: Job = serde_json::from_slice(&fs::read(file)?)?;
        let modules = set_up(&job, &folder)?;
        let (all, mut shown) = (job.runs.len() as f64, 0);
        for (run, before) in job.runs.iter().zip(0u32..) {
            let mut progress = |fraction: f64| {
                let done = (f64::from(before) + fraction) / all;
                // Host files are slow, so progress is written once per percent.
                if (done * 100.0) as u32 > shown {
                    shown = (done * 100.0) as u32;
                    let _ = fs::write(folder.join(PROGRESS), done.to_string());
                }
            };
            let result =
                work(run, &modules, &mut progress).map_err(|error| format!("{}: {error}", run.name))?;
            fs::write(job.folder.join(run.file()), result)?;
        }
        Ok(())
    };
    all().map_err(|error| (folder, error))
}

fn set_up(job: &Job, own: &Path) -> Fallible<Modules> {
    command("mount", "-t proc proc /proc")?;
    let modules = Modules::read(&job.modules)?;
    for name in ["veth", "sch_htb", "cls_u32"] {
        modules.load(name)?;
    }
    // Send buffers must be large, because a packet that waits in a discipline is charged to its
    // socket's buffer.
    fs::write("/proc/sys/net/core/wmem_default", "100000000")?;
    // The limit is in pages, for all TCP sockets together. The default depends on the guest's small
    // memory.
    fs::write("/proc/sys/net/ipv4/tcp_mem", "100000 100000 100000")?;
    fs::write(own.join(CLOCK_STARTS), "")?;
    Ok(modules)
}

//! The guest's side of User Mode Linux: its first and only process.

use super::keeper;
use super::modules::Modules;
use super::program::{Fallible, command};
use rustix::system::RebootCommand;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable of the environment that names the job. The kernel's command line puts it there.
pub(super) const JOB_VARIABLE: &str = "FAIRWIRE_GUEST_JOB";
/// The file beside the job's that says which part of the job is done, from 0 to 1.
pub(super) const PROGRESS: &str = "progress.txt";
/// The file beside the job's that states why the guest gave up.
pub(super) const FAILURE: &str = "failure.txt";
/// The file beside the job's whose creation starts the virtual clock; `examples/virtual_clock.rs`
/// says the same.
const CLOCK_STARTS: &str = "virtual-clock-starts";

/// The runs that a guest has to make.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// Where results go.
    pub folder: PathBuf,
    /// Where the kernel's modules are.
    pub modules: PathBuf,
    /// The runs, in order.
    pub runs: Vec<Run>,
}

/// One run of a guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its name, which no two runs of a job share: that of its result, too.
    pub name: String,
    /// The work, in the format of the function that does it.
    pub work: serde_json::Value,
}

impl Run {
    /// The name of its result in the job's folder.
    pub fn file(&self) -> String {
        format!("{}.json", self.name)
    }
}

/// How a run is done: gives what is written into its result, and says meanwhile which part of it is
/// done, from 0 to 1.
pub type Work<'a> = dyn FnMut(&Run, &Modules, &mut dyn FnMut(f64)) -> Fallible<Vec<u8>> + 'a;

/// Does the work of this process, where it is one of a guest's, and does not return then: it keeps
/// the guest, or it is the guest's first process, which does each run by `work` and switches the
/// guest off. To be called first of all in `main`.
pub fn take_over(work: &mut Work<'_>) {
    keeper::take_over();
    let Some(job) = std::env::var_os(JOB_VARIABLE) else { return };
    if let Err((folder, error)) = try_run(job.as_ref(), work) {
        let _ = fs::write(folder.join(FAILURE), error.to_string());
    }
    let _ = rustix::system::reboot(RebootCommand::PowerOff);
    std::process::exit(1); // not reached: the guest is off
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
                // A file of the host is dear: one for each hundredth.
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
    // All that waits in a discipline is charged to the one socket that sent it.
    fs::write("/proc/sys/net/core/wmem_default", "100000000")?;
    // Pages that all TCPs may hold. By default they go by the guest's memory, which is small.
    fs::write("/proc/sys/net/ipv4/tcp_mem", "100000 100000 100000")?;
    fs::write(own.join(CLOCK_STARTS), "")?;
    Ok(modules)
}

//! The guest's side of User Mode Linux: its first and only process.

use super::modules::Modules;
use super::program::{Fallible, command};
use rustix::system::RebootCommand;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable of the environment that names the job. The kernel's command line puts it there. A program that finds it is a
/// guest's first process, and hands over to [`run`].
pub const JOB_VARIABLE: &str = "FAIRWIRE_GUEST_JOB";
/// The file beside the job's that tells why the guest gave up.
pub(super) const FAILURE: &str = "failure.txt";
/// The file beside the job's whose creation starts the virtual clock; `examples/virtual_clock.rs` says the same.
const CLOCK_STARTS: &str = "virtual-clock-starts";

/// What a guest has to do.
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
    /// What is to be done, for who does it.
    pub work: serde_json::Value,
}

impl Run {
    /// The name of its result in the job's folder.
    pub fn file(&self) -> String {
        format!("{}.json", self.name)
    }
}

/// Does the job in the file `job`, each run by `work`, which gives what is written into its result; and switches the guest off.
pub fn run(job: &Path, work: &mut dyn FnMut(&Run, &Modules) -> Fallible<Vec<u8>>) {
    if let Err((folder, error)) = try_run(job, work) {
        let _ = fs::write(folder.join(FAILURE), error.to_string());
    }
    let _ = rustix::system::reboot(RebootCommand::PowerOff);
}

fn try_run(
    file: &Path,
    work: &mut dyn FnMut(&Run, &Modules) -> Fallible<Vec<u8>>,
) -> Result<(), (PathBuf, Box<dyn Error>)> {
    let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
    let mut all = || -> Fallible<()> {
        let job: Job = serde_json::from_slice(&fs::read(file)?)?;
        let modules = set_up(&job, &folder)?;
        for run in &job.runs {
            let result = work(run, &modules).map_err(|error| format!("{}: {error}", run.name))?;
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

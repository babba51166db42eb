//! A process namespace: all processes that a run starts end with the run, even if the run is
//! killed.
//!
//! The program starts itself again as the namespace's first process. When the original process
//! ends, the kernel kills the first process, and then all others.

use super::awake::Awake;
use super::error::{During, Trouble};
use super::namespace::{die_with_parent, part_processes};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use std::process::{Command, ExitCode};

const INSIDE: &str = "FAIRWIRE_PID_NAMESPACE";

/// The folder for a run's scratch files: a tmpfs in the mount namespace.
pub const SCRATCH: &str = "/run";

/// The path of this program's executable, valid even if the file has been replaced.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// Runs `body` in a new process namespace, and returns its exit code. Call this first in `main`,
/// before a second thread exists.
pub fn run(body: impl FnOnce() -> ExitCode) -> Result<ExitCode, Trouble> {
    if std::env::var_os(INSIDE).is_some() {
        set_up()?;
        let awake = Awake::keep();
        match &awake {
            Ok(awake) if awake.count() > 0 => {
                eprintln!(
                    "note: a virtual machine: its {} processors are kept awake meanwhile",
                    awake.count()
                );
            }
            Ok(_) => {}
            Err(error) => eprintln!("note: {error}"),
        }
        return Ok(body());
    }
    part_processes()?;
    let status = Command::new(THIS_PROGRAM).args(std::env::args_os().skip(1)).env(INSIDE, "1").status();
    let status = status.during("starting this program again")?;
    Ok(ExitCode::from(status.code().unwrap_or(1) as u8))
}

fn set_up() -> Result<(), Trouble> {
    die_with_parent()?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .during("keeping mounts to ourselves")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("proc", "/proc", "proc", flags, None).during("mounting /proc")?;
    mount("tmpfs", SCRATCH, "tmpfs", flags, None).during("mounting a scratch folder")
}

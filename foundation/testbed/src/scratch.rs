//! A scratch folder that goes with the process that made it, however that ends.
//!
//! A killed process removes nothing. So a second process makes the folder, waits until the other
//! end of a pipe is gone, and removes it.

use super::again;
use super::error::{During, Trouble};
use super::message::Role;
use std::fs::{DirBuilder, remove_dir_all};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::thread;
use std::time::Duration;

/// An empty folder for the files of a run, which no other user may read. It is gone when this is,
/// and when this process is.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    keeper: Child,
    life: Option<ChildStdin>,
}

impl Scratch {
    /// Makes a folder whose name begins with `prefix`, where temporary files are. The program must
    /// hand [`AGENT_COMMAND`](crate::message::AGENT_COMMAND) over to [`agent::main`](crate::agent::main).
    ///
    /// # Errors
    /// When there can be none.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let mut keeper = again::command(Role::Keeper)
            .arg(prefix)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Neither Ctrl-C in a terminal nor the end of its parent ends it.
            .process_group(0)
            .spawn()?;
        let life = keeper.stdin.take();
        let mut path = String::new();
        let said = keeper.stdout.take().expect("its standard output is a pipe");
        let read = BufReader::new(said).read_line(&mut path);
        let scratch = Scratch { path: path.trim_end().into(), keeper, life };
        match read {
            Ok(bytes) if bytes > 0 => Ok(scratch),
            Ok(_) => Err(io::Error::other("the process that keeps it ended at once")),
            Err(error) => Err(error),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.life = None;
        let _ = self.keeper.wait();
    }
}

/// How often it is tried to remove a folder in which programs that are being killed may still
/// write.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// Keeps a folder whose name begins with `prefix` until standard input ends.
pub(crate) fn keep(prefix: &str) -> Result<(), Trouble> {
    let path = made(prefix).during("making a scratch folder")?;
    // Where there is no listener any more the folder goes at once, as input has ended too.
    let _ = writeln!(io::stdout(), "{}", path.display());
    let _ = io::stdin().read_to_end(&mut Vec::new());
    for _ in 0..TRIES {
        match remove_dir_all(&path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) => thread::sleep(PAUSE),
        }
    }
    remove_dir_all(&path).during("removing a scratch folder")
}

/// A new folder: no two processes have a number at the same time, and one that was left behind by
/// another is not taken.
fn made(prefix: &str) -> io::Result<PathBuf> {
    let (folder, own) = (std::env::temp_dir(), std::process::id());
    let mut number = 0;
    loop {
        let path = folder.join(format!("{prefix}{own}-{number}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

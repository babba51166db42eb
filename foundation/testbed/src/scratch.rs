//! A scratch folder that disappears with its process.
//!
//! A killed process removes nothing, so a second process removes the folder when a pipe closes.

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

/// An empty folder, readable only by this user, removed with this value or this process.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    keeper: Child,
    life: Option<ChildStdin>,
}

impl Scratch {
    /// Creates a temporary folder with the prefix `prefix`. The program must call
    /// [`agent::main`](crate::agent::main) if its first argument is
    /// [`AGENT_COMMAND`](crate::message::AGENT_COMMAND).
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let mut keeper = again::command(Role::Keeper)
            .arg(prefix)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // The keeper must outlive Ctrl-C in a terminal and the end of its parent.
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

    /// Its path.
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

/// The number of attempts to remove a folder to which dying programs may still write.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

pub(crate) fn keep(prefix: &str) -> Result<(), Trouble> {
    let path = made(prefix).during("making a scratch folder")?;
    // If the parent has already ended, the write fails. Stdin is then closed, too, so the folder is
    // removed at once.
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

/// Creates a folder whose name has the process number, which is unique among running processes. An
/// existing folder is not reused.
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

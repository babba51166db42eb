//! A program under test, also at a terminal.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{self, Read};
use std::ops::{Deref, DerefMut};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

/// A program under test.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub file: &'static str,
    /// The folder for the program's cache.
    pub cache: &'static str,
}

impl Program {
    /// The command that runs the program without a terminal, colours, or the user's cache.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.file);
        command.env("NO_COLOR", "1").env("CI", "true").env("LC_ALL", "C.UTF-8").env("TERM", "xterm");
        command.env("XDG_CACHE_HOME", self.cache).env_remove("COLUMNS");
        command
    }

    /// Runs the program with `args`.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command().args(args).output().expect("the program starts")
    }
}

/// A started process. It is killed when this value is dropped, because a process that outlives a
/// failed test keeps the output of all tests open.
#[derive(Debug)]
pub struct Running(Option<Child>);

impl Running {
    /// Starts `command`.
    ///
    /// # Errors
    ///
    /// If the system cannot start the program.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(|child| Running(Some(child)))
    }

    /// Waits for the end of the process, and returns the outputs that are pipes.
    pub fn output(mut self) -> Output {
        self.0.take().expect(HELD).wait_with_output().expect("it is ours")
    }
}

const HELD: &str = "only `output` takes the process";

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().expect(HELD)
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().expect(HELD)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The text on stdout.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

/// The text on stderr.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are UTF-8")
}

/// The exit code.
#[track_caller]
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {}", stderr(output)))
}

/// Starts `command` at a separate terminal, and returns the terminal's other end. The terminal
/// belongs to no session, so no signal reports its closing.
pub fn at_a_terminal(command: &mut Command) -> (OwnedFd, Running) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
    let name = ptsname(&master, Vec::new()).expect("it has one").into_string().expect("ASCII");
    let mut options = File::options();
    let options =
        options.read(true).write(true).custom_flags(rustix::fs::OFlags::NOCTTY.bits().cast_signed());
    let end = options.open(name).expect("it was unlocked");
    let size = rustix::termios::Winsize { ws_col: 80, ws_row: 24, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&end, size).expect("it is a terminal");
    let copy = || end.try_clone().expect("a descriptor");
    command.env_remove("CI").stdin(copy()).stdout(copy()).stderr(copy());
    (master, Running::start(command).expect("the binary starts"))
}

/// Reads text from the terminal until `part` appears. `part` must be one word, because terminal
/// programs move the cursor instead of writing spaces.
pub fn seen(master: &OwnedFd, part: &str) -> String {
    const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };
    let mut master = File::from(master.try_clone().expect("a descriptor"));
    let (mut text, mut chunk) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&text).contains(part) {
        let ready =
            poll(&mut [PollFd::new(&master, PollFlags::IN)], Some(&PATIENCE)).expect("it can be polled");
        assert!(ready == 1, "no `{part}` within a minute: {}", String::from_utf8_lossy(&text));
        let count = master.read(&mut chunk).expect("it is written to");
        assert!(count > 0, "{}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&chunk[..count]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Repeats `call` if a signal interrupts it. A process that continues after a stop gets `EINTR`
/// from a socket with a timeout (signal(7)).
pub fn retried<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// Waits until `child` ends, and returns its exit code: after a signal, 128 plus the signal's
/// number, as in a shell.
#[allow(clippy::disallowed_methods, reason = "a real process takes real time")]
pub fn ends(mut child: Running) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return status.code().or_else(|| Some(128 + status.signal()?));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("a minute after its terminal was closed it still ran");
}

//! The guard: a small process that bridges the two interfaces in the kernel while the gateway is
//! dead or stuck.
//!
//! The guard runs the same program, started again before the gateway gives up its rights. It keeps
//! only CAP_NET_ADMIN, reads the gateway's heartbeat on its standard input, and answers on its
//! standard output. The guard removes its bridge and ends when the gateway ends on purpose, when a
//! gateway of the same name requests this, or on SIGTERM. If the guard is killed before it bridges,
//! the link fails closed.

use super::bridge::Bridge;
use super::error::ServiceError;
use super::heartbeat::{BEAT, END, OPENED, RESUME};
use super::log::say;
use super::place::Listener;
use super::rights;
use crate::config::user::User;
use fairwire_core::{Duration, Time};
use fairwire_linux::{clock, link};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read, write};
use serde::{Deserialize, Serialize};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;

pub(crate) const GUARD_COMMAND: &str = "gateway-guard";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct GuardParameters {
    pub name: String,
    pub inside: Watched,
    pub outside: Watched,
    /// The user that the guard becomes.
    pub user: Option<User>,
    pub watchdog_ms: u64,
    pub socket: PathBuf,
    pub is_filtered: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Watched {
    /// The name in the configuration.
    pub name: String,
    /// The interface's index when the gateway opened the interface.
    pub index: u32,
}

impl Watched {
    /// The interface's present index. The interface may have been renamed, or replaced by a new
    /// interface with the same name.
    fn index_now(&self) -> Result<u32, ServiceError> {
        let fail = |error| ServiceError::system(format!("looking for `{}`", self.name), error);
        if link::name_of(self.index).map_err(fail)?.is_some() {
            return Ok(self.index);
        }
        let found = link::index_of(&self.name).map_err(fail)?;
        found.ok_or_else(|| fail(std::io::ErrorKind::NotFound.into()))
    }
}

/// Runs a guard with the argument that follows [`GUARD_COMMAND`], and returns its exit code.
pub fn guard_main(parameters: &str) -> i32 {
    let Ok(parameters) = serde_json::from_str::<GuardParameters>(parameters) else {
        say(format_args!("`{GUARD_COMMAND}` is how a gateway starts its guard; do not run it yourself"));
        return 2;
    };
    match Guard::new(&parameters).and_then(Guard::watch) {
        Ok(()) => 0,
        Err(error) => {
            say(format_args!(
                "the guard of the gateway `{}` ends: {error}; the link fails closed",
                parameters.name
            ));
            1
        }
    }
}

/// The socket at which the guard of the gateway `name` accepts a request to end.
pub(super) fn socket_of(name: &str) -> PathBuf {
    super::place::folder().join(format!("{name}.guard"))
}

pub(super) fn start(parameters: &GuardParameters) -> Result<Child, ServiceError> {
    let fail = |error| ServiceError::system("starting the guard", error);
    let text = serde_json::to_string(parameters).map_err(|error| fail(error.into()))?;
    let program = std::env::current_exe().map_err(fail)?;
    let mut command = Command::new(program);
    command.args([GUARD_COMMAND, &text]).stdin(Stdio::piped()).stdout(Stdio::piped());
    // The guard has a separate process group, so Ctrl-C reaches only the gateway, which ends its
    // guard.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(fail)?;
    // The guard sends one byte when it is ready. If it fails, it closes the pipe.
    let mut ready = [0];
    let count = child.stdout.as_ref().map(|output| read(output, &mut ready));
    match count {
        Some(Ok(1)) => Ok(child),
        _ => {
            let _ = child.wait();
            Err(fail(std::io::Error::other("it ended at once; its own message says why")))
        }
    }
}

/// Makes an orphaned guard at `socket` end, and waits until its bridge is gone.
pub(super) fn request_leave(socket: &Path) -> Result<(), ServiceError> {
    let Ok(stream) = UnixStream::connect(socket) else { return Ok(()) };
    let fail = |error: std::io::Error| ServiceError::system("waiting for the former guard to leave", error);
    stream.set_read_timeout(Some(std::time::Duration::from_secs(5))).map_err(fail)?;
    // The guard closes the connection once its bridge is gone.
    std::io::copy(&mut &stream, &mut std::io::sink()).map(|_| ()).map_err(fail)
}

const LOOK: Duration = Duration::from_secs(1);

fn is_port(index: u32) -> bool {
    link::about(index).is_ok_and(|about| about.master.is_some())
}

struct Guard {
    parameters: GuardParameters,
    listener: Listener,
    ends: UnixStream,
    watchdog: Duration,
    heard: Time,
    bridge: Option<Bridge>,
    /// True once standard input is closed, which means that the gateway is gone.
    is_orphan: bool,
    /// The time of the next attempt to build the bridge, after an attempt failed.
    try_at: Time,
    look_at: Time,
    is_torn: bool,
}

#[derive(PartialEq, Eq)]
enum Then {
    GoOn,
    End,
}

impl Guard {
    fn new(parameters: &GuardParameters) -> Result<Self, ServiceError> {
        let fail = |error| ServiceError::system("listening to signals", error);
        let (ends, written) = UnixStream::pair().map_err(fail)?;
        for signal in [libc::SIGTERM, libc::SIGINT] {
            let pipe = written.try_clone().map_err(fail)?;
            signal_hook::low_level::pipe::register(signal, pipe).map_err(fail)?;
        }
        // SIGHUP is ignored, so a closing terminal ends the gateway but not its guard.
        signal_hook::flag::register(libc::SIGHUP, std::sync::Arc::new(AtomicBool::new(false)))
            .map_err(fail)?;
        let listener = Listener::bind(&parameters.socket, None)?;
        rights::keep_only(rights::GUARD, parameters.user.as_ref())?;
        // The only file that the guard needs is its socket, which it removes.
        let folder = parameters.socket.parent().map(Path::to_owned);
        rights::confine(&rights::Files { write: folder.into_iter().collect(), ..Default::default() })?;
        if parameters.is_filtered {
            rights::filter_system_calls()?;
        }
        write(std::io::stdout(), &[BEAT])
            .map_err(|error| ServiceError::system("answering the gateway", error))?;
        let now = clock::now();
        Ok(Guard {
            parameters: parameters.clone(),
            listener,
            ends,
            watchdog: Duration::from_ms(parameters.watchdog_ms),
            heard: now,
            bridge: None,
            is_orphan: false,
            try_at: now,
            look_at: now,
            is_torn: false,
        })
    }

    fn watch(mut self) -> Result<(), ServiceError> {
        loop {
            let now = clock::now();
            let is_silent = self.is_orphan || now.since(self.heard) >= self.watchdog;
            if is_silent && self.bridge.is_none() && now >= self.try_at {
                self.open(now);
            }
            if self.bridge.is_some() && now >= self.look_at {
                self.look(now);
            }
            if self.wait(now)? == Then::End {
                self.close("a new gateway requested it");
                return Ok(());
            }
        }
    }

    fn wait(&mut self, now: Time) -> Result<Then, ServiceError> {
        let input = std::io::stdin();
        let mut events =
            vec![PollFd::new(&self.listener.socket, PollFlags::IN), PollFd::new(&self.ends, PollFlags::IN)];
        if !self.is_orphan {
            events.push(PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN));
        }
        let due = match self.bridge {
            Some(_) => self.look_at,
            None => (self.heard + self.watchdog).max(self.try_at),
        };
        let timeout = clock::timespec(due.since(now).ns() + 100_000);
        match poll(&mut events, Some(&timeout)) {
            Err(Errno::INTR) | Ok(0) => return Ok(Then::GoOn),
            outcome => outcome.map_err(|error| ServiceError::system("waiting", error))?,
        };
        let has =
            |place: usize| events.get(place).is_some_and(|event: &PollFd<'_>| !event.revents().is_empty());
        let (is_called, is_signalled, has_input) = (has(0), has(1), has(2));
        drop(events);
        if is_called && let Ok((stream, _)) = self.listener.socket.accept() {
            // A live gateway keeps its name locked, so the caller replaces a dead gateway. The
            // connection closes when the bridge is gone.
            self.close("another gateway takes over");
            drop(stream);
            return Ok(Then::End);
        }
        if is_signalled {
            return Ok(Then::End);
        }
        if has_input { Ok(self.hear()) } else { Ok(Then::GoOn) }
    }

    fn hear(&mut self) -> Then {
        let mut bytes = [0; 256];
        match read(std::io::stdin(), &mut bytes) {
            Ok(0) | Err(Errno::PIPE | Errno::CONNRESET) => self.is_orphan = true,
            Ok(count) => {
                let bytes = &bytes[..count];
                if bytes.contains(&END) {
                    return Then::End;
                }
                self.heard = clock::now();
                let was_open = self.bridge.is_some();
                self.close("the gateway forwards again");
                if bytes.contains(&RESUME) {
                    // The write fails if the gateway does not read, because it is stuck again.
                    let _ = write(std::io::stdout(), &[if was_open { OPENED } else { RESUME }]);
                }
            }
            Err(_) => {}
        }
        Then::GoOn
    }

    fn open(&mut self, now: Time) {
        let GuardParameters { name, inside, outside, .. } = &self.parameters;
        let why = if self.is_orphan { "is gone" } else { "is silent" };
        let bridge = inside.index_now().and_then(|inside| Bridge::make(inside, outside.index_now()?));
        let (inside, outside) = (&inside.name, &outside.name);
        match bridge {
            Ok(bridge) => {
                say(format_args!(
                    "the gateway `{name}` {why}: {inside} and {outside} are bridged by {}, unshaped, until it is back",
                    bridge.name
                ));
                self.bridge = Some(bridge);
                (self.look_at, self.is_torn) = (now + LOOK, false);
            }
            Err(error) => {
                say(format_args!(
                    "the gateway `{name}` {why}, and {inside} and {outside} cannot be bridged: {error}"
                ));
                self.try_at = now + Duration::from_secs(1);
            }
        }
    }

    /// Rebuilds the bridge if an interface left it by being removed and created again.
    fn look(&mut self, now: Time) {
        self.look_at = now + LOOK;
        let Some(ports) = self.bridge.as_ref().map(|bridge| bridge.ports) else { return };
        let watched = [self.parameters.inside.clone(), self.parameters.outside.clone()];
        for (watched, port) in watched.into_iter().zip(ports) {
            let name = &watched.name;
            match watched.index_now() {
                // An interface that was created again may have the same index, but is in no bridge.
                Ok(index) if index == port && is_port(index) => {}
                Ok(_) => {
                    self.close(&format!("{name} was made again"));
                    return self.open(now);
                }
                Err(_) => {
                    if !self.is_torn {
                        say(format_args!("{name} is gone: nothing passes until it is made again"));
                    }
                    return self.is_torn = true;
                }
            }
        }
    }

    fn close(&mut self, why: &str) {
        let Some(bridge) = self.bridge.take() else { return };
        let outcome = match bridge.remove() {
            Ok(()) => "is gone".to_owned(),
            Err(error) => format!("could not be removed: {error}"),
        };
        say(format_args!("{why}: the bridge {} {outcome}", bridge.name));
    }
}

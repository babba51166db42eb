//! Starts the gateway's guard, and waits for its end.

use super::error::ServiceError;
use super::guard::{self, GuardParameters, Watched};
use super::heartbeat::END;
use super::pace::watchdog;
use crate::config::Config;
use crate::config::backend::BackendKind;
use crate::config::spec::OnFailure;
use crate::config::user::User;
use fairwire_core::Time;
use fairwire_linux::clock;
use rustix::io::{ioctl_fionbio, write};
use std::os::fd::OwnedFd;
use std::process::Child;

pub(super) struct GuardPipes {
    pub to_guard: OwnedFd,
    pub from_guard: OwnedFd,
    /// The time at which the guard was started. The guard's watchdog starts at this time or later.
    pub since: Time,
}

/// A started guard. Dropping a `Guarding` that still has its pipes and its child ends the guard. So
/// a gateway that never forwarded leaves no bridge.
pub(super) struct Guarding {
    pipes: Option<GuardPipes>,
    /// The guard's process; `None` if another process started it.
    child: Option<Child>,
}

impl Guarding {
    pub(super) fn start(
        config: &Config,
        is_filtered: bool,
        user: Option<&User>,
    ) -> Result<Option<Self>, ServiceError> {
        let spec = config.spec();
        // On a router the kernel forwards without help once the gateway's tables are gone.
        if spec.safety.on_failure != OnFailure::Open || spec.wire.backend.kind() == BackendKind::Router {
            return Ok(None);
        }
        let watched = |name: &String| -> Result<Watched, ServiceError> {
            let index = fairwire_linux::link::index_of(name)
                .and_then(|index| index.ok_or(std::io::ErrorKind::NotFound.into()))
                .map_err(|error| ServiceError::system(format!("looking for `{name}`"), error))?;
            Ok(Watched { name: name.clone(), index })
        };
        let since = clock::now();
        let mut child = guard::start(&GuardParameters {
            name: spec.name.clone(),
            inside: watched(spec.wire.inside.first())?,
            outside: watched(&spec.wire.outside)?,
            user: user.cloned(),
            watchdog_ms: watchdog(&spec.safety).ns() / 1_000_000,
            socket: guard::socket_of(&spec.name),
            is_filtered,
        })?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were made pipes");
        };
        let pipes = GuardPipes { to_guard: to.into(), from_guard: from.into(), since };
        for pipe in [&pipes.to_guard, &pipes.from_guard] {
            ioctl_fionbio(pipe, true).map_err(|error| ServiceError::system("preparing a pipe", error))?;
        }
        Ok(Some(Guarding { pipes: Some(pipes), child: Some(child) }))
    }

    pub(super) fn handed_over(pipes: GuardPipes) -> Self {
        Guarding { pipes: Some(pipes), child: None }
    }

    pub(super) fn copies(&self) -> Option<GuardPipes> {
        let GuardPipes { to_guard, from_guard, since } = self.pipes.as_ref()?;
        let (to_guard, from_guard) = (to_guard.try_clone().ok()?, from_guard.try_clone().ok()?);
        Some(GuardPipes { to_guard, from_guard, since: *since })
    }

    /// Takes the pipes for the heartbeat. From then on only the heartbeat ends the guard.
    pub(super) fn take_pipes(&mut self) -> Option<GuardPipes> {
        self.pipes.take()
    }

    /// Waits until the guard has ended. The guard must already know that the gateway ends.
    pub(super) fn see_out(mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}

impl Drop for Guarding {
    fn drop(&mut self) {
        if let (Some(pipes), Some(child)) = (self.pipes.take(), &mut self.child) {
            let _ = write(&pipes.to_guard, &[END]);
            drop(pipes);
            let _ = child.wait();
        }
    }
}

//! Notifies the service manager with sd_notify(3), if `NOTIFY_SOCKET` names its socket.
//!
//! A process is ready when all its gateways are ready, and alive while all remaining gateways are
//! alive.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Arc, Mutex, PoisonError};
#[derive(Debug)]
pub(super) struct Notifier {
    manager: Option<(UnixDatagram, SocketAddr)>,
    /// Does this process replace the process that the manager started?
    is_heir: bool,
    members: Mutex<Vec<Member>>,
}

#[derive(Debug)]
struct Member {
    name: String,
    phase: Phase,
    status: String,
    /// Has the gateway been alive since the last `WATCHDOG=1`?
    is_alive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Starting,
    Forwarding,
    Reloading,
    Ended,
}

impl Notifier {
    pub(super) fn from_environment(names: Vec<String>) -> Self {
        let manager = std::env::var("NOTIFY_SOCKET").ok().and_then(|name| open(&name));
        Notifier::new(manager, names)
    }

    pub(super) fn into_heir(self) -> Self {
        Notifier { is_heir: true, ..self }
    }

    fn new(manager: Option<(UnixDatagram, SocketAddr)>, names: Vec<String>) -> Self {
        let member =
            |name| Member { name, phase: Phase::Starting, status: "starting".to_owned(), is_alive: false };
        Notifier { manager, is_heir: false, members: Mutex::new(names.into_iter().map(member).collect()) }
    }

    pub(super) fn reporters(self: &Arc<Self>) -> Vec<Reporter> {
        let count = self.members.lock().unwrap_or_else(PoisonError::into_inner).len();
        (0..count).map(|place| Reporter { notifier: self.clone(), place }).collect()
    }

    /// Reports that the process is ready although the gateways still wait, so other services can
    /// start.
    pub(super) fn waiting(&self, status: &str) {
        self.say(&format!("READY=1\nSTATUS={status}"));
    }

    /// Reports that the process is alive although it has no gateway yet.
    pub(super) fn alive(&self) {
        self.say("WATCHDOG=1");
    }

    fn say(&self, text: &str) {
        if let Some((socket, address)) = &self.manager {
            // The gateway continues to forward even if the manager does not listen.
            let _ = socket.send_to_addr(text.as_bytes(), address);
        }
    }
}

fn open(name: &str) -> Option<(UnixDatagram, SocketAddr)> {
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    Some((socket, address.ok()?))
}

#[derive(Debug)]
pub(super) struct Reporter {
    notifier: Arc<Notifier>,
    place: usize,
}

impl Reporter {
    pub(super) fn ready(&self, status: &str) {
        let is_heir = self.notifier.is_heir;
        self.report(|members, place| {
            (members[place].phase, members[place].status) = (Phase::Forwarding, status.to_owned());
            let is_ready = |member: &Member| matches!(member.phase, Phase::Forwarding | Phase::Ended);
            let process = if is_heir { format!("MAINPID={}\n", std::process::id()) } else { String::new() };
            members.iter().all(is_ready).then(|| format!("READY=1\n{process}STATUS={}", status_of(members)))
        });
    }

    pub(super) fn reloading(&self) {
        self.report(|members, place| {
            members[place].phase = Phase::Reloading;
            let now_us = fairwire_linux::clock::now().ns() / 1000;
            Some(format!("RELOADING=1\nMONOTONIC_USEC={now_us}"))
        });
    }

    pub(super) fn stopping(&self) {
        self.report(|members, place| {
            let before = std::mem::replace(&mut members[place].phase, Phase::Ended);
            members[place].status = "ended".to_owned();
            let has_ended = |member: &Member| member.phase == Phase::Ended;
            match members.iter().all(has_ended) {
                _ if before == Phase::Ended => None,
                true => Some("STOPPING=1".to_owned()),
                false => Some(format!("STATUS={}", status_of(members))),
            }
        });
    }

    /// Stops reporting, since the process that took over reports.
    pub(super) fn leave(&self) {
        self.report(|members, place| {
            members[place].phase = Phase::Ended;
            None
        });
    }

    pub(super) fn alive(&self) {
        self.report(|members, place| {
            members[place].is_alive = true;
            let is_alive = |member: &Member| member.is_alive || member.phase == Phase::Ended;
            members.iter().all(is_alive).then(|| {
                members.iter_mut().for_each(|member| member.is_alive = false);
                "WATCHDOG=1".to_owned()
            })
        });
    }

    fn report(&self, change: impl FnOnce(&mut [Member], usize) -> Option<String>) {
        let mut members = self.notifier.members.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = change(&mut members, self.place) {
            self.notifier.say(&text);
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.stopping();
    }
}

fn status_of(members: &[Member]) -> String {
    match members {
        [only] => only.status.clone(),
        all => {
            let each: Vec<String> =
                all.iter().map(|member| format!("{}: {}", member.name, member.status)).collect();
            each.join("; ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager(test: &str, names: &[&str]) -> (UnixDatagram, Vec<Reporter>) {
        let name = format!("fairwire-notify-{test}-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a short name");
        let manager = UnixDatagram::bind_addr(&address).expect("the name is free");
        manager.set_nonblocking(true).expect("a socket");
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let notifier = Arc::new(Notifier::new(open(&format!("@{name}")), names));
        (manager, notifier.reporters())
    }

    fn heard(manager: &UnixDatagram) -> Option<String> {
        let mut text = [0; 200];
        let count = manager.recv(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text[..count]).into_owned())
    }

    #[test]
    fn a_manager_with_an_abstract_socket_is_notified() {
        let (manager, reporters) = manager("one", &["home"]);
        reporters[0].ready("forwarding");
        assert_eq!(heard(&manager).as_deref(), Some("READY=1\nSTATUS=forwarding"));
        reporters[0].alive();
        assert_eq!(heard(&manager).as_deref(), Some("WATCHDOG=1"));
        drop(reporters);
        assert_eq!(heard(&manager).as_deref(), Some("STOPPING=1"));
    }

    #[test]
    fn a_process_is_ready_with_all_gateways_and_stops_with_the_last() {
        let (manager, mut reporters) = manager("two", &["a", "b"]);
        reporters[0].ready("forwarding");
        assert_eq!(heard(&manager), None, "the other one has not begun");
        reporters[1].ready("forwarding");
        assert_eq!(heard(&manager).as_deref(), Some("READY=1\nSTATUS=a: forwarding; b: forwarding"));
        reporters[0].alive();
        reporters[0].alive();
        assert_eq!(heard(&manager), None, "the other one may be stuck");
        reporters[1].alive();
        assert_eq!(heard(&manager).as_deref(), Some("WATCHDOG=1"));
        let last = reporters.pop().expect("there are two");
        drop(reporters);
        assert_eq!(heard(&manager).as_deref(), Some("STATUS=a: ended; b: forwarding"));
        last.alive();
        assert_eq!(heard(&manager).as_deref(), Some("WATCHDOG=1"), "one that has ended is not waited for");
        last.stopping();
        drop(last);
        assert_eq!(heard(&manager).as_deref(), Some("STOPPING=1"));
        assert_eq!(heard(&manager), None, "once");
    }
}

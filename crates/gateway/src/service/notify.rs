//! Notifies the service manager: sd_notify(3), if `NOTIFY_SOCKET` names its socket.
//!
//! Several gateways of one process are one service: it is ready, alive or stopping when all are.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Arc, Mutex, PoisonError};

/// Notifies the service manager, if there is one, for one gateway of this process.
#[derive(Debug)]
pub(super) struct Notifier {
    manager: Option<Arc<Manager>>,
    /// The number of the gateway.
    number: usize,
}

#[derive(Debug)]
struct Manager {
    socket: UnixDatagram,
    address: SocketAddr,
    said: Mutex<Vec<Said>>,
}

/// What a gateway has to say.
#[derive(Clone, Debug, Default)]
struct Said {
    is_ready: bool,
    status: String,
    /// Since the manager was notified last.
    is_alive: bool,
    is_stopping: bool,
}

impl Notifier {
    /// One for each of `count` gateways, to the socket that the environment names.
    pub(super) fn from_environment(count: usize) -> Vec<Self> {
        let name = std::env::var("NOTIFY_SOCKET").ok();
        let manager = name.and_then(|name| Manager::open(&name, count)).map(Arc::new);
        (0..count).map(|number| Notifier { manager: manager.clone(), number }).collect()
    }

    /// Packets are being forwarded.
    pub(super) fn ready(&self, status: &str) {
        self.note(
            |said| (said.is_ready, said.status) = (true, status.to_owned()),
            |said| {
                let status: Vec<&str> = said.iter().map(|said| said.status.as_str()).collect();
                let is_ready = said.iter().all(|said| said.is_ready);
                is_ready.then(|| format!("READY=1\nSTATUS={}", status.join("; ")))
            },
        );
    }

    /// It waits for what may never come: nothing else is to wait for it.
    pub(super) fn waiting(&self, status: &str) {
        self.note(|_| (), |_| Some(format!("READY=1\nSTATUS={status}")));
    }

    /// The same, and lives.
    pub(super) fn waits_on(&self) {
        self.note(|_| (), |_| Some("WATCHDOG=1".to_owned()));
    }

    /// A new configuration is being read.
    pub(super) fn reloading(&self) {
        let now_us = fairwire_linux::clock::now().ns() / 1000;
        self.note(|_| (), |_| Some(format!("RELOADING=1\nMONOTONIC_USEC={now_us}")));
    }

    /// The gateway is about to end.
    pub(super) fn stopping(&self) {
        self.note(
            |said| said.is_stopping = true,
            |said| said.iter().all(|said| said.is_stopping).then(|| "STOPPING=1".to_owned()),
        );
    }

    /// The datapath is alive.
    pub(super) fn alive(&self) {
        self.note(
            |said| said.is_alive = true,
            |said| {
                // One that has ended by itself is missed by its own log.
                let are_alive = said.iter().all(|said| said.is_alive || said.is_stopping);
                are_alive.then(|| {
                    said.iter_mut().for_each(|said| said.is_alive = false);
                    "WATCHDOG=1".to_owned()
                })
            },
        );
    }

    /// Has `note` take down what this gateway says, and sends what follows from what all said.
    fn note(&self, note: impl FnOnce(&mut Said), follows: impl FnOnce(&mut [Said]) -> Option<String>) {
        let Some(manager) = &self.manager else { return };
        let mut said = manager.said.lock().unwrap_or_else(PoisonError::into_inner);
        note(&mut said[self.number]);
        if let Some(text) = follows(&mut said) {
            // A manager that does not listen is no reason to stop forwarding.
            let _ = manager.socket.send_to_addr(text.as_bytes(), &manager.address);
        }
    }
}

impl Manager {
    fn open(name: &str, count: usize) -> Option<Self> {
        let address = match name.strip_prefix('@') {
            Some(name) => SocketAddr::from_abstract_name(name),
            None => SocketAddr::from_pathname(name),
        };
        let socket = UnixDatagram::unbound().ok()?;
        socket.set_nonblocking(true).ok()?;
        Some(Manager { socket, address: address.ok()?, said: Mutex::new(vec![Said::default(); count]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_with_an_abstract_socket_is_notified_when_all_have_something_to_say() {
        let name = format!("fairwire-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a short name");
        let manager = UnixDatagram::bind_addr(&address).expect("the name is free");
        manager.set_nonblocking(true).expect("it can be");
        let heard = || {
            let mut text = [0; 100];
            manager.recv(&mut text).map(|count| String::from_utf8_lossy(&text[..count]).into_owned()).ok()
        };
        let shared = Manager::open(&format!("@{name}"), 2).map(Arc::new);
        let [one, two] = [0, 1].map(|number| Notifier { manager: shared.clone(), number });
        one.ready("one forwards");
        assert_eq!(heard(), None, "the other does not");
        two.ready("two forwards");
        assert_eq!(heard().as_deref(), Some("READY=1\nSTATUS=one forwards; two forwards"));
        one.alive();
        one.alive();
        assert_eq!(heard(), None);
        two.alive();
        assert_eq!((heard().as_deref(), heard()), (Some("WATCHDOG=1"), None));
        two.stopping();
        one.alive();
        assert_eq!(heard().as_deref(), Some("WATCHDOG=1"), "one goes on alone");
        one.stopping();
        assert_eq!(heard().as_deref(), Some("STOPPING=1"));
    }
}

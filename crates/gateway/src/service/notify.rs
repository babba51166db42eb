//! Notifies the service manager: sd_notify(3), if `NOTIFY_SOCKET` names its socket.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Notifies the service manager, if there is one.
#[derive(Debug)]
pub(super) struct Notifier(Option<(UnixDatagram, SocketAddr)>);

impl Notifier {
    /// To the socket that the environment names.
    pub(super) fn from_environment() -> Self {
        Notifier(std::env::var("NOTIFY_SOCKET").ok().and_then(|name| Self::open(&name)))
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

    /// Packets are being forwarded.
    pub(super) fn ready(&self, status: &str) {
        self.say(&format!("READY=1\nSTATUS={status}"));
    }

    /// A new configuration is being read.
    pub(super) fn reloading(&self) {
        let now_us = fairwire_linux::clock::now().ns() / 1000;
        self.say(&format!("RELOADING=1\nMONOTONIC_USEC={now_us}"));
    }

    /// The process is about to end.
    pub(super) fn stopping(&self) {
        self.say("STOPPING=1");
    }

    /// The datapath is alive.
    pub(super) fn alive(&self) {
        self.say("WATCHDOG=1");
    }

    fn say(&self, text: &str) {
        if let Some((socket, address)) = &self.0 {
            // A manager that does not listen is no reason to stop forwarding.
            let _ = socket.send_to_addr(text.as_bytes(), address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_with_an_abstract_socket_is_notified() {
        let name = format!("fairwire-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a short name");
        let manager = UnixDatagram::bind_addr(&address).expect("the name is free");
        let notifier = Notifier(Notifier::open(&format!("@{name}")));
        notifier.ready("forwarding");
        let mut text = [0; 100];
        let count = manager.recv(&mut text).expect("it was notified");
        assert_eq!(&text[..count], b"READY=1\nSTATUS=forwarding");
    }
}

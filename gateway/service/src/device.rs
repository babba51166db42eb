//! Locks an interface against other gateways of any user, folder and name. The kernel holds the
//! lock.

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A lock on an interface: a socket named after the interface's index. The index and the socket's
/// name are valid only within a network namespace. The lock ends with the process.
#[derive(Debug)]
pub(crate) struct DeviceLock {
    socket: OwnedFd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder(String);

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

fn address(index: u32) -> io::Result<SocketAddrUnix> {
    Ok(SocketAddrUnix::new_abstract_name(format!("fairwire-interface-{index}").as_bytes())?)
}

fn socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

impl DeviceLock {
    /// Locks the interface with this index. Returns `None` if another process has the lock.
    pub(crate) fn take(index: u32) -> io::Result<Option<Self>> {
        let socket = socket()?;
        match bind(&socket, &address(index)?) {
            Ok(()) => {
                // The kernel reports the holder to any process that connects. No bytes are ever
                // sent.
                listen(&socket, 1)?;
                Ok(Some(DeviceLock { socket }))
            }
            Err(Errno::ADDRINUSE) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl DeviceLock {
    pub(crate) fn handed_over(socket: OwnedFd) -> io::Result<Self> {
        // The kernel reports the process that called listen(2) last.
        listen(&socket, 1)?;
        Ok(DeviceLock { socket })
    }
}

impl AsFd for DeviceLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

pub(crate) fn holder(index: u32) -> Option<Holder> {
    let socket = socket().ok()?;
    match connect(&socket, &address(index).ok()?) {
        Ok(()) => {
            let pid = getsockopt(&socket, PeerCredentials).map_or(0, |peer| peer.pid());
            Some(Holder(called(pid)))
        }
        // The queue of connections is full, so another process has the lock.
        Err(Errno::AGAIN) => Some(Holder(called(0))),
        Err(_) => None,
    }
}

fn called(pid: i32) -> String {
    // The process is in a PID namespace invisible from here, such as the host's.
    if pid == 0 {
        return "another gateway, whose process cannot be seen from here".into();
    }
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let line = fairwire_document::shortened(line.trim());
    if line.is_empty() { format!("process {pid}") } else { format!("process {pid} (`{line}`)") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_one_named_holder_until_its_release() {
        // No interface, and no simultaneous test, uses this index.
        let index = 0x4000_0000 + std::process::id();
        assert_eq!(holder(index), None);
        let lock = DeviceLock::take(index).expect("a socket").expect("it is free");
        assert!(DeviceLock::take(index).expect("a socket").is_none());
        let mine = format!("process {} (`", std::process::id());
        assert!(holder(index).is_some_and(|holder| holder.to_string().starts_with(&mine)));
        for _ in 0..5 {
            assert!(holder(index).is_some(), "however many have connected");
        }
        drop(lock);
        assert_eq!(holder(index), None);
        assert!(DeviceLock::take(index).expect("a socket").is_some());
    }
}

//! Views for other processes on this machine, over an abstract socket, which leaves no file.

use crate::view::View;
use std::io::{self, BufRead, BufReader, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The connections to the processes that watch this process. The watching processes run as the same
/// user or as root, in the same network namespace.
#[derive(Clone, Debug)]
pub struct Watched(Arc<Mutex<Vec<UnixStream>>>);

const MAX_VIEWERS: usize = 16;
const NAME: &str = "fairwire-lab-shell-";
/// The list of sockets of this network namespace.
const SOCKETS: &str = "/proc/self/net/unix";

impl Watched {
    pub(super) fn serve() -> io::Result<Self> {
        let name = format!("{NAME}{}", std::process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
        let watched = Watched(Arc::default());
        let viewers = watched.clone();
        let accept = move || {
            for viewer in listener.incoming().flatten() {
                viewers.add(viewer);
            }
        };
        thread::Builder::new().name("watched".into()).spawn(accept)?;
        Ok(watched)
    }

    /// Adds `viewer` if its process runs as this process's user or as root. An abstract socket has
    /// no file permissions, so the kernel identifies the user.
    fn add(&self, viewer: UnixStream) {
        let is_own = rustix::net::sockopt::socket_peercred(&viewer)
            .is_ok_and(|peer| peer.uid == rustix::process::getuid() || peer.uid.is_root());
        let mut viewers = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A viewer that does not read is dropped, because packets must never wait for it.
        if is_own && viewers.len() < MAX_VIEWERS && viewer.set_nonblocking(true).is_ok() {
            viewers.push(viewer);
        }
    }

    /// Does anyone watch?
    pub(super) fn has_viewers(&self) -> bool {
        !self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_empty()
    }

    pub(super) fn show(&self, view: View) {
        let line = serde_json::to_string(&view).expect("a view is plain data") + "\n";
        let mut viewers = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        viewers.retain_mut(|viewer| viewer.write_all(line.as_bytes()).is_ok());
    }
}

/// The ids of the watchable processes in this network namespace.
pub fn running() -> Vec<u32> {
    let sockets = std::fs::read_to_string(SOCKETS).unwrap_or_default();
    let names = sockets.lines().filter_map(|line| line.rsplit_once(&format!("@{NAME}")));
    let mut all: Vec<u32> = names.filter_map(|(_, number)| number.trim().parse().ok()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The views of process `number`, until it ends or sends none for 10 s.
///
/// # Errors
/// If no watchable process has this number.
pub fn views(number: u32) -> io::Result<impl Iterator<Item = View> + Send> {
    let address = SocketAddr::from_abstract_name(format!("{NAME}{number}"))?;
    let stream = UnixStream::connect_addr(&address)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let lines = BufReader::new(stream).lines();
    Ok(lines.map_while(Result::ok).map_while(|line| serde_json::from_str(&line).ok()))
}

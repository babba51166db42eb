//! A host that takes every TCP connection, whatever its address, and has this process make the like
//! from its own network: what a user without rights can have in place of a route.
//!
//! What is between the command and this host is as it would be: the kernel's TCP at both ends. What
//! is behind it is another connection, which the kernel copies from and to. Of datagrams only
//! requests for names pass, to the address of the host.

use super::enclosure::Place;
use super::error::{During, Trouble};
use super::host::Host;
use super::nat::redirect_connections;
use fairwire_linux::nftables::Nftables;
use rustix::net::sockopt::{ip_original_dst, set_socket_linger};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Such a host.
#[derive(Debug)]
pub struct Relay {
    connections: TcpListener,
    names: UdpSocket,
    /// Its address, which means this machine.
    address: Ipv4Addr,
    _rules: Nftables,
    _host: Host,
}

/// Connections at a time; and requests for names.
const MAX_AT_ONCE: usize = 2000;
/// How long another host may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(20);
/// How long a name server may take.
const ANSWER: Duration = Duration::from_secs(5);
const NAMES_PORT: u16 = 53;
/// The longest answer of a name server over UDP, bytes.
const MAX_ANSWER: usize = 65_535;

impl Relay {
    /// One at `host`, where this thread is, whose device has the address outside of `place`.
    pub(crate) fn new(host: Host, place: Place) -> Result<Self, Trouble> {
        let address = place.outside();
        let connections =
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).during("listening for connections")?;
        let port = connections.local_addr().during("listening for connections")?.port();
        let rules = redirect_connections(&place.name(), port)?;
        let names = UdpSocket::bind((address, NAMES_PORT)).during("listening for requests of names")?;
        Ok(Relay { connections, names, address, _rules: rules, _host: host })
    }

    /// Relays from now on, by threads of this process, in the network namespace of this thread.
    pub fn serve(&self) -> Result<(), Trouble> {
        let (connections, address) = (self.connections.try_clone().during("relaying")?, self.address);
        let accept = move || {
            let running = Arc::new(AtomicUsize::new(0));
            for connection in connections.incoming().flatten() {
                bounded(&running, move || relayed(&connection, address));
            }
        };
        thread::Builder::new().name("relay".into()).spawn(accept).during("relaying")?;
        serve_names(self.names.try_clone().during("relaying")?)
    }
}

/// Answers requests for names at `socket` by those of this machine's name server, by threads of
/// this process.
pub fn serve_names(socket: UdpSocket) -> Result<(), Trouble> {
    let serve = move || {
        let running = Arc::new(AtomicUsize::new(0));
        let mut bytes = vec![0; MAX_ANSWER];
        while let Ok((count, from)) = socket.recv_from(&mut bytes) {
            let Ok(socket) = socket.try_clone() else { continue };
            let request = bytes[..count].to_vec();
            bounded(&running, move || {
                if let Ok(answer) = answer(&request) {
                    let _ = socket.send_to(&answer, from); // it may have given up
                }
            });
        }
    };
    thread::Builder::new().name("names".into()).spawn(serve).during("answering for the name server")?;
    Ok(())
}

/// Listens for requests of names at this address of this machine.
///
/// # Errors
/// Where a name server of the machine does.
pub fn listen_for_names(address: Ipv4Addr) -> io::Result<UdpSocket> {
    UdpSocket::bind((address, NAMES_PORT))
}

/// This machine's first name server.
pub fn name_server() -> Option<IpAddr> {
    let text = std::fs::read_to_string("/etc/resolv.conf").ok()?;
    text.lines().find_map(|line| line.trim().strip_prefix("nameserver")?.trim().parse().ok())
}

/// Does `work` in a thread of its own, unless there are too many already.
fn bounded(running: &Arc<AtomicUsize>, work: impl FnOnce() + Send + 'static) {
    if running.fetch_add(1, Ordering::Relaxed) >= MAX_AT_ONCE {
        running.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let count = Arc::clone(running);
    let started = thread::Builder::new().spawn(move || {
        work();
        count.fetch_sub(1, Ordering::Relaxed);
    });
    if started.is_err() {
        running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Makes the like of `connection` from here, and copies both ways until both have ended.
fn relayed(connection: &TcpStream, own: Ipv4Addr) {
    let Ok(there) = ip_original_dst(connection).and_then(|there| {
        let address = target(there, own);
        TcpStream::connect_timeout(&address, CONNECT).map_err(|_| rustix::io::Errno::CONNREFUSED)
    }) else {
        // It is refused, as far as that is possible by now: reset, and not closed.
        let _ = set_socket_linger(connection, Some(Duration::ZERO));
        return;
    };
    let _ = connection.set_nodelay(true);
    let _ = there.set_nodelay(true);
    thread::scope(|scope| {
        scope.spawn(|| copy(connection, &there));
        copy(&there, connection);
    });
}

/// The address of the host itself means this machine's own services.
fn target(there: SocketAddrV4, own: Ipv4Addr) -> SocketAddr {
    let ip = if *there.ip() == own { Ipv4Addr::LOCALHOST } else { *there.ip() };
    SocketAddr::from((ip, there.port()))
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    // A connection that breaks ends here too, and the other way notices by itself.
    let copied = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
    if copied.is_err() {
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}

/// What this machine's name server answers.
fn answer(request: &[u8]) -> io::Result<Vec<u8>> {
    let server = name_server().ok_or(io::ErrorKind::NotFound)?;
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.set_read_timeout(Some(ANSWER))?;
    socket.connect((server, NAMES_PORT))?;
    socket.send(request)?;
    let mut bytes = vec![0; MAX_ANSWER];
    let count = socket.recv(&mut bytes)?;
    bytes.truncate(count);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_the_relay_means_this_machine_and_any_other_itself() {
        let own = Ipv4Addr::new(100, 64, 0, 1);
        let of = |ip, port| target(SocketAddrV4::new(ip, port), own).to_string();
        assert_eq!(of(own, 80), "127.0.0.1:80");
        assert_eq!(of(Ipv4Addr::new(192, 0, 2, 7), 443), "192.0.2.7:443");
    }
}

//! A host that accepts TCP connections to any address, for users without the rights to create a
//! route. For each connection, this process opens a second connection in its network, and passes
//! the data between the two.
//!
//! If a connection's data is incomplete, the connection is reset, even if this process is killed.
//! The only datagrams that pass are DNS requests to the host's address.

use super::enclosure::Place;
use super::error::{During, Trouble};
use super::host::Host;
use super::nat::redirect_connections;
use fairwire_linux::nftables::Nftables;
use rustix::io::retry_on_intr;
use rustix::net::sockopt::{ip_original_dst, set_socket_linger};
use rustix::net::{RecvFlags, recv};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{io, thread};

/// A relaying host.
#[derive(Debug)]
pub struct Relay {
    connections: TcpListener,
    names: UdpSocket,
    /// The host's address. Connections to this address reach this machine's loopback address.
    address: Ipv4Addr,
    sending: Arc<AtomicUsize>,
    _rules: Nftables,
    _host: Host,
}

/// The maximum number of simultaneous connections, and of simultaneous DNS requests.
const MAX_AT_ONCE: usize = 2000;
const CONNECT: Duration = Duration::from_secs(20);
/// The time limit for a name server.
const ANSWER: Duration = Duration::from_secs(5);
const NAMES_PORT: u16 = 53;
/// The longest UDP answer, bytes.
const MAX_ANSWER: usize = 65_535;

impl Relay {
    /// Creates a relay. This thread must be at `host`, whose device must have the outside address
    /// of `place`.
    pub(crate) fn new(host: Host, place: Place) -> Result<Self, Trouble> {
        let address = place.outside();
        let connections =
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).during("listening for connections")?;
        let port = connections.local_addr().during("listening for connections")?.port();
        let rules = redirect_connections(&place.name(), port)?;
        let names = UdpSocket::bind((address, NAMES_PORT)).during("listening for requests of names")?;
        Ok(Relay { connections, names, address, sending: Arc::default(), _rules: rules, _host: host })
    }

    /// Starts threads that relay connections and DNS requests in this thread's network namespace.
    pub fn serve(&self) -> Result<(), Trouble> {
        let (connections, address) = (self.connections.try_clone().during("relaying")?, self.address);
        let sending = Arc::clone(&self.sending);
        let accept = move || {
            let running = Arc::new(AtomicUsize::new(0));
            for connection in connections.incoming().flatten() {
                let sending = Sending::new(&sending);
                bounded(&running, move || relayed(&connection, address, sending));
            }
        };
        thread::Builder::new().name("relay".into()).spawn(accept).during("relaying")?;
        serve_names(self.names.try_clone().during("relaying")?)
    }

    /// The number of connections whose opener may still send data, or has sent data not yet passed
    /// on.
    pub fn sending(&self) -> usize {
        self.sending.load(Ordering::Relaxed)
    }
}

struct Sending(Arc<AtomicUsize>);

impl Sending {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Sending(Arc::clone(count))
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts threads that answer DNS requests at `socket` through this machine's name server.
pub fn serve_names(socket: UdpSocket) -> Result<(), Trouble> {
    let serve = move || {
        let running = Arc::new(AtomicUsize::new(0));
        let mut bytes = vec![0; MAX_ANSWER];
        while let Ok((count, from)) = socket.recv_from(&mut bytes) {
            let Ok(socket) = socket.try_clone() else { continue };
            let request = bytes[..count].to_vec();
            bounded(&running, move || {
                if let Ok(answer) = answer(&request) {
                    let _ = socket.send_to(&answer, from); // the client may have given up
                }
            });
        }
    };
    thread::Builder::new().name("names".into()).spawn(serve).during("answering for the name server")?;
    Ok(())
}

/// Listens for DNS requests at this address of this machine.
///
/// # Errors
/// If a name server of the machine already listens there.
pub fn listen_for_names(address: Ipv4Addr) -> io::Result<UdpSocket> {
    UdpSocket::bind((address, NAMES_PORT))
}

/// This machine's first name server.
pub fn name_server() -> Option<IpAddr> {
    let text = std::fs::read_to_string("/etc/resolv.conf").ok()?;
    text.lines().find_map(|line| line.trim().strip_prefix("nameserver")?.trim().parse().ok())
}

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

fn relayed(connection: &TcpStream, own: Ipv4Addr, sending: Sending) {
    // With a linger time of zero, dropping `connection` resets it. `copy` clears the linger time
    // when the data ends normally.
    let _ = set_socket_linger(connection, Some(Duration::ZERO));
    let Ok(there) = ip_original_dst(connection).and_then(|there| {
        let address = target(there, own);
        TcpStream::connect_timeout(&address, CONNECT).map_err(|_| rustix::io::Errno::CONNREFUSED)
    }) else {
        return; // refused, as far as still possible
    };
    let _ = set_socket_linger(&there, Some(Duration::ZERO));
    let _ = connection.set_nodelay(true);
    let _ = there.set_nodelay(true);
    let [up, down] = [const { AtomicBool::new(false) }; 2];
    thread::scope(|scope| {
        let (up, down, there) = (&up, &down, &there);
        scope.spawn(move || {
            copy((connection, there), up, down);
            drop(sending);
        });
        copy((there, connection), down, up);
    });
}

fn target(there: SocketAddrV4, own: Ipv4Addr) -> SocketAddr {
    let ip = if *there.ip() == own { Ipv4Addr::LOCALHOST } else { *there.ip() };
    SocketAddr::from((ip, there.port()))
}

/// Copies the data of one direction. Sets `has_ended` after a normal end; `other_has` is
/// `has_ended` of the other direction.
fn copy((mut from, mut to): (&TcpStream, &TcpStream), has_ended: &AtomicBool, other_has: &AtomicBool) {
    let copied = io::copy(&mut from, &mut to);
    // The kernel reports a reset to one thread. The other thread reads a normal end, but its socket
    // has no peer. Two normal ends also leave no peer, so `other_has` is checked first.
    let has_peer = || from.peer_addr().is_ok();
    if copied.is_ok() && (other_has.load(Ordering::SeqCst) || has_peer()) {
        has_ended.store(true, Ordering::SeqCst);
        let _ = to.shutdown(Shutdown::Write);
        let _ = set_socket_linger(to, None);
    } else {
        // The shutdown wakes the other direction's thread; both connections are then reset.
        let _ = from.shutdown(Shutdown::Read);
        let _ = to.shutdown(Shutdown::Read);
    }
}

fn answer(request: &[u8]) -> io::Result<Vec<u8>> {
    let server = name_server().ok_or(io::ErrorKind::NotFound)?;
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.set_read_timeout(Some(ANSWER))?;
    socket.connect((server, NAMES_PORT))?;
    socket.send(request)?;
    let mut bytes = vec![0; MAX_ANSWER];
    // A stopped process gets `EINTR` here when it continues.
    let (_, count) = retry_on_intr(|| recv(&socket, &mut bytes[..], RecvFlags::empty()))?;
    bytes.truncate(count);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_relay_address_maps_to_this_machine_and_others_stay() {
        let own = Ipv4Addr::new(100, 64, 0, 1);
        let of = |ip, port| target(SocketAddrV4::new(ip, port), own).to_string();
        assert_eq!(of(own, 80), "127.0.0.1:80");
        assert_eq!(of(Ipv4Addr::new(192, 0, 2, 7), 443), "192.0.2.7:443");
    }
}

//! Limits the number of a server's connections.
//!
//! At the limit, a new connection replaces the oldest connection of the network with the most
//! connections. Connections of permitted clients are replaced last. So a client that keeps
//! connections open takes room only from its network.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

const MAX_CONNECTIONS: usize = 64;

/// The state of a connection, shared with the handlers of its requests.
#[derive(Debug, Default)]
pub struct Marks {
    /// True once a request of the client has been permitted.
    pub may_read: AtomicBool,
    /// The last time the client took data of its stream, in milliseconds of the monotonic clock; 0
    /// without a stream.
    pub taken_at_ms: AtomicU64,
}

/// The present connections, oldest first.
#[derive(Default)]
pub(super) struct Connections(Vec<Connection>);

struct Connection {
    network: IpAddr,
    marks: Arc<Marks>,
    state: State,
}

enum State {
    New(TcpStream),
    Served(AbortHandle),
}

impl Connections {
    pub(super) fn add(&mut self, peer: IpAddr, stream: TcpStream) {
        self.make_room();
        self.0.push(Connection { network: network(peer), marks: Arc::default(), state: State::New(stream) });
    }

    pub(super) fn serve(&mut self, serve: &mut dyn FnMut(TcpStream, Arc<Marks>) -> AbortHandle) {
        let all = std::mem::take(&mut self.0).into_iter();
        let served = all.map(|connection| match connection.state {
            State::New(stream) => {
                let state = State::Served(serve(stream, connection.marks.clone()));
                Connection { state, ..connection }
            }
            State::Served(_) => connection,
        });
        self.0 = served.collect();
    }

    fn make_room(&mut self) {
        if self.0.len() < MAX_CONNECTIONS {
            return;
        }
        self.0.retain(|connection| !connection.is_over());
        if self.0.len() < MAX_CONNECTIONS {
            return;
        }
        let may_read = |connection: &Connection| connection.marks.may_read.load(Ordering::Relaxed);
        let victim = self
            .oldest_of_most(&|connection| !may_read(connection))
            .or_else(|| self.oldest_of_most(&may_read));
        if let Some(victim) = victim
            && let State::Served(task) = self.0.remove(victim).state
        {
            task.abort();
        }
    }

    fn oldest_of_most(&self, wanted: &dyn Fn(&Connection) -> bool) -> Option<usize> {
        let of = |network: IpAddr| {
            self.0.iter().filter(|connection| wanted(connection) && connection.network == network).count()
        };
        let connections = self.0.iter().enumerate().filter(|(_, connection)| wanted(connection));
        // `min_by_key` returns the first of equals, the oldest connection, unlike `max_by_key`.
        connections.min_by_key(|(_, connection)| usize::MAX - of(connection.network)).map(|(at, _)| at)
    }
}

impl Connection {
    fn is_over(&self) -> bool {
        matches!(&self.state, State::Served(task) if task.is_finished())
    }
}

/// The network of an address: an IPv4 address itself, or the first 64 bits of an IPv6 address,
/// since one host can use all addresses with these bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & u128::MAX << 64).into(),
        ipv4 => ipv4,
    }
}

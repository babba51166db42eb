//! TCP: one thread that reads all connections of a host, and one that writes them.

use super::{Slots, Stage};
use crate::Fallible;
use crate::traffic::{Flow, Sends, TCP_PORT, flow_of, port_of};
use fairwire_core::{Duration, Time};
use fairwire_gateway::clock;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;

/// Events fetched at once.
const BATCH: usize = 256;
/// How often threads look whether the run is over.
const TICK_NS: u64 = 20_000_000;
const CHUNK: usize = 256 * 1024;

/// Which of `epoll`'s sockets are ready, by their numbers.
fn ready(epoll: &OwnedFd, timeout_ns: u64) -> Fallible<Vec<u64>> {
    let mut events = Vec::with_capacity(BATCH);
    let timeout = Timespec { tv_sec: 0, tv_nsec: timeout_ns.min(TICK_NS) as _ };
    match epoll::wait(epoll, spare_capacity(&mut events), Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(events.iter().map(|event| event.data.u64()).collect()),
        Err(error) => Err(error.into()),
    }
}

/// Takes connections and reads them.
pub(super) struct Reader {
    stage: Arc<Stage>,
    epoll: OwnedFd,
    listener: TcpListener,
    /// By flow.
    connections: Vec<Option<TcpStream>>,
    counts: Vec<Slots>,
}

/// The number of the listener among the sockets.
const LISTENER: u64 = u64::MAX;

impl Reader {
    pub(super) fn listen(stage: &Arc<Stage>) -> Fallible<Reader> {
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, TCP_PORT))?;
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        let flows = stage.traffic.flows.len();
        let connections = (0..flows).map(|_| None).collect();
        let counts = vec![stage.empty(); flows];
        Ok(Reader { stage: Arc::clone(stage), epoll, listener, connections, counts })
    }

    /// Until the run is over: payload by flow and slot.
    pub(super) fn run(mut self) -> Fallible<Vec<Slots>> {
        let mut data = vec![0; CHUNK];
        while !self.stage.is_over() {
            for number in ready(&self.epoll, TICK_NS)? {
                match number {
                    LISTENER => self.accept()?,
                    flow => self.read(flow as usize, &mut data),
                }
            }
        }
        Ok(self.counts)
    }

    fn accept(&mut self) -> Fallible<()> {
        while let Ok((stream, peer)) = self.listener.accept() {
            let Some(flow) = flow_of(peer.port(), self.connections.len()) else { continue };
            stream.set_nonblocking(true)?;
            epoll::add(&self.epoll, &stream, EventData::new_u64(flow as u64), EventFlags::IN)?;
            self.connections[flow] = Some(stream);
        }
        Ok(())
    }

    /// A connection that ends or fails is forgotten: it shows as a flow of which nothing more arrives.
    fn read(&mut self, flow: usize, data: &mut [u8]) {
        let Some(stream) = &mut self.connections[flow] else { return };
        match stream.read(data) {
            Ok(0) => self.connections[flow] = None,
            Ok(bytes) => {
                if let Some(slot) = self.stage.slot(clock::now()) {
                    self.counts[flow][slot] += bytes as u64;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.connections[flow] = None,
        }
    }
}

/// Writes endless data into connections.
pub(super) struct Writer {
    stage: Arc<Stage>,
    /// By flow; none where this host does not send it, or it is over.
    connections: Vec<Option<TcpStream>>,
}

/// Connections made at once: each thread makes one after another.
const CONNECTORS: usize = 16;
/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(20);

impl Writer {
    /// Makes the connections of all flows that this host sends.
    pub(super) fn connect(stage: &Arc<Stage>) -> Fallible<Writer> {
        let mut connections: Vec<Option<TcpStream>> = stage.traffic.flows.iter().map(|_| None).collect();
        let all: Vec<(usize, &Flow, &str)> = stage
            .sent()
            .filter_map(|(number, flow)| match &flow.sends {
                Sends::Tcp(control) => Some((number, flow, control.as_str())),
                _ => None,
            })
            .collect();
        let made = thread::scope(|scope| {
            let threads: Vec<_> = (0..CONNECTORS)
                .map(|first| {
                    let own: Vec<_> = all.iter().skip(first).step_by(CONNECTORS).copied().collect();
                    scope.spawn(move || own.into_iter().map(connected).collect::<Fallible<Vec<_>>>())
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("connecting does not panic"))
                .collect::<Vec<_>>()
        });
        for part in made {
            for (flow, stream) in part? {
                connections[flow] = Some(stream);
            }
        }
        Ok(Writer { stage: Arc::clone(stage), connections })
    }

    /// Until the run is over.
    pub(super) fn run(mut self) -> Fallible<()> {
        let start = self.stage.start();
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let mut waiting: Vec<(Time, usize)> = Vec::new();
        for (flow, _) in self.connections.iter().enumerate().filter(|(_, stream)| stream.is_some()) {
            waiting.push((start + Duration::from_ns(self.stage.traffic.flows[flow].start_ns), flow));
        }
        waiting.sort_unstable_by(|a, b| b.cmp(a)); // the last is the first to begin
        let stops: Vec<Time> =
            self.stage.traffic.flows.iter().map(|flow| start + Duration::from_ns(flow.stop_ns)).collect();
        let data = vec![0; CHUNK];
        while !self.stage.is_over() {
            let now = clock::now();
            while let Some((_, flow)) = waiting.pop_if(|(begin, _)| *begin <= now) {
                if let Some(stream) = &self.connections[flow] {
                    epoll::add(&epoll, stream, EventData::new_u64(flow as u64), EventFlags::OUT)?;
                }
            }
            let next = waiting.last().map_or(TICK_NS, |(begin, _)| begin.since(now).ns());
            for flow in ready(&epoll, next)? {
                self.write(flow as usize, stops[flow as usize], &data);
            }
        }
        Ok(())
    }

    /// Closing takes it off the list of what is waited for.
    fn write(&mut self, flow: usize, stop: Time, data: &[u8]) {
        let Some(stream) = &mut self.connections[flow] else { return };
        if clock::now() >= stop {
            self.connections[flow] = None;
            return;
        }
        match stream.write(data) {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.connections[flow] = None,
        }
    }
}

fn connected((number, flow, control): (usize, &Flow, &str)) -> Fallible<(usize, TcpStream)> {
    let until = clock::now() + PATIENCE;
    loop {
        match try_to_connect(number, flow, control) {
            Ok(stream) => return Ok((number, stream)),
            Err(error) if clock::now() > until => {
                return Err(format!(
                    "connecting flow {number} ({} to {}): {error}",
                    flow.source, flow.destination
                )
                .into());
            }
            Err(_) => clock::sleep_until(clock::now() + Duration::from_ms(50)),
        }
    }
}

/// The congestion control is chosen before the connection stands: BBR, a common default, would leave its pacing behind.
fn try_to_connect(number: usize, flow: &Flow, control: &str) -> std::io::Result<TcpStream> {
    let family = if flow.source.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_congestion(&socket, control)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddr::new(flow.source, port_of(number)))?;
    connect(&socket, &SocketAddr::new(flow.destination, TCP_PORT))?;
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(true)?;
    Ok(stream)
}

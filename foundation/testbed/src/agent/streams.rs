//! TCP: one thread that reads all connections of a host, and one that writes to them.

use super::stage::{Slots, Stage};
use crate::bed::Side;
use crate::error::{During, Trouble};
use crate::traffic::{Flow, Sends, TCP_PORT, TcpSample, everywhere, flow_of, port_of};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::tcp_info::tcp_info;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, listen, socket_with, sockopt};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::{fs, thread};

const BATCH: usize = 256;
/// The interval at which threads check for the end of the run.
const TICK_NS: u64 = 20_000_000;
const CHUNK: usize = 256 * 1024;

fn ready(epoll: &OwnedFd, timeout_ns: u64) -> io::Result<Vec<u64>> {
    let mut events = Vec::with_capacity(BATCH);
    let timeout = Timespec { tv_sec: 0, tv_nsec: timeout_ns.min(TICK_NS).cast_signed() };
    match epoll::wait(epoll, spare_capacity(&mut events), Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(events.iter().map(|event| event.data.u64()).collect()),
        Err(error) => Err(error.into()),
    }
}

/// Accepts and reads connections. Passes an accepted connection to the [`Writer`] if this host
/// sends the flow, or the connection carries a conversation.
pub(super) struct Reader {
    opened_for_us: Sender<(usize, TcpStream)>,
    stage: Arc<Stage>,
    epoll: OwnedFd,
    listener: TcpListener,
    /// Per flow.
    connections: Vec<Option<TcpStream>>,
    counts: Vec<Slots>,
}

/// The maximum backlog: Linux's limit (`net.core.somaxconn`).
///
/// With `std`'s 128, a thousand simultaneous handshakes lose connections: some last packets find no
/// room. A host that only receives never retransmits this packet.
const BACKLOG: i32 = 4096;

const LISTENER: u64 = u64::MAX;

impl Reader {
    pub(super) fn listen(stage: &Arc<Stage>) -> io::Result<(Reader, Receiver<(usize, TcpStream)>)> {
        let listener = TcpListener::bind(&everywhere(TCP_PORT)[..])?;
        listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        let flows = stage.traffic.flows.len();
        let connections = (0..flows).map(|_| None).collect();
        let counts = vec![stage.empty(); flows];
        let (opened_for_us, opened) = channel();
        let reader = Reader { opened_for_us, stage: Arc::clone(stage), epoll, listener, connections, counts };
        Ok((reader, opened))
    }

    pub(super) fn add(&mut self, opened: Vec<Connection>) -> io::Result<()> {
        opened.into_iter().try_for_each(|(flow, stream)| self.read_from(flow, stream))
    }

    fn read_from(&mut self, flow: usize, stream: TcpStream) -> io::Result<()> {
        epoll::add(&self.epoll, &stream, EventData::new_u64(flow as u64), EventFlags::IN)?;
        self.connections[flow] = Some(stream);
        Ok(())
    }

    /// Returns the payload per flow and slot.
    pub(super) fn run(mut self) -> io::Result<Vec<Slots>> {
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

    fn accept(&mut self) -> io::Result<()> {
        while let Ok((stream, peer)) = self.listener.accept() {
            let Some(flow) = flow_of(peer.port(), self.connections.len()) else { continue };
            stream.set_nonblocking(true)?;
            let Flow { from, sends, .. } = &self.stage.traffic.flows[flow];
            if *from == self.stage.side || matches!(sends, Sends::Talk { .. }) {
                if let Some(control) = sends.control() {
                    sockopt::set_tcp_congestion(&stream, control)?;
                }
                stream.set_nodelay(matches!(sends, Sends::Talk { .. }))?;
                let _ = self.opened_for_us.send((flow, stream));
            } else {
                self.read_from(flow, stream)?;
            }
        }
        Ok(())
    }

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

pub(super) type Connection = (usize, TcpStream);

/// The number of threads that open connections. It is large, so that flows do not wait for each
/// other's round trips.
const CONNECTORS: usize = 200;
const PATIENCE: Duration = Duration::from_secs(20);

/// The setting that decides whether TCP requests ECN when it opens a connection (ip-sysctl(5)). By
/// default, the accepting host agrees.
const REQUESTS_ECN: &str = "/proc/sys/net/ipv4/tcp_ecn";

/// Opens the connections of all flows that the side `from` sends and this host must open.
pub(super) fn connect_all(stage: &Stage, from: Side) -> Result<Vec<Connection>, Trouble> {
    let mut connections = connect_some(stage, from, false)?;
    if stage.traffic.flows.iter().any(|flow| flow.ecn) {
        let usual = fs::read(REQUESTS_ECN).during("reading whether TCP requests ECN")?;
        fs::write(REQUESTS_ECN, "1").during("making TCP request ECN")?;
        connections.extend(connect_some(stage, from, true)?);
        fs::write(REQUESTS_ECN, usual).during("making TCP no longer request ECN")?;
    }
    Ok(connections)
}

fn connect_some(stage: &Stage, from: Side, ecn: bool) -> Result<Vec<Connection>, Trouble> {
    let flows = stage.traffic.flows.iter().enumerate().filter(|(_, flow)| flow.ecn == ecn);
    let flows = flows.filter(|(_, flow)| flow.from == from && flow.is_opened_by(stage.side));
    let all: Vec<(usize, &Flow, &str)> = flows
        .filter_map(|(number, flow)| flow.sends.control().map(|control| (number, flow, control)))
        .collect();
    let made = thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTORS.min(all.len()))
            .map(|first| {
                let own: Vec<_> = all.iter().skip(first).step_by(CONNECTORS).copied().collect();
                scope.spawn(move || own.into_iter().map(connected).collect::<Result<Vec<_>, Trouble>>())
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("connecting does not panic"))
            .collect::<Vec<_>>()
    });
    Ok(made.into_iter().collect::<Result<Vec<_>, Trouble>>()?.into_iter().flatten().collect())
}

/// Writes unlimited data or conversations to connections, and samples their state.
pub(super) struct Writer {
    stage: Arc<Stage>,
    /// Per flow.
    samples: Vec<Vec<TcpSample>>,
    /// Per flow; `None` if this host does not write to the flow, or the flow has ended.
    connections: Vec<Option<TcpStream>>,
    /// Connections that other hosts opened for this host to write to.
    opened: Receiver<Connection>,
}

impl Writer {
    pub(super) fn new(stage: &Arc<Stage>, own: Vec<Connection>, opened: Receiver<Connection>) -> Writer {
        let mut connections: Vec<Option<TcpStream>> = stage.traffic.flows.iter().map(|_| None).collect();
        own.into_iter().for_each(|(flow, stream)| connections[flow] = Some(stream));
        let samples = connections.iter().map(|_| Vec::new()).collect();
        Writer { stage: Arc::clone(stage), samples, connections, opened }
    }

    pub(super) fn run(mut self) -> io::Result<Vec<Vec<TcpSample>>> {
        let start = self.stage.start();
        let every = self.stage.traffic.tcp_every_ns.map(|ns| Duration::from_ns(ns.max(1)));
        let mut samples_at = every.map_or(Time::MAX, |every| start + every);
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let mut waiting: Vec<(Time, usize)> = Vec::new();
        for (flow, _) in self.connections.iter().enumerate().filter(|(_, stream)| stream.is_some()) {
            waiting.push((start + Duration::from_ns(self.stage.traffic.flows[flow].start_ns), flow));
        }
        waiting.sort_unstable_by(|a, b| b.cmp(a)); // the last starts first
        let stops: Vec<Time> =
            self.stage.traffic.flows.iter().map(|flow| start + Duration::from_ns(flow.stop_ns)).collect();
        let data = vec![0; CHUNK];
        while !self.stage.is_over() {
            for (flow, stream) in self.opened.try_iter() {
                self.connections[flow] = Some(stream);
                waiting.push((start + Duration::from_ns(self.stage.traffic.flows[flow].start_ns), flow));
                waiting.sort_unstable_by(|a, b| b.cmp(a));
            }
            let now = clock::now();
            while let Some((begin, flow)) = waiting.pop_if(|(begin, _)| *begin <= now) {
                if let Sends::Talk { every_ns, .. } = self.stage.traffic.flows[flow].sends {
                    if begin < stops[flow] && self.talk(flow) {
                        waiting.push((begin + Duration::from_ns(every_ns.max(1)), flow));
                        waiting.sort_unstable_by(|a, b| b.cmp(a));
                    }
                } else if let Some(stream) = &self.connections[flow] {
                    epoll::add(&epoll, stream, EventData::new_u64(flow as u64), EventFlags::OUT)?;
                }
            }
            if let Some(every) = every
                && now >= samples_at
            {
                self.sample(samples_at.since(start))?;
                while samples_at <= now {
                    samples_at += every;
                }
            }
            let next = waiting.last().map_or(samples_at, |(begin, _)| samples_at.min(*begin));
            for flow in ready(&epoll, next.max(now).since(now).ns())? {
                self.write(flow as usize, stops[flow as usize], &data);
            }
        }
        Ok(self.samples)
    }

    fn sample(&mut self, at: Duration) -> io::Result<()> {
        let flows = self.stage.traffic.flows.iter().zip(&self.connections).zip(&mut self.samples);
        for ((flow, stream), samples) in flows {
            if let Some(stream) = stream
                && flow.start_ns <= at.ns()
                && at.ns() < flow.stop_ns
            {
                samples.push(TcpSample::new(at.ns(), &tcp_info(stream)?));
            }
        }
        Ok(())
    }

    fn talk(&mut self, flow: usize) -> bool {
        let Sends::Talk { payload, .. } = self.stage.traffic.flows[flow].sends else { return false };
        let Some(stream) = &mut self.connections[flow] else { return false };
        let mut heard = [0; 4096];
        let is_alive = |done: &io::Result<usize>| {
            matches!(done, Ok(1..)) || done.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        };
        let both = [stream.read(&mut heard), stream.write(&vec![0; payload as usize])];
        both.iter().all(is_alive)
    }

    /// Writes `data` to the flow's connection. Closes the connection after `stop` or an error.
    /// Closing also ends the polling of the connection.
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

fn connected((number, flow, control): (usize, &Flow, &str)) -> Result<Connection, Trouble> {
    let until = clock::now() + PATIENCE;
    loop {
        match try_to_connect(number, flow, control) {
            Ok(stream) => return Ok((number, stream)),
            Err(error) if clock::now() > until => {
                let what = format!("connecting flow {number} ({} to {})", flow.source, flow.destination);
                return Err(Trouble::new(what, &error));
            }
            Err(_) => clock::sleep_until(clock::now() + Duration::from_ms(50)),
        }
    }
}

/// Connects a flow. Sets the congestion control before connecting, because a later change from BBR,
/// a common default, would leave BBR's pacing active.
fn try_to_connect(number: usize, flow: &Flow, control: &str) -> io::Result<TcpStream> {
    let family = if flow.source.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_congestion(&socket, control)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    let (own, peer) = match flow.receiver_behind {
        None => (flow.source, flow.destination),
        Some(_) => (flow.destination, flow.source),
    };
    bind(&socket, &SocketAddr::new(own, port_of(number)))?;
    connect(&socket, &SocketAddr::new(peer, TCP_PORT))?;
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(true)?;
    stream.set_nodelay(matches!(flow.sends, Sends::Talk { .. }))?;
    Ok(stream)
}

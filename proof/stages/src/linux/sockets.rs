//! The guest's sockets in a contest. They send with the kernel's TCPs, and watch both ends of the
//! bottleneck.
//!
//! A single thread does everything. The virtual clock stops while this thread works, so everything
//! that it observes has happened at the current time.

use super::contest::{Class, Contest};
use super::network::{ARRIVALS, Hosts, LEFT, RECEIVER, change_rate, from_senders, sender};
use super::program::Fallible;
use super::tally::Tally;
use super::watched::WatchedPackets;
use fairwire_core::{Duration, Rate, Time, Transmitter};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::Port;
use fairwire_testbed::traffic::Sends;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrAny, SocketFlags, SocketType, accept_with, bind, connect,
    getpeername, listen, recvfrom, send, socket_with, sockopt,
};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// The source port of flow 0. The other flows have the next ports.
const FIRST_PORT: u16 = 10_001;
/// The destination port of class 0. The other classes have the next ports.
const SERVICE: u16 = 5_001;
/// The time after the run within which every queued packet leaves or is dropped.
const DRAIN: Duration = Duration::from_secs(2);
const CHUNK: usize = 1 << 16;

pub(super) fn contest(contest: &Contest, network: &Hosts, progress: &mut dyn FnMut(f64)) -> Fallible<Tally> {
    let mut sockets = Sockets::open(contest, network)?;
    let mut alarm = Alarm::new()?;
    while !sockets.is_over() {
        let ready = sockets.wait(&mut alarm)?;
        sockets.change_rate(contest, network)?;
        sockets.watch(&ready)?;
        sockets.receive(&ready)?;
        sockets.accept(&ready)?;
        sockets.send(network, &ready)?;
        progress(sockets.done());
    }
    sockets.tally()
}

struct Sockets {
    began: Time,
    duration: Duration,
    /// The times at which the bottleneck's rate changes, and the new rates, bit/s.
    changes: VecDeque<(Time, u64)>,
    entries: Vec<AfPacket>,
    exit: AfPacket,
    /// The socket at the receivers' end of the wire behind the bottleneck, if that wire has faults.
    end: Option<AfPacket>,
    sources: Vec<Source>,
    listeners: Vec<OwnedFd>,
    datagrams: OwnedFd,
    connections: Vec<(usize, OwnedFd)>,
    chunk: Vec<u8>,
    seen: WatchedPackets,
}

struct Source {
    sends: Sends,
    class: usize,
    start: Time,
    socket: Option<OwnedFd>,
    /// The pace of a datagram source.
    pace: Option<Transmitter>,
}

impl Sockets {
    fn open(contest: &Contest, network: &Hosts) -> Fallible<Sockets> {
        network.router.enter()?;
        let entries = (0..contest.classes.len())
            .map(|class| AfPacket::open(&from_senders(class)))
            .collect::<Result<_, _>>()?;
        network.receiver.enter()?;
        let arrivals = AfPacket::open(ARRIVALS.name)?;
        let (exit, end) = match &network.wire {
            Some(wire) => (wire.at(|| AfPacket::open(LEFT.name))?, Some(arrivals)),
            None => (arrivals, None),
        };
        let services = contest.classes.iter().enumerate();
        let listeners =
            services.map(|(class, group)| listener(class, &group.sends)).collect::<Fallible<_>>()?;
        let datagrams = socket(SocketType::DGRAM)?;
        bind(&datagrams, &address(RECEIVER, SERVICE))?;
        let began = clock::now();
        let members =
            (0..).zip(&contest.classes).flat_map(|(class, group)| vec![(class, group); group.flows]);
        let source = |((class, group), start): ((usize, &Class), &u64)| Source {
            sends: group.sends.clone(),
            class,
            start: began + Duration::from_ns(*start),
            socket: None,
            pace: match group.sends {
                Sends::Udp { bps, .. } => Rate::from_bps(bps).map(Transmitter::new),
                _ => None,
            },
        };
        let sources: Vec<Source> = members.zip(&contest.starts).map(source).collect();
        let measured = began + contest.warm_up()..began + contest.duration();
        let mut seen = WatchedPackets::new(FIRST_PORT, sources.len(), measured);
        if let Some(faults) = &contest.faults {
            seen = seen.with_wire(faults.reorder.map(|(_, by)| Duration::from_ns(by / 2)));
        }
        let (connections, chunk) = (Vec::new(), vec![0; CHUNK]);
        let duration = contest.duration();
        let changes =
            contest.changes.iter().map(|(at, bps)| (began + Duration::from_ns(*at), *bps)).collect();
        Ok(Sockets {
            began,
            duration,
            changes,
            entries,
            exit,
            end,
            sources,
            listeners,
            datagrams,
            connections,
            chunk,
            seen,
        })
    }

    fn is_over(&self) -> bool {
        self.done() >= 1.0
    }

    fn done(&self) -> f64 {
        clock::now().since(self.began).secs() / (self.duration + DRAIN).secs()
    }

    /// Waits until a socket or the alarm is ready. Returns all ready sockets, because system calls
    /// are slow in the guest.
    fn wait(&self, alarm: &mut Alarm) -> Fallible<Ready> {
        let next = self.sources.iter().filter_map(Source::due).min().unwrap_or(Time::MAX);
        let next = self.changes.front().map_or(next, |(at, _)| next.min(*at));
        alarm.set(next.min(self.began + self.duration + DRAIN))?;
        let mut waits = vec![
            PollFd::new(&self.exit, PollFlags::IN),
            PollFd::new(&self.datagrams, PollFlags::IN),
            PollFd::new(&alarm.timer, PollFlags::IN),
        ];
        waits.extend(self.end.iter().map(|end| PollFd::new(end, PollFlags::IN)));
        waits.extend(self.entries.iter().map(|entry| PollFd::new(entry, PollFlags::IN)));
        waits.extend(self.listeners.iter().map(|listener| PollFd::new(listener, PollFlags::IN)));
        waits.extend(self.connections.iter().map(|(_, socket)| PollFd::new(socket, PollFlags::IN)));
        let streams = self.sources.iter().filter_map(Source::stream);
        waits.extend(streams.map(|socket| PollFd::new(socket, PollFlags::OUT)));
        poll(&mut waits, None)?;
        let mut is_ready = waits.iter().map(|wait| !wait.revents().is_empty());
        let exit = is_ready.next() == Some(true);
        let datagrams = is_ready.next() == Some(true);
        let _alarm = is_ready.next();
        let end = self.end.is_some() && is_ready.next() == Some(true);
        Ok(Ready {
            exit,
            end,
            datagrams,
            entries: is_ready.by_ref().take(self.entries.len()).collect(),
            listeners: is_ready.by_ref().take(self.listeners.len()).collect(),
            connections: is_ready.by_ref().take(self.connections.len()).collect(),
            sources: self
                .sources
                .iter()
                .map(|source| source.stream().is_some() && is_ready.next() == Some(true))
                .collect(),
        })
    }

    fn change_rate(&mut self, contest: &Contest, network: &Hosts) -> Fallible<()> {
        while let Some((_, bps)) = self.changes.front().filter(|(at, _)| *at <= clock::now()) {
            change_rate(contest, &network.router, *bps)?;
            self.changes.pop_front();
        }
        Ok(())
    }

    fn watch(&mut self, ready: &Ready) -> Fallible<()> {
        let now = clock::now();
        for (entry, _) in self.entries.iter_mut().zip(&ready.entries).filter(|(_, is_ready)| **is_ready) {
            let seen = &mut self.seen;
            entry.receive(&mut |frame, _| {
                seen.passing(frame).into_iter().for_each(|packet| seen.came(packet, now));
            })?;
        }
        if ready.exit {
            let seen = &mut self.seen;
            self.exit.receive(&mut |frame, _| {
                seen.passing(frame).into_iter().for_each(|packet| seen.left(packet, now));
            })?;
        }
        if let Some(end) = self.end.as_mut().filter(|_| ready.end) {
            let seen = &mut self.seen;
            end.receive(&mut |frame, _| {
                seen.passing(frame).into_iter().for_each(|packet| seen.arrived(packet, now));
            })?;
        }
        Ok(())
    }

    fn accept(&mut self, ready: &Ready) -> Fallible<()> {
        for (listener, _) in self.listeners.iter().zip(&ready.listeners).filter(|(_, is_ready)| **is_ready) {
            while let Some(socket) = unless_busy(accept_with(listener, SocketFlags::NONBLOCK))? {
                sockopt::set_socket_linger(&socket, Some(std::time::Duration::ZERO))?;
                let flow = flow_of(Some(getpeername(&socket)?.ok_or("a connection without a peer")?));
                self.connections.push((flow.ok_or("a connection of a stranger")?, socket));
            }
        }
        Ok(())
    }

    fn receive(&mut self, ready: &Ready) -> Fallible<()> {
        let now = clock::now();
        let mut count = |flow: usize, bytes: usize| self.seen.delivered(flow, bytes as u64, now);
        for ((flow, socket), _) in self.connections.iter().zip(&ready.connections).filter(|(_, is)| **is) {
            match unless_busy(rustix::io::read(socket, &mut self.chunk))? {
                Some(0) => return Err(format!("flow {flow} ended early").into()),
                bytes => count(*flow, bytes.unwrap_or(0)),
            }
        }
        if ready.datagrams
            && let Some((bytes, _, from)) =
                unless_busy(recvfrom(&self.datagrams, &mut self.chunk, RecvFlags::empty()))?
        {
            count(flow_of(from).ok_or("a datagram of a stranger")?, bytes);
        }
        Ok(())
    }

    fn send(&mut self, network: &Hosts, ready: &Ready) -> Fallible<()> {
        let now = clock::now();
        for (flow, source) in self.sources.iter_mut().enumerate() {
            if source.socket.is_none() && source.start <= now {
                network.senders[source.class].enter()?;
                source.socket = Some(opened(source, flow)?);
            }
            let Some(socket) = &source.socket else { continue };
            let (Some(pace), Sends::Udp { payload, counted, .. }) = (&mut source.pace, &source.sends) else {
                if ready.sources[flow] {
                    unless_busy(rustix::io::write(socket, &self.chunk))?;
                }
                continue;
            };
            while pace.is_free(now) {
                let _ = unless_busy(send(socket, &self.chunk[..*payload as usize], SendFlags::empty()))?;
                pace.start(*counted, now);
            }
        }
        Ok(())
    }

    fn tally(mut self) -> Fallible<Tally> {
        let watching = self.entries.iter_mut().chain(&mut self.end).chain([&mut self.exit]);
        if watching.map(|port| port.health().overflows).sum::<u64>() > 0 {
            return Err("a socket that watches overflowed".into());
        }
        Ok(self.seen.finish())
    }
}

/// The sockets of [`Sockets`] that are ready.
struct Ready {
    exit: bool,
    end: bool,
    datagrams: bool,
    entries: Vec<bool>,
    listeners: Vec<bool>,
    connections: Vec<bool>,
    sources: Vec<bool>,
}

struct Alarm {
    timer: OwnedFd,
    rings: Time,
}

impl Alarm {
    fn new() -> Fallible<Alarm> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
        Ok(Alarm { timer, rings: Time::ZERO })
    }

    fn set(&mut self, rings: Time) -> Fallible<()> {
        if rings == self.rings {
            return Ok(());
        }
        self.rings = rings;
        let (s, ns) = (rings.ns() / 1_000_000_000, rings.ns() % 1_000_000_000);
        let it_value = Timespec { tv_sec: s.cast_signed(), tv_nsec: ns.try_into()? };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        Ok(timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once).map(drop)?)
    }
}

impl Source {
    fn stream(&self) -> Option<&OwnedFd> {
        self.socket.as_ref().filter(|_| self.pace.is_none())
    }

    /// The next time at which the source must be served. `None` if the source waits for its TCP
    /// socket.
    fn due(&self) -> Option<Time> {
        match (&self.socket, &self.pace) {
            (None, _) => Some(self.start),
            (Some(_), Some(pace)) => Some(pace.free_at()),
            (Some(_), None) => None,
        }
    }
}

fn listener(class: usize, sends: &Sends) -> Fallible<OwnedFd> {
    let listener = socket(SocketType::STREAM)?;
    // DCTCP needs a receiver with DCTCP, which reports each mark. Other controllers work with any
    // receiver.
    if let Sends::Tcp(control) = sends {
        sockopt::set_tcp_congestion(&listener, control)?;
    }
    bind(&listener, &address(RECEIVER, SERVICE + class as u16))?;
    listen(&listener, 64)?;
    Ok(listener)
}

/// Opens the socket of flow number `flow`, and starts to connect it to the receiver. This thread
/// must be in the sender's namespace.
fn opened(source: &Source, flow: usize) -> Fallible<OwnedFd> {
    let own = address(sender(source.class), FIRST_PORT + flow as u16);
    let Sends::Tcp(control) = &source.sends else {
        let socket = socket(SocketType::DGRAM)?;
        bind(&socket, &own)?;
        connect(&socket, &address(RECEIVER, SERVICE))?;
        return Ok(socket);
    };
    let socket = socket(SocketType::STREAM)?;
    sockopt::set_tcp_congestion(&socket, control)?;
    sockopt::set_socket_linger(&socket, Some(std::time::Duration::ZERO))?;
    bind(&socket, &own)?;
    match connect(&socket, &address(RECEIVER, SERVICE + source.class as u16)) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(format!("flow {flow}: connecting: {error}").into()),
    }
}

fn socket(kind: SocketType) -> Fallible<OwnedFd> {
    Ok(socket_with(AddressFamily::INET, kind, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?)
}

fn address(ip: Ipv4Addr, port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(ip, port)
}

fn flow_of(peer: Option<SocketAddrAny>) -> Option<usize> {
    let peer = SocketAddr::try_from(peer?).ok()?;
    peer.port().checked_sub(FIRST_PORT).map(usize::from)
}

fn unless_busy<T>(result: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error),
    }
}

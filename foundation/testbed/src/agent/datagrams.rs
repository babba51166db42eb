//! Receives UDP: one thread that counts datagrams and measures the delay of pings.

use super::stage::{Slots, Stage};
use crate::traffic::{Flow, HEAD_BYTES, Sends, UDP_PORT, everywhere, port_of};
use fairwire_linux::clock;
use fairwire_linux::receive::enlarge_buffer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

/// A third of a second of data at 100 Mbit/s.
const SOCKET_BUFFER_BYTES: usize = 4 << 20;

pub(super) struct Catcher {
    stage: Arc<Stage>,
    /// The shared socket, and one socket per flow that this host receives and opens.
    sockets: Vec<UdpSocket>,
}

/// The received datagrams.
pub(super) struct Caught {
    /// Bytes of payload, per flow and slot.
    pub payload: Vec<Slots>,
    /// Per ping: flow, number, sending time in ns after the start, and delay in ns.
    pub delays: Vec<(usize, u32, (u64, u64))>,
}

impl Catcher {
    pub(super) fn listen(stage: &Arc<Stage>) -> io::Result<Catcher> {
        let [both, ipv4] = everywhere(UDP_PORT);
        let mut sockets = vec![socket(both).or_else(|_| socket(ipv4))?];
        for (number, flow) in Self::opened_here(stage) {
            let socket = socket(SocketAddr::new(flow.destination, port_of(number)))?;
            socket.connect(SocketAddr::new(flow.source, UDP_PORT))?;
            sockets.push(socket);
        }
        Ok(Catcher { stage: Arc::clone(stage), sockets })
    }

    fn opened_here(stage: &Stage) -> impl Iterator<Item = (usize, &Flow)> {
        let flows = stage.traffic.flows.iter().enumerate();
        let side = stage.side;
        flows.filter(move |(_, flow)| {
            flow.from != side && flow.is_opened_by(side) && flow.sends.control().is_none()
        })
    }

    /// Sends a datagram from each flow's socket, so that NAT forwards the flow's packets as
    /// answers. No flow counts these datagrams.
    pub(super) fn open(&self) -> io::Result<()> {
        self.sockets[1..].iter().try_for_each(|socket| socket.send(&[0]).map(drop))
    }

    pub(super) fn run(self) -> Caught {
        let flows = &self.stage.traffic.flows;
        let mut caught = Caught { payload: vec![self.stage.empty(); flows.len()], delays: Vec::new() };
        let mut data = vec![0; 1 << 16];
        while !self.stage.is_over() {
            let mut events: Vec<PollFd<'_>> =
                self.sockets.iter().map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
            // The sockets are read even after a signal or a time-out.
            let _ = poll(&mut events, Some(&TICK));
            for socket in &self.sockets {
                while let Ok(bytes) = socket.recv(&mut data) {
                    self.take(&data[..bytes], &mut caught);
                }
            }
        }
        caught
    }

    fn take(&self, datagram: &[u8], caught: &mut Caught) {
        let flows = &self.stage.traffic.flows;
        let now = clock::now();
        let Some(Head { flow, sent_ns, number }) = head(datagram).filter(|head| head.flow < flows.len())
        else {
            return;
        };
        if let Some(slot) = self.stage.slot(now) {
            caught.payload[flow][slot] += datagram.len() as u64;
        }
        if matches!(flows[flow].sends, Sends::Ping { .. }) {
            let at_ns = sent_ns.saturating_sub(self.stage.start().ns());
            caught.delays.push((flow, number, (at_ns, now.ns().saturating_sub(sent_ns))));
        }
    }
}

fn socket(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = shared(address)?;
    enlarge_buffer(&socket, SOCKET_BUFFER_BYTES);
    Ok(socket)
}

pub(super) fn shared(address: SocketAddr) -> io::Result<UdpSocket> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    let socket = UdpSocket::from(socket);
    socket.set_nonblocking(true)?;
    Ok(socket)
}

const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

const MAGIC: u32 = 0xfa1e_f1e1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub flow: usize,
    /// The sending time.
    pub sent_ns: u64,
    /// The datagram's number within its flow, counted from 0.
    pub number: u32,
}

impl Head {
    pub(super) fn write(self, payload: &mut [u8]) {
        payload[..4].copy_from_slice(&MAGIC.to_be_bytes());
        payload[4..8].copy_from_slice(&(self.flow as u32).to_be_bytes());
        payload[8..16].copy_from_slice(&self.sent_ns.to_be_bytes());
        payload[16..HEAD_BYTES].copy_from_slice(&self.number.to_be_bytes());
    }
}

fn head(payload: &[u8]) -> Option<Head> {
    let u32_at = |at: usize| Some(u32::from_be_bytes(*payload.get(at..)?.first_chunk()?));
    let sent_ns = u64::from_be_bytes(*payload.get(8..)?.first_chunk()?);
    let head = Head { flow: u32_at(4)? as usize, sent_ns, number: u32_at(16)? };
    (u32_at(0)? == MAGIC).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_has_its_flow_time_and_number_and_others_have_none() {
        let mut payload = [7; HEAD_BYTES];
        assert_eq!(head(&payload), None);
        let own = Head { flow: 12, sent_ns: 345, number: 6 };
        own.write(&mut payload);
        assert_eq!(head(&payload), Some(own));
        assert_eq!(head(&payload[..19]), None);
    }
}

//! What is sent by the clock: datagrams, pings, raw frames.

use super::datagrams::{Head, shared};
use super::raw::Forge;
use super::stage::Stage;
use crate::fallible::Fallible;
use crate::traffic::{Flow, HEAD_BYTES, Sends, UDP_PORT, port_of};
use crate::world::public_address;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::Port;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::UdpSocket;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Sends each packet at its time. The schedule is absolute: what is late is sent at once, and the rate offered holds.
pub(super) struct Pacer {
    stage: Arc<Stage>,
    sources: Vec<Source>,
}

struct Source {
    flow: usize,
    outlet: Outlet,
    /// Between two packets, in 2^-16 nanoseconds, so that rates hold.
    every: u128,
    stop: Duration,
    sent: u64,
    refused: u64,
}

enum Outlet {
    Socket(UdpSocket, Vec<u8>),
    Frames(Box<Forge>),
}

/// What a flow sent.
pub(super) struct Sent {
    pub flow: usize,
    pub sent: u64,
    pub refused: u64,
}

impl Pacer {
    pub(super) fn open(stage: &Arc<Stage>) -> Fallible<Pacer> {
        let sources = stage.sent().filter(|(_, flow)| !matches!(flow.sends, Sends::Tcp(_)));
        let sources = sources.map(|(number, flow)| Source::open(number, flow)).collect::<Fallible<_>>()?;
        Ok(Pacer { stage: Arc::clone(stage), sources })
    }

    /// Until the run is over.
    pub(super) fn run(mut self) -> Vec<Sent> {
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1)); // late by up to 50 us without
        let start = self.stage.start();
        let begin = |flow: usize| start + Duration::from_ns(self.stage.traffic.flows[flow].start_ns);
        let mut due: BinaryHeap<Reverse<(Time, usize)>> =
            self.sources.iter().enumerate().map(|(at, source)| Reverse((begin(source.flow), at))).collect();
        while let Some(Reverse((time, at))) = due.pop() {
            if self.stage.is_over() {
                break;
            }
            clock::sleep_until(time);
            let source = &mut self.sources[at];
            source.send();
            let next = begin(source.flow) + source.offset();
            if next < start + source.stop {
                due.push(Reverse((next, at)));
            }
        }
        self.sources
            .iter()
            .map(|source| Sent { flow: source.flow, sent: source.sent, refused: source.refused })
            .collect()
    }
}

impl Source {
    fn open(number: usize, flow: &Flow) -> Fallible<Source> {
        let per_second = |packets: u64| (1_000_000_000_u128 << 16) / u128::from(packets.max(1));
        let (every, outlet) = match &flow.sends {
            Sends::Udp { bps, payload } => {
                let bits = u128::from(flow.datagram_bytes(*payload) * 8);
                (((bits * 1_000_000_000) << 16) / u128::from(*bps), socket(number, flow, *payload as usize)?)
            }
            Sends::Ping { every_ns } => (u128::from(*every_ns) << 16, socket(number, flow, HEAD_BYTES)?),
            Sends::Spoofed { per_second: packets, payload } => {
                (per_second(*packets), Outlet::Frames(Box::new(Forge::spoofed(number, flow, *payload)?)))
            }
            Sends::Kinds { per_second: packets } => {
                (per_second(*packets), Outlet::Frames(Box::new(Forge::kinds(number, flow)?)))
            }
            Sends::Garbage { per_second: packets } => {
                (per_second(*packets), Outlet::Frames(Box::new(Forge::garbage(number, flow)?)))
            }
            Sends::Tcp(_) => return Err("TCP has no pace".into()),
        };
        let stop = Duration::from_ns(flow.stop_ns);
        Ok(Source { flow: number, outlet, every, stop, sent: 0, refused: 0 })
    }

    /// When the next packet leaves, after the flow began.
    fn offset(&self) -> Duration {
        Duration::from_ns(((u128::from(self.sent + self.refused) * self.every) >> 16) as u64)
    }

    fn send(&mut self) {
        let is_sent = match &mut self.outlet {
            Outlet::Socket(socket, payload) => {
                let number = (self.sent + self.refused) as u32;
                Head { flow: self.flow, sent_ns: clock::now().ns(), number }.write(payload);
                socket.send(payload).is_ok()
            }
            Outlet::Frames(forge) => {
                forge.renew();
                let (port, frame) = forge.parts();
                port.transmit(frame)
            }
        };
        *(if is_sent { &mut self.sent } else { &mut self.refused }) += 1;
    }
}

/// Behind NAT is who opened the flow: it is reached at the router's address, and hears only the port that it opened.
fn socket(number: usize, flow: &Flow, payload: usize) -> Fallible<Outlet> {
    let (own, peer) = match flow.is_opened_by_receiver {
        false => ((flow.source, port_of(number)), (flow.destination, UDP_PORT)),
        true => ((flow.source, UDP_PORT), (public_address(), port_of(number))),
    };
    let socket = shared(own.into())?;
    socket.connect(peer)?;
    Ok(Outlet::Socket(socket, vec![0; payload.max(HEAD_BYTES)]))
}

//! Sends on a schedule: datagrams, pings, raw frames.

use super::datagrams::{Head, shared};
use super::raw::Forge;
use super::stage::Stage;
use crate::traffic::{Flow, HEAD_BYTES, Sends, UDP_PORT, port_of};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::Port;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

/// Sends packets on an absolute schedule: late packets are sent at once, which keeps the offered
/// rate.
pub(super) struct Pacer {
    stage: Arc<Stage>,
    sources: Vec<Source>,
}

struct Source {
    flow: usize,
    outlet: Outlet,
    pace: Pace,
    stop: Duration,
    sent: u64,
    refused: u64,
}

enum Outlet {
    Socket(UdpSocket, Vec<u8>),
    Frames(Box<Forge>),
}

/// Packet `k` is due `k * ns / per` nanoseconds after the flow's start. The fraction avoids
/// rounding errors.
#[derive(Clone, Copy)]
struct Pace {
    ns: u128,
    per: u128,
}

impl Pace {
    fn of_rate(bps: u64, bytes: u32) -> Self {
        Pace { ns: u128::from(bytes) * 8 * 1_000_000_000, per: u128::from(bps.max(1)) }
    }

    fn per_second(packets: u64) -> Self {
        Pace { ns: 1_000_000_000, per: u128::from(packets.max(1)) }
    }

    fn offset(self, packet: u64) -> Duration {
        Duration::from_ns((u128::from(packet) * self.ns / self.per) as u64)
    }
}

pub(super) struct Sent {
    pub flow: usize,
    pub sent: u64,
    pub refused: u64,
}

impl Pacer {
    pub(super) fn open(stage: &Arc<Stage>) -> io::Result<Pacer> {
        let sources = stage.sent().filter(|(_, flow)| flow.sends.control().is_none());
        let sources = sources.map(|(number, flow)| Source::open(number, flow)).collect::<io::Result<_>>()?;
        Ok(Pacer { stage: Arc::clone(stage), sources })
    }

    pub(super) fn run(mut self) -> Vec<Sent> {
        clock::wake_precisely();
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
    fn open(number: usize, flow: &Flow) -> io::Result<Source> {
        let frames = |forge: Forge| Outlet::Frames(Box::new(forge));
        let (pace, outlet) = match &flow.sends {
            Sends::Udp { bps, payload, counted } => {
                (Pace::of_rate(*bps, *counted), socket(number, flow, *payload as usize)?)
            }
            Sends::Ping { every_ns } => {
                (Pace { ns: u128::from(*every_ns), per: 1 }, socket(number, flow, HEAD_BYTES)?)
            }
            Sends::Spoofed { per_second, payload } => {
                (Pace::per_second(*per_second), frames(Forge::spoofed(number, flow, *payload)?))
            }
            Sends::Kinds { per_second } => {
                (Pace::per_second(*per_second), frames(Forge::kinds(number, flow)?))
            }
            Sends::Garbage { per_second } => {
                (Pace::per_second(*per_second), frames(Forge::garbage(number, flow)?))
            }
            Sends::Tcp(_) | Sends::Talk { .. } => return Err(io::Error::other("TCP has no pace")),
        };
        let stop = Duration::from_ns(flow.stop_ns);
        Ok(Source { flow: number, outlet, pace, stop, sent: 0, refused: 0 })
    }

    fn offset(&self) -> Duration {
        self.pace.offset(self.sent + self.refused)
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

/// Creates a flow's socket. A flow to a receiver behind NAT goes from `UDP_PORT` to the router's
/// address, because NAT accepts answers only from `UDP_PORT`.
fn socket(number: usize, flow: &Flow, payload: usize) -> io::Result<Outlet> {
    let (own, peer) = match flow.receiver_behind {
        None => ((flow.source, port_of(number)), (flow.destination, UDP_PORT)),
        Some(router) => ((flow.source, UDP_PORT), (router, port_of(number))),
    };
    let socket = shared(own.into())?;
    socket.connect(peer)?;
    Ok(Outlet::Socket(socket, vec![0; payload.max(HEAD_BYTES)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_loses_no_fraction_of_a_nanosecond() {
        let pace = Pace::of_rate(3, 512);
        assert_eq!(pace.offset(1).ns(), 1_365_333_333_333);
        assert_eq!(pace.offset(3), Duration::from_secs(4096));
        assert_eq!(Pace::per_second(3).offset(3_000_000), Duration::from_secs(1_000_000));
    }
}

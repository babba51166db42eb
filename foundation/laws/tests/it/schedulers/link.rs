//! A queue and a link, driven by a list of arrivals or by senders that react.

use crate::built;
use fairwire_core::units::Amount;
use fairwire_core::{Buffer, Cause, Discipline, Dropper, Needs, Packet, Rate, Server, Signals};
use fairwire_core::{Time, Transmitter, Victim};
use fairwire_laws::Site;
use fairwire_laws::dropper::red;
use fairwire_laws::scheduler::Service;
use fairwire_laws::scheduler::{Kind, Terms};

pub(super) const RATE_BPS: u64 = 8_000_000; // a byte takes a microsecond

pub(super) fn rate() -> Rate {
    Rate::from_bps(RATE_BPS).expect("not zero")
}

pub(super) fn site(packets: u32) -> Site<'static> {
    Site {
        rate: rate(),
        packet_bytes: 1000,
        stream: "link/schedulers",
        ..crate::site(Amount::Packets(packets))
    }
}

pub(super) const ENTRIES: [&str; 5] = ["drr", "fbfq", "scfq", "sfq-start", "wf2q+"];

pub(super) fn entry(name: &str, packets: u32, settings: &str) -> Box<dyn Discipline> {
    built(name, settings, &site(packets))
}

pub(super) fn terms(service: &str, packets: u32) -> (Kind, Terms) {
    let typed: red::Spec = toml::from_str(&format!("scheduler = {service}")).expect("well-formed");
    let site = site(packets);
    let checked = Service::check(&typed.queue.scheduler, "red", &site).expect("allowed");
    (checked.kind, checked.terms(site.buffer.limit(site.rate)))
}

/// One future packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub at_ns: u64,
    pub flow: u64,
    pub class: u32,
    pub len: u32,
}

/// A sent packet, with its `index` in the arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub index: usize,
    pub flow: u64,
    pub len: u32,
    pub begun_ns: u64,
    pub ended_ns: u64,
}

#[derive(Default)]
pub(super) struct Drops(pub Vec<(u64, u32)>);

impl Signals for Drops {
    fn dropped(&mut self, packet: Packet, _: Cause) {
        self.0.push((packet.flow.0, packet.frame));
    }
    fn marked(&mut self, _: &Packet, _: Cause) {}
}

/// Sends the arrivals, in order of time, over a link of [`RATE_BPS`].
pub(super) fn send(queue: Box<dyn Discipline>, arrivals: &[Arrival]) -> (Vec<Sent>, Drops) {
    let mut server = Server::new(queue, Transmitter::new(rate()));
    let (mut sent, mut drops) = (Vec::new(), Drops::default());
    let mut waiting = arrivals.iter().enumerate().peekable();
    loop {
        let next = waiting.peek().map_or(Time::MAX, |(_, arrival)| Time::from_ns(arrival.at_ns));
        let now = next.min(server.next_poll_at());
        if now == Time::MAX {
            return (sent, drops);
        }
        let service = if next <= server.next_poll_at() {
            let (index, &Arrival { flow, class, len, .. }) = waiting.next().expect("peeked");
            let packet = Packet { class, ..Packet::new(index as u32, len, flow.into(), now) };
            server.enqueue(packet, now, &mut drops)
        } else {
            server.poll(now, &mut drops)
        };
        sent.extend(service.map(|service| Sent {
            index: service.packet.frame as usize,
            flow: service.packet.flow.0,
            len: service.packet.len,
            begun_ns: now.ns(),
            ended_ns: service.sent.ns(),
        }));
    }
}

/// Pushes out the head packet of the longest queue.
pub(super) struct LongestFront;

impl Dropper for LongestFront {
    fn needs(&self) -> Needs {
        Needs::FLOWS
    }
    fn victim(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Victim {
        let own = buffer.flow(packet);
        let longest =
            buffer.flows().max_by_key(|&flow| (buffer.flow_backlog(flow).packets, Some(flow) == own));
        longest.map_or(Victim::Arrival, |flow| Victim::Waiting(buffer.flow_head(flow)))
    }
}

/// The fraction of sent packets from flow 0, which offers `load` times the link's rate. Ten other
/// flows have 10 packets each in flight, too few to fill a buffer of 125.
pub(super) fn share_of_the_deaf_flow(queue: Box<dyn Discipline>, load: f64, seconds: u64) -> f64 {
    const PACKET_NS: u64 = 1_000_000;
    let mut server = Server::new(queue, Transmitter::new(rate()));
    let mut agenda: std::collections::BTreeSet<(u64, u64, u64)> = Default::default(); // time, number, flow
    let mut number = 0;
    let mut plan = |agenda: &mut std::collections::BTreeSet<_>, at: u64, flow: u64| {
        number += 1;
        agenda.insert((at, number, flow));
    };
    plan(&mut agenda, 0, 0);
    for i in 0..100 {
        plan(&mut agenda, i * 100_000, 1 + i % 10);
    }
    let (mut of_deaf, mut of_all) = (0, 0);
    loop {
        let next = agenda.first().map_or(u64::MAX, |first| first.0);
        let now = Time::from_ns(next).min(server.next_poll_at());
        if now.ns() > seconds * 1_000_000_000 {
            return f64::from(of_deaf) / f64::from(of_all);
        }
        let mut drops = Drops::default();
        let service = if now.ns() == next {
            let (_, _, flow) = agenda.pop_first().expect("not empty");
            if flow == 0 {
                plan(&mut agenda, next + (PACKET_NS as f64 / load) as u64, 0);
            }
            server.enqueue(Packet::new(0, 1000, flow.into(), now), now, &mut drops)
        } else {
            server.poll(now, &mut drops)
        };
        let sent = service.map(|service| service.packet.flow.0);
        of_deaf += i32::from(sent == Some(0));
        of_all += i32::from(sent.is_some());
        let gone = drops.0.iter().map(|drop| drop.0).chain(sent);
        gone.filter(|&flow| flow != 0).for_each(|flow| plan(&mut agenda, now.ns() + 20_000_000, flow));
    }
}

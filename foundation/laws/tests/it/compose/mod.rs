//! Markers, RIO, and disciplines composed of others.

mod change;
mod classful;
mod conditioner;
mod markers;
mod prio;
mod rio;
mod shaper;
mod succession;

use fairwire_catalogue::{Parameters, build};
use fairwire_core::units::Amount;
use fairwire_core::{
    Backlog, Buffer, Control, Discipline, Dropper, Limit, Packet, Probe, Queue, Rate, Room, Signals, Time,
    Victim, scheduler::Fcfs,
};
use fairwire_laws::Site;
use fairwire_testing::{Driver, Operation};

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

fn site() -> Site<'static> {
    Site { packet_bytes: 1000, ..crate::site(Amount::Packets(40)) }
}

fn discipline(name: &str, typed: &str) -> Box<dyn Discipline> {
    let parameters: Parameters = toml::from_str(typed).expect("well-formed");
    build(name, &parameters, &site()).expect("allowed")
}

fn packet(frame: u32, len: u32, class: u32, now: Time) -> Packet {
    Packet { class, ..Packet::new(frame, len, u64::from(class).into(), now) }
}

/// Derives class, codepoint and colour from the flow number, since [`Driver`] is given only flows.
struct Classified<D> {
    inner: D,
    classes: u64,
}

impl<D: Discipline> Discipline for Classified<D> {
    fn offer(&mut self, mut packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        let class = packet.flow.0 % self.classes;
        packet.class = class as u32;
        packet.dscp = class as u8;
        packet.color = (class % 3) as u8;
        self.inner.offer(packet, room, now, signals);
    }
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.inner.dequeue(now, signals)
    }
    fn ready_at(&self) -> Option<Time> {
        self.inner.ready_at()
    }
    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        self.inner.inspect(probe);
    }
    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.inner.drain(take);
    }
}

impl<D: Discipline> Control for Classified<D> {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut self.inner);
    }
}

fn assert_conserves(inner: impl Discipline, classes: u64, sequence: &[Operation]) {
    Driver::new(Classified { inner, classes }).run(sequence);
}

struct DropFront;

impl Dropper for DropFront {
    fn victim(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Victim {
        buffer.oldest().map_or(Victim::Arrival, Victim::Waiting)
    }
}

fn drop_front(bytes: u64) -> Box<dyn Discipline> {
    Box::new(Queue::new(Limit::bytes(bytes), Fcfs, DropFront))
}

//! The push-out disciplines and CHOKe, each against a plain reading of its rule: lists that are
//! searched, with none of the code under test.

mod choke;
mod parameters;
mod plain;
mod register;
mod uniform;
mod victims;

use fairwire_core::units::Amount;
use fairwire_core::{Buffer, Cause, Chosen, Needs, Packet, Rate, Rng, Scheduler, Seed, Signals, Time};
use fairwire_laws::Site;

/// A link of 10 Mbit/s.
pub(crate) fn site(buffer: Amount) -> Site<'static> {
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer,
        packet_bytes: 512,
        seed: Seed(1),
        stream: "pushout",
    }
}

/// A packet of `flow`, in the class of that number modulo 4.
pub(crate) fn packet(frame: u32, flow: u64, len: u32) -> Packet {
    Packet { class: flow as u32 % 4, ..Packet::new(frame, len, flow.into(), Time::ZERO) }
}

/// What was dropped and marked, in order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Frames, each with its cause.
    pub dropped: Vec<(u32, Cause)>,
    /// Frames.
    pub marked: Vec<u32>,
}

impl Signals for Log {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.dropped.push((packet.frame, cause));
    }
    fn marked(&mut self, packet: &Packet, _: Cause) {
        self.marked.push(packet.frame);
    }
}

/// Serves the oldest packet of a random flow, so that flows shrink in any order.
#[derive(Debug)]
pub(crate) struct Lottery(pub Rng);

impl Scheduler for Lottery {
    fn needs(&self) -> Needs {
        Needs::FLOWS
    }
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        buffer.random_flow(&mut self.0).map(|flow| buffer.flow_head(flow).into())
    }
}

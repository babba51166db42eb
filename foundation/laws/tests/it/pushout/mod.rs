//! Push-out disciplines and CHOKe, each against a transcription that searches lists.

mod choke;
mod parameters;
mod plain;
mod register;
mod uniform;
mod victims;

pub(crate) use crate::site;
use fairwire_core::{Buffer, Chosen, Needs, Packet, Rng, Scheduler, Time};

pub(crate) fn packet(frame: u32, flow: u64, len: u32) -> Packet {
    Packet { class: flow as u32 % 4, ..Packet::new(frame, len, flow.into(), Time::ZERO) }
}

/// Serves the oldest packet of a random flow, so flows shrink in any order.
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

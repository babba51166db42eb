//! Packet traces: each packet of a run, as its format writes it.

use super::file::Scratch;
use core::fmt::Debug;
use fairwire_metrics::FlowName;
use fairwire_scenario::{PacketEvent, RunId, View};
use std::io::{self, Write};

/// Makes what writes the packets of one run.
pub(super) type Form = fn() -> Box<dyn Packets>;

/// Writes packets.
pub(super) trait Packets: Debug + Send {
    /// Writes the header.
    fn start(&mut self, _names: &Names, _out: &mut Vec<u8>) {}

    /// One of them.
    fn packet(&mut self, event: &PacketEvent, names: &Names, out: &mut Vec<u8>);
}

/// What a run, its links and its flows are called.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub title: String,
    pub links: Vec<String>,
    pub flows: Vec<Flow>,
}

/// A flow, or a connection of one.
#[derive(Debug)]
pub(super) struct Flow {
    /// As in records.
    pub name: FlowName,
    /// Which of its connections, where it has several.
    pub connection: Option<u32>,
    pub dscp: u8,
    pub data_bytes: u32,
}

/// Writes the packets of one run.
#[derive(Debug)]
pub(super) struct Trace {
    out: Scratch,
    packets: Box<dyn Packets>,
    names: Names,
    block: Vec<u8>,
    failed: Option<io::Error>,
}

impl Trace {
    pub(super) fn new(out: Scratch, form: Form, which: RunId<'_>) -> Self {
        let title = format!("discipline {}, seed {}", which.discipline, which.seed);
        let names = Names { title, ..Names::default() };
        Trace { out, packets: form(), names, block: Vec::new(), failed: None }
    }

    /// What was written, or why it could not be.
    pub(super) fn finish(self) -> io::Result<Scratch> {
        self.failed.map_or(Ok(self.out), Err)
    }

    /// Reads the names of links and flows, and writes the header.
    pub(super) fn start(&mut self, view: &View<'_>) {
        self.names.links = view.links().map(|link| link.name.to_string()).collect();
        self.names.flows = view
            .flows()
            .map(|flow| Flow {
                name: flow.name(),
                connection: flow.connection,
                dscp: flow.dscp,
                data_bytes: flow.data_bytes,
            })
            .collect();
        self.packets.start(&self.names, &mut self.block);
        self.write();
    }

    pub(super) fn packet(&mut self, event: &PacketEvent) {
        self.packets.packet(event, &self.names, &mut self.block);
        self.write();
    }

    fn write(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(&self.block).err();
        }
        self.block.clear();
    }
}

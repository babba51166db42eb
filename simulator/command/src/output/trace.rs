//! Packet traces: each packet of a run, in the format that the file's extension selects.

use super::formats;
use super::plan::{Destination, Request};
use super::written::{Done, Kept, Place, Recorder, Run, Wants, Writer};
use core::fmt::Debug;
use fairwire_metrics::FlowName;
use fairwire_metrics::record::Report;
use fairwire_scenario::{Output, PacketEvent, View};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file::{self, Scratch};
use std::io::{self, Write};
use std::path::PathBuf;

pub(super) const FORMS: [(&str, Form); 2] =
    [("pcapng", formats::pcapng::packets), ("ndjson", formats::ndjson::packets)];

/// The maximum number of traces listed by name.
const MAX_NAMED: usize = 4;

pub(super) type Form = fn() -> Box<dyn Packets>;

pub(super) trait Packets: Debug + Send {
    /// Writes the header.
    fn start(&mut self, _names: &Names, _out: &mut Vec<u8>) {}

    /// Writes one packet.
    fn packet(&mut self, event: &PacketEvent, names: &Names, out: &mut Vec<u8>);
}

#[derive(Debug, Default)]
pub(super) struct Names {
    pub title: String,
    pub links: Vec<String>,
    pub flows: Vec<Flow>,
}

#[derive(Debug)]
pub(super) struct Flow {
    /// The flow's name in records.
    pub name: FlowName,
    /// The number of the connection, if the flow has several.
    pub connection: Option<u32>,
    pub dscp: u8,
    pub data_bytes: u32,
}

pub(super) fn prepare<'a>(request: &Request<'a>) -> Result<Option<Box<dyn Writer + 'a>>, Failure> {
    let spec = request.scenario.spec();
    let is_one = spec.disciplines.len() * spec.seeds.as_slice().len() == 1;
    let place = request.destination(Output::Trace, &FORMS)?;
    Ok(place.map(|(place, form)| Box::new(Traces { place, form, is_one, kept: Kept::default() }) as _))
}

struct Traces {
    place: Destination,
    form: Form,
    is_one: bool,
    kept: Kept<PathBuf>,
}

impl Writer for Traces {
    fn wants(&self) -> Wants {
        Wants { packets: true, traces: true, ..Wants::default() }
    }

    fn begin<'a>(&'a self, run: Run<'_>) -> Result<Option<Box<dyn Recorder + 'a>>, Failure> {
        if !run.is_simulated {
            return Ok(None);
        }
        let part = format!("{}.{}", run.which.discipline, run.which.seed);
        let place = &self.place.path;
        let path = if self.is_one { place.clone() } else { file::with_part(place, &part) };
        let out = Scratch::begin(&path).map_err(|error| file::fault(&path, &error))?;
        let title = format!("discipline {}, seed {}", run.which.discipline, run.which.seed);
        Ok(Some(Box::new(Trace {
            traces: self,
            at: run.place(),
            out,
            packets: (self.form)(),
            names: Names { title, ..Names::default() },
            block: Vec::new(),
            failed: None,
        })))
    }

    fn close(&self, _: &mut Report, done: &mut Done) {
        self.give_up(done);
    }

    fn give_up(&self, done: &mut Done) {
        done.places.extend(self.kept.take().iter().take(MAX_NAMED).map(|path| path.display().to_string()));
    }
}

struct Trace<'a> {
    traces: &'a Traces,
    at: Place,
    out: Scratch,
    packets: Box<dyn Packets>,
    names: Names,
    block: Vec<u8>,
    failed: Option<io::Error>,
}

impl Trace<'_> {
    fn write(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(&self.block).err();
        }
        self.block.clear();
    }
}

impl Recorder for Trace<'_> {
    fn start(&mut self, view: &View<'_>) {
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

    fn packet(&mut self, event: &PacketEvent) {
        self.packets.packet(event, &self.names, &mut self.block);
        self.write();
    }

    fn finish(self: Box<Self>) -> Result<(), Failure> {
        let fault = |error| file::fault(&self.traces.place.path, &error);
        let path = self.failed.map_or(Ok(self.out), Err).and_then(Scratch::finish).map_err(fault)?;
        self.traces.kept.keep(self.at, path);
        Ok(())
    }
}

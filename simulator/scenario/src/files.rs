//! The files named in a scenario: captures, traces and delays of links.

use crate::links::Links;
use crate::source::{self, ReplaySpec};
use crate::spec::Spec;
use crate::traces::{self, NamedTrace};
use crate::varying::Varying;
use fairwire_core::{DelayTrace, RateLaw, spelling};
use fairwire_document::DocumentError as ScenarioError;
use fairwire_document::{Locations, Problem, bounded};
use fairwire_sim::app::Offered;
use fairwire_wire::pcap;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The maximum bytes of a trace: about two million lines.
const MAX_TRACE: u64 = 16 << 20;
/// The maximum bytes of a file of delays: twice the size of irtt's output for half a million round
/// trips.
const MAX_DELAYS: u64 = 256 << 20;
/// The maximum bytes of a capture. Its packets are held in memory, about 16 bytes for each.
const MAX_CAPTURE: u64 = 256 << 20;

/// The contents of the files named in a scenario, by name as entered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    captures: BTreeMap<String, Arc<[Offered]>>,
    traces: BTreeMap<String, RateLaw>,
    delays: BTreeMap<String, Arc<DelayTrace>>,
    hashes: BTreeMap<String, [u8; 32]>,
    notes: Vec<String>,
}

/// A file named in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The key that names the file, such as `link.trace`.
    pub key: String,
    /// The name as entered: a path from the scenario's folder.
    pub name: String,
    sha256: [u8; 32],
}

impl NamedFile {
    pub(crate) fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }

    /// Is `bytes` the content that the file had when the scenario was read?
    pub fn holds(&self, bytes: &[u8]) -> bool {
        Sha256::digest(bytes)[..] == self.sha256
    }
}

impl Files {
    /// Reads all files named in `spec`, relative to its `folder`. A scenario that was not read from
    /// a file may name no files.
    pub(crate) fn read(
        spec: &Spec,
        folder: Option<&Path>,
        locations: &Locations,
    ) -> Result<Files, ScenarioError> {
        let mut files = Files::default();
        for (path, name) in traces_of(spec) {
            if let Some(known) = NamedTrace::find(name) {
                files.traces.insert(name.into(), RateLaw::Trace(known.trace().into()));
                continue;
            }
            let refuse = |why: String| refused(locations, &path, name, why, &allowed_traces(name));
            let text = files.text(folder, name, MAX_TRACE).map_err(refuse)?;
            let trace = RateLaw::parse(&text).map_err(|error| refuse(error.to_string()))?;
            files.traces.insert(name.into(), trace);
        }
        for (path, name) in delays_of(spec) {
            let refuse = |why: String| refused(locations, &path, name, why, ALLOWED_DELAYS);
            let text = files.text(folder, name, MAX_DELAYS).map_err(refuse)?;
            let delays = DelayTrace::parse(&text).map_err(|error| refuse(error.to_string()))?;
            files.delays.insert(name.into(), delays.into());
        }
        for (path, name, header) in captures(spec) {
            let refuse = |why: String| refused(locations, &path, name, why, "a capture as pcap or pcapng");
            let bytes = files.bytes(folder, name, MAX_CAPTURE).map_err(refuse)?;
            let packets = pcap::offered(&bytes).map_err(|error| refuse(error.to_string()))?;
            if packets.is_empty() {
                return Err(refuse("it has no packets".into()));
            }
            let offered = |packet: pcap::Offered| {
                let pcap::Offered { at, bytes, flow, ecn } = packet;
                Offered { at, bytes, flow, ecn }
            };
            let small = packets.iter().filter(|packet| packet.bytes < header).count();
            if small == packets.len() {
                return Err(refuse(format!("all of its packets are smaller than headers of {header} B")));
            }
            let small = (small > 0).then(|| {
                format!("packets that are smaller than headers of {header} B, and are not sent: {small}")
            });
            for note in pcap::notes(&bytes).unwrap_or_default().into_iter().chain(small) {
                let note = format!("`{name}`: {note}");
                files.notes.extend((!files.notes.contains(&note)).then_some(note));
            }
            files.captures.insert(name.into(), packets.into_iter().map(offered).collect());
        }
        Ok(files)
    }

    pub(crate) fn named(&self, spec: &Spec) -> Vec<NamedFile> {
        let captures = captures(spec).map(|(path, name, _)| (path, name));
        let named = traces_of(spec).chain(delays_of(spec)).chain(captures);
        let named = named.filter(|(_, name)| self.hashes.contains_key(*name));
        named.map(|(key, name)| NamedFile { key, name: name.into(), sha256: self.hashes[name] }).collect()
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(crate) fn capture(&self, name: &str) -> Arc<[Offered]> {
        Arc::clone(&self.captures[name])
    }

    pub(crate) fn trace(&self, name: &str) -> RateLaw {
        self.traces[name].clone()
    }

    pub(crate) fn delays(&self, name: &str) -> Arc<DelayTrace> {
        Arc::clone(&self.delays[name])
    }

    /// The hash of the scenario and the files read for it. `sha256` is the hash of the scenario's
    /// text.
    pub(crate) fn hashed(&self, sha256: String) -> String {
        if self.hashes.is_empty() {
            return sha256;
        }
        let mut all = Sha256::new_with_prefix(sha256);
        self.hashes.values().for_each(|hash| all.update(hash));
        all.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn text(&mut self, folder: Option<&Path>, name: &str, most: u64) -> Result<String, String> {
        let bytes = self.bytes(folder, name, most)?;
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return Err("it is compressed; `gunzip` makes text of it".into());
        }
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".into())
    }

    fn bytes(&mut self, folder: Option<&Path>, name: &str, most: u64) -> Result<Vec<u8>, String> {
        let folder = folder.ok_or("a scenario that is no file itself can name no files")?;
        let bytes =
            bounded(&folder.join(name), most, "a file beside the scenario").map_err(
                |problem| match problem {
                    Problem::TooLarge { .. } => format!("it has more than {most} bytes"),
                    other => other.to_string(),
                },
            )?;
        self.hashes.insert(name.into(), Sha256::digest(&bytes).into());
        Ok(bytes)
    }
}

fn refused(locations: &Locations, path: &str, name: &str, why: String, allowed: &str) -> ScenarioError {
    let problem =
        Problem::Refused { key: path.into(), given: format!("`{name}`"), why, allowed: allowed.into() };
    locations.refuse(path, problem)
}

fn allowed_traces(given: &str) -> String {
    let names = || traces::ALL.iter().map(|trace| trace.name);
    let listed: Vec<String> = names().map(|name| format!("`{name}`")).collect();
    let allowed =
        format!("a file with a time in ms, or seconds and Mbit/s, on each line; or {}", listed.join(", "));
    match spelling::question(&spelling::likely(given, names())) {
        Some(question) => format!("{allowed}; {question}"),
        None => allowed,
    }
}

const ALLOWED_DELAYS: &str =
    "the JSON of irtt, or a file of seconds and round trips in ms, such as `0.01,48.5`, with -1 in an outage";

fn traces_of(spec: &Spec) -> impl Iterator<Item = (String, &str)> {
    tables(spec).into_iter().filter_map(|(path, of)| Some((format!("{path}.trace"), of.trace?.as_str())))
}

fn delays_of(spec: &Spec) -> impl Iterator<Item = (String, &str)> {
    tables(spec).into_iter().filter_map(|(path, of)| Some((format!("{path}.delays"), of.delays?.as_str())))
}

fn tables(spec: &Spec) -> Vec<(String, Varying<'_>)> {
    let mut tables = Vec::new();
    match &spec.link {
        None => {}
        Some(Links::Shared(link)) => tables.push(("link".into(), link.varying())),
        Some(Links::Network(links)) => {
            for (at, link) in links.iter().enumerate() {
                tables.push((format!("link.{at}"), link.varying()));
                tables.extend(link.back.iter().map(|back| (format!("link.{at}.back"), back.varying())));
            }
        }
    }
    tables.extend(spec.return_link.iter().map(|back| ("return".into(), back.varying())));
    tables
}

/// The captures that the scenario names: the key, the file, and the header bytes per packet.
fn captures(spec: &Spec) -> impl Iterator<Item = (String, &str, u32)> {
    spec.flow.iter().enumerate().filter_map(|(at, flow)| {
        let file = flow.source.given::<ReplaySpec>()?.file.as_deref()?;
        Some((format!("flow.{at}.source.replay.file"), file, source::header_bytes(flow)))
    })
}

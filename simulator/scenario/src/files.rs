//! The files that a scenario names: captures, and traces of links.

use crate::links::Links;
use crate::source::ReplaySpec;
use crate::spec::Spec;
use crate::traces::{self, NamedTrace};
use fairwire_core::{Trace, spelling};
use fairwire_document::DocumentError as ScenarioError;
use fairwire_document::{Locations, Problem, bounded};
use fairwire_sim::app::Offered;
use fairwire_wire::pcap;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Two million lines of a trace: hours of a fast link.
const MAX_TRACE: u64 = 16 << 20;
/// Packets of a capture are held in memory, about 16 bytes for each.
const MAX_CAPTURE: u64 = 256 << 20;

/// The contents of the files that a scenario names, by name as typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    captures: BTreeMap<String, Arc<[Offered]>>,
    traces: BTreeMap<String, Arc<Trace>>,
    hashes: BTreeMap<String, [u8; 32]>,
    notes: Vec<String>,
}

/// A file that a scenario names: without it, it cannot be run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The key of the name, such as `link.trace`.
    pub key: String,
    /// The name as typed: a path from the scenario's folder.
    pub name: String,
    sha256: [u8; 32],
}

impl NamedFile {
    /// SHA-256 of its content when the scenario was read.
    pub(crate) fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }

    /// Is `bytes` the content of the file when the scenario was read?
    pub fn holds(&self, bytes: &[u8]) -> bool {
        Sha256::digest(bytes)[..] == self.sha256
    }
}

impl Files {
    /// Reads all that `spec` names, from its `folder` on; a scenario that is no file can name none.
    pub(crate) fn read(
        spec: &Spec,
        folder: Option<&Path>,
        locations: &Locations,
    ) -> Result<Files, ScenarioError> {
        let mut files = Files::default();
        for (path, name) in traces_of(spec) {
            if let Some(known) = NamedTrace::find(name) {
                files.traces.insert(name.into(), Arc::new(known.trace()));
                continue;
            }
            let refuse = |why: String| refused(locations, &path, name, why, &allowed_traces(name));
            let text = |bytes| String::from_utf8(bytes).map_err(|_| "it is no text".to_owned());
            let bytes = files.bytes(folder, name, MAX_TRACE).map_err(refuse)?;
            let trace = text(bytes).and_then(|text| Trace::parse(&text).map_err(|error| error.to_string()));
            files.traces.insert(name.into(), Arc::new(trace.map_err(refuse)?));
        }
        for (path, name) in captures(spec) {
            let refuse = |why: String| refused(locations, &path, name, why, "a capture as pcap or pcapng");
            let bytes = files.bytes(folder, name, MAX_CAPTURE).map_err(refuse)?;
            let packets = pcap::offered(&bytes).map_err(|error| refuse(error.to_string()))?;
            if packets.is_empty() {
                return Err(refuse("it has no packets".into()));
            }
            let offered = |packet: pcap::Offered| {
                let pcap::Offered { at, bytes, flow } = packet;
                Offered { at, bytes, flow }
            };
            let untold = pcap::untold(&bytes).unwrap_or(0);
            if untold > 0 {
                files.notes.push(format!(
                    "`{name}`: {untold} of its packets show no packet behind the headers of their link (encrypted, \
                     without data, or cut too short); they are one flow"
                ));
            }
            files.captures.insert(name.into(), packets.into_iter().map(offered).collect());
        }
        Ok(files)
    }

    /// The files that `spec` names, each with the place of its name.
    pub(crate) fn named(&self, spec: &Spec) -> Vec<NamedFile> {
        let named = traces_of(spec).into_iter().chain(captures(spec));
        let named = named.filter(|(_, name)| self.hashes.contains_key(*name));
        named.map(|(key, name)| NamedFile { key, name: name.into(), sha256: self.hashes[name] }).collect()
    }

    /// What is to be said of them.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The packets of the capture called `name`.
    pub(crate) fn capture(&self, name: &str) -> Arc<[Offered]> {
        Arc::clone(&self.captures[name])
    }

    /// The trace called `name`.
    pub(crate) fn trace(&self, name: &str) -> Arc<Trace> {
        Arc::clone(&self.traces[name])
    }

    /// The hash of a scenario whose own text has `sha256`: with other files it is another scenario.
    pub(crate) fn hashed(&self, sha256: String) -> String {
        if self.hashes.is_empty() {
            return sha256;
        }
        let mut all = Sha256::new_with_prefix(sha256);
        self.hashes.values().for_each(|hash| all.update(hash));
        all.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
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

/// What `trace` may be, with the name that was most likely meant.
fn allowed_traces(given: &str) -> String {
    let names = || traces::ALL.iter().map(|trace| trace.name);
    let listed: Vec<String> = names().map(|name| format!("`{name}`")).collect();
    let allowed = format!("a file of times in ms, one to a line, or {}", listed.join(", "));
    match spelling::question(&spelling::likely(given, names())) {
        Some(question) => format!("{allowed}; {question}"),
        None => allowed,
    }
}

/// The traces named, each with its place.
fn traces_of(spec: &Spec) -> Vec<(String, &str)> {
    let mut named: Vec<(String, Option<&String>)> = Vec::new();
    match &spec.link {
        None => {}
        Some(Links::Shared(link)) => named.push(("link.trace".into(), link.trace.as_ref())),
        Some(Links::Network(links)) => {
            for (at, link) in links.iter().enumerate() {
                named.push((format!("link.{at}.trace"), link.trace.as_ref()));
                let back = link.back.as_ref().and_then(|back| back.trace.as_ref());
                named.push((format!("link.{at}.back.trace"), back));
            }
        }
    }
    named.push(("return.trace".into(), spec.return_link.as_ref().and_then(|back| back.trace.as_ref())));
    named.into_iter().filter_map(|(path, name)| Some((path, name?.as_str()))).collect()
}

/// The captures named, each with its place.
fn captures(spec: &Spec) -> Vec<(String, &str)> {
    let flows = spec.flow.iter().enumerate();
    let named =
        flows.filter_map(|(at, flow)| Some((at, flow.source.given::<ReplaySpec>()?.file.as_deref()?)));
    named.map(|(at, file)| (format!("flow.{at}.source.replay.file"), file)).collect()
}

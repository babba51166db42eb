//! From a file to a checked scenario.

use crate::ScenarioError;
use crate::check;
use crate::compared::{Compared, resolved};
use crate::files::Files;
use crate::spec::Spec;
use crate::topology::Topology;
use fairwire_document::{self as document, Change, Read, read_text};
use std::path::Path;

/// Larger than any scenario: 1 MiB is some ten thousand groups of flows.
const MOST_BYTES: u64 = 1 << 20;
const WANTED: &str = "a scenario file in TOML, such as scenarios/selfish-flow.toml";

/// Keys on which no single run depends: what is compared with what, and what is said of it.
const FOR_PEOPLE: [&str; 5] = ["disciplines", "expect", "name", "seeds", "title"];

/// What the command line changes in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `PATH=VALUE` each: changes to the document, made in this order before it is read.
    pub set: Vec<String>,
    /// Disciplines to compare in place of the scenario's; empty for the scenario's own.
    pub disciplines: Vec<String>,
    /// Seeds in place of the scenario's, such as `1..=10`.
    pub seeds: Option<String>,
}

/// A scenario that has been checked: it can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    spec: Spec,
    topology: Topology,
    sha256: String,
    traffic_sha256: String,
}

impl Scenario {
    /// What it says.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Its queues, and the ways of its flows over them.
    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The names of its queued links, in the order in which results have them.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.topology.queues.iter().map(|queue| queue.name.as_str())
    }

    /// What results call the discipline `name`: a label is itself, and an alias stands for its name in the catalogue.
    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        resolved(name, self.spec.disciplines.iter().map(Compared::label))
    }

    /// SHA-256 of the scenario after `--set`, hexadecimal. The choice of disciplines and seeds is not part of it, and
    /// neither are `[output]`, comments, layout and the order of keys; the contents of the files that it names are.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The same without what no single run depends on: the lists of disciplines and expectations, name and title. Together with a
    /// discipline and a seed it names one run, whatever else its scenario compares.
    pub fn traffic_sha256(&self) -> &str {
        &self.traffic_sha256
    }
}

/// Reads and checks the scenario in the file at `path`.
pub fn load(path: &Path, overrides: &Overrides) -> Result<Scenario, ScenarioError> {
    let text = read_text(path, MOST_BYTES, WANTED)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    read(&path.display().to_string(), &text, overrides, Some(folder))
}

/// Reads and checks the scenario in `text`; `name` is what errors call it. It can name no other files.
pub fn parse(name: &str, text: &str, overrides: &Overrides) -> Result<Scenario, ScenarioError> {
    read(name, text, overrides, None)
}

/// Files that it names are looked for from `folder` on.
fn read(
    name: &str,
    text: &str,
    overrides: &Overrides,
    folder: Option<&Path>,
) -> Result<Scenario, ScenarioError> {
    let mut changes: Vec<Change> =
        overrides.set.iter().map(|text| Change { source: "--set", text: text.clone() }).collect();
    let before: Read<Spec> = document::read(name, text, &changes, &FOR_PEOPLE)?;
    let own = &before.value.disciplines;
    let files = Files::read(&before.value, folder, &before.places)?;
    check::check(&before.value, own, &files, &before.places)?;
    changes.extend(choices(overrides));
    let Read { value: mut spec, places, .. } = document::read::<Spec>(name, text, &changes, &FOR_PEOPLE)?;
    choose(&mut spec.disciplines, own);
    let topology = check::check(&spec, own, &files, &places)?;
    Ok(Scenario {
        spec,
        topology,
        sha256: files.hashed(before.sha256),
        traffic_sha256: files.hashed(before.sha256_without),
    })
}

/// A name that was chosen is first looked for among the labels of the scenario's `own` disciplines.
fn choose(chosen: &mut [Compared], own: &[Compared]) {
    for compared in chosen.iter_mut().filter(|compared| compared.is_name_only()) {
        let label = resolved(&compared.name, own.iter().map(Compared::label)).to_owned();
        if let Some(found) = own.iter().find(|own| own.label() == label) {
            compared.clone_from(found);
        }
    }
}

/// The choice of disciplines and seeds, as changes.
fn choices(overrides: &Overrides) -> Vec<Change> {
    let mut changes = Vec::new();
    if !overrides.disciplines.is_empty() {
        let names: Vec<String> = overrides.disciplines.iter().map(|name| quoted(name)).collect();
        changes.push(Change { source: "--discipline", text: format!("disciplines=[{}]", names.join(", ")) });
    }
    if let Some(seeds) = &overrides.seeds {
        changes.push(Change { source: "--seeds", text: format!("seeds={}", quoted(seeds)) });
    }
    changes
}

/// `text` as a basic string of TOML, in which control characters must be escaped, and nothing else.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

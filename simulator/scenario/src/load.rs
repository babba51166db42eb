//! Reads a file into a checked scenario.

use crate::check;
use crate::compared::{Compared, entries, resolved};
use crate::control;
use crate::files::{Files, NamedFile};
use crate::generated;
use crate::measure;
use crate::notes;
use crate::output::OutputSpec;
use crate::schema::{self, Table};
use crate::source;
use crate::spec::Spec;
use crate::topology::{self, Topology};
use crate::values::Seeds;
use fairwire_catalogue::{self as catalogue, Parameters};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate};
use fairwire_document::DocumentError as ScenarioError;
use fairwire_document::{self as document, Change, Locations, Problem, Read, quoted, read_text, shortened};
use fairwire_metrics::agreement::Tolerance;
use fairwire_parameters::{Entry, Kind};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The maximum size of a scenario: 1 MiB holds some ten thousand groups of flows.
const MAX_BYTES: u64 = 1 << 20;
const WANTED: &str = "a scenario file in TOML, such as scenarios/selfish-flow.toml";

/// The keys that do not affect a single run: comparisons and descriptions.
const FOR_PEOPLE: [&str; 7] = ["agree", "disciplines", "expect", "lesson", "name", "seeds", "title"];

/// The command line's changes to a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Changes to the document, each `PATH=VALUE`, made in this order before the document is read.
    pub set: Vec<String>,
    /// Disciplines to compare instead of the scenario's. An entry has one or more names or tables,
    /// separated by commas. If empty, the scenario's disciplines are compared.
    pub disciplines: Vec<String>,
    /// Seeds to use instead of the scenario's, such as `1..=10`.
    pub seeds: Option<String>,
}

/// A checked scenario, which can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    spec: Spec,
    topology: Topology,
    sha256: String,
    traffic_sha256: String,
    toml: String,
    set: Vec<String>,
    files: Vec<NamedFile>,
    notes: Vec<String>,
    locations: Locations,
    /// The scenario's name in errors, and the folder of its other files.
    source: (String, Option<PathBuf>),
}

/// A short description of a link with a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueView<'a> {
    /// The link's name in results.
    pub name: &'a str,
    /// The rate that disciplines use.
    pub rate: Rate,
    /// The link's propagation delay, one way.
    pub delay: Duration,
    /// The mean rate of the link's trace or pattern, if any.
    pub trace_mean: Option<Rate>,
    /// The capacity of the queue.
    pub buffer: Amount,
}

impl Scenario {
    /// Its contents.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The names of the scenario's queued links, in the order of results.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.topology.queues.iter().map(|queue| queue.name.as_str())
    }

    /// The scenario's queued links, in the order of results.
    pub fn queues(&self) -> impl Iterator<Item = QueueView<'_>> {
        self.topology.queues.iter().map(|queue| QueueView {
            name: &queue.name,
            rate: queue.rate,
            delay: queue.delay,
            trace_mean: queue.law.repeating_mean(),
            buffer: queue.buffer,
        })
    }

    /// The name that results use for the discipline `name`: the label, or else the name in the
    /// catalogue.
    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        resolved(name, self.spec.disciplines.iter().map(Compared::label))
    }

    /// The tolerances of the scenario's `[[agree]]` tables, in their order.
    pub fn tolerances(&self) -> Vec<Tolerance<'_>> {
        self.spec.tolerances(|name| self.label(name))
    }

    /// The measures that a summary contains only because the scenario names them.
    pub fn further_measures(&self) -> Vec<String> {
        self.spec.further_measures()
    }

    /// The error if the scenario names a stage that is not in `known`.
    pub fn unknown_stage(&self, known: &[&str]) -> Option<ScenarioError> {
        let named = self.spec.agree.iter().enumerate();
        let mut named = named.filter_map(|(at, agree)| Some((at, agree.stage.as_deref()?)));
        let (at, name) = named.find(|(_, name)| !known.contains(name))?;
        let allowed = known.iter().map(ToString::to_string).collect();
        let problem = Problem::Unknown { what: "stage", given: shortened(name), allowed };
        Some(self.locations.refuse(&format!("agree.{at}.stage"), problem))
    }

    /// The SHA-256 of the scenario after `--set`, hexadecimal. It covers the contents of the files
    /// that the scenario names. It ignores the choice of disciplines and seeds, `[output]`,
    /// comments, layout and the order of keys.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The effective scenario in TOML: after `--set`, with the chosen disciplines, their
    /// expectations, and the chosen seeds. Stored in the same folder, it gives the same runs. If
    /// nothing was changed, it is the original text with comments.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// Every `--set`, as entered.
    pub fn set(&self) -> &[String] {
        &self.set
    }

    /// The same scenario after further changes, made together. Each is `PATH=VALUE`, as for
    /// `--set`.
    ///
    /// # Errors
    /// The same as for [`load`].
    pub fn changed(&self, set: &[String]) -> Result<Scenario, ScenarioError> {
        let (name, folder) = &self.source;
        let overrides = Overrides { set: set.to_vec(), ..Overrides::default() };
        let changed = read(name, &self.toml, &overrides, folder.as_deref())?;
        Ok(Scenario { set: self.set.iter().chain(set).cloned().collect(), ..changed })
    }

    /// The files that the scenario names: captures, traces and delays of links.
    pub fn files(&self) -> &[NamedFile] {
        &self.files
    }

    /// Notes, each a line: default values on which results depend, and likely mistakes.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The names of all measures that a summary of the scenario's runs may contain.
    pub fn measures(&self) -> Vec<String> {
        measure::names(&self.spec, &self.topology)
    }

    /// The number of flows of a run. A user with several connections counts as one flow.
    pub fn flow_count(&self) -> u64 {
        let groups = self.spec.flow.iter().zip(&self.topology.routes);
        groups.map(|(flow, routes)| topology::flows(flow, routes)).sum()
    }

    /// The approximate work of a run: the bits that queued links can carry in the simulated time.
    pub fn weight(&self) -> f64 {
        let bps: f64 = self.queues().map(|queue| queue.rate.bps() as f64).sum();
        (self.spec.duration.0.secs() * bps).max(1.0)
    }

    /// The SHA-256, hexadecimal, of all that determines a run of the discipline at index `at`,
    /// except the engine and the seed. An explicit default does not change the hash.
    pub fn run_sha256(&self, at: usize) -> String {
        // With one link and an uncongested return direction, only the compared discipline is used.
        // `crate::discipline` returns its parameters, so the field `discipline` is omitted.
        let is_alone = self.spec.shared_link().is_some() && self.spec.return_link.is_none();
        let spec = Spec {
            name: String::new(),
            title: String::new(),
            seeds: Seeds::default(),
            disciplines: Vec::new(),
            discipline: if is_alone { Parameters::default() } else { self.spec.discipline.clone() },
            output: OutputSpec::default(),
            expect: Vec::new(),
            agree: Vec::new(),
            lesson: None,
            ..self.spec.clone()
        };
        let mut all = Sha256::new();
        // The debug format of a value has every field, and each float with all its digits.
        all.update(format!("{spec:?}{:?}", crate::discipline(self, at)));
        self.files.iter().for_each(|file| all.update(file.sha256()));
        all.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// [`sha256`](Self::sha256) without the keys that do not affect a single run: `agree`,
    /// `disciplines`, `expect`, `lesson`, `name`, `seeds` and `title`. Together with a discipline
    /// and a seed it identifies one run.
    pub fn traffic_sha256(&self) -> &str {
        &self.traffic_sha256
    }
}

/// Reads and checks the scenario in the file at `path`.
pub fn load(path: &Path, overrides: &Overrides) -> Result<Scenario, ScenarioError> {
    let text = read_text(path, MAX_BYTES, WANTED)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    read(&path.display().to_string(), &text, overrides, Some(folder))
}

/// Reads and checks the scenario in `text`, called `name` in errors. It may refer to no other
/// files.
pub fn parse(name: &str, text: &str, overrides: &Overrides) -> Result<Scenario, ScenarioError> {
    read(name, text, overrides, None)
}

/// Reads and checks the scenario in `text`, called `name` in errors. File names in the text are
/// relative to `folder`.
pub fn parse_in(
    folder: &Path,
    name: &str,
    text: &str,
    overrides: &Overrides,
) -> Result<Scenario, ScenarioError> {
    read(name, text, overrides, Some(folder))
}

fn read(
    name: &str,
    text: &str,
    overrides: &Overrides,
    folder: Option<&Path>,
) -> Result<Scenario, ScenarioError> {
    let read: Read<Spec> = document::read(name, text, &set_changes(overrides), &FOR_PEOPLE)
        .map_err(|error| error.with_owners(&owners))?;
    let (own, mut locations) = (read.value.dealt(), read.locations);
    let files = Files::read(&own, folder, &locations)?;
    let topology = check::check(&own, &files).map_err(|fault| fault.located(&locations))?;
    let spec = chosen(&own, overrides, &mut locations)?;
    if !overrides.disciplines.is_empty() {
        check::chosen(&spec, &own.disciplines, &topology).map_err(|fault| fault.located(&locations))?;
    }
    Ok(Scenario {
        toml: Source { name, text, overrides }.effective(&own, &spec)?,
        set: overrides.set.clone(),
        files: files.named(&spec),
        notes: [files.notes().to_vec(), notes::of(&spec, &topology)].concat(),
        spec,
        topology,
        locations,
        source: (name.to_owned(), folder.map(Path::to_owned)),
        sha256: files.hashed(read.sha256),
        traffic_sha256: files.hashed(read.sha256_without),
    })
}

#[derive(Deserialize)]
struct Choices {
    disciplines: Option<Vec<Compared>>,
    seeds: Option<Seeds>,
}

fn chosen(own: &Spec, overrides: &Overrides, locations: &mut Locations) -> Result<Spec, ScenarioError> {
    let choices = choices(overrides);
    let Choices { disciplines, seeds } =
        document::read_changes(&choices, locations).map_err(|error| error.with_owners(&owners))?;
    let mut spec = own.clone();
    if let Some(disciplines) = disciplines {
        spec.disciplines = disciplines;
        choose(&mut spec.disciplines, &own.disciplines);
    }
    spec.seeds = seeds.unwrap_or(spec.seeds);
    Ok(spec)
}

fn owners(name: &str) -> Vec<&'static str> {
    let mut tables = tables(name);
    tables.truncate(document::MAX_OWNERS); // outer tables come first
    let parts = parts(name);
    if tables.is_empty() || tables.len() + parts.len() <= document::MAX_OWNERS {
        return tables.into_iter().chain(parts).collect();
    }
    tables
}

fn tables(name: &str) -> Vec<&'static str> {
    static ALL: LazyLock<Vec<Table>> = LazyLock::new(schema::tables);
    ALL.iter().filter(|table| table.keys.contains(name)).map(|table| table.path.as_str()).collect()
}

fn parts(name: &str) -> Vec<&'static str> {
    fn of<K: Kind>(all: &'static [Entry<K>], name: &str) -> impl Iterator<Item = &'static str> {
        all.iter().filter(move |entry| entry.has(name)).map(|entry| entry.name)
    }
    let mut owners = catalogue::owners(name);
    owners.extend(of(control::all(), name).chain(of(source::all(), name)).chain(of(generated::all(), name)));
    owners
}

struct Source<'a> {
    name: &'a str,
    text: &'a str,
    overrides: &'a Overrides,
}

impl Source<'_> {
    /// The TOML of the scenario `chosen`. `own` is the file's scenario after `--set`.
    fn effective(&self, own: &Spec, chosen: &Spec) -> Result<String, ScenarioError> {
        let Source { name, text, overrides } = *self;
        let mut changes = set_changes(overrides);
        let mut without = Vec::new();
        if !overrides.disciplines.is_empty() {
            let labels = || own.disciplines.iter().map(Compared::label);
            let is_chosen = |name: &String| {
                let label = resolved(name, labels());
                chosen.disciplines.iter().any(|compared| compared.label() == label)
            };
            // An entry of `overrides` may be a label in the file's list. The labelled entry is
            // copied, because the new list replaces that list.
            let of_file = document::elements(name, text, &changes, "disciplines")?;
            let given = entries(&overrides.disciplines).into_iter().zip(&chosen.disciplines);
            let entry = |(given, compared): (String, &Compared)| {
                let at = own.disciplines.iter().position(|own| own == compared);
                at.map_or(given, |at| of_file[at].clone())
            };
            let disciplines: Vec<String> = given.map(entry).collect();
            let expects = own.expect.iter().map(|expect| expect.disciplines().all(is_chosen)).collect();
            let agrees = own.agree.iter().map(|agree| agree.discipline.iter().all(is_chosen)).collect();
            for (key, is_judged) in [("expect", expects), ("agree", agrees)] {
                let is_judged: Vec<bool> = is_judged;
                if is_judged.contains(&false) {
                    let elements = document::elements(name, text, &changes, key)?.into_iter().zip(is_judged);
                    let judged: Vec<String> = elements.filter(|(_, is)| *is).map(|(text, _)| text).collect();
                    changes.push(change(format!("{key}=[{}]", judged.join(", "))));
                }
            }
            changes.push(change(format!("disciplines=[{}]", disciplines.join(", "))));
            without.extend(own.output.paired.iter().filter(|name| !is_chosen(name)).map(|_| "output.paired"));
        }
        if let Some(seeds) = &overrides.seeds {
            changes.push(change(format!("seeds={}", quoted(seeds))));
        }
        document::changed(name, text, &changes, &without)
    }
}

fn set_changes(overrides: &Overrides) -> Vec<Change> {
    overrides.set.iter().cloned().map(change).collect()
}

fn change(text: String) -> Change {
    Change { source: "--set", in_place_of: rival(&text), text }
}

fn rival(change: &str) -> Option<String> {
    let path: Vec<&str> = change.split_once('=')?.0.split('.').map(str::trim).collect();
    match path[..] {
        ["flow", group, "rtt"] => Some(format!("flow.{group}.access.delay")),
        ["flow", group, "access", "delay"] => Some(format!("flow.{group}.rtt")),
        _ => None,
    }
}

fn choose(chosen: &mut [Compared], own: &[Compared]) {
    for compared in chosen.iter_mut().filter(|compared| compared.is_name_only()) {
        let label = resolved(compared.name(), own.iter().map(Compared::label)).to_owned();
        if let Some(found) = own.iter().find(|own| own.label() == label) {
            compared.clone_from(found);
        }
    }
}

fn choices(overrides: &Overrides) -> Vec<Change> {
    let mut changes = Vec::new();
    if !overrides.disciplines.is_empty() {
        let entries = entries(&overrides.disciplines).join(", ");
        let text = format!("disciplines=[{entries}]");
        changes.push(Change { source: "--discipline", text, in_place_of: None });
    }
    if let Some(seeds) = &overrides.seeds {
        let text = format!("seeds={}", quoted(seeds));
        changes.push(Change { source: "--seeds", text, in_place_of: None });
    }
    changes
}

//! A gateway's configuration: read, checked, and turned into a datapath.

pub mod backend;
mod changes;
mod claims;
mod discipline;
mod edges;
pub mod environment;
pub mod explain;
mod fair;
mod leaves;
mod notes;
mod offered;
mod other;
pub(crate) mod passages;
mod places;
mod promises;
mod record;
pub(crate) mod rows;
mod service;
mod shaping;
pub mod spec;
mod tree;
pub mod user;
pub mod wire;

pub use changes::Changes;
pub use explain::Explanation;
pub use fairwire_laws::part::ClassSupport;
pub use leaves::LeafChoice;
pub use other::OtherDiscipline;
pub use record::{MAX_JOURNAL, journal_of, table};
pub use shaping::Shaping;

use crate::edges::report::{Key, MIN_KEY_BYTES};
use discipline::{DisciplineFault, DisciplinePlan};
use fairwire_catalogue::{self as catalogue, BuildError, Choice, Site};
use fairwire_core::{Duration, Seed};
use fairwire_datapath::DatapathPlan;
use fairwire_datapath::class_book::ClassBook;
use fairwire_datapath::classify::{Claims, Classifier, ClassifierPlan, FlowKind, Framing, LinkKind, Members};
use fairwire_datapath::direction::{DirectionPlan, ShaperPlan};
use fairwire_datapath::edge::{Edge, Estimates, Targets};
use fairwire_datapath::pool::PoolSize;
use fairwire_document::{DocumentError, Locations, Problem, read_document, read_text};
use fairwire_subscribers::sheet;
use fairwire_subscribers::sheet::SheetText;
use fairwire_wire::Way;
use leaves::ClassLeaves;
use places::Texts;
pub(crate) use record::is_of;
use record::{ReadFile, table_by};
use spec::Spec;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A consistent configuration.
#[derive(Clone, Debug)]
pub struct Config {
    spec: Spec,
    places: Locations,
    /// The file from which the configuration was read; empty if there is none.
    file: PathBuf,
    book: Arc<ClassBook>,
    claims: Arc<Claims>,
    leaves: ClassLeaves,
    shaping: [Option<Shaping>; 2],
    notes: Vec<String>,
}

/// The inputs of a datapath that do not come from the configuration.
#[derive(Clone, Copy, Debug)]
pub struct PlanContext {
    /// The key of flow hashes.
    pub secret: [u8; 16],
    /// The seed of the disciplines' random numbers.
    pub seed: Seed,
    /// Bytes of the longest frame.
    pub frame_bytes: u32,
    /// The header with which frames begin.
    pub link: LinkKind,
}

/// Reads the configuration at `path` without checking its values.
///
/// # Errors
/// If the file cannot be read, or has content that no configuration can have.
pub fn typed_at(path: &Path) -> Result<Spec, DocumentError> {
    typed_as(path, &text_at(path)?)
}

/// Reads the configuration in `text`, as [`typed_at`] would if the file at `path` contained it.
///
/// # Errors
/// As for [`typed_at`].
pub fn typed_as(path: &Path, text: &str) -> Result<Spec, DocumentError> {
    Ok(typed(&path.display().to_string(), text)?.0)
}

/// The text of the configuration file at `path`, unparsed.
///
/// # Errors
/// If it cannot be read.
pub fn text_at(path: &Path) -> Result<String, DocumentError> {
    read_text(path, MAX_BYTES, WANTED)
}

const WANTED: &str = "a gateway's configuration in TOML, such as docs/gateway/home.toml";

/// The most bytes of a configuration; subscribers have a separate file.
const MAX_BYTES: u64 = 4 << 20;
/// The least length of a token, since a shorter one can be guessed.
const MIN_TOKEN_BYTES: usize = 16;
const MAX_TOKEN_BYTES: u64 = 4096;
/// A link may make up for at most this much lost time. A busy machine may wake the thread this
/// late.
const CATCH_UP: Duration = Duration::from_ms(10);
/// The default time between two wake-ups while packets wait. HTB and CAKE also let a link send for
/// about this time at once.
pub const COALESCE: Duration = Duration::from_ms(1);
pub(crate) const COUNTED_FLOWS: u32 = 4096;
/// A discipline that shares between hosts can know at least this number of hosts, even if fewer
/// flows are counted.
const MIN_HOSTS: usize = 1024;
impl Config {
    /// Reads the configuration at `path` and its subscriber file.
    pub fn load(path: &Path) -> Result<Config, DocumentError> {
        Config::load_by(path, &mut |path, limit, wanted| read_text(path, limit, wanted))
    }

    /// Loads the configuration in `text`, as if it were in the file at `path`.
    ///
    /// # Errors
    /// As for [`load`](Config::load).
    pub fn load_text(path: &Path, text: &str) -> Result<Config, DocumentError> {
        Config::load_edited(path, &[(path, text)])
    }

    /// The configuration at `path`, as if each file in `edited` contained the given text.
    ///
    /// # Errors
    /// As for [`load`](Config::load).
    pub fn load_edited(path: &Path, edited: &[(&Path, &str)]) -> Result<Config, DocumentError> {
        Config::load_by(path, &mut |file, limit, wanted| match edited
            .iter()
            .find(|(path, _)| is_of(file, path))
        {
            Some((path, text)) if *path == file => Ok((*text).to_owned()),
            Some(_) => Ok(String::new()),
            None => read_text(file, limit, wanted),
        })
    }

    pub(crate) fn load_by(path: &Path, read: &mut ReadFile<'_>) -> Result<Config, DocumentError> {
        let text = read(path, MAX_BYTES, WANTED)?;
        let name = path.display().to_string();
        let (spec, places) = typed(&name, &text)?;
        let file = path.to_owned();
        let Some(subscribers) = &spec.subscribers else {
            return Ok(Config { file, ..Config::check(spec, places, None)? });
        };
        let sheet = beside(path, &subscribers.file);
        let wanted = "a table of subscribers in CSV, such as docs/gateway/subscribers.csv";
        let table = table_by(&sheet, wanted, read).map_err(|error| match error.location {
            Some(_) => error,
            None => places.refuse("subscribers.file", error.problem),
        })?;
        let (text, left_out) = table.merged()?;
        let sheet = SheetText { name: table.name(), text: &text };
        let config = Config::check(spec, places, Some(sheet))?;
        let notes = left_out.into_iter().chain(config.notes).collect();
        Ok(Config { file, notes, ..config })
    }

    /// Reads `text`, called `name` in errors. `csv` is the name and the text of the subscriber
    /// file.
    pub fn parse(name: &str, text: &str, csv: Option<(&str, &str)>) -> Result<Config, DocumentError> {
        let (spec, places) = typed(name, text)?;
        match (&spec.subscribers, csv) {
            (Some(subscribers), None) => {
                let path = subscribers.file.clone();
                let wanted = "a table of subscribers in CSV";
                Err(places
                    .refuse("subscribers.file", Problem::NotFound { path, nearest: Vec::new(), wanted }))
            }
            (Some(_), Some((name, text))) => Config::check(spec, places, Some(SheetText { name, text })),
            (None, _) => Config::check(spec, places, None),
        }
    }

    fn check(spec: Spec, places: Locations, csv: Option<SheetText<'_>>) -> Result<Config, DocumentError> {
        let sheet = csv.map(sheet::read).transpose()?;
        let texts = Texts { places: &places, sheet: sheet.as_ref() };
        service::check(&spec, &texts)?;
        let tree = tree::grow(&spec, &texts)?;
        let (claims, nested) = claims::claims(&spec, &tree, &texts)?;
        let [download, upload] = Way::ALL.map(|way| shaping::check(&spec, way, &tree, &texts));
        let shaping = [download?, upload?];
        let is_classful = shaping.iter().flatten().any(|shaping| shaping.sharing == ClassSupport::Queues);
        let leaves = ClassLeaves::new(&spec, &tree, is_classful, &texts, |choice, path| {
            discipline::leaf(choice, path, &texts)
        })?;
        edges::check(&spec, &tree, &shaping, &texts)?;
        refuse_unused(&spec, &shaping, &leaves, &texts)?;
        let notes = nested.into_iter().chain(notes::notes(&spec, &tree, &shaping, &texts)).collect();
        let vacant = shaping::vacant(&spec, &shaping, tree.book.len());
        let (book, claims) = (Arc::new(tree.book.with_vacant(vacant)), Arc::new(claims));
        let file = PathBuf::new();
        let config = Config { spec, places, file, book, claims, leaves, shaping, notes };
        for way in Way::ALL {
            config.check_discipline(way)?;
        }
        config.check_base()?;
        Ok(config)
    }

    /// The configuration as written.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The gateway's name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The classes.
    pub fn book(&self) -> &Arc<ClassBook> {
        &self.book
    }

    /// The shaping of one direction; `None` if it is not shaped.
    pub fn shaping(&self, way: Way) -> Option<&Shaping> {
        self.shaping[way as usize].as_ref()
    }

    /// Remarks on valid settings that may surprise, each a sentence.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Refuses the value at the dotted `path`.
    pub fn refuse(&self, path: &str, problem: Problem) -> DocumentError {
        self.places.refuse(path, problem)
    }

    /// The configuration and the subscriber file; empty if the configuration came from no file.
    pub fn files(&self) -> Vec<PathBuf> {
        let sheet = self.spec.subscribers.iter().map(|subscribers| beside(&self.file, &subscribers.file));
        let own = Some(self.file.clone()).filter(|file| !file.as_os_str().is_empty());
        own.iter().cloned().chain(sheet.filter(|_| own.is_some())).collect()
    }

    /// The path of a file that the configuration names. A relative path starts at the
    /// configuration's folder.
    pub(crate) fn beside(&self, named: &Path) -> PathBuf {
        beside(&self.file, named)
    }

    pub(crate) fn token_file(&self) -> Option<PathBuf> {
        self.spec.telemetry.token_file.as_ref().map(|file| beside(&self.file, file))
    }

    /// Reads the token that readers of metrics must show; `None` if no file is named.
    pub fn token(&self) -> Result<Option<String>, DocumentError> {
        const KEY: &str = "telemetry.token_file";
        let Some(file) = &self.spec.telemetry.token_file else { return Ok(None) };
        let wanted = "a file with the token that readers of metrics must show";
        let token = self.secret(KEY, file, wanted)?;
        if token.is_empty() {
            let allowed = "a file with a token, such as 32 random letters".to_owned();
            return Err(self.refuse_file(KEY, file, "it is empty".to_owned(), allowed));
        }
        if token.len() < MIN_TOKEN_BYTES {
            let why = format!("its token has {} bytes", token.len());
            let allowed = format!("at least {MIN_TOKEN_BYTES}, such as 32 random letters");
            return Err(self.refuse_file(KEY, file, why, allowed));
        }
        Ok(Some(token))
    }

    pub(crate) fn key_files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let ingress =
            self.spec.ingress.iter().map(|ingress| ("ingress.key_file", ingress.key_file.as_path()));
        let egress = self.spec.egress.iter().map(|egress| ("egress.key_file", egress.key_file.as_path()));
        ingress.chain(egress)
    }

    pub(crate) fn secret_files(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let keys = self.key_files().map(|(_, file)| ("key of edges", beside(&self.file, file)));
        self.token_file().into_iter().map(|file| ("token", file)).chain(keys)
    }

    /// Reads an edge's key from `file`, which the setting at `path` names.
    pub(crate) fn edge_key(&self, path: &str, file: &Path) -> Result<Key, DocumentError> {
        let secret = self.secret(path, file, "a file with the key of both edges")?;
        if secret.len() < MIN_KEY_BYTES {
            let why = format!("its key has {} bytes", secret.len());
            let allowed = format!("at least {MIN_KEY_BYTES}, such as 32 random letters");
            return Err(self.refuse_file(path, file, why, allowed));
        }
        Ok(Key::new(secret.as_bytes()))
    }

    pub(crate) fn refuse_equal_keys(&self, file: &Path) -> DocumentError {
        self.refuse_file("egress.key_file", file, edges::EQUAL_KEYS.into(), edges::TWO_KEYS.into())
    }

    fn secret(&self, path: &str, file: &Path, wanted: &'static str) -> Result<String, DocumentError> {
        let text = read_text(&beside(&self.file, file), MAX_TOKEN_BYTES, wanted)
            .map_err(|error| self.refuse(path, error.problem))?;
        Ok(text.trim().to_owned())
    }

    fn refuse_file(&self, path: &str, file: &Path, why: String, allowed: String) -> DocumentError {
        let given = format!("`{}`", file.display());
        self.refuse(path, Problem::Refused { key: path.into(), given, why, allowed })
    }

    /// The plan of both directions. `forward` is the download, since the outside is the left end of
    /// a wire.
    pub fn plan(&self, context: &PlanContext) -> Result<DatapathPlan, BuildError> {
        let (forward, backward) =
            (self.direction(Way::Download, context)?, self.direction(Way::Upload, context)?);
        Ok(DatapathPlan { forward, backward })
    }

    /// The plan of one direction.
    pub fn direction(&self, way: Way, context: &PlanContext) -> Result<DirectionPlan, BuildError> {
        let shaping = self.shaping(way);
        let shaper = match shaping {
            Some(shaping) => Some(ShaperPlan {
                discipline: self.discipline_plan(shaping, way, context.frame_bytes, context.seed).build()?,
                rate: shaping.rate,
                catch_up: CATCH_UP,
                not_ip: shaping.not_ip,
                control: shaping.control,
            }),
            None => None,
        };
        let classifier = Classifier::of(ClassifierPlan {
            secret: context.secret,
            flows: shaping.map_or(FlowKind::FiveTuple, |shaping| shaping.flows),
            framing: shaping.map_or(Framing::ETHERNET, |shaping| shaping.framing),
            link: context.link,
            way,
            claims: Arc::clone(&self.claims),
        })
        .writing(shaping.map_or_else(Default::default, |shaping| shaping.dscp.rewriting()))
        .suspending(self.book.suspended());
        let classifier = if shaping.is_some_and(|shaping| shaping.within) {
            classifier.with_conversations()
        } else {
            classifier
        };
        Ok(DirectionPlan {
            shaper,
            classifier,
            pool: PoolSize::with_room(self.frames(way, context.frame_bytes), context.frame_bytes),
            flows: self.accounts(way),
            classes: self.book.numbers(),
        })
    }

    pub(crate) fn members(&self) -> Members {
        Members { claims: Arc::clone(&self.claims), suspended: self.book.suspended() }
    }

    /// Each direction's role in a DiffServ domain. Downloads leave the domain here; uploads enter
    /// it.
    pub fn edges(&self) -> [Edge; 2] {
        let classes = self.book.numbers();
        let estimates = self.spec.egress.as_ref().map(|_| Estimates::new(classes));
        let targets = self.spec.ingress.as_ref().map(|_| Arc::new(Targets::new(classes)));
        [Edge { estimates, targets: None }, Edge { estimates: None, targets }]
    }

    /// The number of flows counted individually in one direction. A discipline that shares between
    /// hosts knows at most this number of hosts.
    pub fn accounts(&self, way: Way) -> usize {
        let typed = self.spec.telemetry.flows.unwrap_or(COUNTED_FLOWS) as usize;
        let shares_twice = self.shaping(way).is_some_and(|shaping| shaping.within);
        if shares_twice { typed.max(MIN_HOSTS) } else { typed }
    }

    /// Frames that may be in the gateway at once: as configured, or enough for the buffer.
    pub fn frames(&self, way: Way, frame_bytes: u32) -> u32 {
        if let Some(frames) = self.spec.safety.frames {
            return frames;
        }
        let Some(shaping) = self.shaping(way) else { return UNSHAPED_FRAMES };
        let inside = |bytes: u32| shaping.buffer.in_packets(bytes, shaping.rate);
        let typical = 2.0 * inside(shaping.packet_bytes(frame_bytes));
        // In a flood of the shortest packets, the same bytes of buffer hold many more frames.
        let shortest = shaping.framing.wire_bytes(MIN_FRAME, LinkKind::Ethernet).max(28);
        let most = f64::from(MAX_POOL / PoolSize::room(frame_bytes));
        let frames = typical.max(inside(shortest).min(most)) + f64::from(UNSHAPED_FRAMES);
        frames.min(f64::from(MAX_FRAMES)) as u32
    }

    fn discipline_plan<'a>(
        &'a self,
        shaping: &'a Shaping,
        way: Way,
        frame_bytes: u32,
        seed: Seed,
    ) -> DisciplinePlan<'a> {
        let frames = self.frames(way, frame_bytes);
        let (book, leaves) = (&self.book, &self.leaves);
        DisciplinePlan { shaping, book, leaves, way, frame_bytes, frames, seed, only: None }
    }

    /// Checks a direction's discipline, so that building it at run time cannot fail.
    fn check_discipline(&self, way: Way) -> Result<(), DocumentError> {
        let Some(shaping) = self.shaping(way) else { return Ok(()) };
        let plan = self.discipline_plan(shaping, way, shaping::TYPICAL_FRAME, Seed(0));
        let Err(DisciplineFault { error, leaf }) = plan.check() else { return Ok(()) };
        let (path, problem) = match error {
            BuildError::Unknown(unknown) => {
                let key = format!("{}.discipline", way.name());
                (key.clone(), Problem::BadValue { key, message: unknown.to_string() })
            }
            BuildError::Parameter(bad) => {
                let is_buffer = bad.parameter == "buffer" && bad.within.is_empty();
                let of_leaf = leaf.and_then(|leaf| leaf.choice().parameters());
                let mut typed = [Some(&shaping.parameters), of_leaf].into_iter().flatten();
                let is_typed = typed.any(|typed| typed.typed().any(|typed| typed == bad.discipline));
                let given = [&self.spec.download, &self.spec.upload][way as usize].as_ref();
                let given = given.and_then(|typed| typed.discipline.as_ref());
                let beside_the_name = match (leaf, given) {
                    (Some(leaf), _) => Some(format!("{}.{}", leaf.path(), leaf.choice().path_of(&bad))),
                    (None, Some(choice)) => {
                        Some(format!("{}.discipline.{}", way.name(), choice.path_of(&bad)))
                    }
                    (None, None) => None,
                };
                let key = match is_buffer && !is_typed {
                    true => format!("{}.buffer", way.name()),
                    false => beside_the_name
                        .filter(|path| self.places.contains(path))
                        .unwrap_or_else(|| format!("discipline.{}", bad.path())),
                };
                let why = format!("`{}` does not accept that for [{}]", bad.discipline, way.name());
                (key.clone(), Problem::Refused { key, given: bad.given, why, allowed: bad.allowed })
            }
        };
        Err(self.places.refuse(&path, problem))
    }

    /// Checks the tables `[discipline.<name>]`. A table that a direction or a leaf uses unchanged
    /// is checked with that direction or leaf.
    fn check_base(&self) -> Result<(), DocumentError> {
        let Some((way, shaping)) = Way::ALL.iter().find_map(|&way| Some((way, self.shaping(way)?))) else {
            return Ok(());
        };
        let given = [&self.spec.download, &self.spec.upload].map(|typed| typed.as_ref()?.discipline.as_ref());
        let ways = self.shaping.iter().zip(given).filter_map(|(shaping, given)| {
            let name = shaping.as_ref()?.discipline;
            Some(given.cloned().unwrap_or_else(|| Choice::named(name)))
        });
        let leaves = self.shaping.iter().flatten().map(|shaping| &shaping.leaf).chain(self.leaves.choices());
        let uses: Vec<Choice> = ways.chain(leaves.map(|leaf| leaf.choice().clone())).collect();
        let site = self.site(shaping, way);
        match catalogue::check_base(&self.spec.discipline, uses.iter(), &site) {
            Err(BuildError::Parameter(bad)) => {
                let key = format!("discipline.{}", bad.path());
                let why = format!("`{}` does not accept that", bad.discipline);
                let problem =
                    Problem::Refused { key: key.clone(), given: bad.given, why, allowed: bad.allowed };
                Err(self.places.refuse(&key, problem))
            }
            Err(BuildError::Unknown(_)) | Ok(()) => Ok(()), // the names were already checked
        }
    }

    fn site(&self, shaping: &Shaping, way: Way) -> Site<'static> {
        self.discipline_plan(shaping, way, shaping::TYPICAL_FRAME, Seed(0)).site()
    }
}

pub(crate) fn beside(path: &Path, file: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(file)
}

/// Frames in addition to those of the buffer: for bursts and for packets that bypass the
/// discipline. An unshaped direction has only these frames.
const UNSHAPED_FRAMES: u32 = 1024;
/// The shortest frame, in bytes: an Ethernet header and an IPv4 header, without padding.
const MIN_FRAME: usize = 34;
/// The limit of a pool that is sized for floods of short packets, in bytes: the memory that the
/// pool would take if all frames were long. Short frames take an eighth of this memory.
const MAX_POOL: u32 = 128 << 20;
const MAX_FRAMES: u32 = 1 << 22;

fn typed(name: &str, text: &str) -> Result<(Spec, Locations), DocumentError> {
    read_document(name, text).map_err(|error| error.with_owners(&catalogue::owners))
}

/// Refuses parameters of a discipline that neither direction uses. Probably the name of this
/// discipline or of a direction's discipline is wrong.
fn refuse_unused(
    spec: &Spec,
    shaping: &[Option<Shaping>; 2],
    leaves: &ClassLeaves,
    texts: &Texts<'_>,
) -> Result<(), DocumentError> {
    let mut used: Vec<&str> = shaping.iter().flatten().map(|shaping| shaping.discipline).collect();
    if shaping.iter().flatten().any(|shaping| shaping.sharing == ClassSupport::Queues) {
        used.extend(
            shaping
                .iter()
                .flatten()
                .map(|shaping| &shaping.leaf)
                .chain(leaves.choices())
                .map(LeafChoice::name),
        );
    }
    let mut used: Vec<&str> = used.into_iter().map(discipline::key).collect();
    match spec.discipline.typed().find(|typed| !used.contains(typed)) {
        None => Ok(()),
        Some(typed) => {
            used.sort_unstable();
            used.dedup();
            let used: Vec<String> = used.into_iter().map(Into::into).collect();
            let path = format!("discipline.{typed}");
            let allowed = format!("parameters of {}", fairwire_document::listed(&used));
            Err(texts.refuse(&path, "given", "neither [download] nor [upload] runs that discipline", allowed))
        }
    }
}

/// The JSON Schema (draft 2020-12) of configurations, for editors.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Spec).to_value()
}

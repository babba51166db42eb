//! Every source, by name: what is known of each, and which of them a group of flows names.

use super::at::{About, At, Offer, Source};
use super::bursts::{self, BurstsSpec};
use super::on_off::{self, OnOffSpec};
use super::poisson::{self, PoissonSpec};
use super::replay::{self, ReplaySpec};
use super::sequence::{self, SequenceSpec};
use super::telnet::{self, TelnetSpec};
use super::transfers::{self, TransfersSpec};
use super::video::{self, VideoSpec};
use super::voip::{self, VoipSpec};
use super::web::{self, WebSpec};
use crate::fault::Fault;
use core::any::Any;
use core::fmt::{self, Debug};
use fairwire_catalogue::{NotRegistered, Registry};
use fairwire_parameters::{ByName, Declared, Field, OutOfRange};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The keys of a group of flows, beside the tables of sources.
pub(crate) const KEYS: &[&str] = &[
    "group",
    "count",
    "source",
    "direction",
    "from",
    "to",
    "via",
    "access",
    "start",
    "class",
    "dscp",
    "aggregate",
    "tcp",
    "rate",
    "packet",
    "header",
    "dither",
];

static SOURCES: Registry<Entry> = Registry::new("source", BUILT_IN, |source| (source.name, &[]));

/// Every source, in the order in which it is listed to people.
pub fn all() -> &'static [Entry] {
    SOURCES.all()
}

/// Adds a source of another crate: from here on it has its name in scenarios, its table of parameters, its page and its schema. Call it
/// before anything else, since the list that was looked at once stays as it is.
///
/// # Errors
///
/// Where the name is taken, or the list was looked at already.
pub fn register<S>() -> Result<(), NotRegistered>
where
    S: SourceSpec + DeserializeOwned + JsonSchema + Send + Sync + 'static,
{
    if KEYS.contains(&S::NAME) {
        return Err(NotRegistered::Taken { kind: "key", name: S::NAME, by: S::NAME });
    }
    SOURCES.register(Entry {
        name: S::NAME,
        about: S::ABOUT,
        fields: S::FIELDS,
        table: Some(Table {
            default: Some(|| Box::new(S::default())),
            outside: Some(Outside {
                table: ByName::of::<S>(),
                read: |value| Ok(Box::new(serde_json::from_value::<S>(value)?)),
            }),
            schema: SchemaGenerator::subschema_for::<Option<S>>,
        }),
    })
}

/// The parameters of a source of another crate as typed, under `#[parameters]`, and what is told of it.
pub trait SourceSpec: Clone + Debug + Declared {
    /// Its name, as typed in scenario files.
    const NAME: &'static str;
    /// What is told of it.
    const ABOUT: About;

    /// What it offers, if all parameters are within their bounds.
    fn offers(&self) -> Result<Offer, OutOfRange>;
}

/// What is known of a source.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name, as it stands in scenarios.
    pub name: &'static str,
    /// What is told of it.
    pub about: About,
    /// Its parameters, where they are declared.
    pub fields: &'static [Field],
    table: Option<Table>,
}

/// The table of a source.
#[derive(Clone, Copy)]
struct Table {
    /// What holds where it is not given; none where it must be.
    default: Option<fn() -> Box<dyn AnySource>>,
    outside: Option<Outside>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

/// How the table of a source of another crate is read.
#[derive(Clone, Copy)]
struct Outside {
    table: ByName,
    read: fn(Value) -> serde_json::Result<Box<dyn AnySource>>,
}

impl Entry {
    /// A source without a table: its keys are those of the group.
    const fn plain(name: &'static str, about: About) -> Self {
        Entry { name, about, fields: &[], table: None }
    }

    /// Must its table be given?
    pub(super) fn is_required(&self) -> bool {
        self.table.is_some_and(|table| table.default.is_none())
    }
}

impl Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A source that is read and can be asked, whichever.
pub(super) trait AnySource: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn cloned(&self) -> Box<dyn AnySource>;
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault>;
}

impl<S: SourceSpec + Send + Sync + 'static> AnySource for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn AnySource> {
        Box::new(self.clone())
    }

    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        SourceSpec::offers(self).map_err(|fault| at.out_of_range(fault))
    }
}

/// One of this crate.
#[derive(Clone, Debug)]
struct Own<S>(S);

impl<S: Source> AnySource for Own<S> {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn cloned(&self) -> Box<dyn AnySource> {
        Box::new(self.clone())
    }

    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        self.0.offers(at)
    }
}

/// How many sources have no table. They stand first.
const PLAIN: usize = 2;

/// Lists each source of this crate with a table of its own once: its name, its file, its parameters, and `needed` where some must be
/// given, which `#[parameters]` does not know.
macro_rules! sources {
    ($($name:literal => $module:ident::$spec:ident $($needed:ident)?;)+) => {
        const BUILT_IN: &[Entry] = &[
            Entry::plain("bulk", About::tcp("A TCP with endless data.")),
            Entry::plain("cbr", About::datagrams("Constant bit rate over UDP.")),
            $(Entry {
                name: $name,
                about: $module::ABOUT,
                fields: sources!(@fields $spec $($needed)?),
                table: Some(Table {
                    default: sources!(@default $spec $($needed)?),
                    outside: None,
                    schema: SchemaGenerator::subschema_for::<Option<$spec>>,
                }),
            }),+
        ];

        /// Reads the table of the source at this place, if it is one of this crate's. By its type, so that a fault has its place in the text.
        fn read_built_in<'de, A: MapAccess<'de>>(
            place: usize,
            table: &mut A,
        ) -> Result<Option<Box<dyn AnySource>>, A::Error> {
            let mut at = PLAIN..;
            $(if at.next() == Some(place) {
                return Ok(Some(Box::new(Own(table.next_value::<$spec>()?))));
            })+
            Ok(None)
        }
    };
    (@fields $spec:ident needed) => { &[] };
    (@fields $spec:ident) => { $spec::FIELDS };
    (@default $spec:ident needed) => { None };
    (@default $spec:ident) => { Some(|| Box::new(Own($spec::default()))) };
}

sources! {
    "on-off" => on_off::OnOffSpec needed;
    "poisson" => poisson::PoissonSpec needed;
    "voip" => voip::VoipSpec;
    "video" => video::VideoSpec;
    "replay" => replay::ReplaySpec needed;
    "transfers" => transfers::TransfersSpec needed;
    "bursts" => bursts::BurstsSpec;
    "telnet" => telnet::TelnetSpec;
    "sequence" => sequence::SequenceSpec;
    "web" => web::WebSpec;
}

/// Reads the table of the source at this place.
pub(super) fn read<'de, A: MapAccess<'de>>(
    place: usize,
    table: &mut A,
) -> Result<Box<dyn AnySource>, A::Error> {
    match all()[place].table.and_then(|table| table.outside) {
        Some(outside) => (outside.read)(table.next_value_seed(outside.table)?).map_err(de::Error::custom),
        None => Ok(read_built_in(place, table)?.expect("a source with a table is listed")),
    }
}

/// The place of the source whose table is called `key`.
pub(super) fn place_of_table(key: &str) -> Option<usize> {
    SOURCES.place(key).filter(|&place| all()[place].table.is_some())
}

/// What sends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SourceKind(usize);

impl SourceKind {
    /// A TCP with endless data.
    pub const BULK: SourceKind = SourceKind(0);
    /// Constant bit rate over UDP.
    pub const CBR: SourceKind = SourceKind(1);

    /// What is known of it.
    pub fn entry(self) -> &'static Entry {
        &all()[self.0]
    }

    /// As it stands in a scenario.
    pub(crate) fn word(self) -> &'static str {
        self.entry().name
    }

    /// Does it send over TCP?
    pub(crate) fn is_tcp(self) -> bool {
        self.entry().about.is_tcp
    }

    pub(super) fn place(self) -> usize {
        self.0
    }

    /// What holds where its table is not given; none where it must be.
    pub(super) fn default_table(self) -> Option<Box<dyn AnySource>> {
        self.entry().table.and_then(|table| table.default).map(|default| default())
    }
}

impl Debug for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl<'de> Deserialize<'de> for SourceKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Word)
    }
}

struct Word;

impl Visitor<'_> for Word {
    type Value = SourceKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a source in quotes, such as \"bulk\"")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<SourceKind, E> {
        let place = SOURCES.place(word).map(SourceKind);
        place.ok_or_else(|| E::unknown_variant(word, SOURCES.names()))
    }
}

impl JsonSchema for SourceKind {
    fn schema_name() -> Cow<'static, str> {
        "SourceKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |source: &Entry| json!({ "type": "string", "const": source.name, "description": source.about.what });
        let words: Vec<Value> = all().iter().map(one).collect();
        json_schema!({ "description": "What sends.", "oneOf": words })
    }
}

/// Adds the tables of all sources to the schema of a group of flows.
pub(crate) fn add_tables(group: &mut Schema, generator: &mut SchemaGenerator) {
    for source in all() {
        let Some(table) = source.table else { continue };
        let mut schema = (table.schema)(generator);
        let needed = if source.is_required() { ", and required there" } else { "" };
        schema
            .insert("description".into(), format!("Only for `source = \"{}\"`{needed}.", source.name).into());
        if let Some(Value::Object(properties)) = group.get_mut("properties") {
            properties.insert(source.name.into(), schema.to_value());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_sim::app::{Bursts, Load, Sequence, Telnet, Traffic, Video, Voip};

    #[test]
    fn a_source_whose_table_is_left_out_is_that_of_the_simulator() {
        let offered = |name: &'static str| {
            let source = SourceKind(SOURCES.place(name).expect("it is listed"));
            let access = "10 Mbit/s".parse().map(fairwire_parameters::Quantity).expect("a rate");
            let header = source.entry().about.header_bytes;
            let at = At { path: "flow.0", key: name, header, access, capture: &|_| [].into() };
            source.default_table().expect("nothing must be given").offers(at).expect("the defaults are right")
        };
        let datagrams = |traffic, packet_bytes| Offer::Datagrams { traffic, packet_bytes };
        assert_eq!(offered("voip"), datagrams(Traffic::Voip(Voip::default()), 200));
        assert_eq!(offered("video"), datagrams(Traffic::Video(Video::default()), 1200));
        assert_eq!(offered("bursts"), Offer::Tcp(Load::Bursts(Bursts::default())));
        assert_eq!(offered("telnet"), Offer::Tcp(Load::Telnet(Telnet::default())));
        assert_eq!(offered("sequence"), Offer::Tcp(Load::Sequence(Sequence::default())));
        assert_eq!(offered("web"), Offer::Tcp(Load::Web(Box::default())));
    }
}

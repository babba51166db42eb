//! The markers by name: those built in and those that other crates [registered](register), and
//! what is given for each.

use crate::page::{BadDocumentation, Page};
use crate::registered::{NotRegistered, Registry};
use core::any::Any;
use core::fmt::{self, Debug};
use fairwire_core::{Marker, Rate, spelling};
use fairwire_laws::BadParameter;
use fairwire_laws::Site;
use fairwire_laws::marker as law;
use fairwire_laws::spec::Quantity;
use fairwire_parameters::{
    ByName, Choice, Declared, Field, OneOf, SchemaOf, Tabled, deserialize_choice, tables_schema,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

pub use law::About;

static MARKERS: Registry<Entry> = Registry::new("marker", BUILT_IN, |marker| (marker.name, &[]));

/// Adds a marker of another crate: from here on it has its name in scenarios and gateway files, its
/// table of parameters, its page and its schema. Call it before anything else, since the list that
/// was looked at once stays as it is.
///
/// # Errors
///
/// Where the name is taken, or the list was looked at already.
pub fn register<S: MarkerSpec>() -> Result<(), NotRegistered> {
    MARKERS.register(Entry::of::<S>())
}

/// The markers that have a parameter of this name.
pub(crate) fn with_parameter(name: &str) -> impl Iterator<Item = &'static str> {
    let has = move |entry: &&Entry| entry.fields.iter().any(|field| field.name == name);
    all().iter().filter(has).map(|entry| entry.name)
}

/// The parameters of one marker, and how it is made of them: what can be [registered](register).
pub trait MarkerSpec:
    Clone + Debug + DeserializeOwned + JsonSchema + PartialEq + Send + Serialize + Sync + Tabled + 'static
{
    /// Its name, as typed in scenario files.
    const NAME: &'static str;

    /// Its description.
    const ABOUT: About;

    /// Takes `rate` as its contract, unless one was given. Without effect where it has none.
    fn default_rate(&mut self, _rate: Rate) {}

    /// Is everything out of profile?
    fn is_empty(&self) -> bool {
        false
    }

    /// Checks it against the site.
    fn check(&self, site: &Site<'_>) -> Result<(), BadParameter>;

    /// Checks and builds.
    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter>;
}

/// One marker.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name, as typed.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The paper or RFC, with its section.
    pub source: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    page: fn() -> Result<Page, BadDocumentation>,
    default: fn() -> Box<dyn AnyMarker>,
    table: ByName,
    read: fn(Value) -> serde_json::Result<Box<dyn AnyMarker>>,
    schema: SchemaOf,
}

impl Entry {
    const fn of<S: MarkerSpec>() -> Self {
        Entry {
            name: S::NAME,
            summary: S::ABOUT.summary,
            source: S::ABOUT.source,
            fields: S::FIELDS,
            page: || Page::of::<S>(S::NAME, S::ABOUT.summary, S::ABOUT.source),
            default: || Box::new(S::default()),
            table: ByName::of::<S>(),
            read: |value| Ok(Box::new(serde_json::from_value::<S>(value)?)),
            schema: SchemaGenerator::subschema_for::<S>,
        }
    }
}

impl Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Lists each built-in marker once: its name, its module, and what says whether all is out of
/// profile, where that can be.
macro_rules! markers {
    ($($name:literal => $module:ident $($is_empty:ident)?;)+) => {
        $(
            impl MarkerSpec for law::$module::Spec {
                const NAME: &'static str = $name;
                const ABOUT: About = law::$module::ABOUT;

                fn default_rate(&mut self, rate: Rate) {
                    self.rate.get_or_insert(Quantity(rate));
                }

                $(fn is_empty(&self) -> bool {
                    law::$module::Spec::$is_empty(self)
                })?

                fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
                    law::$module::Spec::check(self, site).map(drop)
                }

                fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
                    law::$module::Spec::build(self, site)
                }
            }
        )+

        const BUILT_IN: &[Entry] = &[$(Entry::of::<law::$module::Spec>()),+];
    };
}

markers! {
    "token-bucket" => token_bucket is_empty;
    "sr-tcm" => sr_tcm;
    "tr-tcm" => tr_tcm;
    "tsw2cm" => tsw2cm;
    "tsw3cm" => tsw3cm;
    "adaptive-token-bucket" => adaptive_token_bucket;
}

/// A [`MarkerSpec`], whichever.
trait AnyMarker: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn cloned(&self) -> Box<dyn AnyMarker>;
    fn equals(&self, other: &dyn AnyMarker) -> bool;
    fn fill(&mut self, base: &dyn AnyMarker);
    fn default_rate(&mut self, rate: Rate);
    fn is_empty(&self) -> bool;
    fn check(&self, site: &Site<'_>) -> Result<(), BadParameter>;
    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter>;
    fn json(&self) -> serde_json::Result<Value>;
}

impl<S: MarkerSpec> AnyMarker for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn AnyMarker> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn AnyMarker) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn fill(&mut self, base: &dyn AnyMarker) {
        if let Some(base) = base.as_any().downcast_ref() {
            Declared::fill(self, base);
        }
    }

    fn default_rate(&mut self, rate: Rate) {
        MarkerSpec::default_rate(self, rate);
    }

    fn is_empty(&self) -> bool {
        MarkerSpec::is_empty(self)
    }

    fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        MarkerSpec::check(self, site)
    }

    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
        MarkerSpec::build(self, site)
    }

    fn json(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

/// A marker as given: `"sr-tcm"`, or `{ sr-tcm = { rate = "1 Mbit/s" } }`.
#[derive(Debug)]
pub struct MarkerChoice {
    /// In the list of all.
    place: usize,
    given: Box<dyn AnyMarker>,
}

impl MarkerChoice {
    /// The marker called `name`, with its defaults.
    pub fn find(name: &str) -> Result<Self, UnknownMarker> {
        MARKERS.place(name).map(Self::named).ok_or_else(|| unknown(name))
    }

    /// Its name, as typed.
    pub fn name(&self) -> &'static str {
        all()[self.place].name
    }

    /// The same, with what `base` has for it beside what is given here.
    #[must_use]
    pub fn filled(mut self, base: &MarkerParameters) -> Self {
        if let Some(base) = base.0.get(&self.place) {
            self.given.fill(&*base.given);
        }
        self
    }

    /// The same, with `rate` as its contract unless one is given.
    #[must_use]
    pub fn with_contract(mut self, rate: Rate) -> Self {
        self.given.default_rate(rate);
        self
    }

    /// Is everything out of profile?
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Checks what was given at `site`, without building it.
    pub fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        self.given.check(site)
    }

    /// Builds it for `site`.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
        self.given.build(site)
    }
}

impl Clone for MarkerChoice {
    fn clone(&self) -> Self {
        MarkerChoice { place: self.place, given: self.given.cloned() }
    }
}

impl PartialEq for MarkerChoice {
    fn eq(&self, other: &Self) -> bool {
        self.given.equals(&*other.given)
    }
}

impl Default for MarkerChoice {
    /// The token bucket.
    fn default() -> Self {
        Self::find(<law::token_bucket::Spec as MarkerSpec>::NAME).expect("it is built in")
    }
}

impl Choice for MarkerChoice {
    const WHAT: &'static str = "marker";
    const EXAMPLE: &'static str = "{ sr-tcm = { rate = \"1 Mbit/s\" } }";

    fn names() -> &'static [&'static str] {
        MARKERS.names()
    }

    fn named(place: usize) -> Self {
        MarkerChoice { place, given: (all()[place].default)() }
    }

    fn read<'de, A: MapAccess<'de>>(place: usize, table: &mut A) -> Result<Self, A::Error> {
        let Entry { table: by_name, read, .. } = all()[place];
        let given = read(table.next_value_seed(by_name)?).map_err(A::Error::custom)?;
        Ok(MarkerChoice { place, given })
    }
}

impl<'de> Deserialize<'de> for MarkerChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_choice(deserializer)
    }
}

impl Serialize for MarkerChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == Self::named(self.place) {
            return serializer.serialize_str(self.name());
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.name(), &self.given.json().map_err(serde::ser::Error::custom)?)?;
        map.end()
    }
}

impl JsonSchema for MarkerChoice {
    fn schema_name() -> Cow<'static, str> {
        "Marker".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let markers = all().iter().map(|marker| (marker.name, marker.summary, marker.schema));
        let tables = tables_schema(markers, generator);
        json_schema!({
            "description": "the name of a marker, or a table of one name with its parameters",
            "anyOf": [{ "enum": MARKERS.names() }, tables],
        })
    }
}

/// What is given for each marker, under its name, wherever that marker is named. Unknown keys are
/// refused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkerParameters(BTreeMap<usize, MarkerChoice>);

impl MarkerParameters {
    /// The markers for which something is given, with that.
    pub fn given(&self) -> impl Iterator<Item = &MarkerChoice> {
        self.0.values()
    }
}

impl<'de> Deserialize<'de> for MarkerParameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = MarkerParameters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct of tables of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<MarkerParameters, A::Error> {
        let mut given = BTreeMap::new();
        while let Some(place) = table.next_key_seed(OneOf(MARKERS.names()))? {
            if given.insert(place, MarkerChoice::read(place, &mut table)?).is_some() {
                return Err(A::Error::duplicate_field(MARKERS.names()[place]));
            }
        }
        Ok(MarkerParameters(given))
    }
}

impl JsonSchema for MarkerParameters {
    fn schema_name() -> Cow<'static, str> {
        "MarkerParameters".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = |marker: &Entry| (marker.name.into(), (marker.schema)(generator).to_value());
        let properties: Map<String, Value> = all().iter().map(schema).collect();
        json_schema!({
            "type": "object",
            "description": "What is given for each marker, under its name, wherever that marker is named.",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

impl Entry {
    /// Everything said of it. Fails only where the documentation in the code is not of the form
    /// that pages are made of.
    pub fn page(&self) -> Result<Page, BadDocumentation> {
        (self.page)()
    }
}

/// Every marker, in the order in which it is listed to people.
pub fn all() -> &'static [Entry] {
    MARKERS.all()
}

/// The marker called `name`.
///
/// ```
/// use fairwire_catalogue::marker;
///
/// assert_eq!(marker::find("sr-tcm")?.name, "sr-tcm");
/// assert_eq!(marker::find("srtcm").unwrap_err().likely, ["sr-tcm"]);
/// # Ok::<(), marker::UnknownMarker>(())
/// ```
pub fn find(name: &str) -> Result<&'static Entry, UnknownMarker> {
    all().iter().find(|entry| entry.name == name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> UnknownMarker {
    let likely = spelling::likely(name, MARKERS.names().iter().copied());
    UnknownMarker { given: name.chars().take(60).collect(), likely }
}

/// No marker has the name given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMarker {
    /// What was given, cut after 60 letters.
    pub given: String,
    /// The names that were most likely meant, if any come near.
    pub likely: Vec<&'static str>,
}

impl std::error::Error for UnknownMarker {}

impl fmt::Display for UnknownMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no marker `{}`; ", self.given)?;
        if let Some(question) = spelling::question(&self.likely) {
            write!(f, "{question} ")?;
        }
        let names: Vec<String> = MARKERS.names().iter().map(|name| format!("`{name}`")).collect();
        write!(f, "allowed: {}", names.join(", "))
    }
}

//! What is given for each discipline, whoever wrote it.

use crate::catalogue::{self, About};
use crate::compose::nested::Placed;
use crate::error::BuildError;
use crate::page::{BadDocumentation, Page};
use crate::part::Part;
use crate::site::Site;
use crate::spec::EcnChoice;
use core::any::Any;
use core::fmt::{self, Debug};
use fairwire_core::Discipline;
use fairwire_core::units::Amount;
use fairwire_parameters::{Declared, OneOf};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The parameters of one discipline, and how it is made of them: what stands in the catalogue.
///
/// Those of this crate are listed there; others are added with [`catalogue::register`].
pub trait DisciplineSpec:
    Clone
    + Debug
    + Declared
    + DeserializeOwned
    + JsonSchema
    + Part
    + PartialEq
    + Send
    + Serialize
    + Sync
    + 'static
{
    /// Its name, as typed in scenario files and on command lines.
    const NAME: &'static str;

    /// Other names that people know it by.
    const ALIASES: &'static [&'static str] = &[];

    /// What the catalogue tells of it.
    const ABOUT: About;

    /// Its documentation, in Markdown under the [headings](crate::page::HEADINGS) of a page; empty where there is none.
    fn documentation() -> &'static str {
        ""
    }

    /// The buffer that was given for it; `None` if it takes the site's.
    fn buffer(&self) -> Option<Amount>;

    /// What becomes of its signals, to be changed.
    fn ecn_mut(&mut self) -> &mut Option<EcnChoice>;

    /// The disciplines inside of it, and where they work.
    fn inside<'a>(&'a self, _site: &Site<'a>) -> Vec<Placed<'a>> {
        Vec::new()
    }

    /// Checks it against the site.
    fn check(&self, site: &Site<'_>) -> Result<(), BuildError>;

    /// Checks and builds.
    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError>;
}

/// A [`DisciplineSpec`], whichever.
pub(crate) trait AnySpec: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn cloned(&self) -> Box<dyn AnySpec>;
    fn equals(&self, other: &dyn AnySpec) -> bool;
    fn part(&self) -> &dyn Part;
    fn part_mut(&mut self) -> &mut dyn Part;
    fn buffer(&self) -> Option<Amount>;
    fn ecn_mut(&mut self) -> &mut Option<EcnChoice>;
    fn inside<'a>(&'a self, site: &Site<'a>) -> Vec<Placed<'a>>;
    fn check(&self, site: &Site<'_>) -> Result<(), BuildError>;
    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError>;
    fn json(&self) -> serde_json::Result<serde_json::Value>;
}

impl<S: DisciplineSpec> AnySpec for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn AnySpec> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn AnySpec) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn part(&self) -> &dyn Part {
        self
    }

    fn part_mut(&mut self) -> &mut dyn Part {
        self
    }

    fn buffer(&self) -> Option<Amount> {
        DisciplineSpec::buffer(self)
    }

    fn ecn_mut(&mut self) -> &mut Option<EcnChoice> {
        DisciplineSpec::ecn_mut(self)
    }

    fn inside<'a>(&'a self, site: &Site<'a>) -> Vec<Placed<'a>> {
        DisciplineSpec::inside(self, site)
    }

    fn check(&self, site: &Site<'_>) -> Result<(), BuildError> {
        DisciplineSpec::check(self, site)
    }

    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
        DisciplineSpec::build(self, site)
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}

/// What the catalogue must know of a type of [`DisciplineSpec`].
#[derive(Clone, Copy)]
pub(crate) struct SpecType {
    pub default: fn() -> Box<dyn AnySpec>,
    pub read: fn(serde_json::Value) -> serde_json::Result<Box<dyn AnySpec>>,
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    pub page: fn() -> Result<Page, BadDocumentation>,
}

impl SpecType {
    pub(crate) const fn of<S: DisciplineSpec>() -> Self {
        SpecType {
            default: || Box::new(S::default()),
            read: |value| Ok(Box::new(serde_json::from_value::<S>(value)?)),
            schema: SchemaGenerator::subschema_for::<S>,
            page: || match S::documentation() {
                "" => Ok(Page::of_fields(S::NAME, S::ABOUT.summary, S::ABOUT.source, S::FIELDS)),
                documentation => Page::of::<S>(S::NAME, documentation),
            },
        }
    }
}

impl Debug for SpecType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpecType")
    }
}

/// What is given for each discipline, under its name: in TOML, `[discipline.red]` with `gentle = true`.
///
/// What is left out has its documented default. Unknown keys are refused.
///
/// ```
/// use fairwire_disciplines::{Parameters, dropper::red};
///
/// let given: Parameters = toml::from_str("[red]\ngentle = false")?;
/// assert_eq!(given.spec::<red::Spec>().unwrap().gentle, Some(false));
/// assert!(toml::from_str::<Parameters>("[red]\ngentel = false").is_err());
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Parameters {
    /// By place in the catalogue.
    given: BTreeMap<usize, Box<dyn AnySpec>>,
}

impl Parameters {
    /// What is given for the discipline with these parameters.
    pub fn spec<S: DisciplineSpec>(&self) -> Option<&S> {
        self.find(S::NAME)?.as_any().downcast_ref()
    }

    /// What is given for the discipline with these parameters, or its defaults, to be changed.
    ///
    /// # Panics
    ///
    /// If it does not stand in the catalogue.
    pub fn spec_mut<S: DisciplineSpec>(&mut self) -> &mut S {
        self.entry(S::NAME).as_any_mut().downcast_mut().expect("a name has one type")
    }

    /// Forgets what is given for the discipline with these parameters.
    pub fn remove<S: DisciplineSpec>(&mut self) {
        self.given.retain(|_, spec| !spec.as_any().is::<S>());
    }

    /// The disciplines for which something is given.
    pub fn typed(&self) -> impl Iterator<Item = &'static str> {
        self.given.keys().map(|&place| catalogue::all()[place].name)
    }

    /// What is given for the entry of this name.
    pub(crate) fn find(&self, key: &str) -> Option<&dyn AnySpec> {
        self.given.get(&catalogue::place(key)?).map(|spec| &**spec)
    }

    /// What is given for the entry of this name, or its defaults.
    pub(crate) fn entry(&mut self, key: &str) -> &mut dyn AnySpec {
        let place = catalogue::place(key).expect("it stands in the catalogue");
        &mut **self.given.entry(place).or_insert_with(catalogue::all()[place].spec.default)
    }
}

impl Clone for Parameters {
    fn clone(&self) -> Self {
        Parameters { given: self.given.iter().map(|(&place, spec)| (place, spec.cloned())).collect() }
    }
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        self.given.len() == other.given.len()
            && self
                .given
                .iter()
                .all(|(place, spec)| other.given.get(place).is_some_and(|other| spec.equals(&**other)))
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.given.len()))?;
        for (&place, spec) in &self.given {
            let name = catalogue::all()[place].name;
            if !catalogue::write_built_in(place, name, spec.as_any(), &mut map)? {
                map.serialize_entry(name, &spec.json().map_err(serde::ser::Error::custom)?)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Parameters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct of tables of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Parameters, A::Error> {
        use serde::de::Error;
        let mut given = BTreeMap::new();
        while let Some(place) = table.next_key_seed(OneOf(catalogue::names()))? {
            let entry = &catalogue::all()[place];
            let spec = match catalogue::read_built_in(place, &mut table)? {
                Some(spec) => spec,
                None => {
                    let bad = |error| A::Error::custom(format_args!("`{}`: {error}", entry.name));
                    (entry.spec.read)(table.next_value()?).map_err(bad)?
                }
            };
            if given.insert(place, spec).is_some() {
                return Err(A::Error::duplicate_field(entry.name));
            }
        }
        Ok(Parameters { given })
    }
}

impl JsonSchema for Parameters {
    fn schema_name() -> Cow<'static, str> {
        "Parameters".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = serde_json::Map::new();
        for entry in catalogue::all() {
            let mut schema = (entry.spec.schema)(generator);
            schema.insert("description".into(), format!("Parameters of `{}`.", entry.name).into());
            properties.insert(entry.name.into(), schema.to_value());
        }
        json_schema!({
            "type": "object",
            "description": "What is given for each discipline, under its name. What is left out has its default.",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

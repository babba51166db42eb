//! The parameters given for each discipline, of any crate.

use crate::registry::{self, BuiltIn, Entry, Listed as _};
use crate::spec::{AnySpec, DisciplineSpec};
use core::fmt;
use fairwire_parameters::OneOf;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What is given for each discipline, under its name: in TOML, `[discipline.red]` with `gentle =
/// true`.
///
/// What is left out has its documented default. Unknown keys are refused.
///
/// ```
/// use fairwire_catalogue::Parameters;
/// use fairwire_laws::dropper::red;
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

    /// The parameters given for this discipline, or its defaults, to be changed.
    ///
    /// # Panics
    ///
    /// If it is not in the catalogue.
    pub fn spec_mut<S: DisciplineSpec>(&mut self) -> &mut S {
        self.entry(S::NAME).as_any_mut().downcast_mut().expect("a name has one type")
    }

    /// The same, and where something is given for a discipline, also what `base` has for it beside
    /// that.
    #[must_use]
    pub fn filled(&self, base: &Parameters) -> Self {
        let mut all = self.clone();
        for (place, spec) in &mut all.given {
            if let Some(base) = base.given.get(place) {
                spec.fill(&**base);
            }
        }
        all
    }

    /// The same, with what `own` has: beside it where both have something for a discipline.
    #[must_use]
    pub fn with(&self, own: &Parameters) -> Self {
        let mut all = self.clone();
        all.given.extend(own.filled(self).given);
        all
    }

    /// What is given for the discipline called `name`, alone.
    #[must_use]
    pub fn only(&self, name: &str) -> Self {
        let place = registry::find(name).ok().and_then(|entry| registry::place(entry.key));
        let own = self.given.iter().filter(|(at, _)| Some(**at) == place);
        Parameters { given: own.map(|(at, spec)| (*at, spec.cloned())).collect() }
    }

    /// The disciplines for which something is given.
    pub fn typed(&self) -> impl Iterator<Item = &'static str> {
        self.given.keys().map(|&place| registry::all()[place].name)
    }

    /// Reads what is given for `entry`, which comes next in a table; `None` if that is nothing.
    pub(crate) fn read_one<'de, A: MapAccess<'de>>(
        entry: &Entry,
        table: &mut A,
    ) -> Result<Option<Self>, A::Error> {
        let place = registry::place(entry.key).expect("it is in the catalogue");
        let spec = read(place, table)?;
        let is_nothing = spec.equals(&*(registry::all()[place].spec.default)());
        Ok((!is_nothing).then(|| Parameters { given: BTreeMap::from([(place, spec)]) }))
    }

    /// Writes what is given, for one discipline at most, under `name`.
    pub(crate) fn write_as<M: SerializeMap>(&self, name: &str, map: &mut M) -> Result<(), M::Error> {
        match self.given.first_key_value() {
            Some((&place, spec)) => write(place, name, &**spec, map),
            None => map.serialize_entry(name, &()),
        }
    }

    /// What is given for the entry of this name.
    pub(crate) fn find(&self, key: &str) -> Option<&dyn AnySpec> {
        self.given.get(&registry::place(key)?).map(|spec| &**spec)
    }

    /// What is given for the entry of this name, or its defaults.
    pub(crate) fn entry(&mut self, key: &str) -> &mut dyn AnySpec {
        let place = registry::place(key).expect("it is in the catalogue");
        &mut **self.given.entry(place).or_insert_with(registry::all()[place].spec.default)
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
            write(place, registry::all()[place].name, &**spec, &mut map)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

/// Reads the parameters of the entry at this place, which come next in a table.
fn read<'de, A: MapAccess<'de>>(place: usize, table: &mut A) -> Result<Box<dyn AnySpec>, A::Error> {
    use serde::de::Error;
    if let Some(spec) = BuiltIn::read(place, table)? {
        return Ok(spec);
    }
    let entry = &registry::all()[place];
    (entry.spec.read)(table.next_value_seed(entry.spec.table)?).map_err(A::Error::custom)
}

/// Writes the parameters of the entry at this place under `name`.
fn write<M: SerializeMap>(place: usize, name: &str, spec: &dyn AnySpec, map: &mut M) -> Result<(), M::Error> {
    if BuiltIn::write(place, name, spec.as_any(), map)? {
        return Ok(());
    }
    map.serialize_entry(name, &spec.json().map_err(serde::ser::Error::custom)?)
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
        while let Some(place) = table.next_key_seed(OneOf(registry::names()))? {
            if given.insert(place, read(place, &mut table)?).is_some() {
                return Err(A::Error::duplicate_field(registry::names()[place]));
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
        json_schema!({
            "type": "object",
            "description": "What is given for each discipline, under its name. What is left out has its default.",
            "properties": properties(generator),
            "additionalProperties": false,
        })
    }
}

/// The schemas of the parameters of all disciplines, by name.
pub(crate) fn properties(generator: &mut SchemaGenerator) -> serde_json::Map<String, serde_json::Value> {
    let property = |entry: &Entry| {
        let mut schema = (entry.spec.schema)(generator);
        schema.insert("description".into(), format!("Parameters of `{}`.", entry.name).into());
        (entry.name.into(), schema.to_value())
    };
    registry::all().iter().map(property).collect()
}

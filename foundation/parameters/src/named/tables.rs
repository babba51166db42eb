//! Parameters given under each component's name.

use super::kind::{Given as _, Kind, Listed, Part, Writes};
use super::value::Named;
use crate::choice::Choice as _;
use crate::table::OneOf;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt::{self, Debug};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The parameters given under each component's name, such as `gentle = true` under
/// `[discipline.red]`. They apply wherever the component is named. Unknown keys are refused.
pub struct Tables<K: Kind> {
    /// The given parameters, by index in the registry.
    given: BTreeMap<usize, Named<K>>,
}

impl<K: Listed> Tables<K> {
    /// The parameters given for the component of the type `S`.
    pub fn spec<S: Part>(&self) -> Option<&S> {
        self.find(S::OWNER)?.as_any().downcast_ref()
    }

    /// The parameters given for the component of the type `S`, mutable. If there are none, the
    /// component's defaults are added first.
    ///
    /// # Panics
    /// If no component is named `S::OWNER`.
    pub fn spec_mut<S: Part>(&mut self) -> &mut S {
        self.entry(S::OWNER).as_any_mut().downcast_mut().expect("a name has one type")
    }

    /// These tables, with the missing parameters of their components taken from `base`.
    #[must_use]
    pub fn filled(&self, base: &Self) -> Self {
        let given = self.given.iter().map(|(&place, part)| (place, part.clone().filled(base)));
        Tables { given: given.collect() }
    }

    /// These tables, overridden by the parameters of `own`.
    #[must_use]
    pub fn with(&self, own: &Self) -> Self {
        let mut all = self.clone();
        all.given.extend(own.filled(self).given);
        all
    }

    /// Only the parameters given for the component called `name`.
    #[must_use]
    pub fn only(&self, name: &str) -> Self {
        let own = self.given.iter().filter(|(_, part)| part.name() == name);
        Tables { given: own.map(|(&place, part)| (place, part.clone())).collect() }
    }

    /// The names of the components for which parameters are given.
    pub fn typed(&self) -> impl Iterator<Item = &'static str> {
        self.given.values().map(Named::name)
    }

    /// The components for which parameters are given.
    pub fn given(&self) -> impl Iterator<Item = &Named<K>> {
        self.given.values()
    }

    /// The parameters given for the component called `name`.
    pub fn find(&self, name: &str) -> Option<&K::Part> {
        self.at(K::registry().place(name)?).map(|part| &**part)
    }

    /// The parameters given for the component called `name`, mutable. If there are none, the
    /// component's defaults are added first.
    ///
    /// # Panics
    /// If no component has this name.
    pub fn entry(&mut self, name: &str) -> &mut K::Part {
        let place = K::registry().place(name).expect("it is listed");
        self.given.entry(place).or_insert_with(|| Named::at(place))
    }

    pub(super) fn at(&self, place: usize) -> Option<&Named<K>> {
        self.given.get(&place)
    }

    /// Reads the parameters of the component called `name`, which come next in `table`. Returns
    /// `None` if no parameter is given.
    pub fn read_one<'de, A: MapAccess<'de>>(name: &str, table: &mut A) -> Result<Option<Self>, A::Error> {
        let place = K::registry().place(name).expect("it is listed");
        let part = Named::read(place, table)?;
        Ok((part != Named::at(place)).then(|| Tables { given: BTreeMap::from([(place, part)]) }))
    }

    /// Writes the given parameters under `name`. They must belong to at most one component.
    pub fn write_as<M: SerializeMap>(&self, name: &str, map: &mut M) -> Result<(), M::Error> {
        match self.given.first_key_value() {
            Some((_, part)) => part.write_as(name, map),
            None => map.serialize_entry(name, &()),
        }
    }

    /// The schemas of the parameters of all components, by name.
    pub fn properties(generator: &mut SchemaGenerator) -> Map<String, Value> {
        let all = K::registry().all().iter();
        all.map(|entry| (entry.name.into(), K::table_schema(entry, generator).to_value())).collect()
    }
}

impl<K: Listed> Clone for Tables<K> {
    fn clone(&self) -> Self {
        Tables { given: self.given.clone() }
    }
}

impl<K: Kind> Default for Tables<K> {
    fn default() -> Self {
        Tables { given: BTreeMap::new() }
    }
}

impl<K: Kind> Debug for Tables<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.given.values()).finish()
    }
}

impl<K: Kind> PartialEq for Tables<K> {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl<K: Writes<Tables<K>>> Serialize for Tables<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.given.len()))?;
        self.given().try_for_each(|part| part.write_as(part.name(), &mut map))?;
        map.end()
    }
}

impl<'de, K: Listed> Deserialize<'de> for Tables<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader(Tables::default()))
    }
}

struct Reader<K: Kind>(Tables<K>);

impl<'de, K: Listed> Visitor<'de> for Reader<K> {
    type Value = Tables<K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct of tables of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut table: A) -> Result<Tables<K>, A::Error> {
        let names = K::registry().names();
        while let Some(place) = table.next_key_seed(OneOf(names))? {
            if self.0.given.insert(place, Named::read(place, &mut table)?).is_some() {
                return Err(A::Error::duplicate_field(names[place]));
            }
        }
        Ok(self.0)
    }
}

impl<K: Listed> JsonSchema for Tables<K> {
    fn schema_name() -> Cow<'static, str> {
        K::TABLES[0].into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": K::TABLES[1],
            "properties": Self::properties(generator),
            "additionalProperties": false,
        })
    }
}

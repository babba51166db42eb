//! Reads and writes the order of service.

use crate::scheduler::Kind;
use crate::scheduler::service::{Service, ServiceTerms};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use fairwire_parameters::{Choice, deserialize_choice};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Service {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Service { name, terms } = self;
        if *terms == ServiceTerms::default() {
            return name.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, terms)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Service {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_choice(deserializer)
    }
}

impl Choice for Service {
    const WHAT: &'static str = "scheduler";
    const EXAMPLE: &'static str = "{ drr = { quantum = \"300 B\" } }";

    fn names() -> &'static [&'static str] {
        Kind::NAMES
    }

    fn named(at: usize) -> Self {
        Service { name: Kind::called(at), ..Service::default() }
    }

    fn read<'de, A: MapAccess<'de>>(at: usize, table: &mut A) -> Result<Self, A::Error> {
        Ok(Service { name: Kind::called(at), terms: table.next_value()? })
    }
}

impl JsonSchema for Service {
    fn schema_name() -> Cow<'static, str> {
        "Scheduler".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (name, table) = (generator.subschema_for::<Kind>(), generator.subschema_for::<ServiceTerms>());
        let properties: BTreeMap<_, _> = Kind::NAMES.iter().map(|&name| (name, table.clone())).collect();
        json_schema!({
            "description": "the name of a scheduler, or a table with its name and what goes with it",
            "anyOf": [name, {
                "type": "object",
                "properties": properties,
                "additionalProperties": false,
                "minProperties": 1,
                "maxProperties": 1,
            }],
        })
    }
}

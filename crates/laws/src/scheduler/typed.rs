//! How the order of service is read and written: a name, or a table with the name and what goes with it.

use crate::scheduler::Kind;
use crate::scheduler::service::{Per, Service, Sharing};
use crate::spec::{Quantity, Weights};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use fairwire_core::units::Size;
use fairwire_parameters::{Choice, deserialize_choice};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What goes with the name.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SchedulerTable")]
struct Table {
    /// Whether each flow or each class has a queue. Default: `flow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    per: Option<Per>,
    /// The weights of classes, for the scheduler and for whoever makes room. Default: 1 for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Weights>,
    /// What a flow of weight 1 may send per round, for schedulers with rounds. Default: 1514 B, or the typical packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    quantum: Option<Quantity<Size>>,
    /// At most so many queues, from 1 to 65536. Default: as many as flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    queues: Option<u32>,
    /// What happens when there are more flows than `queues`. Default: `hash`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sharing: Option<Sharing>,
}

impl Serialize for Service {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == (Service { name: self.name, ..Service::default() }) {
            return self.name.serialize(serializer);
        }
        let Service { name, per, weights, quantum, queues, sharing } = self.clone();
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&name, &Table { per, weights, quantum, queues, sharing })?;
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
        let Table { per, weights, quantum, queues, sharing } = table.next_value()?;
        Ok(Service { name: Kind::called(at), per, weights, quantum, queues, sharing })
    }
}

impl JsonSchema for Service {
    fn schema_name() -> Cow<'static, str> {
        "Scheduler".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (name, table) = (generator.subschema_for::<Kind>(), generator.subschema_for::<Table>());
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

//! How the order of service is read and written: a name, or a table with the name and what goes with it.

use crate::scheduler::Kind;
use crate::scheduler::service::{Per, Service, Sharing};
use crate::spec::{Quantity, Weights};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use core::fmt;
use fairwire_core::units::Size;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor};
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
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Service;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a scheduler in quotes, or a table with its name and what goes with it")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Service, E> {
        let name = Kind::deserialize(de::value::StrDeserializer::new(name))?;
        Ok(Service { name, ..Service::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Service, A::Error> {
        use serde::de::Error;
        let name = map.next_key::<Kind>()?.ok_or_else(|| {
            A::Error::custom(
                "no scheduler is named; allowed: `{ drr = { quantum = \"300 B\" } }`, or its name in quotes",
            )
        })?;
        let Table { per, weights, quantum, queues, sharing } = map.next_value()?;
        if let Some(second) = map.next_key::<Kind>()? {
            let second = second.name();
            return Err(A::Error::custom(format_args!(
                "`{second}` is a second scheduler; allowed: one name, with a table of what goes with it"
            )));
        }
        Ok(Service { name, per, weights, quantum, queues, sharing })
    }
}

impl JsonSchema for Service {
    fn schema_name() -> Cow<'static, str> {
        "Scheduler".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (name, table) = (generator.subschema_for::<Kind>(), generator.subschema_for::<Table>());
        let names = Kind::ALL.iter().flat_map(|kind| [Some(kind.name()), kind.alias()]).flatten();
        let properties: BTreeMap<_, _> = names.map(|name| (name, table.clone())).collect();
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

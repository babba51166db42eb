//! How the order of service is read: a name, or a table.

use crate::scheduler::Kind;
use crate::scheduler::service::{Per, Service, Sharing};
use crate::spec::{Quantity, Weights};
use alloc::borrow::Cow;
use core::fmt;
use fairwire_core::units::Size;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};

/// The same fields as [`Service`], read from a table.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Table {
    /// The scheduler.
    name: Kind,
    /// Whether each flow or each class has a queue. Default: `flow`.
    per: Option<Per>,
    /// The weights of classes, for the scheduler and for whoever makes room. Default: 1 for each.
    weights: Option<Weights>,
    /// What a flow of weight 1 may send per round, for schedulers with rounds. Default: 1514 B, or the typical packet.
    quantum: Option<Quantity<Size>>,
    /// At most so many queues, from 1 to 65536. Default: as many as flows.
    queues: Option<u32>,
    /// What happens when there are more flows than `queues`. Default: `hash`.
    sharing: Option<Sharing>,
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
        write!(f, "the name of a scheduler, or a table with its `name` and more")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Service, E> {
        let name = Kind::deserialize(de::value::StrDeserializer::new(name))?;
        Ok(Service { name, ..Service::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Service, A::Error> {
        let Table { name, per, weights, quantum, queues, sharing } =
            Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Service { name, per, weights, quantum, queues, sharing })
    }
}

impl JsonSchema for Service {
    fn schema_name() -> Cow<'static, str> {
        "Scheduler".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (name, table) = (generator.subschema_for::<Kind>(), generator.subschema_for::<Table>());
        json_schema!({
            "description": "the name of a scheduler, or a table with its name and more",
            "anyOf": [name, table],
        })
    }
}

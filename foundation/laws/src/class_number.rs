//! Reads and writes a class number as the key of a table.

use crate::spec::ClassNumber;
use alloc::borrow::Cow;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

impl Serialize for ClassNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ClassNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let number = text.parse().map_err(|_| {
            let max = fairwire_core::class_tree::MAX_CLASSES - 1;
            let allowed = format_args!("a whole number from 0 to {max}");
            de::Error::custom(format_args!("`{text}` is not the number of a class; allowed: {allowed}"))
        })?;
        Ok(ClassNumber(number))
    }
}

impl JsonSchema for ClassNumber {
    fn schema_name() -> Cow<'static, str> {
        "ClassNumber".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+$" })
    }
}

//! Tables from the records of a run.
//!
//! Which columns there are, of what type and with which description, is the schema of the record
//! itself. So a field that is added to a record is a column, and its documentation goes along.

use crate::columns::{Cells, Column, Kind, Table};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A field of a record: its path in the JSON of the record, its kind and its description.
struct Field {
    path: Vec<String>,
    kind: Kind,
    about: String,
}

impl Field {
    /// The name: what leads there, with `_` between.
    fn name(&self) -> String {
        self.path.join("_")
    }

    fn value<'a>(&self, row: &'a Value) -> Option<&'a Value> {
        self.path.iter().try_fold(row, |value, key| value.get(key))
    }

    fn cells(&self, rows: &[Value]) -> Cells {
        let values = rows.iter().map(|row| self.value(row));
        match self.kind {
            Kind::Real => Cells::Reals(values.map(|value| value?.as_f64()).collect()),
            Kind::Count => Cells::Counts(values.map(|value| value?.as_u64()).collect()),
            Kind::Text => Cells::Texts(values.map(|value| value?.as_str()).collect()),
        }
    }

    fn column(self, cells: Cells) -> Column {
        Column { name: self.name(), about: self.about, cells }
    }
}

/// A table with a row for each of `records`. A map in a record, such as drops by cause, gives a
/// column for each key that any of them has.
///
/// # Panics
/// If a record is no JSON: if a key of a map in it is no text.
pub fn table<R: Serialize + JsonSchema>(records: impl Iterator<Item = R>) -> Table {
    let rows: Vec<Value> =
        records.map(|record| serde_json::to_value(record).expect("a record is JSON")).collect();
    let column = |field: Field| {
        let cells = field.cells(&rows);
        field.column(cells)
    };
    Table::new(fields::<R>(&rows).into_iter().map(column).collect())
}

/// A table of the columns `cells`, which are the fields of `R` in the order of their declaration.
/// Long tables are made in this way, without a JSON value for each of their cells.
pub fn of_cells<R: JsonSchema>(cells: Vec<Cells>) -> Table {
    Table::new(fields::<R>(&[]).into_iter().zip(cells).map(|(field, cells)| field.column(cells)).collect())
}

/// The names of the columns of records of the type `R`, without those of its maps.
pub fn names<R: JsonSchema>() -> Vec<String> {
    fields::<R>(&[]).iter().map(Field::name).collect()
}

/// The fields of records of the type `R`; `rows` have the keys of its maps.
fn fields<R: JsonSchema>(rows: &[Value]) -> Vec<Field> {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<R>().to_value();
    let mut fields = Vec::new();
    add(&mut fields, &mut Vec::new(), &schema, rows);
    fields
}

/// Adds the fields of what is at `path`, which has this schema.
fn add(fields: &mut Vec<Field>, path: &mut Vec<String>, schema: &Value, rows: &[Value]) {
    let schema = some(schema);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for name in in_order(schema, properties) {
            within(path, name, |path| add(fields, path, &properties[name], rows));
        }
    } else if let Some(values) = schema.get("additionalProperties") {
        for key in keys(path, rows) {
            within(path, &key, |path| add(fields, path, values, rows));
        }
    } else if let Some(kind) = kind(schema) {
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        fields.push(Field { path: path.clone(), kind, about: about.replace('\n', " ") });
    }
}

/// The names of `properties`: those that are always there in the order of their declaration, which
/// the schema's list of them keeps, and then those that may be absent.
fn in_order<'a>(schema: &'a Value, properties: &'a Map<String, Value>) -> Vec<&'a str> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    required.iter().copied().filter(|name| properties.contains_key(*name)).chain(optional).collect()
}

fn within(path: &mut Vec<String>, key: &str, inside: impl FnOnce(&mut Vec<String>)) {
    path.push(key.to_owned());
    inside(path);
    path.pop();
}

/// Schema of a value, without the choice of its absence.
fn some(schema: &Value) -> &Value {
    let choices = schema.get("anyOf").and_then(Value::as_array);
    let present = choices.and_then(|all| all.iter().find(|one| !is_type(one, "null")));
    present.unwrap_or(schema)
}

fn is_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

/// Kind of the values of a field; `None` for a list, which needs a table of its own.
fn kind(schema: &Value) -> Option<Kind> {
    let of = |name| is_type(schema, name);
    match () {
        () if of("integer") => Some(Kind::Count),
        () if of("number") => Some(Kind::Real),
        () if of("string") || is_choice(schema) => Some(Kind::Text),
        () => None,
    }
}

/// Is it one of several texts, each with its own description?
fn is_choice(schema: &Value) -> bool {
    let choices = schema.get("oneOf").and_then(Value::as_array);
    choices.is_some_and(|all| all.iter().all(|one| one.get("const").is_some_and(Value::is_string)))
}

/// The keys of the maps at `path`, in their order.
fn keys(path: &[String], rows: &[Value]) -> Vec<String> {
    let maps = rows.iter().filter_map(|row| path.iter().try_fold(row, |value, key| value.get(key)));
    let keys: BTreeSet<&String> = maps.filter_map(Value::as_object).flat_map(Map::keys).collect();
    keys.into_iter().cloned().collect()
}

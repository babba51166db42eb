//! Tables from the records of a run.
//!
//! The schema of a record determines the columns, their types and descriptions.

use crate::columns::{Cells, Column, Kind, Table};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

struct Field {
    path: Vec<String>,
    /// The field's sort key. Each step of the path is an index or a map's key.
    place: Vec<Step>,
    kind: Kind,
    about: String,
}

impl Field {
    fn name(&self) -> String {
        self.path.join("_")
    }

    fn value<'a>(&self, row: &'a Value) -> Option<&'a Value> {
        self.path.iter().try_fold(row, |value, key| value.get(key))
    }

    fn none(&self, rows: usize) -> Cells {
        match self.kind {
            Kind::Real => Cells::Reals(vec![None; rows]),
            Kind::Count => Cells::Counts(vec![None; rows]),
            Kind::Text => Cells::Texts(std::iter::repeat_n(None::<&str>, rows).collect()),
        }
    }

    fn add(&self, cells: &mut Cells, rows: &[Value]) {
        let values = rows.iter().map(|row| self.value(row));
        match cells {
            Cells::Reals(all) => all.extend(values.map(|value| value?.as_f64())),
            Cells::Counts(all) => all.extend(values.map(|value| value?.as_u64())),
            Cells::Texts(all) => all.extend(values.map(|value| value?.as_str())),
        }
    }

    fn column(self, cells: Cells) -> Column {
        Column { name: self.name(), about: self.about, cells }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Place(usize),
    Key(String),
}

/// The number of records converted to JSON at once. A million would take gigabytes.
const BLOCK: usize = 4096;

/// A table with a row per record. A map in a record, such as drops by cause, becomes a column for
/// each key that any record has.
///
/// # Panics
/// If a record is not JSON, because a map in it has a key that is not text.
pub fn table<R: Serialize + JsonSchema>(records: impl Iterator<Item = R>) -> Table {
    let mut rows = records.map(|record| serde_json::to_value(record).expect("a record is JSON"));
    let schema = schema::<R>();
    let mut columns: Vec<(Field, Cells)> = fields(&schema, &[]).into_iter().map(empty).collect();
    let mut done = 0;
    loop {
        let block: Vec<Value> = rows.by_ref().take(BLOCK).collect();
        if block.is_empty() {
            break;
        }
        for field in fields(&schema, &block) {
            if !columns.iter().any(|(known, _)| known.path == field.path) {
                let none = field.none(done);
                columns.push((field, none));
            }
        }
        columns.iter_mut().for_each(|(field, cells)| field.add(cells, &block));
        done += block.len();
    }
    columns.sort_by(|(one, _), (other, _)| one.place.cmp(&other.place));
    Table::new(columns.into_iter().map(|(field, cells)| field.column(cells)).collect())
}

fn empty(field: Field) -> (Field, Cells) {
    let none = field.none(0);
    (field, none)
}

/// A table of the columns `cells`, one for each field of `R` in declaration order. No JSON value is
/// made per cell, which suits long tables.
pub fn of_cells<R: JsonSchema>(cells: Vec<Cells>) -> Table {
    let fields = fields(&schema::<R>(), &[]).into_iter();
    Table::new(fields.zip(cells).map(|(field, cells)| field.column(cells)).collect())
}

/// The column names of records of the type `R`, except the columns of its maps.
pub fn names<R: JsonSchema>() -> Vec<String> {
    fields(&schema::<R>(), &[]).iter().map(Field::name).collect()
}

fn schema<R: JsonSchema>() -> Value {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<R>().to_value()
}

/// The fields of `schema`. The keys of its maps come from `rows`.
fn fields(schema: &Value, rows: &[Value]) -> Vec<Field> {
    let mut fields = Vec::new();
    add(&mut fields, &mut Way::default(), schema, rows);
    fields
}

#[derive(Default)]
struct Way {
    path: Vec<String>,
    place: Vec<Step>,
}

fn add(fields: &mut Vec<Field>, way: &mut Way, schema: &Value, rows: &[Value]) {
    let schema = some(schema);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (place, name) in in_order(schema, properties).into_iter().enumerate() {
            within(way, name, Step::Place(place), |way| add(fields, way, &properties[name], rows));
        }
    } else if let Some(values) = schema.get("additionalProperties") {
        for key in keys(&way.path, rows) {
            within(way, &key, Step::Key(key.clone()), |way| add(fields, way, values, rows));
        }
    } else if let Some(kind) = kind(schema) {
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let Way { path, place } = way;
        let about = about.replace('\n', " ");
        fields.push(Field { path: path.clone(), place: place.clone(), kind, about });
    }
}

/// The names of `properties`: first the required properties in declaration order, as in the schema,
/// then the optional properties.
fn in_order<'a>(schema: &'a Value, properties: &'a Map<String, Value>) -> Vec<&'a str> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    required.iter().copied().filter(|name| properties.contains_key(*name)).chain(optional).collect()
}

fn within(way: &mut Way, key: &str, step: Step, inside: impl FnOnce(&mut Way)) {
    way.path.push(key.to_owned());
    way.place.push(step);
    inside(way);
    way.path.pop();
    way.place.pop();
}

/// `schema` without the alternative null.
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

/// The type of a field's values; `None` for a list, which needs a separate table.
fn kind(schema: &Value) -> Option<Kind> {
    let of = |name| is_type(schema, name);
    match () {
        () if of("integer") => Some(Kind::Count),
        () if of("number") => Some(Kind::Real),
        () if of("string") || is_choice(schema) => Some(Kind::Text),
        () => None,
    }
}

/// Is the value one of several texts, each with its own description?
fn is_choice(schema: &Value) -> bool {
    let choices = schema.get("oneOf").and_then(Value::as_array);
    choices.is_some_and(|all| all.iter().all(|one| one.get("const").is_some_and(Value::is_string)))
}

fn keys(path: &[String], rows: &[Value]) -> Vec<String> {
    let maps = rows.iter().filter_map(|row| path.iter().try_fold(row, |value, key| value.get(key)));
    let keys: BTreeSet<&String> = maps.filter_map(Value::as_object).flat_map(Map::keys).collect();
    keys.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Serialize, JsonSchema)]
    struct Record {
        first: u64,
        by_cause: BTreeMap<String, u64>,
        last: Option<f64>,
    }

    #[test]
    fn a_key_of_a_late_row_becomes_a_column_in_order() {
        let record = |row: usize| {
            let cause = if row == 2 * BLOCK { "early" } else { "overflow" };
            Record { first: row as u64, by_cause: [(cause.into(), 7)].into(), last: None }
        };
        let table = table((0..=2 * BLOCK).map(record));
        let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["first", "by_cause_early", "by_cause_overflow", "last"]);
        let at = |name: &str, row| table.column(name).and_then(|cells| cells.value(row));
        assert_eq!((table.len(), at("by_cause_early", 0)), (2 * BLOCK + 1, None));
        assert_eq!(at("by_cause_early", 2 * BLOCK), at("by_cause_overflow", BLOCK));
        assert_eq!(at("by_cause_overflow", 2 * BLOCK), None);
    }
}

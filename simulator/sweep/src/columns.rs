//! Tables of results: columns from the records of a run, and Parquet files of them.
//!
//! Which columns there are, of what type and with which description, is the schema of the record
//! itself. So a field that is added to a record is a column, and its documentation goes along.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A column: its path in the JSON of a record, its type and its description.
struct Column {
    path: Vec<String>,
    data_type: DataType,
    about: String,
}

impl Column {
    /// The name: what leads there, with `_` between.
    fn name(&self) -> String {
        self.path.join("_")
    }

    fn value<'a>(&self, row: &'a Value) -> Option<&'a Value> {
        self.path.iter().try_fold(row, |value, key| value.get(key))
    }

    fn array(&self, rows: &[Value]) -> ArrayRef {
        let values = rows.iter().map(|row| self.value(row));
        match self.data_type {
            DataType::Float64 => Arc::new(Float64Array::from_iter(values.map(|value| value?.as_f64()))),
            DataType::UInt64 => Arc::new(UInt64Array::from_iter(values.map(|value| value?.as_u64()))),
            _ => Arc::new(StringArray::from_iter(values.map(|value| value?.as_str()))),
        }
    }
}

/// A table with a row for each of `records`. A map in a record, such as drops by cause, gives a
/// column for each key that any of them has.
pub fn table<R: Serialize + JsonSchema>(records: impl Iterator<Item = R>) -> Result<RecordBatch, ArrowError> {
    let rows: Vec<Value> = records
        .map(|record| serde_json::to_value(record).map_err(|error| ArrowError::JsonError(error.to_string())))
        .collect::<Result<_, _>>()?;
    let columns = columns::<R>(&rows);
    let arrays = columns.iter().map(|column| column.array(&rows)).collect();
    RecordBatch::try_new(schema(&columns), arrays)
}

/// A table of the columns `arrays`, which are the fields of `R` in the order of their declaration.
/// Long tables are made in this way, without a JSON value for each of their cells.
pub fn of_arrays<R: JsonSchema>(arrays: Vec<ArrayRef>) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_new(schema(&columns::<R>(&[])), arrays)
}

/// The names of the columns of records of the type `R`, without those of its maps.
pub fn names<R: JsonSchema>() -> Vec<String> {
    columns::<R>(&[]).iter().map(Column::name).collect()
}

/// The columns of records of the type `R`; `rows` have the keys of its maps.
fn columns<R: JsonSchema>(rows: &[Value]) -> Vec<Column> {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<R>().to_value();
    let mut columns = Vec::new();
    add(&mut columns, &mut Vec::new(), &schema, rows);
    columns
}

fn schema(columns: &[Column]) -> SchemaRef {
    let fields = columns.iter().map(|column| {
        let about = HashMap::from([("description".to_owned(), column.about.clone())]);
        Field::new(column.name(), column.data_type.clone(), true).with_metadata(about)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A table of these columns, by name. Each may have nulls.
///
/// # Errors
/// If they are not of one length.
pub fn named(columns: Vec<(String, ArrayRef)>) -> Result<RecordBatch, ArrowError> {
    let field = |(name, column): &(String, ArrayRef)| Field::new(name, column.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, column)| column).collect())
}

/// Writes these columns to `out` as a Parquet file.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_parquet(out: impl io::Write + Send, columns: Vec<(String, ArrayRef)>) -> io::Result<()> {
    let rows = named(columns).map_err(io::Error::other)?;
    write_table(out, &rows)
}

/// Writes `rows` to `out` as a Parquet file.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_table(out: impl io::Write + Send, rows: &RecordBatch) -> io::Result<()> {
    parquet(out, rows, Vec::new()).map_err(io::Error::other)
}

/// The same with this metadata.
pub(crate) fn parquet(
    out: impl io::Write + Send,
    rows: &RecordBatch,
    about: Vec<KeyValue>,
) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("fairwire version ", env!("CARGO_PKG_VERSION")).into())
        .set_key_value_metadata((!about.is_empty()).then_some(about))
        .build();
    let mut writer = ArrowWriter::try_new(out, rows.schema(), Some(properties))?;
    writer.write(rows)?;
    writer.close().map(drop)
}

/// Reads the table in the Parquet file at `path`.
///
/// # Errors
/// If it cannot be read, or is none.
pub fn read_table(path: &Path) -> io::Result<Vec<RecordBatch>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(io::Error::other)?;
    reader.build().map_err(io::Error::other)?.collect::<Result<_, _>>().map_err(io::Error::other)
}

/// Adds the columns of what is at `path`, which has this schema.
fn add(columns: &mut Vec<Column>, path: &mut Vec<String>, schema: &Value, rows: &[Value]) {
    let schema = some(schema);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for name in in_order(schema, properties) {
            within(path, name, |path| add(columns, path, &properties[name], rows));
        }
    } else if let Some(values) = schema.get("additionalProperties") {
        for key in keys(path, rows) {
            within(path, &key, |path| add(columns, path, values, rows));
        }
    } else if let Some(data_type) = data_type(schema) {
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        columns.push(Column { path: path.clone(), data_type, about: about.replace('\n', " ") });
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

/// Of what may be absent, the schema of what is there.
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

/// The type of a column; `None` for a list, which needs a table of its own.
fn data_type(schema: &Value) -> Option<DataType> {
    let of = |name| is_type(schema, name);
    match () {
        () if of("integer") => Some(DataType::UInt64),
        () if of("number") => Some(DataType::Float64),
        () if of("string") => Some(DataType::Utf8),
        () => None,
    }
}

/// The keys of the maps at `path`, in their order.
fn keys(path: &[String], rows: &[Value]) -> Vec<String> {
    let maps = rows.iter().filter_map(|row| path.iter().try_fold(row, |value, key| value.get(key)));
    let keys: BTreeSet<&String> = maps.filter_map(Value::as_object).flat_map(Map::keys).collect();
    keys.into_iter().cloned().collect()
}

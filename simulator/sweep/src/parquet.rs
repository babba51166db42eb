//! Tables in Apache Parquet.
//!
//! A column is written as a `DOUBLE`, an unsigned `INT64` or a `BYTE_ARRAY` of UTF-8, and may have
//! nulls. Every reader supports its compression, Snappy.

use crate::columns::{Cells, Column, Kind, Table};
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnDescriptor, Type};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Writes `table` to `out`.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(out: impl io::Write + Send, table: &Table) -> io::Result<()> {
    write_about(out, table, &[]).map_err(io::Error::other)
}

pub(crate) fn write_about(
    out: impl io::Write + Send,
    table: &Table,
    about: &[(&str, &str)],
) -> Result<(), ParquetError> {
    let pair = |(key, value): &(&str, &str)| KeyValue::new((*key).to_owned(), (*value).to_owned());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("fairwire version ", env!("CARGO_PKG_VERSION")).into())
        .set_key_value_metadata((!about.is_empty()).then(|| about.iter().map(pair).collect()))
        .build();
    let fields = table.columns().iter().map(|column| field(column).map(Arc::new));
    let schema = Type::group_type_builder("schema").with_fields(fields.collect::<Result<_, _>>()?).build()?;
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let mut rows = writer.next_row_group()?;
    for column in table.columns() {
        let mut writer = rows.next_column()?.expect("a column for each field");
        match &column.cells {
            Cells::Reals(numbers) => values::<DoubleType>(&mut writer, numbers.iter().copied()),
            // The schema has unsigned counts. The writer takes signed numbers with the same bits.
            Cells::Counts(counts) => values::<Int64Type>(
                &mut writer,
                counts.iter().map(|count| Some(count.as_ref()?.cast_signed())),
            ),
            Cells::Texts(texts) => {
                values::<ByteArrayType>(&mut writer, texts.iter().map(|text| Some(ByteArray::from(&**text?))))
            }
        }?;
        writer.close()?;
    }
    rows.close()?;
    writer.close().map(drop)
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.cells.kind() {
        Kind::Real => (Physical::DOUBLE, None),
        Kind::Count => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

fn values<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = Option<T::T>> + Clone,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = cells.clone().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.flatten().collect();
    writer.typed::<T>().write_batch(&values, Some(&levels), None).map(drop)
}

const VALUES: usize = 65_536;

pub(crate) struct Reader<R: ChunkReader>(SerializedFileReader<R>);

/// A top-level column of a file.
struct Place {
    at: usize,
    name: String,
    kind: Kind,
    about: Arc<ColumnDescriptor>,
}

impl<R: ChunkReader + 'static> Reader<R> {
    pub(crate) fn new(file: R) -> Result<Self, ParquetError> {
        SerializedFileReader::new(file).map(Reader)
    }

    pub(crate) fn about(&self) -> BTreeMap<String, String> {
        let pairs = self.0.metadata().file_metadata().key_value_metadata().into_iter().flatten();
        pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect()
    }

    pub(crate) fn columns(&self) -> BTreeMap<String, Kind> {
        self.places().into_iter().map(|place| (place.name, place.kind)).collect()
    }

    fn places(&self) -> Vec<Place> {
        let schema = self.0.metadata().file_metadata().schema_descr();
        let of = |at| {
            let about = schema.column(at);
            let kind = kind(&about)?;
            (about.path().parts().len() == 1 && about.max_rep_level() == 0).then(|| Place {
                at,
                name: about.name().to_owned(),
                kind,
                about,
            })
        };
        (0..schema.num_columns()).filter_map(of).collect()
    }

    pub(crate) fn read<E: From<ParquetError>>(
        &self,
        wanted: Option<&[&str]>,
        mut each: impl FnMut(Table) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut places = self.places();
        places.retain(|place| wanted.is_none_or(|wanted| wanted.contains(&&*place.name)));
        for group in 0..self.0.num_row_groups() {
            let rows = self.0.get_row_group(group)?;
            let column = |place: &Place| Ok(Column::new(&place.name, cells(&*rows, place)?));
            let columns = places.iter().map(column).collect::<Result<Vec<_>, ParquetError>>()?;
            if columns.iter().any(|column| column.cells.len() != columns[0].cells.len()) {
                Err(ParquetError::General("its columns are not of one length".into()))?;
            }
            each(Table::new(columns))?;
        }
        Ok(())
    }
}

fn kind(about: &ColumnDescriptor) -> Option<Kind> {
    let is_unsigned = match about.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) | None => {
            about.converted_type() == ConvertedType::UINT_64
        }
        // Columns of other logical types, such as dates and decimals, are neither numbers nor
        // texts, so they are ignored.
        Some(_) => return None,
    };
    match about.physical_type() {
        Physical::INT64 if is_unsigned => Some(Kind::Count),
        Physical::INT32 | Physical::INT64 | Physical::FLOAT | Physical::DOUBLE => Some(Kind::Real),
        Physical::BYTE_ARRAY => Some(Kind::Text),
        Physical::BOOLEAN | Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY => None,
    }
}

fn cells(rows: &dyn RowGroupReader, place: &Place) -> Result<Cells, ParquetError> {
    Ok(match (rows.get_column_reader(place.at)?, place.kind) {
        (ColumnReader::DoubleColumnReader(column), _) => Cells::Reals(present(column, place, |x| *x)?),
        (ColumnReader::FloatColumnReader(column), _) => {
            Cells::Reals(present(column, place, |x| f64::from(*x))?)
        }
        (ColumnReader::Int32ColumnReader(column), _) => {
            Cells::Reals(present(column, place, |x| f64::from(*x))?)
        }
        (ColumnReader::Int64ColumnReader(column), Kind::Count) => {
            Cells::Counts(present(column, place, |x| x.cast_unsigned())?)
        }
        (ColumnReader::Int64ColumnReader(column), _) => Cells::Reals(present(column, place, |x| *x as f64)?),
        (ColumnReader::ByteArrayColumnReader(column), _) => {
            let texts: Vec<Option<ByteArray>> = present(column, place, Clone::clone)?;
            Cells::Texts(
                texts.iter().map(|text| Some(String::from_utf8_lossy(text.as_ref()?.data()))).collect(),
            )
        }
        _ => return Err(ParquetError::General(format!("its column `{}` has no values", place.name))),
    })
}

fn present<T: DataType, V>(
    mut column: ColumnReaderImpl<T>,
    place: &Place,
    of: impl Fn(&T::T) -> V,
) -> Result<Vec<Option<V>>, ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let full = place.about.max_def_level();
    while column.read_records(VALUES, (full > 0).then_some(&mut levels), None, &mut values)?.0 > 0 {}
    if full == 0 {
        return Ok(values.iter().map(|value| Some(of(value))).collect());
    }
    let mut values = values.iter();
    let value = |level: &i16| if *level == full { values.next().map(&of) } else { None };
    Ok(levels.iter().map(value).collect())
}

/// Opens only regular files, because opening a pipe without a writer would block forever.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        return File::open(path);
    }
    Err(io::Error::other("it is no regular file"))
}

/// Reads the Parquet file at `path` in batches of rows. Omits columns that are neither numbers nor
/// texts.
///
/// # Errors
/// If the file cannot be read, or is not a Parquet file.
pub fn read(path: &Path, mut each: impl FnMut(Table)) -> io::Result<()> {
    let reader = Reader::new(open(path)?).map_err(io::Error::other)?;
    let done = reader.read::<ParquetError>(None, |table| {
        each(table);
        Ok(())
    });
    done.map_err(io::Error::other)
}

/// Reads a table as [`read`] does, from a file in memory.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(file: Vec<u8>, mut each: impl FnMut(Table)) -> io::Result<()> {
    let reader = Reader::new(bytes::Bytes::from(file)).map_err(io::Error::other)?;
    let done = reader.read::<ParquetError>(None, |table| {
        each(table);
        Ok(())
    });
    done.map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use parquet::data_type::{BoolType, FloatType, Int32Type};
    use parquet::schema::parser::parse_message_type;

    fn read_all(bytes: Vec<u8>) -> Vec<Table> {
        let mut tables = Vec::new();
        let done = Reader::new(Bytes::from(bytes)).unwrap().read::<ParquetError>(None, |table| {
            tables.push(table);
            Ok(())
        });
        done.unwrap();
        tables
    }

    #[test]
    fn rows_with_absent_values_read_back() {
        let table = Table::new(vec![
            Column::new("a.b", Cells::Reals(vec![Some(1.5), None, Some(f64::NEG_INFINITY)])),
            Column::new("count", Cells::Counts(vec![Some(u64::MAX), Some(0), None])),
            Column::new("text", Cells::Texts([Some("x"), None, Some("x")].into_iter().collect())),
        ]);
        let mut bytes = Vec::new();
        write(&mut bytes, &table).unwrap();
        assert_eq!(read_all(bytes), [table]);
    }

    #[test]
    fn files_of_other_writers_are_read_without_unsupported_columns() {
        let schema = "message m { required int32 small; required int64 signed; required float single; \
                      required boolean truth; required int64 day (TIMESTAMP(MILLIS,true)); }";
        let mut bytes = Vec::new();
        let properties = Arc::new(WriterProperties::builder().build());
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
        let mut rows = writer.next_row_group().unwrap();
        let mut column = |write: &dyn Fn(&mut SerializedColumnWriter<'_>)| {
            let mut column = rows.next_column().unwrap().unwrap();
            write(&mut column);
            column.close().unwrap();
        };
        column(&|it| assert_eq!(it.typed::<Int32Type>().write_batch(&[-3, 4], None, None).unwrap(), 2));
        column(&|it| assert_eq!(it.typed::<Int64Type>().write_batch(&[-5, 6], None, None).unwrap(), 2));
        column(&|it| assert_eq!(it.typed::<FloatType>().write_batch(&[0.5, -0.5], None, None).unwrap(), 2));
        column(&|it| assert_eq!(it.typed::<BoolType>().write_batch(&[true, false], None, None).unwrap(), 2));
        column(&|it| assert_eq!(it.typed::<Int64Type>().write_batch(&[7, 8], None, None).unwrap(), 2));
        rows.close().unwrap();
        writer.close().unwrap();
        let expected = Table::new(vec![
            Column::new("small", Cells::reals([-3.0, 4.0])),
            Column::new("signed", Cells::reals([-5.0, 6.0])),
            Column::new("single", Cells::reals([0.5, -0.5])),
        ]);
        assert_eq!(read_all(bytes), [expected]);
    }
}

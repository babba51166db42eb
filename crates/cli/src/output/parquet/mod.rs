//! Tables in Apache Parquet: flat, uncompressed, each value as it is.
//!
//! Source: Apache Parquet, *File Format* (`README.md`, `Encodings.md`, `LogicalTypes.md`, and the structs in `parquet.thrift`). Of all that
//! the format can do this needs little: the encoding PLAIN, data pages of version 1, one of them per column and group of rows, and
//! levels only where a value may be missing.

mod thrift;

use std::io::{self, Write};
use thrift::Struct;

const MAGIC: &[u8; 4] = b"PAR1";
/// The version in the footer that every reader knows.
const VERSION: i32 = 1;
/// Of `Encoding`.
const PLAIN: i32 = 0;
const RLE: i32 = 3;

/// The values of one column in a group of rows.
#[derive(Clone, Debug)]
pub(super) enum Column<'a> {
    Text(Vec<&'a str>),
    Count(Vec<u64>),
    Real(Vec<f64>),
    /// Some are missing.
    OptionalReal(Vec<Option<f64>>),
    OptionalCount(Vec<Option<u64>>),
}

/// Writes a table, group by group.
#[derive(Debug)]
pub(super) struct Writer<W> {
    out: W,
    names: &'static [&'static str],
    at: u64,
    groups: Vec<Group>,
}

/// Where the columns of a group of rows are.
#[derive(Debug)]
struct Group {
    rows: usize,
    chunks: Vec<Chunk>,
}

#[derive(Debug)]
struct Chunk {
    shape: Shape,
    at: u64,
    bytes: u64,
}

/// What the schema says of a column.
#[derive(Clone, Copy, Debug)]
struct Shape {
    physical: Physical,
    is_optional: bool,
}

/// Of `Type`.
#[derive(Clone, Copy, Debug)]
enum Physical {
    Int64 = 2,
    Double = 5,
    ByteArray = 6,
}

impl<W: Write> Writer<W> {
    /// Begins a table in `out` with columns of these names.
    pub(super) fn begin(mut out: W, names: &'static [&'static str]) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Writer { out, names, at: MAGIC.len() as u64, groups: Vec::new() })
    }

    /// Writes a group of rows: a column for each name, all of one length and, from group to group, of one kind. At most as many rows as
    /// make a page of 2 GB in no column.
    pub(super) fn group(&mut self, columns: &[Column<'_>]) -> io::Result<()> {
        assert_eq!(columns.len(), self.names.len(), "each name has its column");
        let rows = columns.first().map_or(0, Column::len);
        assert!(columns.iter().all(|column| column.len() == rows), "all columns have the same rows");
        let mut group = Group { rows, chunks: Vec::with_capacity(columns.len()) };
        for column in columns {
            let page = page(column)?;
            self.out.write_all(&page)?;
            let bytes = page.len() as u64;
            group.chunks.push(Chunk { shape: column.shape(), at: self.at, bytes });
            self.at += bytes;
        }
        self.groups.push(group);
        Ok(())
    }

    /// Ends the table with what tells where everything is. Without a group there is nothing that tells of the columns: write an empty one.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let mut footer = Vec::new();
        Struct::write(&mut footer, |file| self.footer(file));
        let length = u32::try_from(footer.len()).map_err(|_| io::Error::other("too many groups of rows"))?;
        self.out.write_all(&footer)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        Ok(self.out)
    }

    /// `FileMetaData`.
    fn footer(&self, file: &mut Struct<'_>) {
        let shapes = self.groups.first().map_or(&[][..], |group| &group.chunks);
        let elements: Vec<Option<(&str, Shape)>> = std::iter::once(None)
            .chain(self.names.iter().zip(shapes).map(|(name, chunk)| Some((*name, chunk.shape))))
            .collect();
        file.i32(1, VERSION);
        file.structs(2, &elements, |element, about| match about {
            None => {
                element.text(4, "table");
                element.i32(5, shapes.len() as i32);
            }
            Some((name, shape)) => shape.element(element, name),
        });
        file.i64(3, self.groups.iter().map(|group| group.rows as i64).sum());
        file.structs(4, &self.groups, |row_group, group| {
            let columns: Vec<(&str, &Chunk)> = self.names.iter().copied().zip(&group.chunks).collect();
            row_group.structs(1, &columns, |column, (name, chunk)| chunk.describe(column, name, group.rows));
            row_group.i64(2, group.chunks.iter().map(|chunk| chunk.bytes as i64).sum());
            row_group.i64(3, group.rows as i64);
        });
        file.text(6, concat!("fairwire version ", env!("CARGO_PKG_VERSION")));
    }
}

impl Column<'_> {
    fn len(&self) -> usize {
        match self {
            Column::Text(values) => values.len(),
            Column::Count(values) => values.len(),
            Column::Real(values) => values.len(),
            Column::OptionalReal(values) => values.len(),
            Column::OptionalCount(values) => values.len(),
        }
    }

    fn shape(&self) -> Shape {
        let physical = match self {
            Column::Text(_) => Physical::ByteArray,
            Column::Count(_) | Column::OptionalCount(_) => Physical::Int64,
            Column::Real(_) | Column::OptionalReal(_) => Physical::Double,
        };
        let is_optional = matches!(self, Column::OptionalReal(_) | Column::OptionalCount(_));
        Shape { physical, is_optional }
    }

    /// Which values are there, in a column where some may be missing.
    fn levels(&self) -> Option<Vec<u8>> {
        match self {
            Column::OptionalReal(reals) => Some(levels(reals)),
            Column::OptionalCount(counts) => Some(levels(counts)),
            Column::Text(_) | Column::Count(_) | Column::Real(_) => None,
        }
    }

    /// The values that are there, each as it is.
    fn plain(&self, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Column::Text(texts) => {
                for text in texts {
                    let length = u32::try_from(text.len()).map_err(|_| too_long())?;
                    out.extend(length.to_le_bytes());
                    out.extend(text.as_bytes());
                }
            }
            Column::Count(counts) => counts.iter().for_each(|count| out.extend(count.to_le_bytes())),
            Column::Real(reals) => reals.iter().for_each(|real| out.extend(real.to_le_bytes())),
            Column::OptionalReal(reals) => {
                reals.iter().flatten().for_each(|real| out.extend(real.to_le_bytes()));
            }
            Column::OptionalCount(counts) => {
                counts.iter().flatten().for_each(|count| out.extend(count.to_le_bytes()));
            }
        }
        Ok(())
    }
}

impl Shape {
    /// `SchemaElement`.
    fn element(self, element: &mut Struct<'_>, name: &str) {
        element.i32(1, self.physical as i32);
        element.i32(3, i32::from(self.is_optional)); // required or optional
        element.text(4, name);
        // The same once for readers before 2017 (`ConvertedType`), and once for those since (`LogicalType`).
        match self.physical {
            Physical::ByteArray => {
                element.i32(6, 0); // UTF8
                element.inner(10, |logical| logical.inner(1, |_| {}));
            }
            Physical::Int64 => {
                element.i32(6, 14); // UINT_64
                element.inner(10, |logical| {
                    logical.inner(10, |integer| {
                        integer.byte(1, 64);
                        integer.truth(2, false);
                    });
                });
            }
            Physical::Double => {}
        }
    }
}

impl Chunk {
    /// `ColumnChunk`.
    fn describe(&self, column: &mut Struct<'_>, name: &str, rows: usize) {
        column.i64(2, self.at as i64);
        column.inner(3, |about| {
            about.i32(1, self.shape.physical as i32);
            about.i32s(2, &[PLAIN, RLE]);
            about.texts(3, &[name]);
            about.i32(4, 0); // not compressed
            about.i64(5, rows as i64);
            about.i64(6, self.bytes as i64);
            about.i64(7, self.bytes as i64);
            about.i64(9, self.at as i64);
        });
    }
}

/// A column's page: `PageHeader`, which values are there, and the values.
fn page(column: &Column<'_>) -> io::Result<Vec<u8>> {
    let mut values = Vec::new();
    if let Some(levels) = column.levels() {
        values.extend((levels.len() as u32).to_le_bytes());
        values.extend(levels);
    }
    column.plain(&mut values)?;
    let (size, rows) = (i32::try_from(values.len()), i32::try_from(column.len()));
    let (Ok(size), Ok(rows)) = (size, rows) else { return Err(too_long()) };
    let mut page = Vec::with_capacity(values.len() + 32);
    Struct::write(&mut page, |header| {
        header.i32(1, 0); // a data page of version 1
        header.i32(2, size);
        header.i32(3, size);
        header.inner(5, |data| {
            data.i32(1, rows);
            data.i32(2, PLAIN);
            data.i32(3, RLE);
            data.i32(4, RLE);
        });
    });
    page.extend(values);
    Ok(page)
}

/// Which values are there, 1, and which are not, 0: runs of equal ones, each its length doubled and the level in a byte.
fn levels<T>(values: &[Option<T>]) -> Vec<u8> {
    let mut out = Vec::new();
    for run in values.chunk_by(|a, b| a.is_some() == b.is_some()) {
        thrift::varint(&mut out, (run.len() as u64) << 1);
        out.push(u8::from(run[0].is_some()));
    }
    out
}

fn too_long() -> io::Error {
    io::Error::other("a group of rows is too long for a page")
}

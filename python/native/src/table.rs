//! Tables in Arrow's memory.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use fairwire_sweep::columns::{self, Cells, Column};
use fairwire_sweep::parquet;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The maximum number of rows of a table shown in HTML.
const SHOWN: usize = 20;
const SHOWN_AS_TEXT: usize = 8;
/// The width of a line of text, in columns.
const WIDTH: usize = 100;

const STAGE: &str = "stage";

const DESCRIPTION: &str = "description";
const UNIT: &str = "unit";

/// A table of results.
///
/// It exports Arrow's C stream, so `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB
/// accept it without a copy. Numbers are exported unchanged. Texts are exported as dictionaries,
/// which store each text once. `description(column)` describes a column with its unit. A table can
/// be pickled.
#[pyclass(frozen, module = "fairwire")]
#[derive(Clone, PartialEq)]
pub(crate) struct Table {
    batch: RecordBatch,
    keys: Vec<String>,
}

impl Table {
    /// A table of these columns. The values of `keys` identify a row.
    pub(crate) fn new(table: columns::Table, keys: &[&str]) -> PyResult<Self> {
        Table::with_units(table, keys, &BTreeMap::new())
    }

    pub(crate) fn of_runs(table: columns::Table, keys: &[&str], stages: Option<Cells>) -> PyResult<Self> {
        const AFTER: &str = "discipline";
        let Some(stages) = stages else { return Table::new(table, keys) };
        let mut columns = table.into_columns();
        let about = "The stage on which it was run.".to_owned();
        let place = columns.iter().position(|column| column.name == AFTER).map_or(0, |place| place + 1);
        columns.insert(place, Column { name: STAGE.into(), about, cells: stages });
        let keys = keys.iter().flat_map(|key| if *key == AFTER { vec![*key, STAGE] } else { vec![*key] });
        Table::new(columns::Table::new(columns), &keys.collect::<Vec<_>>())
    }

    pub(crate) fn with_units(
        table: columns::Table,
        keys: &[&str],
        units: &BTreeMap<String, String>,
    ) -> PyResult<Self> {
        let field = |column: &Column| {
            let kind = match column.cells {
                Cells::Reals(_) => DataType::Float64,
                Cells::Counts(_) => DataType::UInt64,
                Cells::Texts(_) => dictionary(),
            };
            let mut about = HashMap::from([(DESCRIPTION.to_owned(), column.about.clone())]);
            about.extend(units.get(&column.name).map(|unit| (UNIT.to_owned(), unit.clone())));
            Field::new(&column.name, kind, true).with_metadata(about)
        };
        let schema = Schema::new(table.columns().iter().map(field).collect::<Vec<_>>());
        let arrays =
            table.into_columns().into_iter().map(|column| array(column.cells)).collect::<PyResult<_>>()?;
        let batch = RecordBatch::try_new(Arc::new(schema), arrays).map_err(ours)?;
        Ok(Table { batch, keys: keys.iter().map(ToString::to_string).collect() })
    }

    fn values<'py>(&self, py: Python<'py>, at: usize, rows: usize) -> PyResult<Bound<'py, PyList>> {
        let column = self.batch.column(at);
        let column = column.slice(0, rows.min(column.len()));
        match column.data_type() {
            DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>().iter()),
            DataType::UInt64 => PyList::new(py, column.as_primitive::<UInt64Type>().iter()),
            _ => {
                // Each distinct text becomes one Python object.
                let texts = column.as_dictionary::<Int32Type>();
                let distinct = PyList::new(py, texts.values().as_string::<i32>().iter())?;
                let text = |place: Option<i32>| match place {
                    Some(place) => distinct.get_item(place as usize).map(Some),
                    None => Ok(None),
                };
                let all: Vec<_> = texts.keys().iter().map(text).collect::<PyResult<_>>()?;
                PyList::new(py, all)
            }
        }
    }

    fn index(&self, column: &Bound<'_, PyAny>) -> PyResult<usize> {
        let names = self.columns();
        let Ok(name) = column.extract::<String>() else {
            let (kind, given) = (column.get_type().name()?, column.repr()?);
            return Err(PyTypeError::new_err(format!(
                "`{given}` is of the type {kind}; allowed: the name of a column: {}; of rows, `to_polars()`",
                names.join(", ")
            )));
        };
        names.iter().position(|known| *known == name).ok_or_else(|| {
            let hint = fairwire_core::spelling::hint(&name, names.iter().map(String::as_str));
            PyKeyError::new_err(format!("there is no column `{name}`; allowed: {}{hint}", names.join(", ")))
        })
    }

    fn metadata(&self, column: &Bound<'_, PyAny>, key: &str) -> PyResult<String> {
        let at = self.index(column)?;
        Ok(self.batch.schema().field(at).metadata().get(key).cloned().unwrap_or_default())
    }

    fn by_columns(&self) -> columns::Table {
        let cells = |array: &ArrayRef| match array.data_type() {
            DataType::Float64 => Cells::Reals(array.as_primitive::<Float64Type>().iter().collect()),
            DataType::UInt64 => Cells::Counts(array.as_primitive::<UInt64Type>().iter().collect()),
            _ => {
                let texts = array.as_dictionary::<Int32Type>();
                let distinct = texts.values().as_string::<i32>();
                let text = |place: Option<i32>| place.map(|place| distinct.value(place as usize));
                Cells::Texts(texts.keys().iter().map(text).collect())
            }
        };
        let column = |(name, array): (String, &ArrayRef)| Column::new(name, cells(array));
        columns::Table::new(self.columns().into_iter().zip(self.batch.columns()).map(column).collect())
    }

    fn rows_as_text(&self, py: Python<'_>) -> PyResult<String> {
        let mut lines = vec![String::new(); self.batch.num_rows().min(SHOWN_AS_TEXT) + 1];
        for (at, name) in self.columns().into_iter().enumerate() {
            let mut cells = vec![name];
            for value in self.values(py, at, SHOWN_AS_TEXT)? {
                cells.push(shown(&value)?);
            }
            let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
            if lines[0].chars().count() + width > WIDTH {
                lines[0] += " …";
                break;
            }
            lines.iter_mut().zip(cells).for_each(|(line, cell)| *line += &format!("{cell:>width$}"));
        }
        Ok(lines.join("\n"))
    }
}

fn shown(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(match value.extract::<f64>() {
        _ if value.is_none() => "-".into(),
        Ok(number) if number.fract() != 0.0 && number.abs() < 1e-3 => format!("{number:.3e}"),
        Ok(number) if number.fract() != 0.0 => format!("{number:.6}"),
        _ => value.str()?.to_string(),
    })
}

fn dictionary() -> DataType {
    DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into())
}

fn array(cells: Cells) -> PyResult<ArrayRef> {
    Ok(match cells {
        Cells::Reals(numbers) => Arc::new(Float64Array::from(numbers)),
        Cells::Counts(counts) => Arc::new(UInt64Array::from(counts)),
        Cells::Texts(texts) => {
            let places = texts.places().iter().map(|place| place.map(u32::cast_signed));
            let distinct = StringArray::from_iter_values(texts.distinct());
            let array =
                DictionaryArray::<Int32Type>::try_new(places.collect::<Int32Array>(), Arc::new(distinct));
            Arc::new(array.map_err(ours)?)
        }
    })
}

fn ours(error: impl ToString) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A column in a pickle: its name, type, description and unit.
type About = (String, u8, String, Option<String>);

/// The contents of a pickle: the rows as Parquet, the columns, the keys.
type Pickled<'py> = (Bound<'py, PyBytes>, Vec<About>, Vec<String>);

/// Restores a table from the contents of a pickle.
#[pyfunction]
pub(crate) fn _table(file: Vec<u8>, about: Vec<About>, keys: Vec<String>) -> PyResult<Table> {
    let empty = |(name, kind, ..): &About| {
        let cells = match kind {
            0 => Cells::reals([]),
            1 => Cells::counts([]),
            _ => Cells::texts::<&str>([]),
        };
        Column::new(name, cells)
    };
    let mut table = columns::Table::new(about.iter().map(empty).collect());
    parquet::read_bytes(file, |rows| table = rows).map_err(ours)?;
    let mut columns = table.into_columns();
    let mut units = BTreeMap::new();
    for (column, (name, _, about, unit)) in columns.iter_mut().zip(about) {
        column.about = about;
        units.extend(unit.map(|unit| (name, unit)));
    }
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    Table::with_units(columns::Table::new(columns), &keys, &units)
}

#[pymethods]
impl Table {
    /// The Arrow C stream interface: a capsule with the columns, which shares their memory.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema; // producers may ignore it
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(batches);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The names of the columns whose values identify a row. They are the dimensions of
    /// `to_xarray()`. Empty if only the row's number identifies it.
    #[getter]
    fn keys(&self) -> Vec<String> {
        self.keys.clone()
    }

    /// The description of a column, with its unit.
    fn description(&self, column: &Bound<'_, PyAny>) -> PyResult<String> {
        self.metadata(column, DESCRIPTION)
    }

    /// The unit of a column with an axis's numbers, such as "packets". Empty if the plan gives no
    /// unit, and for other columns, whose names or descriptions state the unit.
    fn unit(&self, column: &Bound<'_, PyAny>) -> PyResult<String> {
        self.metadata(column, UNIT)
    }

    /// The values of a column as a list, with None for each missing value.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.values(py, self.index(column)?, self.batch.num_rows())
    }

    /// Raises TypeError, since an iteration could mean rows or columns.
    fn __iter__(&self) -> PyResult<Py<PyAny>> {
        let message = "a Table is not iterated over; allowed: `table[column]`, `table.to_dict()`, \
                       `table.columns`, `table.to_polars().iter_rows()`";
        Err(PyTypeError::new_err(message))
    }

    /// All columns as a dict of lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (at, name) in self.columns().into_iter().enumerate() {
            dict.set_item(name, self.values(py, at, self.batch.num_rows())?)?;
        }
        Ok(dict)
    }

    /// A polars.DataFrame on the same memory, with texts as categories. Needs the extra `polars`.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// A pyarrow.Table on the same memory, with texts as dictionaries. Needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// A pandas.DataFrame. Needs the extra `pandas`.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let data = slf.get().to_dict(slf.py())?;
        slf.py().import("pandas")?.call_method1("DataFrame", (data,))
    }

    /// An xarray.Dataset with the dimensions `keys`, and the other columns as variables. With a
    /// column `measure`, the column `value` becomes one variable per measure, and objects of every
    /// `kind` share the dimension `name`. Missing values are nan. Needs the extra `xarray`.
    fn to_xarray<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fairwire._xarray")?.call_method1("dataset", (slf,))
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Table>().is_ok_and(|other| self == other.get())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let mut file = Vec::new();
        parquet::write(&mut file, &self.by_columns()).map_err(ours)?;
        let about = |field: &Arc<Field>| {
            let kind = match field.data_type() {
                DataType::Float64 => 0,
                DataType::UInt64 => 1,
                _ => 2,
            };
            let of = |key| field.metadata().get(key).cloned();
            (field.name().clone(), kind, of(DESCRIPTION).unwrap_or_default(), of(UNIT))
        };
        let about = self.batch.schema().fields().iter().map(about).collect();
        let restore = py.import("fairwire._fairwire")?.getattr("_table")?;
        Ok((restore, (PyBytes::new(py, &file), about, self.keys.clone())))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let rows = self.batch.num_rows();
        let head = format!("<fairwire.Table: {rows} rows of {}>", self.columns().join(", "));
        if rows == 0 { Ok(head) } else { Ok(format!("{head}\n{}", self.rows_as_text(py)?)) }
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let escape = py.import("html")?.getattr("escape")?;
        let cell = |tag: &str, text: &str| -> PyResult<String> {
            Ok(format!("<{tag}>{}</{tag}>", escape.call1((text,))?.extract::<String>()?))
        };
        let mut html = String::from("<table><thead><tr>");
        for name in self.columns() {
            html += &cell("th", &name)?;
        }
        html += "</tr></thead><tbody>";
        let columns = (0..self.batch.num_columns())
            .map(|at| self.values(py, at, SHOWN))
            .collect::<PyResult<Vec<_>>>()?;
        for row in 0..self.batch.num_rows().min(SHOWN) {
            html += "<tr>";
            for column in &columns {
                let value = column.get_item(row)?;
                let text = match value.extract::<f64>() {
                    _ if value.is_none() => String::new(),
                    Ok(number) if number.fract() != 0.0 => format!("{number:.6}"),
                    _ => value.str()?.to_string(),
                };
                html += &cell("td", &text)?;
            }
            html += "</tr>";
        }
        html += "</tbody></table>";
        if self.batch.num_rows() > SHOWN {
            html += &format!("<p>{} of {} rows</p>", SHOWN, self.batch.num_rows());
        }
        Ok(html)
    }
}

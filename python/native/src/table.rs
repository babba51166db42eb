//! Tables, in Arrow's memory.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use fairwire_sweep::columns::{self, Cells};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows that are shown of a longer table.
const SHOWN: usize = 20;

/// A table of results.
///
/// It exports Arrow's C stream, so `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB
/// take it without a copy. `description(column)` says what a column is, and its unit.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Table {
    batch: RecordBatch,
    keys: Vec<String>,
}

impl Table {
    /// A table of these columns, no two rows of which agree in all of `keys`.
    pub(crate) fn new(table: columns::Table, keys: &[&str]) -> PyResult<Self> {
        let field = |column: &columns::Column| {
            let kind = match column.cells {
                Cells::Reals(_) => DataType::Float64,
                Cells::Counts(_) => DataType::UInt64,
                Cells::Texts(_) => DataType::Utf8,
            };
            let about = HashMap::from([("description".to_owned(), column.about.clone())]);
            Field::new(&column.name, kind, true).with_metadata(about)
        };
        let array = |column: columns::Column| -> ArrayRef {
            match column.cells {
                Cells::Reals(numbers) => Arc::new(Float64Array::from(numbers)),
                Cells::Counts(counts) => Arc::new(UInt64Array::from(counts)),
                Cells::Texts(texts) => {
                    Arc::new(texts.iter().map(|text| text.map(|text| &**text)).collect::<StringArray>())
                }
            }
        };
        let schema = Schema::new(table.columns().iter().map(field).collect::<Vec<_>>());
        let arrays = table.into_columns().into_iter().map(array).collect();
        let batch = RecordBatch::try_new(Arc::new(schema), arrays)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Table { batch, keys: keys.iter().map(ToString::to_string).collect() })
    }

    /// The values of a column, from the row `from` on, at most `rows`.
    fn values<'py>(&self, py: Python<'py>, at: usize, rows: usize) -> PyResult<Bound<'py, PyList>> {
        let column = self.batch.column(at);
        let column = column.slice(0, rows.min(column.len()));
        match column.data_type() {
            DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>().iter()),
            DataType::UInt64 => PyList::new(py, column.as_primitive::<UInt64Type>().iter()),
            _ => PyList::new(py, column.as_string::<i32>().iter()),
        }
    }

    fn index(&self, column: &str) -> PyResult<usize> {
        self.batch.schema().index_of(column).map_err(|_| {
            let schema = self.batch.schema();
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let hint = fairwire_core::spelling::hint(column, names.iter().copied());
            PyKeyError::new_err(format!("there is no column `{column}`; allowed: {}{hint}", names.join(", ")))
        })
    }
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
        let _ = requested_schema; // a request that a producer need not follow
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(batches);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The names of the columns that say what a row is of: no two rows agree in all of them. They
    /// are the dimensions of `to_xarray()`. Empty where a row is of nothing but its number.
    #[getter]
    fn keys(&self) -> Vec<String> {
        self.keys.clone()
    }

    /// What a column is, with its unit.
    fn description(&self, column: &str) -> PyResult<String> {
        let at = self.index(column)?;
        let schema = self.batch.schema();
        Ok(schema.field(at).metadata().get("description").cloned().unwrap_or_default())
    }

    /// The values of a column as a list; None where a row has none.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        self.values(py, self.index(column)?, self.batch.num_rows())
    }

    /// All columns as a dict of lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (at, name) in self.columns().into_iter().enumerate() {
            dict.set_item(name, self.values(py, at, self.batch.num_rows())?)?;
        }
        Ok(dict)
    }

    /// A polars.DataFrame on the same memory. Needs the extra `polars`.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// A pyarrow.Table on the same memory. Needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// A pandas.DataFrame. Needs the extra `pandas`.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let data = slf.get().to_dict(slf.py())?;
        slf.py().import("pandas")?.call_method1("DataFrame", (data,))
    }

    /// An xarray.Dataset whose dimensions are `keys`, and whose variables are the other columns.
    /// Where a column `measure` names what `value` is, each measure is a variable, and `name` one
    /// dimension for objects of every kind. What no row has is nan. Needs the extra `xarray`.
    fn to_xarray<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fairwire._xarray")?.call_method1("dataset", (slf,))
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<fairwire.Table: {} rows of {}>", self.batch.num_rows(), self.columns().join(", "))
    }

    /// The first rows, for a notebook.
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

//! Tables of results: columns of equal length, each with a name and values of one type.

use crate::values::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The description, with the unit. Empty if none is known.
    pub about: String,
    /// The column's values, one for each row.
    pub cells: Cells,
}

/// The values of a column; absent values are `None`.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers.
    Reals(Vec<Option<f64>>),
    /// Integers.
    Counts(Vec<Option<u64>>),
    /// Texts.
    Texts(Texts),
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// 64 bit floating point.
    Real,
    /// 64 bit, unsigned.
    Count,
    /// UTF-8.
    Text,
}

/// The texts of a column.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    distinct: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32>,
    rows: Vec<Option<u32>>,
}

impl Table {
    /// A table of these columns.
    ///
    /// # Panics
    /// If their lengths differ.
    pub fn new(columns: Vec<Column>) -> Self {
        let len = columns.first().map_or(0, |column| column.cells.len());
        for column in &columns {
            assert_eq!(column.cells.len(), len, "column `{}`", column.name);
        }
        Table { columns }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// Is the table without rows?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the columns, and drops the table.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The values of the column with this name.
    pub fn column(&self, name: &str) -> Option<&Cells> {
        Some(&self.columns.iter().find(|column| column.name == name)?.cells)
    }

    pub(crate) fn filtered(&self, is_wanted: impl Fn(usize) -> bool) -> Table {
        let rows: Vec<usize> = (0..self.len()).filter(|row| is_wanted(*row)).collect();
        let of = |column: &Column| Column { cells: column.cells.rows(&rows), ..column.clone() };
        Table { columns: self.columns.iter().map(of).collect() }
    }

    /// Adds the rows of `other`, whose columns may be in any order.
    ///
    /// # Panics
    /// If names or types differ.
    pub(crate) fn append(&mut self, other: &Table) {
        for column in &mut self.columns {
            column.cells.append(other.column(&column.name).expect("a column of this name"));
        }
    }
}

impl Column {
    /// A column of this name, without a description.
    pub fn new(name: impl Into<String>, cells: Cells) -> Self {
        Column { name: name.into(), about: String::new(), cells }
    }
}

impl Cells {
    /// A column of texts, one per row.
    pub fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Cells::Texts(texts.into_iter().map(Some).collect())
    }

    /// A column of numbers, one per row.
    pub fn reals(numbers: impl IntoIterator<Item = f64>) -> Self {
        Cells::Reals(numbers.into_iter().map(Some).collect())
    }

    /// A column of integers, one per row.
    pub fn counts(counts: impl IntoIterator<Item = u64>) -> Self {
        Cells::Counts(counts.into_iter().map(Some).collect())
    }

    /// A column of axis values: numbers if the first value is a number, else texts.
    pub(crate) fn of_values<'a>(mut values: impl Iterator<Item = &'a Value> + Clone) -> Self {
        let number = |value: &Value| match value {
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
        };
        let text = |value: &'a Value| match value {
            Value::Number(_) => "",
            Value::Text(text) => text,
        };
        let all = values.clone();
        match values.next() {
            Some(Value::Text(_)) => Cells::texts(all.map(text)),
            _ => Cells::Reals(all.map(number).collect()),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Cells::Reals(numbers) => numbers.len(),
            Cells::Counts(counts) => counts.len(),
            Cells::Texts(texts) => texts.len(),
        }
    }

    /// Is the column without rows?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the column's values.
    pub fn kind(&self) -> Kind {
        match self {
            Cells::Reals(_) => Kind::Real,
            Cells::Counts(_) => Kind::Count,
            Cells::Texts(_) => Kind::Text,
        }
    }

    /// The value in this row.
    pub fn value(&self, row: usize) -> Option<Value> {
        match self {
            Cells::Reals(numbers) => numbers[row].map(Value::Number),
            Cells::Counts(counts) => counts[row].map(|count| Value::Number(count as f64)),
            Cells::Texts(texts) => texts.get(row).map(|text| Value::Text(text.to_string())),
        }
    }

    pub(crate) fn real(&self, row: usize) -> Option<f64> {
        if let Cells::Reals(numbers) = self { numbers[row] } else { None }
    }

    pub(crate) fn text(&self, row: usize) -> Option<&str> {
        if let Cells::Texts(texts) = self { texts.get(row).map(|text| &**text) } else { None }
    }

    fn rows(&self, rows: &[usize]) -> Cells {
        match self {
            Cells::Reals(numbers) => Cells::Reals(rows.iter().map(|row| numbers[*row]).collect()),
            Cells::Counts(counts) => Cells::Counts(rows.iter().map(|row| counts[*row]).collect()),
            Cells::Texts(texts) => Cells::Texts(rows.iter().map(|row| texts.get(*row)).collect()),
        }
    }

    fn append(&mut self, other: &Cells) {
        match (self, other) {
            (Cells::Reals(all), Cells::Reals(new)) => all.extend(new),
            (Cells::Counts(all), Cells::Counts(new)) => all.extend(new),
            (Cells::Texts(all), Cells::Texts(new)) => all.extend(new.iter()),
            (all, new) => panic!("a column of {:?} is not one of {:?}", new.kind(), all.kind()),
        }
    }
}

impl Texts {
    /// Each text once.
    pub fn distinct(&self) -> &[Arc<str>] {
        &self.distinct
    }

    /// For each row, the index of its text in [`distinct`](Self::distinct).
    pub fn places(&self) -> &[Option<u32>] {
        &self.rows
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Are there no rows?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The text in this row.
    pub fn get(&self, row: usize) -> Option<&Arc<str>> {
        Some(&self.distinct[self.rows[row]? as usize])
    }

    /// The text in each row.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Arc<str>>> + Clone {
        (0..self.len()).map(|row| self.get(row))
    }

    fn push(&mut self, text: Option<&str>) {
        let Some(text) = text else { return self.rows.push(None) };
        // Rows of one run are consecutive, so the latest text is compared first.
        if let Some(&Some(last)) = self.rows.last()
            && *self.distinct[last as usize] == *text
        {
            return self.rows.push(Some(last));
        }
        let place = self.places.get(text).copied().unwrap_or_else(|| {
            let place = u32::try_from(self.distinct.len()).expect("texts fit into memory");
            let text: Arc<str> = text.into();
            self.distinct.push(text.clone());
            self.places.insert(text, place);
            place
        });
        self.rows.push(Some(place));
    }
}

impl<T: AsRef<str>> Extend<Option<T>> for Texts {
    fn extend<I: IntoIterator<Item = Option<T>>>(&mut self, texts: I) {
        texts.into_iter().for_each(|text| self.push(text.as_ref().map(AsRef::as_ref)));
    }
}

impl<T: AsRef<str>> FromIterator<Option<T>> for Texts {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(texts: I) -> Self {
        let mut all = Texts::default();
        all.extend(texts);
        all
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

//! Values of axes, and columns of them.

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Float64Array, StringArray, UInt64Array};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A value of an axis, as columns have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Anything else, as typed.
    Text(String),
}

/// Makes a column of texts.
pub(crate) type Texts = fn(&[&str]) -> ArrayRef;

/// Texts one by one.
pub(crate) fn plain(texts: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(texts))
}

/// Texts of which many rows have the same: each is stored once.
pub(crate) fn shared(texts: &[&str]) -> ArrayRef {
    Arc::new(texts.iter().copied().collect::<DictionaryArray<Int32Type>>())
}

/// A column of values: numbers, or texts.
pub(crate) fn values_column<'a>(values: impl Iterator<Item = &'a Value> + Clone, texts: Texts) -> ArrayRef {
    let number = |value: &Value| match value {
        Value::Number(number) => Some(*number),
        Value::Text(_) => None,
    };
    let text = |value: &'a Value| match value {
        Value::Number(_) => "",
        Value::Text(text) => text,
    };
    match values.clone().next() {
        Some(Value::Text(_)) => texts(&values.map(text).collect::<Vec<_>>()),
        _ => Arc::new(values.map(number).collect::<Float64Array>()),
    }
}

/// The values of a column as this crate writes it: numbers, counts and texts. A null, and a value of
/// another kind, is none.
pub fn values_of(column: &ArrayRef) -> Vec<Option<Value>> {
    let column: &dyn Array = column;
    let any = column.as_any();
    let text = |text: Option<&str>| text.map(|text| Value::Text(text.to_owned()));
    if let Some(numbers) = any.downcast_ref::<Float64Array>() {
        return numbers.iter().map(|number| number.map(Value::Number)).collect();
    }
    if let Some(counts) = any.downcast_ref::<UInt64Array>() {
        return counts.iter().map(|count| count.map(|count| Value::Number(count as f64))).collect();
    }
    if let Some(texts) = any.downcast_ref::<StringArray>() {
        return texts.iter().map(text).collect();
    }
    let dictionary = any.downcast_ref::<DictionaryArray<Int32Type>>();
    match dictionary.and_then(|all| all.downcast_dict::<StringArray>()) {
        Some(texts) => texts.into_iter().map(text).collect(),
        None => vec![None; column.len()],
    }
}

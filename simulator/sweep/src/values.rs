//! Values of axes.

use serde::{Deserialize, Serialize};

/// An axis value, as stored in columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A value that is not a number, as entered.
    Text(String),
}

//! Values of axes.

use serde::{Deserialize, Serialize};

/// A value of an axis, as in columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Anything else, as entered.
    Text(String),
}

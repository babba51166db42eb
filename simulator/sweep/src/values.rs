//! Values of axes.

use serde::{Deserialize, Serialize};

/// A value of an axis, as columns have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Anything else, as typed.
    Text(String),
}

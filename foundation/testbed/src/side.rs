//! Left and right.

use serde::{Deserialize, Serialize};

/// A side of the gateway: an interface and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Towards the source.
    Left,
    /// Towards the sink.
    Right,
}

impl Side {
    /// Both sides, from source to sink.
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }
}

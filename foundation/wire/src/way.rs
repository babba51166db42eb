//! The two directions through a gateway.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// A direction through the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "lowercase"))]
pub enum Way {
    /// From the outside to the inside: traffic to subscribers.
    Download,
    /// From the inside to the outside: traffic from subscribers.
    Upload,
}

impl Way {
    /// Both directions, in the order of results.
    pub const ALL: [Way; 2] = [Way::Download, Way::Upload];

    /// The name in configurations and results.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Download => "download",
            Way::Upload => "upload",
        }
    }
}

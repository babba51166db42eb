//! What a computed exhibit gives for one seed.

use serde::{Deserialize, Serialize};

/// What one seed gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The numbers.
    pub numbers: Vec<MadeNumber>,
    /// Curves of as many points as they need; those of the first seed are drawn.
    #[serde(default)]
    pub curves: Vec<MadeCurve>,
}

/// A number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeNumber {
    /// Its series.
    pub series: String,
    /// Where on the horizontal axis.
    pub x: f64,
    /// What the paper calls that point.
    pub at: String,
    /// What measures call it.
    pub name: String,
    /// The number.
    pub value: f64,
}

/// A curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeCurve {
    /// Its panel; empty if there is only one.
    pub panel: String,
    /// What the legend calls it.
    pub label: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

impl Made {
    /// Adds a number.
    pub fn number(&mut self, series: &str, x: f64, at: impl ToString, name: &str, value: f64) {
        self.numbers.push(MadeNumber {
            series: series.into(),
            x,
            at: at.to_string(),
            name: name.into(),
            value,
        });
    }
}

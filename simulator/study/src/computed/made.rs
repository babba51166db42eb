//! The results of a computed exhibit for one seed.

use serde::{Deserialize, Serialize};

/// The results for one seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The numbers.
    pub numbers: Vec<MadeNumber>,
    /// Curves of any number of points. The exhibit draws only the curves of its first seed.
    #[serde(default)]
    pub curves: Vec<MadeCurve>,
}

/// A number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeNumber {
    /// Its series.
    pub series: String,
    /// The number's position on the horizontal axis.
    pub x: f64,
    /// The paper's name for this position.
    pub at: String,
    /// The number's name in measures.
    pub name: String,
    /// The number.
    pub value: f64,
}

/// A curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeCurve {
    /// The curve's panel; empty if there is only one.
    pub panel: String,
    /// Its legend.
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

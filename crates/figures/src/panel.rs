//! What is drawn, as data: which line is which is settled here, and where it stands is not.

use serde::{Deserialize, Serialize};

/// One drawing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Its title; empty where the figure's says all.
    pub title: String,
    /// How it is drawn.
    pub kind: Kind,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Where the horizontal axis has words and no numbers, those words: a mark's `x` is then the place of its word, from 0.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub categories: Vec<String>,
    /// The lines, or the colours of bars.
    pub lines: Vec<Line>,
    /// Values that the paper names, drawn across.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference: Vec<Reference>,
    /// The one seed that its curves are of; absent where marks are means over all seeds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
    /// Where on `x` measuring begins, if not at once: a line stands there, and what is before it may leave the plot. For [`Kind::Time`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured_from: Option<f64>,
}

impl Panel {
    /// Is it a table, and no drawing?
    pub fn is_table(&self) -> bool {
        matches!(self.kind, Kind::Table | Kind::Grid)
    }

    /// Where `value` stands between the least and the greatest of a table, from 0 to 1, along the vertical axis.
    pub fn shade(&self, value: f64) -> f64 {
        let values = || self.lines.iter().flat_map(|line| &line.marks).map(|mark| mark.y);
        let [low, high] = self.y.range.unwrap_or_else(|| {
            [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)]
        });
        let share = match self.y.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => libm::log(value / low) / libm::log(high / low),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// A value that the paper names for all of a panel, such as the fair share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Where it stands.
    pub y: f64,
    /// What is written at it.
    pub label: String,
    /// From where to where the paper says that all lies, where it says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub band: Option<[f64; 2]>,
}

/// How a panel is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Lines with error bars.
    #[default]
    Lines,
    /// Bars in groups, one group for each place on the horizontal axis.
    Bars,
    /// Curves over time, without error bars.
    Time,
    /// No drawing: a table, one row for each line, one column for each place.
    Table,
    /// Marks without lines, with error bars in both directions where there are any.
    Scatter,
    /// A step curve: a distribution.
    Steps,
    /// A table whose cells are coloured by their values: a row for each line, a column for each place.
    Grid,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it says, with the unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// From where to where, where the paper's axis says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<[f64; 2]>,
}

/// Linear or logarithmic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps add.
    #[default]
    Linear,
    /// Equal steps multiply.
    Log,
}

/// One line of a panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What the legend says.
    pub label: String,
    /// The series, where the line is of one.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub series: String,
    /// What a figure calls the measure, where the line is of one.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub measure: String,
    /// Lines of one colour number have one colour, in all panels of the figure. From 0, without gaps.
    pub colour: usize,
    /// Dashed, to be told apart from another line of the same colour.
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_dashed: bool,
    /// No measurement, but what could have been at most: grey and dotted.
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_limit: bool,
    /// Ours, by `x`; of a time series, in the order of time.
    pub marks: Vec<Mark>,
    /// The paper's, by `x`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub published: Vec<Mark>,
}

/// One mark of a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Horizontally.
    pub x: f64,
    /// Vertically.
    pub y: f64,
    /// Half the width of the 95 % interval of `x`, where it is measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub x_half_width: Option<f64>,
    /// Half the width of the 95 % interval of `y`; absent with fewer than two seeds, and for the paper's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub y_half_width: Option<f64>,
    /// The least and the greatest `y` over the draws of what the paper leaves open, where that was recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub y_band: Option<[f64; 2]>,
    /// Of the paper's: how far ours may be from it by the claim that holds one against the other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub allowed: Option<f64>,
}

fn is_false(truth: &bool) -> bool {
    !truth
}

//! The content of a figure as data: what each line shows, but not the layout.

use serde::{Deserialize, Serialize};

/// One drawing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// The panel's title; empty if the figure's title suffices.
    pub title: String,
    /// The type of drawing.
    pub kind: Kind,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The words of a horizontal axis without numbers. A mark's `x` is then the index of its word,
    /// from 0.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub categories: Vec<String>,
    /// The lines. In [`Kind::Bars`], a line consists of the bars of one colour.
    pub lines: Vec<Line>,
    /// Values that the paper names, drawn as horizontal lines.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference: Vec<Reference>,
    /// The seed of the curves; absent if marks are means over all seeds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
    /// The `x` at which measuring begins in [`Kind::Time`], if later than the start. A vertical
    /// line marks it. The plot may omit earlier data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured_from: Option<f64>,
}

impl Panel {
    /// Is the panel a table rather than a drawing?
    pub fn is_table(&self) -> bool {
        matches!(self.kind, Kind::Table | Kind::Grid)
    }

    /// The position of `value` on the vertical axis. 0 and 1 are the ends of the range or, without
    /// a range, the smallest and largest `y`.
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

/// A value that the paper names for a whole panel, such as the fair share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The value, on the vertical axis.
    pub y: f64,
    /// Its label.
    pub label: String,
    /// The range of values that the paper claims, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub band: Option<[f64; 2]>,
}

/// The type of drawing of a panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Lines with error bars.
    #[default]
    Lines,
    /// Bars in groups, one group per position on the horizontal axis.
    Bars,
    /// Curves over time, without error bars.
    Time,
    /// A table instead of a drawing, with one row per line and one column per position.
    Table,
    /// Marks without lines, with error bars in both directions if available.
    Scatter,
    /// A step curve, for a distribution.
    Steps,
    /// A table whose cells are coloured by their values: one row per line, one column per position.
    Grid,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The label, with the unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The range of the paper's axis, if known.
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
    /// The text in the legend.
    pub label: String,
    /// The series that the line shows, if any.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub series: String,
    /// The label of the measure that the line shows, if any.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub measure: String,
    /// The number of the colour, from 0 without gaps. Equal numbers have the same colour in all
    /// panels of the figure.
    pub colour: usize,
    /// Is the line dashed, to distinguish it from another line of the same colour?
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_dashed: bool,
    /// Is the line a theoretical limit rather than a measurement? Limits are grey and dotted.
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_limit: bool,
    /// Our marks, ordered by `x`. In a time series, `x` is the time.
    pub marks: Vec<Mark>,
    /// The paper's marks, ordered by `x`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub published: Vec<Mark>,
}

/// One mark of a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// The horizontal value.
    pub x: f64,
    /// The vertical value.
    pub y: f64,
    /// Half the width of the 95 % interval of `x`, if measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub x_half_width: Option<f64>,
    /// Half the width of the 95 % interval of `y`; absent with fewer than two seeds, and for the
    /// paper's marks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub y_half_width: Option<f64>,
    /// The smallest and the largest `y` over choices of settings that the paper omits, if recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub y_band: Option<[f64; 2]>,
    /// For a mark of the paper: the maximum distance at which our mark agrees with it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub allowed: Option<f64>,
}

fn is_false(truth: &bool) -> bool {
    !truth
}

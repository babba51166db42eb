//! Claims of a study, as entered.

use super::At;
use crate::record::Origin;
use serde::Deserialize;

/// A statement of the paper. One check, or `not_testable`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimSpec {
    /// Its name within the exhibit.
    pub id: String,
    /// In simple words.
    pub says: String,
    /// Its place in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// Is it printed, derived from words, checked at points of ours, ours, or arithmetic?
    pub origin: Origin,
    /// The reason for the tolerance, margin or bound. Required if there is one.
    #[serde(default)]
    pub because: String,
    /// Why the check requires more than the paper, if it does.
    pub stricter: Option<String>,
    /// Why nothing can be checked.
    pub not_testable: Option<String>,
    /// One number is more than another.
    pub order: Option<OrderSpec>,
    /// It lies between bounds.
    pub bound: Option<BoundSpec>,
    /// It equals the printed number.
    pub value: Option<ValueSpec>,
    /// A series rises, falls or stays.
    pub trend: Option<TrendSpec>,
    /// Its increase per unit of `x`.
    pub slope: Option<BoundSpec>,
    /// The position of its minimum.
    pub lowest: Option<ExtremeSpec>,
    /// The position of its maximum.
    pub highest: Option<ExtremeSpec>,
}

impl ClaimSpec {
    /// The points that it names.
    pub fn points(&self) -> Vec<At> {
        let order = self.order.iter().flat_map(|order| order.at.iter().chain(&order.than_at));
        let bounds = [&self.bound, &self.slope].into_iter().flatten().flat_map(|bound| &bound.at);
        let value = self.value.iter().flat_map(|value| &value.at);
        order.chain(bounds).chain(value).cloned().collect()
    }
}

/// One thing or several.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(untagged, expecting = "these are not names; allowed: a name in quotes, or an array of names")]
pub enum Names {
    /// No name is given.
    #[default]
    All,
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Names {
    /// The names; empty without any.
    pub fn list(&self) -> &[String] {
        match self {
            Names::All => &[],
            Names::One(name) => std::slice::from_ref(name),
            Names::Several(names) => names,
        }
    }
}

/// One number is more than another, by paired differences: `more - times * than - by >= 0`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderSpec {
    /// The measure, by `id`. Default: the exhibit's only one.
    pub measure: Option<String>,
    /// The measure on the lesser side. Default: the same.
    pub than_measure: Option<String>,
    /// The series on the greater side. Default: each one, compared with itself.
    #[serde(default)]
    pub more: Names,
    /// The series on the lesser side. Default: those on the greater side.
    #[serde(default)]
    pub than: Names,
    /// At these points. Default: at all.
    #[serde(default)]
    pub at: Vec<At>,
    /// The point of the other side. Default: the same.
    pub than_at: Option<At>,
    /// The margin. Default: 0.
    #[serde(default)]
    pub by: f64,
    /// By this factor. Default: 1.
    pub times: Option<f64>,
    /// The shortfall that still counts. Default: 0.
    #[serde(default)]
    pub tolerance: f64,
}

/// It lies between bounds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundSpec {
    /// The measure, by `id`. Default: the exhibit's only one.
    pub measure: Option<String>,
    /// For these series. Default: all.
    #[serde(default)]
    pub of: Names,
    /// At these points. Default: all.
    #[serde(default)]
    pub at: Vec<At>,
    /// At least this.
    pub min: Option<f64>,
    /// At most this.
    pub max: Option<f64>,
}

/// It equals the printed number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueSpec {
    /// The measure, by `id`. Default: the exhibit's only one.
    pub measure: Option<String>,
    /// For these series. Default: all with a printed number.
    #[serde(default)]
    pub of: Names,
    /// At these points. Default: all with a printed number.
    #[serde(default)]
    pub at: Vec<At>,
    /// The number, instead of those of `reference.toml`.
    pub is: Option<f64>,
    /// The allowed distance.
    pub tolerance: f64,
    /// Is the tolerance a fraction of the number?
    #[serde(default)]
    pub relative: bool,
}

/// A series rises, falls or stays along the horizontal axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrendSpec {
    /// The measure, by `id`. Default: the exhibit's only one.
    pub measure: Option<String>,
    /// For these series. Default: all.
    #[serde(default)]
    pub of: Names,
    /// Its direction.
    pub direction: Direction,
    /// From this `x` on. Default: from the first.
    pub from: Option<f64>,
    /// To this `x`. Default: to the last.
    pub to: Option<f64>,
    /// A step in the other direction of at most this size still counts; for `flat`, such a distance
    /// from the mean.
    #[serde(default)]
    pub tolerance: f64,
}

/// The direction of a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// No step goes down, and the last is above the first.
    Rises,
    /// No step goes up, and the last is below the first.
    Falls,
    /// All numbers are near their mean.
    Flat,
}

/// The position of a minimum or maximum.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtremeSpec {
    /// The measure, by `id`. Default: the exhibit's only one.
    pub measure: Option<String>,
    /// For these series. Default: all.
    #[serde(default)]
    pub of: Names,
    /// Between these two positions on the horizontal axis.
    pub between: [f64; 2],
    /// A position outside that is better by no more than this still counts. Default: 0.
    #[serde(default)]
    pub tolerance: f64,
}

//! Claims of a study, as entered.

use super::At;
use crate::record::Origin;
use serde::Deserialize;

/// A statement of the paper, with one check or `not_testable`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimSpec {
    /// The claim's name within the exhibit.
    pub id: String,
    /// In simple words.
    pub says: String,
    /// The location in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// The origin of the claim: the paper, or ourselves.
    pub origin: Origin,
    /// The reason for the tolerance, margin or bound; required if the check has any of them.
    #[serde(default)]
    pub because: String,
    /// Why the check is stricter than the paper, if it is.
    pub stricter: Option<String>,
    /// Why nothing can be checked.
    pub not_testable: Option<String>,
    /// One number is more than another.
    pub order: Option<OrderSpec>,
    /// A number lies between bounds.
    pub bound: Option<BoundSpec>,
    /// A number equals the printed number.
    pub value: Option<ValueSpec>,
    /// A series rises, falls or stays constant.
    pub trend: Option<TrendSpec>,
    /// The increase of a series per unit of `x` lies between bounds.
    pub slope: Option<BoundSpec>,
    /// A series has its minimum between two positions.
    pub lowest: Option<ExtremeSpec>,
    /// A series has its maximum between two positions.
    pub highest: Option<ExtremeSpec>,
}

impl ClaimSpec {
    /// The points that the claim names.
    pub fn points(&self) -> Vec<At> {
        let order = self.order.iter().flat_map(|order| order.at.iter().chain(&order.than_at));
        let bounds = [&self.bound, &self.slope].into_iter().flatten().flat_map(|bound| &bound.at);
        let value = self.value.iter().flat_map(|value| &value.at);
        order.chain(bounds).chain(value).cloned().collect()
    }
}

/// One name or several.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(untagged, expecting = "these are not names; allowed: a name in quotes, or an array of names")]
pub enum Names {
    /// No name, which means all.
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

/// One number exceeds another: `more - times * than - by >= 0`, with differences paired by seed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderSpec {
    /// The measure, by `id`. Default: the exhibit's only measure.
    pub measure: Option<String>,
    /// The measure on the lesser side. Default: the measure on the greater side.
    pub than_measure: Option<String>,
    /// The series on the greater side. Default: each series.
    #[serde(default)]
    pub more: Names,
    /// The series on the lesser side. Default: the series on the greater side.
    #[serde(default)]
    pub than: Names,
    /// The points at which the numbers are compared. Default: all.
    #[serde(default)]
    pub at: Vec<At>,
    /// The point of the lesser side. Default: the point of the greater side.
    pub than_at: Option<At>,
    /// The margin. Default: 0.
    #[serde(default)]
    pub by: f64,
    /// The factor of the lesser side. Default: 1.
    pub times: Option<f64>,
    /// The shortfall up to which the claim still holds. Default: 0.
    #[serde(default)]
    pub tolerance: f64,
}

/// A check that a number lies between bounds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundSpec {
    /// The measure, by `id`. Default: the exhibit's only measure.
    pub measure: Option<String>,
    /// The series checked. Default: all.
    #[serde(default)]
    pub of: Names,
    /// The points checked. Default: all.
    #[serde(default)]
    pub at: Vec<At>,
    /// At least this.
    pub min: Option<f64>,
    /// At most this.
    pub max: Option<f64>,
}

/// A check that a number equals the printed number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueSpec {
    /// The measure, by `id`. Default: the exhibit's only measure.
    pub measure: Option<String>,
    /// The series checked. Default: all with a printed number.
    #[serde(default)]
    pub of: Names,
    /// The points checked. Default: all with a printed number.
    #[serde(default)]
    pub at: Vec<At>,
    /// The required number. Default: the numbers printed in `reference.toml`.
    pub is: Option<f64>,
    /// The allowed distance.
    pub tolerance: f64,
    /// Is the tolerance a fraction of the required number?
    #[serde(default)]
    pub relative: bool,
}

/// A check that a series rises, falls or stays constant along the horizontal axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrendSpec {
    /// The measure, by `id`. Default: the exhibit's only measure.
    pub measure: Option<String>,
    /// The series checked. Default: all.
    #[serde(default)]
    pub of: Names,
    /// Its direction.
    pub direction: Direction,
    /// The first `x` checked. Default: the first of the series.
    pub from: Option<f64>,
    /// The last `x` checked. Default: the last of the series.
    pub to: Option<f64>,
    /// The largest step in the opposite direction with which the claim still holds. For `flat`, the
    /// largest distance from the mean.
    #[serde(default)]
    pub tolerance: f64,
}

/// The direction of a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// No step goes down by more than [`TrendSpec::tolerance`], and the last number is not below
    /// the first.
    Rises,
    /// No step goes up by more than [`TrendSpec::tolerance`], and the last number is not above the
    /// first.
    Falls,
    /// All numbers are within [`TrendSpec::tolerance`] of their mean.
    Flat,
}

/// The position of a minimum or maximum.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtremeSpec {
    /// The measure, by `id`. Default: the exhibit's only measure.
    pub measure: Option<String>,
    /// The series checked. Default: all.
    #[serde(default)]
    pub of: Names,
    /// The two positions on the horizontal axis between which the extreme must lie.
    pub between: [f64; 2],
    /// The best number outside `between` may be better than the best inside by up to this amount.
    /// Default: 0.
    #[serde(default)]
    pub tolerance: f64,
}

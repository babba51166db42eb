//! The contents of `study.toml` and `reference.toml`, as entered.

mod claim;

pub use claim::{BoundSpec, ClaimSpec, Direction, ExtremeSpec, Names, OrderSpec, TrendSpec, ValueSpec};

use crate::record::{Kind, Scale};
use fairwire_core::Duration;
use fairwire_laws::spec::Quantity;
use fairwire_scenario::Seeds;
use serde::Deserialize;

/// The version of the format of studies.
pub const FORMAT: u32 = 2;

/// A study: the exhibits of one paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudySpec {
    /// The version of this format: 2.
    pub format: u32,
    /// The paper's name in `fairwire reproduce`.
    pub paper: String,
    /// The title, in one line.
    pub title: String,
    /// The full reference: authors, title, place of publication, year.
    pub source: String,
    /// The seeds of exhibits without `seeds`.
    #[serde(default)]
    pub seeds: SeedsSpec,
    /// The exhibits.
    #[serde(default)]
    pub exhibit: Vec<ExhibitSpec>,
}

/// Seeds for a first verdict, and seeds for a thorough one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedsSpec {
    /// With `--quick`.
    pub quick: Seeds,
    /// With `--full`.
    pub full: Seeds,
}

impl Default for SeedsSpec {
    fn default() -> Self {
        let seeds = |text: &str| text.parse().expect("a range of seeds");
        SeedsSpec { quick: seeds("1..=3"), full: seeds("1..=10") }
    }
}

/// One figure or table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExhibitSpec {
    /// The exhibit's name within the paper.
    pub id: String,
    /// Its content.
    pub title: String,
    /// A scenario file of the study's folder.
    pub scenario: Option<String>,
    /// The name of a computed exhibit, instead of a scenario.
    pub compute: Option<String>,
    /// Changes to the scenario at every point, as with `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// The disciplines of the scenario to compare, by label. Default: all.
    #[serde(default)]
    pub disciplines: Vec<String>,
    /// The exhibit's seeds. Default: the study's.
    pub seeds: Option<SeedsSpec>,
    /// The variation along the horizontal axis. Default: nothing varies, so there is one point.
    pub vary: Option<VarySpec>,
    /// The variants of the scenario to compare. Each variant with each discipline is a series.
    #[serde(default)]
    pub case: Vec<CaseSpec>,
    /// The reductions of `--quick`.
    #[serde(default)]
    pub quick: QuickSpec,
    /// The time between two samples, for measures over time such as `mean(cwnd.tcp.1)`. Default:
    /// the interval of the exhibit's curves; without curves, "100 ms".
    pub sample: Option<Quantity<Duration>>,
    /// The measures.
    #[serde(default)]
    pub measure: Vec<MeasureSpec>,
    /// Curves over time.
    pub series: Option<SeriesSpec>,
    /// The drawing of the exhibit.
    #[serde(default)]
    pub figure: FigureSpec,
    /// For the report's reader: our choices of settings that the paper leaves open.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The claims of the paper.
    #[serde(default)]
    pub claim: Vec<ClaimSpec>,
}

/// The variation along the horizontal axis: `points`, or `values`, or `from`, `to` and `step`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarySpec {
    /// The points, one by one.
    #[serde(default)]
    pub points: Vec<PointSpec>,
    /// The values of `{x}`.
    #[serde(default)]
    pub values: Vec<f64>,
    /// The first value of `{x}`.
    pub from: Option<f64>,
    /// The last one.
    pub to: Option<f64>,
    /// The difference between neighbouring values of `{x}`.
    pub step: Option<f64>,
    /// Changes to the scenario at each point. The point's number replaces `{x}`; formulas such as
    /// `{x*2}` are evaluated.
    #[serde(default)]
    pub set: Vec<String>,
}

/// One point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointSpec {
    /// The point's position on the horizontal axis.
    pub x: f64,
    /// The paper's name for the point. Default: `x` in decimal.
    pub at: Option<String>,
    /// Changes to the scenario, with `{x}` replaced as in [`VarySpec::set`].
    #[serde(default)]
    pub set: Vec<String>,
    /// Another scenario file.
    pub scenario: Option<String>,
    /// The disciplines at this point. Default: the exhibit's.
    #[serde(default)]
    pub disciplines: Vec<String>,
}

/// One of several compared variants of the scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseSpec {
    /// The case's label. The series is named `discipline, label`, or only `label` if the case has
    /// one discipline.
    pub label: String,
    /// Changes to the scenario.
    #[serde(default)]
    pub set: Vec<String>,
    /// Another scenario file.
    pub scenario: Option<String>,
    /// The disciplines of this case. Default: the exhibit's.
    #[serde(default)]
    pub disciplines: Vec<String>,
}

/// The reductions of `--quick`. Points that a claim names are always used.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickSpec {
    /// If this is n, every n-th point from the first is used, and the last point.
    pub every: Option<usize>,
    /// The points to use, by name or position, instead of `every`.
    #[serde(default)]
    pub points: Vec<At>,
    /// Changes to the scenario, such as a shorter duration or fewer flows. They are applied after
    /// the changes of exhibit and case, and before the changes of a point.
    #[serde(default)]
    pub set: Vec<String>,
}

/// The name of a point, or its position on the horizontal axis.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "this is not a point; allowed: a number, or the name of a point in quotes")]
pub enum At {
    /// Its position.
    X(f64),
    /// Its name.
    Name(String),
}

/// A quantity measured in every run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureSpec {
    /// The measure's name in claims.
    pub id: String,
    /// A measure of a run, or an expression of several measures.
    pub of: String,
    /// Divided by this.
    pub divide_by: Option<Amount>,
    /// The measure's name in a figure. Default: the `id`.
    pub label: Option<String>,
    /// The measure's unit. Default: none, for a dimensionless number.
    #[serde(default)]
    pub unit: String,
    /// The measure's position on the horizontal axis, if the axis shows measures. If any measure
    /// has no `x`, the axis shows labels instead.
    pub x: Option<f64>,
}

/// A number, or an expression of measures.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "this is not an amount; allowed: a number, or a measure in quotes")]
pub enum Amount {
    /// A number.
    Number(f64),
    /// A measure.
    Measure(String),
}

/// Curves over time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesSpec {
    /// The time between two samples; rates are means over this time.
    pub every: Quantity<Duration>,
    /// The curves, each a series of a run or an expression of several series.
    pub of: Vec<String>,
    /// The legend of each curve. Default: as in `of`.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The seed of the curves, which must be one of the exhibit's. Default: the first.
    pub seed: Option<u64>,
    /// How curves are split into panels. Default: "of".
    #[serde(default)]
    pub split: Split,
}

/// How curves are split into panels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// A panel for each quantity; its lines are the disciplines.
    #[default]
    Of,
    /// A panel for each discipline; its lines are the quantities.
    Series,
    /// One panel for all curves.
    None,
}

/// How an exhibit is drawn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// Its type.
    #[serde(default)]
    pub kind: Kind,
    /// The label of the horizontal axis.
    #[serde(default)]
    pub x: String,
    /// The label of the vertical axis.
    #[serde(default)]
    pub y: String,
    /// Default: linear.
    #[serde(default)]
    pub x_scale: Scale,
    /// Default: linear.
    #[serde(default)]
    pub y_scale: Scale,
    /// The range of the horizontal axis. Default: fitted to the numbers.
    pub x_range: Option<[f64; 2]>,
    /// The range of the vertical axis. Default: fitted to the numbers.
    pub y_range: Option<[f64; 2]>,
    /// The quantity along the horizontal axis.
    #[serde(default)]
    pub along: Along,
    /// The `id` of a measure used as the horizontal axis.
    pub x_measure: Option<String>,
    /// Does the horizontal axis show the names of the points instead of their numbers? Default:
    /// only for bars.
    pub names: Option<bool>,
    /// Values given in the paper, drawn as lines.
    #[serde(default)]
    pub reference: Vec<LineSpec>,
    /// Several drawings. Default: one drawing with all measures.
    #[serde(default)]
    pub panel: Vec<PanelSpec>,
}

/// A value given in the paper, such as the fair share: a line across the figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineSpec {
    /// The value on the vertical axis.
    pub y: f64,
    /// Its text.
    pub label: String,
    /// The paper states that all values differ from `y` by at most this fraction of `y`. The range
    /// is drawn as a band.
    pub within: Option<f64>,
    /// The title of the only drawing that shows the line. Default: all drawings.
    pub panel: Option<String>,
}

/// The quantity along the horizontal axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Along {
    /// The points of `vary`.
    #[default]
    Points,
    /// The series, that is, the disciplines.
    Series,
    /// The measures.
    Measures,
}

/// One of several drawings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelSpec {
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// The measures in the drawing, by `id`. Default: all.
    #[serde(default)]
    pub measures: Vec<String>,
    /// The series in the drawing. Default: all.
    #[serde(default)]
    pub series: Vec<String>,
    /// The points in the drawing. Default: all.
    #[serde(default)]
    pub at: Vec<At>,
    /// The label of the drawing's vertical axis. Default: the figure's.
    pub y: Option<String>,
    /// Default: the figure's.
    pub y_range: Option<[f64; 2]>,
    /// Default: the figure's.
    pub y_scale: Option<Scale>,
}

/// The numbers printed in a paper.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceSpec {
    /// The numbers.
    #[serde(default)]
    pub number: Vec<NumberSpec>,
}

/// One printed number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberSpec {
    /// The exhibit; `text` for a number that belongs to no exhibit.
    pub exhibit: String,
    /// The measure, by `id`. Default: the exhibit's first.
    pub measure: Option<String>,
    /// The series; empty without one.
    #[serde(default)]
    pub series: String,
    /// The number's position on the horizontal axis.
    pub x: Option<f64>,
    /// The paper's name for this position.
    pub at: Option<String>,
    /// The number.
    pub value: f64,
    /// The location in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// A note for the reader, such as a misprint.
    #[serde(default)]
    pub note: String,
}

//! The results of exhibits: the numbers, the figure to draw, and the verdict on each claim.

use crate::calibration::record::{Held, Summary};
pub use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel, Reference, Scale};
pub use fairwire_metrics::judge::Verdict;
use fairwire_metrics::record::Estimate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The version of this format. Changes within one version only add fields.
pub const FORMAT: u32 = 2;

/// The results of one call of `fairwire reproduce`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The version of this format.
    pub format: u32,
    /// The heading of the exhibits' page; absent for exhibits built into the command.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub title: String,
    /// The version of fairwire.
    pub fairwire_version: String,
    /// The depth.
    pub depth: Depth,
    /// Was the reproduction stopped early? If so, only finished exhibits are listed.
    pub interrupted: bool,
    /// The recorded calibrations, by paper.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub calibrated: BTreeMap<String, Summary>,
    /// The exhibits, grouped by paper, in the order of each paper.
    pub exhibits: Vec<Exhibit>,
}

/// The depth of a reproduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Few seeds, and not every point of a long sweep, for a first verdict.
    #[default]
    Quick,
    /// Enough seeds for a verdict.
    Full,
}

impl Depth {
    /// The serialised form.
    pub fn word(self) -> &'static str {
        match self {
            Depth::Quick => "quick",
            Depth::Full => "full",
        }
    }
}

/// One reproduced figure or table of a paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exhibit {
    /// The paper's name in `fairwire reproduce`, such as `faba`.
    pub paper: String,
    /// The title of the study.
    pub study: String,
    /// The full reference: authors, title, year.
    pub source: String,
    /// The exhibit, such as `table1`.
    pub id: String,
    /// Its content.
    pub title: String,
    /// For the reader: our choices of settings that the paper leaves open.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
    /// The depth.
    pub depth: Depth,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The command that reproduces this exhibit.
    pub command: String,
    /// The measures, in the order of the study.
    pub measures: Vec<Measured>,
    /// Every number, ordered by measure, then by series, then by point.
    pub numbers: Vec<Number>,
    /// The numbers printed in the paper.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub published: Vec<Published>,
    /// The figure: one drawing, or several below each other.
    pub panels: Vec<Panel>,
    /// The claims, in the order of the study.
    pub claims: Vec<Claim>,
}

impl Exhibit {
    /// The exhibit's full name, such as `faba.table1`, which is also the stem of its files.
    pub fn name(&self) -> String {
        format!("{}.{}", self.paper, self.id)
    }

    /// The unit of the measure called `id`; empty for a dimensionless number.
    pub fn unit(&self, id: &str) -> &str {
        self.measures.iter().find(|measured| measured.id == id).map_or("", |measured| &measured.unit)
    }

    /// The paper's printed numbers that have no counterpart among ours.
    pub fn printed_alone(&self) -> impl Iterator<Item = &Published> {
        self.published.iter().filter(|printed| !self.numbers.iter().any(|number| printed.is_beside(number)))
    }

    /// The number of claims with each of the [`VERDICTS`].
    pub fn counted(&self) -> [usize; 3] {
        VERDICTS.map(|verdict| self.claims.iter().filter(|claim| claim.verdict.strict() == verdict).count())
    }
}

/// One measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The measure's name in claims.
    pub id: String,
    /// The measure's name in a figure.
    pub label: String,
    /// The measure's unit; empty for a dimensionless number.
    pub unit: String,
}

/// One number over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// The measure's `id`.
    pub measure: String,
    /// The series: a discipline's label, or a name given by a computed exhibit.
    pub series: String,
    /// The number's position on the horizontal axis.
    pub x: f64,
    /// The paper's name for this position, such as `P/10`. Without one, usually `x` in decimal.
    pub at: String,
    /// The value for each seed that yields a value.
    pub values: BTreeMap<u64, f64>,
    /// The mean of the values and its 95 % interval; absent if no seed has a value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub estimate: Option<Estimate>,
}

/// One number as printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The measure's `id`.
    pub measure: String,
    /// The series.
    pub series: String,
    /// The position of the number on the horizontal axis, if that position is numeric.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub x: Option<f64>,
    /// The paper's name for this position.
    pub at: String,
    /// The number.
    pub value: f64,
    /// The location in the paper.
    #[serde(rename = "where")]
    pub place: String,
}

impl Published {
    /// Is this the printed number for the measure, series and point of `number`?
    pub fn is_beside(&self, number: &Number) -> bool {
        self.measure == number.measure && self.series == number.series && self.at == number.at
    }
}

/// A statement of the paper, and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The claim's name within the exhibit.
    pub id: String,
    /// The claim in simple words.
    pub says: String,
    /// The location in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// The origin of the claim: the paper, or ourselves.
    pub origin: Origin,
    /// The check, such as `tcp of FABA minus FRED at least 0 at P/10, P/5`. Empty if nothing can be
    /// checked.
    pub check: String,
    /// The reason for the check's tolerance or bound; empty if the check has neither.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub because: String,
    /// The verdict. An unclear claim counts as not holding, but more seeds may settle it.
    pub verdict: Verdict,
    /// The measurement, with its interval; or the reason why the claim cannot be tested.
    pub detail: String,
    /// Why the check is stricter than the paper; empty if it is not.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub stricter: String,
    /// The number of [calibration](crate::calibration) draws in which the claim holds, if recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub calibrated: Option<Held>,
}

impl Claim {
    /// True if the claim fails or is unclear.
    pub fn is_missed(&self) -> bool {
        self.verdict.strict() == Verdict::Fails
    }
}

/// The origin of a claim. [`Origin::Printed`] and [`Origin::Read`] are statements of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The paper prints the number, the bound or the order.
    Printed,
    /// The paper has words, from which we derived a number.
    Read,
    /// The paper has words or a curve; we chose the checked points.
    Grid,
    /// The claim is not in the paper.
    Ours,
    /// The claim follows from the set-up and cannot fail.
    Arithmetic,
}

impl Origin {
    /// All origins, the closest to the paper first.
    pub const ALL: [Origin; 5] =
        [Origin::Printed, Origin::Read, Origin::Grid, Origin::Ours, Origin::Arithmetic];

    /// Is the claim a statement of the paper: [`Origin::Printed`] or [`Origin::Read`]?
    pub fn is_of_the_paper(self) -> bool {
        matches!(self, Origin::Printed | Origin::Read)
    }

    /// A description.
    pub fn words(self) -> &'static str {
        match self {
            Origin::Printed => "printed",
            Origin::Read => "read",
            Origin::Grid => "at points of ours",
            Origin::Ours => "ours",
            Origin::Arithmetic => "arithmetic",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}

/// The counted verdicts, the best first. Unclear claims count as not holding.
pub const VERDICTS: [Verdict; 3] = [Verdict::Holds, Verdict::Fails, Verdict::NotTestable];

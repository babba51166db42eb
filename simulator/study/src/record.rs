//! The results of exhibits: the numbers, the figure to draw, and the verdict on each claim.
//!
//! [`Exhibit::numbers`] holds every number, for tables and CSV. [`Exhibit::panels`] holds the same
//! numbers ready for drawing: lines are identified here, so that the drawing code need not know the
//! format of a study.

use crate::calibration::record::{Held, Summary};
pub use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel, Reference, Scale};
pub use fairwire_metrics::judge::Verdict;
use fairwire_metrics::record::Estimate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The version of this form. Within one version fields are only added.
pub const FORMAT: u32 = 2;

/// Everything that one call of `fairwire reproduce` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The version of this form.
    pub format: u32,
    /// What the page of these exhibits is headed; absent where they are those that came with the
    /// command.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub title: String,
    /// The version of fairwire.
    pub fairwire_version: String,
    /// How thoroughly.
    pub depth: Depth,
    /// Was it stopped before all was done? Then only finished exhibits are here.
    pub interrupted: bool,
    /// What the recorded calibration of each paper says, by paper.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub calibrated: BTreeMap<String, Summary>,
    /// The exhibits, by paper and in its order.
    pub exhibits: Vec<Exhibit>,
}

/// How thoroughly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Few seeds, and of a long sweep not every point: a first verdict.
    #[default]
    Quick,
    /// As many seeds as a verdict deserves.
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

/// One figure or table of a paper, made again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exhibit {
    /// The paper, as `fairwire reproduce` calls it, such as `faba`.
    pub paper: String,
    /// The title of the study.
    pub study: String,
    /// The paper in full: authors, title, year.
    pub source: String,
    /// The exhibit, such as `table1`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What a reader should know: what the paper leaves open and what was chosen.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
    /// How thoroughly.
    pub depth: Depth,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The command that makes this exhibit again.
    pub command: String,
    /// What was measured, in the order of the study.
    pub measures: Vec<Measured>,
    /// Every number: by measure, then by series, then by point.
    pub numbers: Vec<Number>,
    /// What is printed in the paper.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub published: Vec<Published>,
    /// The figure: one drawing, or several one below the other.
    pub panels: Vec<Panel>,
    /// The claims, in the order of the study.
    pub claims: Vec<Claim>,
}

impl Exhibit {
    /// Its full name, such as `faba.table1`: also the stem of its files.
    pub fn name(&self) -> String {
        format!("{}.{}", self.paper, self.id)
    }

    /// The unit of the measure called `id`; empty for a plain number.
    pub fn unit(&self, id: &str) -> &str {
        self.measures.iter().find(|measured| measured.id == id).map_or("", |measured| &measured.unit)
    }

    /// The numbers that the paper prints of points for which there is none of ours.
    pub fn printed_alone(&self) -> impl Iterator<Item = &Published> {
        self.published.iter().filter(|printed| !self.numbers.iter().any(|number| printed.is_beside(number)))
    }

    /// How many of its claims came out as each of the [`VERDICTS`].
    pub fn counted(&self) -> [usize; 3] {
        VERDICTS.map(|verdict| self.claims.iter().filter(|claim| claim.verdict.strict() == verdict).count())
    }
}

/// One thing that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What claims call it.
    pub id: String,
    /// What a figure calls it.
    pub label: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
}

/// One number over its seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// The measure's `id`.
    pub measure: String,
    /// The series: a discipline's label, or what a computed exhibit calls it.
    pub series: String,
    /// Where on the horizontal axis.
    pub x: f64,
    /// What the paper calls that point, such as `P/10`; often `x` in decimal.
    pub at: String,
    /// One value for each seed that has one.
    pub values: BTreeMap<u64, f64>,
    /// Their mean and 95 % interval; absent where no seed has a value.
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
    /// Where on the horizontal axis, where that is a number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub x: Option<f64>,
    /// What the paper calls that point.
    pub at: String,
    /// The number.
    pub value: f64,
    /// Where in the paper.
    #[serde(rename = "where")]
    pub place: String,
}

impl Published {
    /// Is it of the same measure, series and point as `number`?
    pub fn is_beside(&self, number: &Number) -> bool {
        self.measure == number.measure && self.series == number.series && self.at == number.at
    }
}

/// Something that the paper says, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Its name within the exhibit.
    pub id: String,
    /// The claim in plain words.
    pub says: String,
    /// Where in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// Is it the paper's, or ours?
    pub origin: Origin,
    /// What was checked, in words and numbers: `tcp of FABA minus FRED at least 0 at P/10, P/5`.
    /// Empty where nothing can be.
    pub check: String,
    /// Why the check has the tolerance or bound that it has; empty where it has none.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub because: String,
    /// What came of it. It is unclear where the mean says yes and its interval does not: that is
    /// not to hold, but more seeds may settle it.
    pub verdict: Verdict,
    /// What was measured, with its interval; or why it cannot be tested.
    pub detail: String,
    /// Why the check requires more than the paper says; empty if it does not.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub stricter: String,
    /// In how many draws of what the paper leaves open it holds, where that was recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub calibrated: Option<Held>,
}

impl Claim {
    /// Does it not hold, or leave its interval that open?
    pub fn is_missed(&self) -> bool {
        self.verdict.strict() == Verdict::Fails
    }
}

/// Where a claim comes from. The headline counts what the paper says: [`Origin::Printed`] and
/// [`Origin::Read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The paper prints the number, the bound or the order.
    Printed,
    /// The paper has words, of which a number was made.
    Read,
    /// The paper has words or a curve; the points at which it is checked are ours.
    Grid,
    /// It is not in the paper.
    Ours,
    /// It follows from the set-up and cannot fail.
    Arithmetic,
}

impl Origin {
    /// Each of them, the nearest to the paper first.
    pub const ALL: [Origin; 5] =
        [Origin::Printed, Origin::Read, Origin::Grid, Origin::Ours, Origin::Arithmetic];

    /// Is it the paper's own, word for word or number for number?
    pub fn is_of_the_paper(self) -> bool {
        matches!(self, Origin::Printed | Origin::Read)
    }

    /// In words.
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

/// What is counted of claims, the best first. What is unclear counts with what does not hold.
pub const VERDICTS: [Verdict; 3] = [Verdict::Holds, Verdict::Fails, Verdict::NotTestable];

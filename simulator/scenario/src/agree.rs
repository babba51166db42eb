//! The distances that a scenario allows between the stages of an experiment.

use crate::spec::Spec;
use fairwire_metrics::agreement::{Distance, Tolerance};
use fairwire_metrics::judge::Rule;
use schemars::JsonSchema;
use serde::Deserialize;

/// The maximum distance between a stage and the first stage, if a run has several stages (`--on`).
/// If several entries apply to the same measure, stage and discipline, the last one counts.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgreeSpec {
    /// The measure, such as "jain" or "fraction.tcp". A name such as "fraction" means all measures
    /// whose names begin with it and a dot.
    pub measure: String,
    /// The maximum distance between the means on a later stage and on the first stage, in the
    /// measure's unit.
    pub tolerance: Option<f64>,
    /// The maximum distance, relative to the mean on the first stage.
    pub relative: Option<f64>,
    /// The number of standard errors of the difference that are added to the allowed distance.
    /// Default: none.
    pub deviations: Option<f64>,
    /// The effect of 95 % intervals on agreement. Default: "reach"; with `deviations`, "ignored".
    pub intervals: Option<IntervalsSpec>,
    /// The stage to which this entry applies. Default: each stage except the first.
    pub stage: Option<String>,
    /// The discipline to which this entry applies, by its label or its name. Default: each
    /// discipline compared.
    pub discipline: Option<String>,
    /// The reason for this bound, for readers.
    pub because: String,
    /// The reason for a difference beyond the allowed distance, if known. Such a difference is
    /// reported, but is not a miss.
    pub known: Option<String>,
}

/// The effect of 95 % intervals on agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IntervalsSpec {
    /// The mean decides.
    Ignored,
    /// If a mean is outside the allowed range but its interval reaches the range, the verdict is
    /// unclear.
    Reach,
    /// The mean decides, but stages also agree if the intervals of both means meet.
    Meet,
}

impl AgreeSpec {
    fn tolerance<'a>(&'a self, label: impl Fn(&'a str) -> &'a str) -> Tolerance<'a> {
        let intervals = self.intervals.unwrap_or(match self.deviations {
            Some(_) => IntervalsSpec::Ignored,
            None => IntervalsSpec::Reach,
        });
        let distance = Distance {
            absolute: self.tolerance.unwrap_or(0.0),
            relative: self.relative.unwrap_or(0.0),
            deviations: self.deviations.unwrap_or(0.0),
            rule: match intervals {
                IntervalsSpec::Ignored => Rule::Mean,
                IntervalsSpec::Reach => Rule::Reach,
                IntervalsSpec::Meet => Rule::Meet,
            },
        };
        Tolerance {
            measure: &self.measure,
            stage: self.stage.as_deref(),
            discipline: self.discipline.as_deref().map(label),
            allowed: Some(distance),
            known: self.known.as_deref(),
        }
    }
}

impl Spec {
    pub(crate) fn tolerances<'a>(&'a self, label: impl Fn(&'a str) -> &'a str) -> Vec<Tolerance<'a>> {
        self.agree.iter().map(|agree| agree.tolerance(&label)).collect()
    }
}

//! How near the stages of an experiment are to be, as a scenario says it.

use crate::spec::Spec;
use fairwire_metrics::agreement::{Distance, Tolerance};
use fairwire_metrics::judge::Rule;
use schemars::JsonSchema;
use serde::Deserialize;

/// How far a stage may lie from the first one, with `--on` and several stages. Of entries about the
/// same measure the last one counts.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgreeSpec {
    /// The measure, such as "jain" or "fraction.tcp"; or what several begin with, such as
    /// "fraction".
    pub measure: String,
    /// How far its mean may lie from that on the first stage, in the unit of the measure.
    pub tolerance: Option<f64>,
    /// The same, as a part of what was measured on the first stage.
    pub relative: Option<f64>,
    /// How many standard errors of the difference are allowed beside that: then the mean decides,
    /// and no interval. Default: none.
    pub deviations: Option<f64>,
    /// How intervals count. Default: "reach"; with `deviations`, "ignored".
    pub intervals: Option<IntervalsSpec>,
    /// On which stage. Default: on each but the first.
    pub stage: Option<String>,
    /// Under which discipline, by its label or its name. Default: under each one compared.
    pub discipline: Option<String>,
    /// Why that much: for people.
    pub because: String,
    /// Why it differs by more, where that is known: it is reported, and is no miss.
    pub known: Option<String>,
}

/// How the 95 % interval of a difference counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IntervalsSpec {
    /// The mean decides.
    Ignored,
    /// A mean that is too far off is unclear where its interval reaches what is allowed.
    Reach,
    /// Stages agree also where the intervals of both means meet.
    Meet,
}

impl AgreeSpec {
    /// What it allows, under the discipline that results call `label`.
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
    /// What its `[[agree]]` allow, in their order. Results call a discipline by what `label` gives
    /// for its name.
    pub(crate) fn tolerances<'a>(&'a self, label: impl Fn(&'a str) -> &'a str) -> Vec<Tolerance<'a>> {
        self.agree.iter().map(|agree| agree.tolerance(&label)).collect()
    }
}

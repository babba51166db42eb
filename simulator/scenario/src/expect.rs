//! Compares results with the expectations of the scenario.

use crate::compared::{Compared, resolved};
use crate::spec::{ExpectSpec, OtherSpec, Spec};
use fairwire_metrics::judge::{self, Allowed, Rule, Value, Verdict};
use fairwire_metrics::record::{Estimate, Report, Summary};
use fairwire_metrics::summary::{Under, difference_of};
use std::fmt;

/// An expectation, compared with the result of a discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The discipline.
    pub discipline: String,
    /// The measure.
    pub measure: String,
    /// The mean of the measure over the runs.
    pub mean: f64,
    /// The expected minimum.
    pub min: Option<f64>,
    /// The expected maximum.
    pub max: Option<f64>,
    /// The expectation relative to another discipline.
    pub against: Option<Comparison>,
    /// The reason for the expectation.
    pub because: String,
}

/// A measure under one discipline, compared with a measure under another.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The other discipline.
    pub discipline: String,
    /// Its measure.
    pub measure: String,
    /// The expected relation of the first measure to the other.
    pub side: Relation,
    /// The margin required.
    pub margin: f64,
    /// The first measure minus the other, over their common seeds; `None` if there are none.
    pub difference: Option<Estimate>,
}

/// The expected relation of a measure to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Below.
    Less,
    /// Above.
    More,
}

impl Judgement {
    /// The verdict on the expectation. Bounds are compared with the mean alone. A comparison with
    /// another discipline uses the complete interval of the difference.
    pub fn verdict(&self) -> Verdict {
        let own = judge::judge(Value::exact(self.mean), Allowed::between(self.min, self.max), Rule::Mean);
        own.max(self.against.as_ref().map_or(Verdict::Holds, Comparison::verdict))
    }

    /// Was the expectation met? An unclear verdict counts as no.
    pub fn is_met(&self) -> bool {
        self.verdict() == Verdict::Holds
    }
}

impl Comparison {
    /// The verdict: the complete 95 % interval of the difference must lie beyond the margin. With
    /// one seed there is no interval, so the difference alone decides.
    pub fn verdict(&self) -> Verdict {
        let Some(Estimate { mean, half_width_95, .. }) = self.difference else { return Verdict::Fails };
        let allowed = match self.side {
            Relation::Less => Allowed::below(-self.margin),
            Relation::More => Allowed::above(self.margin),
        };
        let value = Value { mean, half_width_95: half_width_95.or(Some(0.0)) };
        judge::judge(value, allowed, Rule::Whole)
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judgement { discipline, measure, mean, against, .. } = self;
        write!(f, "{discipline}: {measure} is {mean:.4}, expected ")?;
        match (self.min, self.max, against) {
            (Some(min), Some(max), _) => write!(f, "{min} to {max}"),
            (Some(min), None, _) => write!(f, "at least {min}"),
            (None, Some(max), _) => write!(f, "at most {max}"),
            (None, None, Some(against)) => write!(f, "{against}"),
            (None, None, None) => write!(f, "anything"),
        }?;
        if self.because.is_empty() { Ok(()) } else { write!(f, " ({})", self.because) }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { discipline, measure, margin, .. } = self;
        let side = match self.side {
            Relation::Less => "less",
            Relation::More => "more",
        };
        write!(f, "{side} than {measure} of {discipline}")?;
        if *margin != 0.0 {
            write!(f, " by over {margin}")?;
        }
        match &self.difference {
            None => write!(f, ", but no seed has both"),
            Some(Estimate { mean, half_width_95: Some(half), .. }) => {
                write!(f, "; the difference over the seeds is {mean:.4} ± {half:.4}")
            }
            Some(Estimate { mean, half_width_95: None, .. }) => {
                write!(f, "; the difference under the one seed is {mean:.4}")
            }
        }
    }
}

/// Compares `report` with the expectations of `spec`. Bounds and comparisons are omitted if a
/// discipline that they need was not run.
pub fn judge(spec: &Spec, report: &Report) -> Vec<Judgement> {
    let judging = Judging { spec, report };
    spec.expect.iter().flat_map(|expect| judging.judgements(expect)).collect()
}

struct Judging<'a> {
    spec: &'a Spec,
    report: &'a Report,
}

impl Judging<'_> {
    fn judgements(&self, expect: &ExpectSpec) -> Vec<Judgement> {
        let has_bounds = expect.min.is_some() || expect.max.is_some();
        let others = [(Relation::Less, &expect.less_than), (Relation::More, &expect.more_than)];
        let mut all = Vec::new();
        for summary in self.report.summary.iter().filter(|summary| self.concerns(expect, summary)) {
            let bare = bare(expect, summary);
            let compared = others.iter().filter_map(|(side, other)| {
                let against = Some(self.comparison(&bare, *side, other.as_ref()?)?);
                Some(Judgement { against, ..bare.clone() })
            });
            let bounds = Judgement { min: expect.min, max: expect.max, ..bare.clone() };
            all.extend(has_bounds.then_some(bounds).into_iter().chain(compared));
        }
        all
    }

    fn concerns(&self, expect: &ExpectSpec, summary: &Summary) -> bool {
        let is_it = |name: &String| self.label(name) == summary.discipline;
        expect.discipline.as_ref().is_none_or(is_it)
    }

    fn comparison(&self, first: &Judgement, side: Relation, other: &OtherSpec) -> Option<Comparison> {
        let label = self.label(&other.discipline);
        let measure = other.measure.as_ref().unwrap_or(&first.measure);
        let is_run = self.report.summary.iter().any(|summary| summary.discipline == label);
        let is_same = first.discipline == label && first.measure == *measure;
        let one = Under { measure: &first.measure, discipline: &first.discipline };
        let difference = || difference_of(&self.report.runs, one, Under { measure, discipline: label });
        (is_run && !is_same).then(|| Comparison {
            discipline: label.into(),
            measure: measure.clone(),
            side,
            margin: other.margin.unwrap_or(0.0),
            difference: difference(),
        })
    }

    fn label<'a>(&'a self, name: &'a str) -> &'a str {
        resolved(name, self.spec.disciplines.iter().map(Compared::label))
    }
}

fn bare(expect: &ExpectSpec, summary: &Summary) -> Judgement {
    // An absent `drops.` measure counts as 0: no packet was dropped for its cause. Any other absent
    // measure becomes NaN, so the expectation is not met.
    let absent = if expect.measure.starts_with("drops.") { 0.0 } else { f64::NAN };
    Judgement {
        discipline: summary.discipline.clone(),
        measure: expect.measure.clone(),
        mean: summary.measures.get(&expect.measure).map_or(absent, |estimate| estimate.mean),
        min: None,
        max: None,
        against: None,
        because: expect.because.clone(),
    }
}

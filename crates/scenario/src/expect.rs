//! What came out, held against what the scenario expects.

use crate::compared::{Compared, resolved};
use crate::spec::{ExpectSpec, Spec};
use fairwire_metrics::record::Summary;
use std::fmt;

/// One expectation, held against one discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The discipline.
    pub discipline: String,
    /// The measure.
    pub measure: String,
    /// Its mean over the runs.
    pub mean: f64,
    /// At least this was expected.
    pub min: Option<f64>,
    /// At most this was expected.
    pub max: Option<f64>,
    /// Why.
    pub because: String,
}

impl Judgement {
    /// Was the expectation met? A mean that is not a number meets none.
    pub fn is_met(&self) -> bool {
        self.min.is_none_or(|min| self.mean >= min)
            && self.max.is_none_or(|max| self.mean <= max)
            && !self.mean.is_nan()
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judgement { discipline, measure, mean, .. } = self;
        write!(f, "{discipline}: {measure} is {mean:.4}, expected ")?;
        match (self.min, self.max) {
            (Some(min), Some(max)) => write!(f, "{min} to {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (None, None) => write!(f, "anything"),
        }?;
        if self.because.is_empty() { Ok(()) } else { write!(f, " ({})", self.because) }
    }
}

/// Holds `summary` against what `spec` expects. An expectation on a discipline that was not run is left out.
pub fn judge(spec: &Spec, summary: &[Summary]) -> Vec<Judgement> {
    let of = |expect: &ExpectSpec| {
        summary.iter().filter(|s| concerns(spec, expect, s)).map(|s| judged(expect, s)).collect()
    };
    spec.expect.iter().flat_map(|expect| -> Vec<_> { of(expect) }).collect()
}

fn concerns(spec: &Spec, expect: &ExpectSpec, summary: &Summary) -> bool {
    let labels = || spec.disciplines.iter().map(Compared::label);
    let is_it = |name: &String| resolved(name, labels()) == summary.discipline;
    expect.discipline.as_ref().is_none_or(is_it)
}

fn judged(expect: &ExpectSpec, summary: &Summary) -> Judgement {
    // A cause that dropped nothing in any run is absent; any other absent measure is not a number, and so not met.
    let absent = if expect.measure.starts_with("drops.") { 0.0 } else { f64::NAN };
    Judgement {
        discipline: summary.discipline.clone(),
        measure: expect.measure.clone(),
        mean: summary.measures.get(&expect.measure).map_or(absent, |estimate| estimate.mean),
        min: expect.min,
        max: expect.max,
        because: expect.because.clone(),
    }
}

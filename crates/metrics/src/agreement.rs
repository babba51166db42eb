//! How near two stages came: what was measured on one beside what was measured on another.
//!
//! Stages have senders of their own, so runs are not paired. The interval of a difference is Welch's, with the degrees of freedom of
//! Satterthwaite. Source: Law, *Simulation Modeling and Analysis*, 5th edition, 2015, section 10.2.2.

use crate::judge::{Allowed, Rule, Value, judge};
use crate::record::{Agreement, RunRecord};
use crate::summary::measures;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::{BTreeMap, BTreeSet};

/// What was measured in one run, by name.
type Measures = BTreeMap<String, f64>;

/// What may differ, and by how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance<'a> {
    /// The measure, one of those of [`summarize`](crate::summary::summarize); without its last part of all groups, `fraction`.
    pub measure: &'a str,
    /// How large the difference may be, in the unit of the measure; `None` where it is shown for information.
    pub allowed: Option<f64>,
}

/// Compares the runs of each discipline on each stage with those on the stage `against`, in each measure of `tolerances` that both have.
pub fn agreement(runs: &[RunRecord], against: &str, tolerances: &[Tolerance<'_>]) -> Vec<Agreement> {
    let mut by_place: Vec<((&str, &str), Vec<Measures>)> = Vec::new();
    for run in runs {
        let place = (run.discipline.as_str(), run.stage.as_str());
        match by_place.iter_mut().find(|(known, _)| *known == place) {
            Some((_, all)) => all.push(measures(run)),
            None => by_place.push((place, vec![measures(run)])),
        }
    }
    let base = |discipline: &str| {
        by_place
            .iter()
            .find(|((name, stage), _)| *name == discipline && *stage == against)
            .map(|(_, all)| all)
    };
    let mut found = Vec::new();
    for ((discipline, stage), all) in by_place.iter().filter(|((_, stage), _)| *stage != against) {
        let Some(base) = base(discipline) else { continue };
        for tolerance in tolerances {
            for measure in names(all, tolerance.measure) {
                let of = |all: &[Measures]| -> Vec<f64> {
                    all.iter().filter_map(|run| run.get(&measure).copied()).collect()
                };
                let Some(difference) = difference(&of(all), &of(base)) else { continue };
                let allowed = |allowed| judge(difference, Allowed::near(0.0, allowed), Rule::Reach);
                found.push(Agreement {
                    discipline: (*discipline).into(),
                    stage: (*stage).into(),
                    against: against.into(),
                    measure: measure.clone(),
                    difference: difference.mean,
                    half_width_95: difference.half_width_95,
                    allowed: tolerance.allowed,
                    verdict: tolerance.allowed.map(allowed),
                });
            }
        }
    }
    found
}

/// The measures called `name`, or that begin with it and a dot.
fn names(runs: &[Measures], name: &str) -> BTreeSet<String> {
    let is_of = |measure: &&String| {
        measure.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    runs.iter().flat_map(BTreeMap::keys).filter(is_of).cloned().collect()
}

/// The mean of `first` minus that of `second`; `None` where one of them is empty.
fn difference(first: &[f64], second: &[f64]) -> Option<Value> {
    let (a, b) = (Sample::of(first)?, Sample::of(second)?);
    let half_width_95 = a.variance.zip(b.variance).map(|(variance_a, variance_b)| {
        let (of_a, of_b) = (variance_a / a.count, variance_b / b.count);
        let sum = of_a + of_b;
        if sum == 0.0 {
            return 0.0;
        }
        let freedom = sum * sum / (of_a * of_a / (a.count - 1.0) + of_b * of_b / (b.count - 1.0));
        let t = StudentsT::new(0.0, 1.0, freedom).expect("one degree of freedom or more").inverse_cdf(0.975);
        t * sum.sqrt()
    });
    Some(Value { mean: a.mean - b.mean, half_width_95 })
}

struct Sample {
    count: f64,
    mean: f64,
    /// Of two or more.
    variance: Option<f64>,
}

impl Sample {
    fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let variance = (values.len() > 1).then(|| squares / (count - 1.0));
        (!values.is_empty()).then_some(Sample { count, mean, variance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_welchs() {
        // By hand: means 3 and 7, variances 2.5 and 10, of five each: s² = 0.5 + 2 = 2.5, 5.88 degrees of freedom, t(0.975) = 2.4592.
        let welch = difference(&[1.0, 2.0, 3.0, 4.0, 5.0], &[3.0, 5.0, 7.0, 9.0, 11.0]).unwrap();
        assert_eq!(welch.mean, -4.0);
        assert!((welch.half_width_95.unwrap() - 3.888).abs() < 2e-3, "{welch:?}");
        assert_eq!(difference(&[1.0], &[3.0, 5.0]), Some(Value::exact(-3.0)));
        let even = Value { mean: 1.0, half_width_95: Some(0.0) };
        assert_eq!(difference(&[2.0, 2.0], &[1.0, 1.0]), Some(even));
        assert_eq!(difference(&[], &[1.0]), None);
    }

    #[test]
    fn a_measure_without_its_last_part_is_that_of_all_groups() {
        let run = BTreeMap::from([
            ("fraction.tcp".to_string(), 0.5),
            ("fraction.udp".to_string(), 0.5),
            ("fractions".to_string(), 1.0),
            ("jain".to_string(), 1.0),
        ]);
        let runs = [run];
        assert_eq!(
            names(&runs, "fraction").into_iter().collect::<Vec<_>>(),
            ["fraction.tcp", "fraction.udp"]
        );
        assert_eq!(names(&runs, "jain").into_iter().collect::<Vec<_>>(), ["jain"]);
    }
}

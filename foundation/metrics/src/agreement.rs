//! Compares a measure between two stages.
//!
//! Stages do not share senders, so their runs are not paired. The confidence interval of a
//! difference is Welch's, with Satterthwaite's degrees of freedom: Law, *Simulation Modeling and
//! Analysis*, 5th edition, 2015, section 10.2.2.

use crate::interval::estimate;
use crate::judge::{Allowed, Rule, Value, Verdict, judge};
use crate::record::{Agreement, RunRecord};
use crate::summary::measures_with;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::{BTreeMap, BTreeSet};

type Measures = BTreeMap<String, f64>;

/// The allowed difference in one measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance<'a> {
    /// A measure of [`summarize`](crate::summary::summarize). The name `fraction` matches every
    /// `fraction.<group>`.
    pub measure: &'a str,
    /// The stage; `None` for every stage.
    pub stage: Option<&'a str>,
    /// The discipline; `None` for every discipline.
    pub discipline: Option<&'a str>,
    /// The allowed difference; `None` if the difference is only reported.
    pub allowed: Option<Distance>,
    /// Why the difference may exceed `allowed`; `None` if no reason is recorded.
    pub known: Option<&'a str>,
}

impl<'a> Tolerance<'a> {
    /// A tolerance for all stages and disciplines; `allowed` is in the unit of `measure`.
    pub const fn of(measure: &'a str, allowed: f64) -> Self {
        Tolerance { allowed: Some(Distance::of(allowed)), ..Tolerance::shown(measure) }
    }

    /// A tolerance that only reports `measure`, for all stages and disciplines.
    pub const fn shown(measure: &'a str) -> Self {
        Tolerance { measure, stage: None, discipline: None, allowed: None, known: None }
    }

    /// Does the tolerance apply to `stage` under `discipline`?
    pub fn is_under(&self, discipline: &str, stage: &str) -> bool {
        self.stage.is_none_or(|name| name == stage) && self.discipline.is_none_or(|name| name == discipline)
    }

    fn is_for(&self, discipline: &str, stage: &str, measure: &str) -> bool {
        self.is_under(discipline, stage) && is_called(measure, self.measure)
    }
}

/// The allowed distance between the means of two stages: the sum of three terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The term in the unit of the measure.
    pub absolute: f64,
    /// The term as a fraction of the mean on the reference stage.
    pub relative: f64,
    /// The term in standard errors of the difference.
    pub deviations: f64,
    /// How the interval of the difference affects the verdict. For [`Rule::Meet`], the interval's
    /// half width is the sum of both means' half widths.
    pub rule: Rule,
}

impl Distance {
    /// An absolute distance, judged by [`Rule::Reach`].
    pub const fn of(absolute: f64) -> Self {
        Distance { absolute, relative: 0.0, deviations: 0.0, rule: Rule::Reach }
    }

    fn judged(&self, difference: &Difference) -> (f64, Verdict) {
        let Distance { absolute, relative, deviations, rule } = *self;
        let allowed = absolute + relative * difference.base.abs() + deviations * difference.standard_error;
        let value = match rule {
            Rule::Meet => Value { half_width_95: Some(difference.both_half_widths), ..difference.value },
            Rule::Mean | Rule::Whole | Rule::Reach => difference.value,
        };
        (allowed, judge(value, Allowed::near(0.0, allowed), rule))
    }
}

/// For each discipline, compares the runs on every other stage with those on the stage `against`.
///
/// Compares measures of a summary, and the [further measures](crate::summary::is_further) in
/// `further`, if a tolerance names them and both stages have them. The last of several matching
/// tolerances counts.
pub fn agreement(
    runs: &[RunRecord],
    against: &str,
    tolerances: &[Tolerance<'_>],
    further: &[String],
) -> Vec<Agreement> {
    let mut by_place: Vec<((&str, &str), Vec<Measures>)> = Vec::new();
    for run in runs {
        let place = (run.discipline.as_str(), run.stage.as_str());
        let measures = measures_with(run, further);
        match by_place.iter_mut().find(|(known, _)| *known == place) {
            Some((_, all)) => all.push(measures),
            None => by_place.push((place, vec![measures])),
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
        for (at, tolerance) in tolerances.iter().enumerate() {
            let is_replaced = |measure: &String| {
                tolerances[at + 1..].iter().any(|later| later.is_for(discipline, stage, measure))
            };
            let is_meant =
                |measure: &String| tolerance.is_for(discipline, stage, measure) && !is_replaced(measure);
            for measure in names(all).into_iter().filter(|measure| is_meant(measure)) {
                let of = |all: &[Measures]| -> Vec<f64> {
                    all.iter().filter_map(|run| run.get(measure).copied()).collect()
                };
                let Some(difference) = difference(&of(all), &of(base)) else { continue };
                let judged = tolerance.allowed.map(|distance| distance.judged(&difference));
                let has_reason = tolerance.known.is_some();
                found.push(Agreement {
                    discipline: (*discipline).into(),
                    stage: (*stage).into(),
                    against: against.into(),
                    measure: measure.clone(),
                    difference: difference.value.mean,
                    half_width_95: difference.value.half_width_95,
                    allowed: judged.map(|(allowed, _)| allowed),
                    verdict: judged.map(|(_, verdict)| verdict.with_reason(has_reason)),
                    known: tolerance.known.map(String::from),
                });
            }
        }
    }
    found
}

fn names(runs: &[Measures]) -> BTreeSet<&String> {
    runs.iter().flat_map(BTreeMap::keys).collect()
}

/// True if `measure` is `name`, or begins with `name` and a dot.
pub fn is_called(measure: &str, name: &str) -> bool {
    measure.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Difference {
    value: Value,
    base: f64,
    /// 0 if both samples are single runs.
    standard_error: f64,
    /// The sum of the half widths of the 95 % intervals of both means (Student's t).
    both_half_widths: f64,
}

fn difference(first: &[f64], second: &[f64]) -> Option<Difference> {
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
    let error = |sample: &Sample| sample.variance.map_or(0.0, |variance| variance / sample.count);
    let half = |runs| estimate(runs).and_then(|estimate| estimate.half_width_95).unwrap_or(0.0);
    Some(Difference {
        value: Value { mean: a.mean - b.mean, half_width_95 },
        base: b.mean,
        standard_error: (error(&a) + error(&b)).sqrt(),
        both_half_widths: half(first) + half(second),
    })
}

struct Sample {
    count: f64,
    mean: f64,
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
    use crate::record::Fairness;

    #[test]
    fn the_interval_is_that_of_welch() {
        // By hand, the squared standard error is 2.5, and t(0.975) is 2.4592 at 5.88 degrees of
        // freedom.
        let welch = difference(&[1.0, 2.0, 3.0, 4.0, 5.0], &[3.0, 5.0, 7.0, 9.0, 11.0]).unwrap();
        assert_eq!((welch.value.mean, welch.base), (-4.0, 7.0));
        assert!((welch.value.half_width_95.unwrap() - 3.888).abs() < 2e-3, "{welch:?}");
        assert!((welch.standard_error - 2.5f64.sqrt()).abs() < 1e-12, "{welch:?}");
        // t(0.975, 4) is 2.7764.
        assert!((welch.both_half_widths - 2.7764 * (0.5f64.sqrt() + 2f64.sqrt())).abs() < 1e-3, "{welch:?}");
        assert_eq!(difference(&[1.0], &[3.0, 5.0]).unwrap().value, Value::exact(-3.0));
        let even = Value { mean: 1.0, half_width_95: Some(0.0) };
        assert_eq!(difference(&[2.0, 2.0], &[1.0, 1.0]).unwrap().value, even);
        assert_eq!(difference(&[], &[1.0]), None);
    }

    #[test]
    fn a_measure_without_a_group_covers_all_groups() {
        let is_it = |measure| is_called(measure, "fraction");
        assert_eq!(["fraction.tcp", "fraction", "fractions", "jain"].map(is_it), [true, true, false, false]);
    }

    fn runs(stage: &str, all: &[f64]) -> Vec<RunRecord> {
        let run = |jain: &f64| RunRecord {
            discipline: "red".into(),
            stage: stage.into(),
            seed: 1,
            flows: Vec::new(),
            links: Vec::new(),
            transfers: Vec::new(),
            aggregates: Vec::new(),
            presence: None,
            fairness: Fairness {
                jain: *jain,
                jain_throughput: *jain,
                worst_share: *jain,
                group_share: BTreeMap::new(),
                group_fraction: BTreeMap::new(),
            },
            events: None,
        };
        all.iter().map(run).collect()
    }

    fn compared(a: &[f64], b: &[f64], tolerances: &[Tolerance<'_>]) -> Vec<Agreement> {
        agreement(&[runs("a", a), runs("b", b)].concat(), "a", tolerances, &[])
    }

    fn verdict(a: &[f64], b: &[f64], distance: Distance) -> Option<Verdict> {
        let tolerance = Tolerance { allowed: Some(distance), ..Tolerance::shown("jain") };
        compared(a, b, &[tolerance])[0].verdict
    }

    #[test]
    fn a_distance_is_relative_to_the_other_stage_or_in_standard_errors() {
        let relative = Distance { relative: 0.05, ..Distance::of(0.0) };
        assert_eq!(verdict(&[100.0; 5], &[104.9; 5], relative), Some(Verdict::Holds));
        assert_eq!(verdict(&[100.0; 5], &[94.9; 5], relative), Some(Verdict::Fails));
        // The standard error of the difference is 1.414, so the difference of 3 is 2.12 standard
        // errors.
        let deviations = |deviations| Distance { deviations, rule: Rule::Mean, ..Distance::of(0.0) };
        assert_eq!(verdict(&[1.0, 3.0], &[4.0, 6.0], deviations(2.2)), Some(Verdict::Holds));
        assert_eq!(verdict(&[1.0, 3.0], &[4.0, 6.0], deviations(2.1)), Some(Verdict::Fails));
    }

    #[test]
    fn overlapping_intervals_agree_under_the_meet_rule() {
        // Two runs that differ by 2 have a half width of 12.7. Two such intervals meet up to a
        // distance of 25.4.
        let meet = Distance { relative: 0.1, rule: Rule::Meet, ..Distance::of(0.0) };
        assert_eq!(verdict(&[99.0, 101.0], &[119.0, 121.0], meet), Some(Verdict::Holds));
        assert_eq!(verdict(&[99.0, 101.0], &[129.0, 131.0], meet), Some(Verdict::Fails));
        assert_eq!(verdict(&[0.0; 5], &[0.0; 5], meet), Some(Verdict::Holds));
        assert_eq!(verdict(&[0.0; 5], &[1.0; 5], meet), Some(Verdict::Fails));
    }

    #[test]
    fn the_last_tolerance_for_a_measure_and_stage_counts() {
        let [strict, loose] = [1.0, 9.0].map(|allowed| Tolerance::of("jain", allowed));
        let of = |tolerances: &[Tolerance<'_>]| {
            let found = compared(&[1.0], &[6.0], tolerances);
            found.iter().map(|one| one.verdict).collect::<Vec<_>>()
        };
        assert_eq!(of(&[strict, loose]), [Some(Verdict::Holds)]);
        assert_eq!(of(&[loose, strict]), [Some(Verdict::Fails)]);
        assert_eq!(of(&[strict, Tolerance { stage: Some("c"), ..loose }]), [Some(Verdict::Fails)]);
        assert_eq!(of(&[strict, Tolerance { stage: Some("b"), ..loose }]), [Some(Verdict::Holds)]);
        assert_eq!(of(&[strict, Tolerance { discipline: Some("rem"), ..loose }]), [Some(Verdict::Fails)]);
        assert_eq!(of(&[Tolerance::shown("jain")]), [None]);
    }

    #[test]
    fn a_known_difference_without_a_difference_is_needless() {
        let known = Tolerance { known: Some("a reason"), ..Tolerance::of("jain", 1.0) };
        let of = |b: f64| compared(&[1.0], &[b], &[known]).remove(0);
        let far = of(6.0);
        assert_eq!((far.verdict, far.is_needless()), (Some(Verdict::Known), false));
        assert_eq!(far.known.as_deref(), Some("a reason"));
        let near = of(1.5);
        assert_eq!((near.verdict, near.is_needless()), (Some(Verdict::Holds), true));
    }
}

//! Compares claims with measurements.
//!
//! A claim holds if the mean over the seeds and the complete 95 % interval agree with it. If only
//! the mean agrees, the claim is unclear, and counts as not holding. For two series, the interval
//! is that of the differences seed by seed.

mod names;
mod words;

pub(crate) use names::check;

use crate::plan::{Plan, is_meant};
use crate::record::{Claim, Number, Published, Verdict};
use crate::spec::{BoundSpec, ClaimSpec, Direction, ExtremeSpec, Names, OrderSpec, TrendSpec, ValueSpec};
use crate::text::{shown, with_interval};
use fairwire_metrics::interval::estimate;
use fairwire_metrics::judge::{self, Allowed, Rule, Value};
use fairwire_metrics::record::Estimate;
use std::collections::BTreeMap;
use words::{Operand, allowance, difference, here, name, of, places, range};

pub(crate) struct Table<'a> {
    /// All our numbers.
    pub numbers: &'a [Number],
    /// The printed numbers.
    pub published: &'a [Published],
    /// Are the numbers independent of chance? Then one seed decides.
    pub is_exact: bool,
}

struct Finding {
    what: String,
    estimate: Option<Estimate>,
    unit: String,
    allowed: Allowed,
}

impl Finding {
    fn verdict(&self, is_exact: bool) -> Verdict {
        let Some(Estimate { mean, half_width_95, .. }) = self.estimate else { return Verdict::Fails };
        let Allowed { min, max } = self.allowed;
        // The bounds are widened slightly, because sums of decimals are inexact in the last bits.
        let slack =
            1e-12 * [min, max, mean].iter().filter(|v| v.is_finite()).fold(0.0f64, |a, b| a.max(b.abs()));
        let value = Value { mean, half_width_95: half_width_95.or(is_exact.then_some(0.0)) };
        judge::judge(value, Allowed { min: min - slack, max: max + slack }, Rule::Whole)
    }

    fn text(&self) -> String {
        let Some(Estimate { mean, half_width_95, .. }) = self.estimate else {
            return format!("{}: nothing was measured", self.what);
        };
        let gap = if self.unit.is_empty() { "" } else { " " };
        format!("{}: {}{gap}{}", self.what, with_interval(mean, half_width_95), self.unit)
    }

    /// The distance of the estimate from the nearest bound; negative outside the bounds.
    fn margin(&self) -> f64 {
        let Some(estimate) = self.estimate else { return f64::NEG_INFINITY };
        let Allowed { min, max } = self.allowed;
        let nearest = (estimate.mean - min).min(max - estimate.mean);
        let wide = max - min;
        // With relative tolerances, the allowed ranges differ in width. Division by the width makes
        // the distances comparable.
        if wide.is_finite() && wide > 0.0 { nearest / wide } else { nearest }
    }
}

pub(crate) fn judge(plan: &Plan<'_>, table: &Table<'_>) -> Vec<Claim> {
    plan.spec().claim.iter().map(|claim| judged(claim, plan, table)).collect()
}

/// The verdict of the claims that compare `number` with the paper's printed number; `None` without
/// such claims.
pub(crate) fn beside_print(plan: &Plan<'_>, table: &Table<'_>, number: &Number) -> Option<Verdict> {
    let check = Check { plan, table };
    let values = plan.spec().claim.iter().filter_map(|claim| claim.value.as_ref());
    let is_of_it = |spec: &&ValueSpec| {
        let series = spec.of.list();
        spec.is.is_none()
            && check.measure(&spec.measure) == number.measure
            && (series.is_empty() || series.contains(&number.series))
            && is_meant(number.x, &number.at, &spec.at)
    };
    let findings = values.filter(is_of_it).filter_map(|spec| check.beside(spec, number));
    Verdict::of_all(findings.map(|finding| finding.verdict(table.is_exact)))
}

fn judged(claim: &ClaimSpec, plan: &Plan<'_>, table: &Table<'_>) -> Claim {
    let Checked { check, findings } = checked(claim, plan, table);
    let each: Vec<Verdict> = findings.iter().map(|finding| finding.verdict(table.is_exact)).collect();
    let verdict = match Verdict::of_all(each.iter().copied()) {
        _ if claim.not_testable.is_some() => Verdict::NotTestable,
        worst => worst.unwrap_or(Verdict::Fails), // without measurements it does not hold
    };
    Claim {
        id: claim.id.clone(),
        says: claim.says.clone(),
        place: claim.place.clone(),
        origin: claim.origin,
        check,
        because: claim.because.clone(),
        stricter: claim.stricter.clone().unwrap_or_default(),
        verdict,
        detail: claim.not_testable.clone().unwrap_or_else(|| detail(&findings, &each)),
        calibrated: plan.study.calibration.claims.get(&format!("{}.{}", plan.spec().id, claim.id)).copied(),
    }
}

const MAX_FINDINGS: usize = 3;

fn detail(findings: &[Finding], verdicts: &[Verdict]) -> String {
    if findings.is_empty() {
        return "nothing was measured".into();
    }
    let of = |wanted: Verdict| -> Vec<&Finding> {
        let found = findings.iter().zip(verdicts).filter(|(_, verdict)| **verdict == wanted);
        found.map(|(finding, _)| finding).collect()
    };
    let joined = |parts: Vec<&Finding>| {
        let worst = parts.iter().min_by(|a, b| a.margin().total_cmp(&b.margin()));
        match worst {
            Some(worst) if parts.len() > MAX_FINDINGS => {
                format!("worst of {}: {}", parts.len(), worst.text())
            }
            _ => parts.iter().map(|finding| finding.text()).collect::<Vec<_>>().join("; "),
        }
    };
    let (no, undecided, yes) = (of(Verdict::Fails), of(Verdict::Unclear), of(Verdict::Holds));
    let mut parts = Vec::new();
    let is_whole = no.is_empty() && undecided.is_empty();
    if !no.is_empty() {
        parts.push(format!("against it: {}", joined(no)));
    }
    if !undecided.is_empty() {
        parts.push(format!("undecided by so few seeds: {}", joined(undecided)));
    }
    if !yes.is_empty() {
        parts.push(if is_whole { joined(yes) } else { format!("for it: {}", joined(yes)) });
    }
    parts.join(". ")
}

#[derive(Default)]
struct Checked {
    check: String,
    findings: Vec<Finding>,
}

fn checked(claim: &ClaimSpec, plan: &Plan<'_>, table: &Table<'_>) -> Checked {
    let check = Check { plan, table };
    if let Some(order) = &claim.order {
        check.order(order)
    } else if let Some(bound) = &claim.bound {
        check.bound(bound)
    } else if let Some(value) = &claim.value {
        check.value(value)
    } else if let Some(trend) = &claim.trend {
        check.trend(trend)
    } else if let Some(slope) = &claim.slope {
        check.slope(slope)
    } else if let Some(lowest) = &claim.lowest {
        check.extreme(lowest, 1.0)
    } else if let Some(highest) = &claim.highest {
        check.extreme(highest, -1.0)
    } else {
        Checked::default()
    }
}

struct Check<'a, 'b> {
    plan: &'a Plan<'b>,
    table: &'a Table<'a>,
}

impl Check<'_, '_> {
    fn measure<'c>(&'c self, named: &'c Option<String>) -> &'c str {
        let first = || self.plan.measures.first().map_or("", |measure| measure.id.as_str());
        named.as_deref().unwrap_or_else(first)
    }

    fn unit(&self, measure: &str) -> String {
        let of = self.plan.measures.iter().find(|known| known.id == measure);
        of.map_or(String::new(), |known| known.unit.clone())
    }

    fn finding(&self, what: String, measure: &str, estimate: Option<Estimate>, allowed: Allowed) -> Finding {
        Finding { what, estimate, unit: self.unit(measure), allowed }
    }

    fn of(&self, measure: &str, series: &str) -> Vec<&Number> {
        self.table
            .numbers
            .iter()
            .filter(|number| number.measure == measure && number.series == series)
            .collect()
    }

    fn series(&self, names: &Names, measure: &str) -> Vec<String> {
        if !names.list().is_empty() {
            return names.list().to_vec();
        }
        let mut all: Vec<String> = Vec::new();
        for number in self.table.numbers.iter().filter(|number| number.measure == measure) {
            if !all.contains(&number.series) {
                all.push(number.series.clone());
            }
        }
        all
    }

    fn order(&self, spec: &OrderSpec) -> Checked {
        let measure = self.measure(&spec.measure);
        let than_measure = spec.than_measure.as_deref().unwrap_or(measure);
        let times = spec.times.unwrap_or(1.0);
        let factor = if times == 1.0 { String::new() } else { format!("{} times ", shown(times)) };
        let required =
            if spec.by == 0.0 { String::new() } else { format!(", where {} is required", shown(spec.by)) };
        let mut findings = Vec::new();
        for more in self.series(&spec.more, measure) {
            let thans =
                if spec.than.list().is_empty() { vec![more.clone()] } else { spec.than.list().to_vec() };
            for than in thans {
                for a in self.of(measure, &more).into_iter().filter(|a| is_meant(a.x, &a.at, &spec.at)) {
                    let other = |b: &&Number| match &spec.than_at {
                        Some(at) => is_meant(b.x, &b.at, std::slice::from_ref(at)),
                        None => b.at == a.at,
                    };
                    let b = self.of(than_measure, &than).into_iter().find(other);
                    let estimate = b.and_then(|b| paired(a, b, |a, b| a - times * b));
                    let what = difference(
                        Operand { series: &more, number: a },
                        Operand { series: &than, number: b },
                        (than_measure != measure).then_some([measure, than_measure]),
                        &factor,
                    );
                    let what = format!("{what}{required}");
                    let allowed = Allowed::at_least(spec.by - spec.tolerance);
                    findings.push(self.finding(what, measure, estimate, allowed));
                }
            }
        }
        let by = if spec.by == 0.0 { String::new() } else { format!(" by {}", shown(spec.by)) };
        let other = if than_measure == measure { String::new() } else { format!("{than_measure} of ") };
        let than = if spec.than.list().is_empty() { "itself".into() } else { spec.than.list().join(", ") };
        let than_at = spec.than_at.as_ref().map_or(String::new(), |at| format!(" at {}", name(at)));
        let more = if spec.more.list().is_empty() { "each".into() } else { spec.more.list().join(", ") };
        let check = format!(
            "{measure} of {more} above {factor}{other}{than}{than_at}{by}{}{}",
            allowance(spec.tolerance),
            places(&spec.at)
        );
        Checked { check, findings }
    }

    fn bound(&self, spec: &BoundSpec) -> Checked {
        let measure = self.measure(&spec.measure);
        let mut findings = Vec::new();
        for series in self.series(&spec.of, measure) {
            for number in self.of(measure, &series).into_iter().filter(|n| is_meant(n.x, &n.at, &spec.at)) {
                let what = format!("{series}{}", here(number));
                findings.push(self.finding(
                    what,
                    measure,
                    number.estimate,
                    Allowed::between(spec.min, spec.max),
                ));
            }
        }
        let range = range(spec.min, spec.max);
        Checked { check: format!("{measure}{} {range}{}", of(&spec.of), places(&spec.at)), findings }
    }

    fn value(&self, spec: &ValueSpec) -> Checked {
        let measure = self.measure(&spec.measure);
        let mut findings = Vec::new();
        for series in self.series(&spec.of, measure) {
            let numbers = self.of(measure, &series).into_iter();
            let meant = numbers.filter(|number| is_meant(number.x, &number.at, &spec.at));
            findings.extend(meant.filter_map(|number| self.beside(spec, number)));
        }
        let tolerance = if spec.relative {
            format!("{} %", shown(100.0 * spec.tolerance))
        } else {
            shown(spec.tolerance)
        };
        let value = spec.is.map_or("what is printed".into(), shown);
        let check = format!("{measure}{} is {value} ± {tolerance}{}", of(&spec.of), places(&spec.at));
        Checked { check, findings }
    }

    fn beside(&self, spec: &ValueSpec, number: &Number) -> Option<Finding> {
        let is_it =
            |p: &&Published| p.measure == number.measure && p.series == number.series && p.is_at(number);
        let printed = self.table.published.iter().find(is_it).map(|published| published.value);
        let value = spec.is.or(printed)?;
        let away = if spec.relative { spec.tolerance * value.abs() } else { spec.tolerance };
        let from = if spec.is.is_some() { "required" } else { "printed" };
        let what = format!("{}{}, {from} {}", number.series, here(number), shown(value));
        Some(self.finding(what, &number.measure, number.estimate, Allowed::near(value, away)))
    }

    fn trend(&self, spec: &TrendSpec) -> Checked {
        let measure = self.measure(&spec.measure);
        let mut findings = Vec::new();
        let is_in = |n: &&Number| {
            spec.from.is_none_or(|from| n.x >= from - 1e-9) && spec.to.is_none_or(|to| n.x <= to + 1e-9)
        };
        for series in self.series(&spec.of, measure) {
            let numbers: Vec<&Number> = self.of(measure, &series).into_iter().filter(is_in).collect();
            if spec.direction == Direction::Flat {
                let means: Vec<f64> = numbers.iter().filter_map(|n| Some(n.estimate?.mean)).collect();
                let middle = means.iter().sum::<f64>() / means.len() as f64;
                for number in numbers {
                    let what = format!("{series} at {}, mean of all {}", number.at, shown(middle));
                    let allowed = Allowed::near(middle, spec.tolerance);
                    findings.push(self.finding(what, measure, number.estimate, allowed));
                }
                continue;
            }
            let sign = if spec.direction == Direction::Rises { 1.0 } else { -1.0 };
            let step = |a: &Number, b: &Number, min: f64| {
                let what = format!("{series} from {} to {}", a.at, b.at);
                let estimate = paired(b, a, |b, a| sign * (b - a));
                self.finding(what, measure, estimate, Allowed::at_least(min))
            };
            if numbers.len() > 2 {
                findings.extend(numbers.windows(2).map(|pair| step(pair[0], pair[1], -spec.tolerance)));
            }
            if let [first, .., last] = &numbers[..] {
                findings.push(step(first, last, 0.0));
            }
        }
        let direction = match spec.direction {
            Direction::Rises => "rises at each step",
            Direction::Falls => "falls at each step",
            Direction::Flat => "stays the same",
        };
        let ends = match (spec.from, spec.to) {
            (None, None) => String::new(),
            (from, to) => {
                format!(" ({} to {})", from.map_or("first".into(), shown), to.map_or("last".into(), shown))
            }
        };
        let check = format!("{measure}{} {direction}{}{ends}", of(&spec.of), allowance(spec.tolerance));
        Checked { check, findings }
    }

    fn slope(&self, spec: &BoundSpec) -> Checked {
        let measure = self.measure(&spec.measure);
        let mut findings = Vec::new();
        for series in self.series(&spec.of, measure) {
            let numbers: Vec<&Number> =
                self.of(measure, &series).into_iter().filter(|n| is_meant(n.x, &n.at, &spec.at)).collect();
            let slopes: Vec<f64> =
                seeds(&numbers).into_iter().filter_map(|seed| slope(&numbers, seed)).collect();
            findings.push(Finding {
                what: format!("slope of {series}"),
                estimate: estimate(&slopes),
                unit: String::new(),
                allowed: Allowed::between(spec.min, spec.max),
            });
        }
        let range = range(spec.min, spec.max);
        Checked { check: format!("slope of {measure}{} {range}{}", of(&spec.of), places(&spec.at)), findings }
    }

    /// Compares the best number inside `between` with the best outside. `sign` is 1 if the lowest
    /// is best, -1 if the highest is.
    fn extreme(&self, spec: &ExtremeSpec, sign: f64) -> Checked {
        let measure = self.measure(&spec.measure);
        let [from, to] = spec.between;
        let mut findings = Vec::new();
        for series in self.series(&spec.of, measure) {
            let (inside, outside): (Vec<&Number>, Vec<&Number>) =
                self.of(measure, &series).into_iter().partition(|n| n.x >= from - 1e-9 && n.x <= to + 1e-9);
            let key = |n: &&Number| n.estimate.map_or(f64::INFINITY, |e| sign * e.mean);
            let best =
                |list: Vec<&Number>| list.into_iter().min_by(|a, b| key(a).total_cmp(&key(b))).cloned();
            let (Some(inside), Some(outside)) = (best(inside), best(outside)) else {
                let what = format!("{series}: no point within, or none without");
                let allowed = Allowed::near(0.0, 0.0);
                findings.push(Finding { what, estimate: None, unit: String::new(), allowed });
                continue;
            };
            let what = format!(
                "{series}: best within at {}, best without at {}, the difference",
                inside.at, outside.at
            );
            let estimate = paired(&outside, &inside, |outside, inside| sign * (outside - inside));
            findings.push(self.finding(what, measure, estimate, Allowed::at_least(-spec.tolerance)));
        }
        let word = if sign > 0.0 { "lowest" } else { "highest" };
        let check = format!(
            "{measure}{} {word} between {} and {}{}",
            of(&spec.of),
            shown(from),
            shown(to),
            allowance(spec.tolerance)
        );
        Checked { check, findings }
    }
}

impl Published {
    /// Does the paper print this number for the point of `number`?
    pub fn is_at(&self, number: &Number) -> bool {
        self.at == number.at || self.x.is_some_and(|x| crate::sweep::is_near(x, number.x))
    }
}

fn paired(a: &Number, b: &Number, difference: impl Fn(f64, f64) -> f64) -> Option<Estimate> {
    let both = a.values.iter().filter_map(|(seed, a)| Some((*a, *b.values.get(seed)?)));
    estimate(&both.map(|(a, b)| difference(a, b)).collect::<Vec<_>>())
}

fn seeds(numbers: &[&Number]) -> Vec<u64> {
    let all: BTreeMap<u64, ()> =
        numbers.iter().flat_map(|number| number.values.keys().map(|seed| (*seed, ()))).collect();
    all.into_keys().collect()
}

fn slope(numbers: &[&Number], seed: u64) -> Option<f64> {
    let points: Vec<(f64, f64)> = numbers.iter().filter_map(|n| Some((n.x, *n.values.get(&seed)?))).collect();
    let number = points.len() as f64;
    let (x, y) =
        (points.iter().map(|p| p.0).sum::<f64>() / number, points.iter().map(|p| p.1).sum::<f64>() / number);
    let (both, square) = points
        .iter()
        .fold((0.0, 0.0), |(both, square), p| (both + (p.0 - x) * (p.1 - y), square + (p.0 - x) * (p.0 - x)));
    (square > 0.0).then(|| both / square)
}

#[cfg(test)]
mod tests;

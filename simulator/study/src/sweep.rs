//! Expands an exhibit's variations to a list of points, and reduces the list for `--quick`.

use crate::record::Depth;
use crate::spec::{At, PointSpec, QuickSpec, VarySpec};

const MAX_POINTS: usize = 10_000;

/// One point of an exhibit.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The point's position on the horizontal axis.
    pub x: f64,
    /// The paper's name for the point.
    pub at: String,
    /// Changes to the scenario.
    pub set: Vec<String>,
    /// Another scenario file.
    pub scenario: Option<String>,
    /// The point's disciplines; empty for the exhibit's.
    pub disciplines: Vec<String>,
}

impl Point {
    /// Does `at` mean this point?
    pub fn is(&self, at: &At) -> bool {
        match at {
            At::X(x) => is_near(self.x, *x),
            At::Name(name) => self.at == *name,
        }
    }
}

pub(crate) fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Expands `vary` to points. An error is the wrong key and the reason.
pub(crate) fn points(vary: Option<&VarySpec>) -> Result<Vec<Point>, (&'static str, String)> {
    let Some(vary) = vary else { return Ok(vec![Point { at: String::new(), ..plain(0.0, &[])? }]) };
    let keys = [
        ("points", !vary.points.is_empty()),
        ("values", !vary.values.is_empty()),
        ("from", vary.from.is_some()),
    ];
    let given: Vec<&str> = keys.into_iter().filter_map(|(key, is_given)| is_given.then_some(key)).collect();
    if given.len() != 1 {
        let what = match given.is_empty() {
            true => "no points are given".to_owned(),
            false => format!("`{}` are given together", given.join("` and `")),
        };
        return Err((
            "",
            format!("{what}; allowed: one of `points`, `values`, or `from` with `to` and `step`"),
        ));
    }
    let points: Vec<Point> = if !vary.points.is_empty() {
        vary.points.iter().map(|point| listed(point, &vary.set)).collect::<Result<_, _>>()?
    } else {
        values(vary)?.into_iter().map(|x| plain(x, &vary.set)).collect::<Result<_, _>>()?
    };
    for (number, point) in points.iter().enumerate() {
        if points[..number].iter().any(|other| other.at == point.at) {
            return Err((
                "",
                format!(
                    "two points have the name `{}`; allowed: a different `at` for each point; without `at`, a different number",
                    point.at
                ),
            ));
        }
    }
    Ok(points)
}

fn values(vary: &VarySpec) -> Result<Vec<f64>, (&'static str, String)> {
    let Some(from) = vary.from else { return Ok(vary.values.clone()) };
    let (Some(to), Some(step)) = (vary.to, vary.step) else {
        let missing = match (vary.to, vary.step) {
            (None, None) => "`to` and `step` are",
            (None, _) => "`to` is",
            _ => "`step` is",
        };
        return Err((".from", format!("{missing} missing; allowed: `from` with `to` and `step`")));
    };
    let steps = ((to - from) / step).round();
    if !(0.0..MAX_POINTS as f64).contains(&steps) {
        return Err((
            ".step",
            format!(
                "steps of {step} from {from} to {to} do not give 1 to {MAX_POINTS} points; \
                 allowed: a step towards `to`, and at most {MAX_POINTS} points"
            ),
        ));
    }
    // The points are rounded to twelve places, so that 3 steps of 0.1 are 0.3.
    Ok((0..=steps as u32).map(|at| rounded(from + f64::from(at) * step)).collect())
}

fn rounded(x: f64) -> f64 {
    (x * 1e12).round() / 1e12
}

fn plain(x: f64, set: &[String]) -> Result<Point, (&'static str, String)> {
    let set =
        set.iter().map(|text| filled(text, x)).collect::<Result<_, _>>().map_err(|why| (".set", why))?;
    Ok(Point { x, at: x.to_string(), set, scenario: None, disciplines: Vec::new() })
}

fn listed(spec: &PointSpec, common: &[String]) -> Result<Point, (&'static str, String)> {
    let set: Vec<String> = common.iter().chain(&spec.set).cloned().collect();
    let mut point = plain(spec.x, &set)?;
    point.at = spec.at.clone().unwrap_or(point.at);
    point.scenario.clone_from(&spec.scenario);
    point.disciplines.clone_from(&spec.disciplines);
    Ok(point)
}

/// `text` with each `{x}`, `{x*2}`, `{x/8}`, `{x+1}` or `{x-1}` replaced by a number. Other braces
/// remain.
pub(crate) fn filled(text: &str, x: f64) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{x") {
        let (inside, behind) = after.split_once('}').ok_or(format!(
            "`{{x` has no `}}` in `{text}`; allowed: {{x}}, or {{x*2}} with one of * / + -"
        ))?;
        let number = || inside.get(1..).unwrap_or("").trim().parse::<f64>();
        let value = match (inside.chars().next(), number()) {
            (None, _) => x,
            (Some('*'), Ok(by)) => x * by,
            (Some('/'), Ok(by)) => x / by,
            (Some('+'), Ok(by)) => x + by,
            (Some('-'), Ok(by)) => x - by,
            _ => {
                return Err(format!(
                    "`{{x{inside}}}` is not a formula; allowed: {{x}}, or {{x*2}} with one of * / + -"
                ));
            }
        };
        out += before;
        out += &rounded(value).to_string();
        rest = behind;
    }
    out += rest;
    Ok(out)
}

pub(crate) fn thinned(points: Vec<Point>, quick: &QuickSpec, claimed: &[At], depth: Depth) -> Vec<Point> {
    if depth == Depth::Full {
        return points;
    }
    let last = points.len().saturating_sub(1);
    let every = quick.every.unwrap_or(1).max(1);
    let is_kept = |number: usize, point: &Point| {
        if claimed.iter().any(|at| point.is(at)) {
            true
        } else if quick.points.is_empty() {
            number.is_multiple_of(every) || number == last
        } else {
            quick.points.iter().any(|at| point.is(at))
        }
    };
    points.into_iter().enumerate().filter(|(number, point)| is_kept(*number, point)).map(|(_, p)| p).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(from: f64, to: f64, step: f64, set: &[&str]) -> VarySpec {
        let set = set.iter().map(|text| text.to_string()).collect();
        VarySpec { from: Some(from), to: Some(to), step: Some(step), set, ..VarySpec::default() }
    }

    #[test]
    fn a_sweep_includes_both_ends_and_rounds_its_names() {
        let points = points(Some(&sweep(0.0, 0.5, 0.1, &["a={x}", "b={x*2} packets"]))).unwrap();
        let names: Vec<&str> = points.iter().map(|point| point.at.as_str()).collect();
        assert_eq!(names, ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(points[3].set, ["a=0.3", "b=0.6 packets"]);
    }

    #[test]
    fn braces_without_x_stay_and_those_with_x_must_be_valid() {
        assert_eq!(filled("a={ b = {x/8} }", 4.0).unwrap(), "a={ b = 0.5 }");
        assert_eq!(filled("{x+1}{x-1}", 4.0).unwrap(), "53");
        assert!(filled("a={x*}", 1.0).unwrap_err().contains("allowed"));
        assert!(filled("a={x", 1.0).unwrap_err().contains("has no `}`"));
    }

    #[test]
    fn quick_keeps_the_ends() {
        let all = points(Some(&sweep(0.0, 10.0, 1.0, &[]))).unwrap();
        let xs = |points: Vec<Point>| points.iter().map(|point| point.x).collect::<Vec<f64>>();
        let every = |every| QuickSpec { every: Some(every), ..QuickSpec::default() };
        assert_eq!(xs(thinned(all.clone(), &every(4), &[], Depth::Quick)), [0.0, 4.0, 8.0, 10.0]);
        assert_eq!(thinned(all.clone(), &every(4), &[], Depth::Full), all);
        let named = QuickSpec { points: vec![At::X(3.0), At::Name("7".into())], ..QuickSpec::default() };
        assert_eq!(xs(thinned(all, &named, &[At::X(9.0)], Depth::Quick)), [3.0, 7.0, 9.0]);
    }

    #[test]
    fn an_endless_or_ambiguous_sweep_is_refused() {
        assert!(points(Some(&sweep(0.0, 1.0, 0.0, &[]))).is_err());
        assert!(points(Some(&sweep(0.0, -1.0, 0.5, &[]))).is_err());
        let both = VarySpec { values: vec![1.0], ..sweep(0.0, 1.0, 0.5, &[]) };
        assert!(points(Some(&both)).unwrap_err().1.contains("one of `points`"));
        let twice = VarySpec { values: vec![1.0, 1.0], ..VarySpec::default() };
        assert!(points(Some(&twice)).unwrap_err().1.contains("two points"));
    }
}

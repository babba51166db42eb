//! Descriptions of checks.

use crate::record::Number;
use crate::spec::{At, Names};
use crate::text::shown;

pub(super) fn name(at: &At) -> String {
    match at {
        At::X(x) => shown(*x),
        At::Name(name) => name.clone(),
    }
}

pub(super) struct Operand<'a, N> {
    pub(super) series: &'a str,
    pub(super) number: N,
}

/// A difference in words: `B minus A at 2`, or `FABA at 2P minus at P/10` if both sides are the
/// same series.
pub(super) fn difference(
    Operand { series: more, number: a }: Operand<'_, &Number>,
    Operand { series: than, number: b }: Operand<'_, Option<&Number>>,
    measures: Option<[&str; 2]>,
    factor: &str,
) -> String {
    let is_elsewhere = b.is_some_and(|b| b.at != a.at);
    let [own, others] =
        measures.map_or([String::new(), String::new()], |names| names.map(|name| format!("{name} of ")));
    let other =
        if than == more && is_elsewhere && factor.is_empty() && others.is_empty() { "" } else { than };
    let (first_at, second_at) = match b {
        Some(b) if is_elsewhere => (here(a), here(b)),
        _ => (String::new(), here(a)),
    };
    let other = format!("{factor}{others}{other}");
    format!("{own}{more}{first_at} minus {}", format!("{other}{second_at}").trim_start())
}

pub(super) fn here(number: &Number) -> String {
    if number.at.is_empty() { String::new() } else { format!(" at {}", number.at) }
}

pub(super) fn places(at: &[At]) -> String {
    if at.is_empty() {
        String::new()
    } else {
        format!(" at {}", at.iter().map(name).collect::<Vec<_>>().join(", "))
    }
}

pub(super) fn of(names: &Names) -> String {
    if names.list().is_empty() { String::new() } else { format!(" of {}", names.list().join(", ")) }
}

pub(super) fn allowance(tolerance: f64) -> String {
    if tolerance == 0.0 { String::new() } else { format!(", but for {}", shown(tolerance)) }
}

pub(super) fn range(min: Option<f64>, max: Option<f64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("from {} to {}", shown(min), shown(max)),
        (Some(min), None) => format!("at least {}", shown(min)),
        (None, Some(max)) => format!("at most {}", shown(max)),
        (None, None) => "anything".into(),
    }
}

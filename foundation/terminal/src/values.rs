//! Parsers for the values of options.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Parses an integer in `allowed`.
pub fn whole<N>(allowed: RangeInclusive<N>) -> impl Fn(&str) -> Result<N, String> + Clone
where
    N: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        let number = text.trim().parse().ok().filter(|number| allowed.contains(number));
        let (least, most) = (allowed.start(), allowed.end());
        number.ok_or_else(|| format!("allowed: a whole number from {least} to {most}"))
    }
}

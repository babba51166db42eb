//! Numbers as text.

/// The maximum number of digits after the point.
const MAX_DIGITS: f64 = 12.0;
/// An interval whose half-width is below this fraction of the mean is rounding error, not chance.
pub const ROUNDING: f64 = 1e-9;

/// A unit such as thousands, and the letter for it.
pub struct Unit(pub(super) f64, pub(super) &'static str);

impl Unit {
    /// The unit 1, without a letter.
    pub const ONE: Unit = Unit(1.0, "");
}

/// The unit for values up to `largest`; `None` if powers of ten are easier to read.
pub(super) fn unit(largest: f64) -> Option<Unit> {
    match largest {
        a if !(1e-3..1e15).contains(&a) => None,
        a if a >= 1e12 => Some(Unit(1e12, "T")),
        a if a >= 1e9 => Some(Unit(1e9, "G")),
        a if a >= 1e6 => Some(Unit(1e6, "M")),
        a if a >= 1e4 => Some(Unit(1e3, "k")),
        _ => Some(Unit::ONE),
    }
}

/// `value` with this number of significant digits; large values in thousands, millions and so on.
pub fn number(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "no number".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let Some(Unit(unit, letter)) = unit(value.abs()) else { return powers(value, digits) };
    let value = value / unit;
    let before = libm::log10(value.abs()).floor() as isize + 1;
    let after = digits.saturating_add_signed(-before);
    format!("{}{letter}", trimmed(&format!("{value:.after$}")))
}

/// `mean` with its interval, if any. Large values are in thousands, millions and so on.
pub fn with_interval(mean: f64, half: Option<f64>) -> String {
    let Some(half) = half.filter(|half| half.is_finite() && *half > 0.0) else { return number(mean, 4) };
    match unit(mean.abs().max(half)) {
        Some(unit) => spread(mean, half, unit).unwrap_or_else(|| number(mean, 4)),
        None => format!("{} \u{b1} {}", number(mean, 4), number(half, 2)),
    }
}

pub(super) fn powers(value: f64, digits: usize) -> String {
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    match text.split_once('e') {
        Some((mantissa, power)) => format!("{}e{power}", trimmed(mantissa)),
        None => text,
    }
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A mean and its interval's half-width, in `unit`, rounded to the half-width's second significant
/// digit. `None` if the half-width is 0, not finite, or rounding error.
pub fn spread(mean: f64, half: f64, Unit(unit, letter): Unit) -> Option<String> {
    spread_in(mean, half, unit, letter)
}

fn spread_in(mean: f64, half: f64, unit: f64, letter: &str) -> Option<String> {
    let is_chance = half > 0.0 && half.is_finite() && mean.is_finite() && half >= ROUNDING * mean.abs();
    let digits = 1.0 - libm::log10(half / unit).floor();
    (is_chance && digits <= MAX_DIGITS).then(|| {
        let digits = digits.max(0.0) as usize;
        format!("{:.digits$}{letter} ± {:.digits$}{letter}", mean / unit, half / unit)
    })
}

/// Like [`spread`], but with a power of ten: `3.87e7 ± 0.56e7`.
pub fn spread_in_power(mean: f64, half: f64, power: i32) -> Option<String> {
    let letter = if power == 0 { String::new() } else { format!("e{power}") };
    spread_in(mean, half, 10f64.powi(power), &letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_intervals_have_two_digits() {
        assert_eq!(number(0.98765, 4), "0.9877");
        assert_eq!(number(216_160.0, 6), "216.16k");
        assert_eq!(number(1000.0, 3), "1000");
        assert_eq!(number(-0.5, 3), "-0.5");
        assert_eq!(number(1e-5, 3), "1e-5");
        assert_eq!(number(f64::NAN, 3), "no number");
        assert_eq!(with_interval(0.9804, Some(0.0198)), "0.980 \u{b1} 0.020");
        assert_eq!(with_interval(5.02e6, Some(31_000.0)), "5.020M \u{b1} 0.031M");
        assert_eq!(with_interval(0.5, None), "0.5");
        assert_eq!(with_interval(0.5, Some(f64::NAN)), "0.5");
        assert_eq!(with_interval(1.0, Some(1e-13)), "1");
        assert_eq!(spread(1.0, 1.2e-13, Unit::ONE), None);
        let power = |mean, half, power| spread_in_power(mean, half, power);
        assert_eq!(power(3.874e7, 5.638e6, 7).as_deref(), Some("3.87e7 ± 0.56e7"));
        assert_eq!(power(0.01059, 7.849e-5, 0).as_deref(), Some("0.010590 ± 0.000078"));
        assert_eq!(power(1.0, 0.0, 0), None);
    }
}

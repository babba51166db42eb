//! Words for messages.

use fairwire_figures::number::{ROUNDING, Unit, spread};

/// A hint such as "; did you mean ...?" if any of `known` is similar to `given`; else empty.
pub fn hint(given: &str, known: &[String]) -> String {
    fairwire_core::spelling::hint(given, known.iter().map(String::as_str))
}

/// The items as a text: `a`, `b` or `c`.
pub fn listed(items: &[String]) -> String {
    fairwire_document::listed(items)
}

const MAX_DIGITS: f64 = 12.0;

/// A number with four significant digits.
pub fn shown(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = libm::floor(libm::log10(value.abs()));
    let digits = (3.0 - magnitude).clamp(0.0, MAX_DIGITS) as usize;
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.into() }
}

/// A mean and half of its interval, as in [`spread`]; without an interval, only the mean.
pub fn with_interval(mean: f64, half_width: Option<f64>) -> String {
    let Some(half) = half_width else { return shown(mean) };
    spread(mean, half, Unit::ONE).unwrap_or_else(|| {
        let half = if half < ROUNDING * mean.abs() { 0.0 } else { half };
        format!("{} ± {}", shown(mean), shown(half))
    })
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_digits_significant_within_its_interval() {
        assert_eq!(with_interval(0.980_412, Some(0.019_81)), "0.980 ± 0.020");
        assert_eq!(with_interval(1_234_567.0, Some(8_912.3)), "1234567 ± 8912");
        assert_eq!(with_interval(-0.013_77, Some(0.158_6)), "-0.01 ± 0.16");
        assert_eq!(with_interval(1.5, Some(0.0)), "1.5 ± 0");
        assert_eq!(with_interval(0.123_456, None), "0.1235");
        assert_eq!(with_interval(2.5, Some(f64::NAN)), "2.5 ± NaN");
    }

    #[test]
    fn rounding_noise_of_sums_is_no_interval() {
        assert_eq!(with_interval(1.0, Some(1.2e-13)), "1 ± 0");
        assert_eq!(with_interval(0.222_222_222, Some(1e-10)), "0.2222 ± 0");
        assert_eq!(with_interval(-4e-17, Some(1e-16)), "0 ± 0");
        assert_eq!(with_interval(0.0, Some(3e-4)), "0.00000 ± 0.00030");
        assert_eq!(with_interval(1.0, Some(1.2e-8)), "1.000000000 ± 0.000000012");
    }

    #[test]
    fn numbers_have_four_significant_digits() {
        assert_eq!(shown(0.987_654), "0.9877");
        assert_eq!(shown(123_456.7), "123457");
        assert_eq!(shown(-0.000_123_456), "-0.0001235");
        assert_eq!(shown(2.5), "2.5");
        assert_eq!(shown(0.0), "0");
        assert_eq!(shown(1000.0), "1000");
    }
}

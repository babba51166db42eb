//! Words for messages.

/// The one of `known` that `given` was most likely meant to be, if any is near.
pub fn nearest<'a>(given: &str, known: &'a [String]) -> Option<&'a str> {
    fairwire_document::nearest(given, known.iter().map(String::as_str))
}

/// `a`, `b` or `c`.
pub fn listed(items: &[String]) -> String {
    fairwire_document::listed(items)
}

/// A number with as many digits as a reader needs: four that count.
pub fn shown(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = libm::floor(libm::log10(value.abs())) as i32;
    let digits = (3 - magnitude).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// A mean and half of its interval, both to the second digit of the interval that counts: what is beyond is chance.
pub fn with_interval(mean: f64, half_width: Option<f64>) -> String {
    let Some(half) = half_width else { return shown(mean) };
    if half == 0.0 || !half.is_finite() || !mean.is_finite() {
        return format!("{} ± {}", shown(mean), shown(half));
    }
    let digits = (1.0 - libm::floor(libm::log10(half))).clamp(0.0, 12.0) as usize;
    format!("{mean:.digits$} ± {half:.digits$}")
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_digits_that_its_interval_leaves() {
        assert_eq!(with_interval(0.980_412, Some(0.019_81)), "0.980 ± 0.020");
        assert_eq!(with_interval(1_234_567.0, Some(8_912.3)), "1234567 ± 8912");
        assert_eq!(with_interval(-0.013_77, Some(0.158_6)), "-0.01 ± 0.16");
        assert_eq!(with_interval(1.5, Some(0.0)), "1.5 ± 0");
        assert_eq!(with_interval(0.123_456, None), "0.1235");
    }

    #[test]
    fn numbers_have_four_digits_that_count() {
        assert_eq!(shown(0.987_654), "0.9877");
        assert_eq!(shown(123_456.7), "123457");
        assert_eq!(shown(-0.000_123_456), "-0.0001235");
        assert_eq!(shown(2.5), "2.5");
        assert_eq!(shown(0.0), "0");
        assert_eq!(shown(1000.0), "1000");
    }
}

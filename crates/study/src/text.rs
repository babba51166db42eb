//! Words for messages.

/// The one of `known` that `given` was most likely meant to be, if any is near.
pub fn nearest<'a>(given: &str, known: &'a [String]) -> Option<&'a str> {
    fairwire_scenario::nearest(given, known.iter().map(String::as_str))
}

/// `a`, `b` or `c`.
pub fn listed(items: &[String]) -> String {
    fairwire_scenario::listed(items)
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

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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

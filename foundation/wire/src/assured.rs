//! The codepoints of assured forwarding (RFC 2597, section 6), which carry colours across a
//! DiffServ domain.
//!
//! The high three bits are a class (1 to 4). The next two are a drop precedence (1 to 3). The last
//! bit is 0.

/// The number of classes.
pub const CLASSES: u8 = 4;

/// The colour of the codepoint `dscp`: 0 green, 1 yellow, 2 red. `None` for codepoints outside
/// assured forwarding.
#[inline]
pub const fn color_of(dscp: u8) -> Option<u8> {
    let (class, precedence, last) = (dscp >> 3, dscp >> 1 & 0b11, dscp & 1);
    match (class, precedence, last) {
        (1..=CLASSES, 1.., 0) => Some(precedence - 1),
        _ => None,
    }
}

/// The codepoint of `class` (1 to 4) with `color`; colours above red count as red.
///
/// # Panics
/// If there is no such class.
#[inline]
pub const fn codepoint(class: u8, color: u8) -> u8 {
    assert!(class >= 1 && class <= CLASSES, "assured forwarding has four classes");
    let color = if color > 2 { 2 } else { color };
    class << 3 | (color + 1) << 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twelve_codepoints_are_those_of_the_rfc() {
        // The codepoints printed in RFC 2597, section 6.
        let printed = [10, 12, 14, 18, 20, 22, 26, 28, 30, 34, 36, 38];
        let ours: Vec<u8> =
            (1..=4).flat_map(|class| (0..3).map(move |color| codepoint(class, color))).collect();
        assert_eq!(ours, printed);
        let read: Vec<u8> = (0..=255).filter(|dscp| color_of(*dscp).is_some()).collect();
        assert_eq!(read, printed);
        assert!(printed.iter().zip((0..3).cycle()).all(|(dscp, color)| color_of(*dscp) == Some(color)));
        assert_eq!(codepoint(2, 255), 22);
    }
}

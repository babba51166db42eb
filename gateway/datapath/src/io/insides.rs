//! The names of inside interfaces, and patterns that cover several names.

/// The beginnings of our devices' names: for uploads and for downloads, first without a tunnel.
pub(super) const DEVICES: [[&str; 2]; 4] =
    [["fwup-", "fwdn-"], ["fwu1-", "fwd1-"], ["fwu2-", "fwd2-"], ["fwu3-", "fwd3-"]];

/// Is `inside` a pattern rather than the name of an interface?
pub fn is_pattern(inside: &str) -> bool {
    inside.ends_with('*')
}

/// Is `inside` the name of the interface `name`, or a pattern that covers it? A pattern covers
/// neither the loopback nor the devices of gateways.
pub fn covers(inside: &str, name: &str) -> bool {
    let is_device = || DEVICES.as_flattened().iter().any(|kind| name.starts_with(kind));
    match inside.strip_suffix('*') {
        Some(start) => name.starts_with(start) && name != "lo" && !is_device(),
        None => name == inside,
    }
}

/// Can an interface have both of these names, or be covered by both patterns?
pub fn overlap(one: &str, other: &str) -> bool {
    covers(one, other.trim_end_matches('*')) || covers(other, one.trim_end_matches('*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_interfaces_that_begin_like_it_but_not_our_devices() {
        assert!(covers("ppp*", "ppp0") && covers("ppp*", "ppp12") && covers("lan0", "lan0"));
        for (inside, name) in
            [("ppp*", "pp0"), ("l*", "lo"), ("f*", "fwup-lan0"), ("fw*", "fwd3-lan0"), ("lan", "lan0")]
        {
            assert!(!covers(inside, name), "{inside} {name}");
        }
    }
}

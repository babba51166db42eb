//! The values of options. The message about a wrong value gives the allowed ones.

use fairwire_wire::Way;

/// Reads a weight in the range of `fairwire_core::Weight`. Refuses infinity and NaN here, because
/// JSON would carry them as `null`.
pub(super) fn weight(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|weight| (1e-6..=1e6).contains(weight));
    number.ok_or_else(|| "allowed: a number from 0.000001 to 1000000".into())
}

pub(super) fn way(text: &str) -> Result<Way, String> {
    let names = Way::ALL.map(Way::name);
    let found = Way::ALL.into_iter().find(|way| way.name() == text);
    found.ok_or_else(|| format!("allowed: {}", names.join(", ")))
}

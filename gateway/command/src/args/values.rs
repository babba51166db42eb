//! The values of options; a message about a wrong value says what is allowed.

use fairwire_wire::Way;

/// The range of `fairwire_core::Weight`. JSON has neither infinity nor NaN, so with such a weight
/// the gateway would receive another request.
pub(super) fn weight(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|weight| (1e-6..=1e6).contains(weight));
    number.ok_or_else(|| "allowed: a number from 0.000001 to 1000000".into())
}

/// A direction of a gateway.
pub(super) fn way(text: &str) -> Result<Way, String> {
    let names = Way::ALL.map(Way::name);
    let found = Way::ALL.into_iter().find(|way| way.name() == text);
    found.ok_or_else(|| format!("allowed: {}", names.join(", ")))
}

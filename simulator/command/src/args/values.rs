//! Parsers for option values. Their messages list the allowed values.

use fairwire_core::units::Size;
use fairwire_document::shortened;
use fairwire_terminal::failure::Failure;
use std::ops::RangeInclusive;

/// The shortest contest, in seconds: a dozen round trips of the default 32 ms. Shorter contests do
/// not settle.
const SHORTEST: f64 = 0.4;
const LONGEST: f64 = 3600.0;
/// The smallest and largest packets that the lab sends, in bytes.
const PACKETS: RangeInclusive<u64> = 64..=1460;

/// Returns the changes of `--set`. Refuses a change that overrides an earlier one.
pub(crate) fn changes(set: &[String]) -> Result<Vec<String>, Failure> {
    let steps = |change: &str| -> Vec<String> {
        let path = change.split_once('=').map_or(change, |(path, _)| path);
        path.split('.').map(|step| step.trim().to_owned()).collect()
    };
    for (at, later) in set.iter().enumerate() {
        let path = steps(later);
        if let Some(before) = set[..at].iter().find(|before| steps(before).starts_with(&path)) {
            let (before, later) = (shortened(before), shortened(later));
            return Err(Failure::user(
                format!("`--set`: `{before}` is given, but the later `{later}` overrides it"),
                "allowed: each path once, and a table before the keys in it",
            ));
        }
    }
    Ok(set.to_vec())
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    within(text, SHORTEST..=LONGEST)
}

/// The unmeasured start of a contest, in seconds.
pub(super) fn warm_up(text: &str) -> Result<f64, String> {
    within(text, 0.0..=LONGEST)
}

/// The fraction of packets lost. The maximum is below 1, because a link that loses everything shows
/// nothing.
pub(super) fn loss(text: &str) -> Result<f64, String> {
    number(text, 0.0..=0.99)
}

pub(super) fn process(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| "allowed: the number of a process that runs `lab shell`".into())
}

/// Simulated seconds per second.
pub(super) fn speed(text: &str) -> Result<f64, String> {
    number(text, 0.1..=100.0)
}

/// A number of seconds in `allowed`; NaN is in no range.
fn within(text: &str, allowed: RangeInclusive<f64>) -> Result<f64, String> {
    let refuse = || format!("allowed: a number of seconds from {} to {}", allowed.start(), allowed.end());
    text.trim().parse().ok().filter(|seconds| allowed.contains(seconds)).ok_or_else(refuse)
}

fn number(text: &str, allowed: RangeInclusive<f64>) -> Result<f64, String> {
    let refuse = || format!("allowed: a number from {} to {}", allowed.start(), allowed.end());
    text.trim().parse().ok().filter(|number| allowed.contains(number)).ok_or_else(refuse)
}

pub(super) fn packet(text: &str) -> Result<u32, String> {
    let size: Size = text.parse().map_err(|error| format!("{error}"))?;
    let bytes =
        Some(size.0).filter(|bytes| PACKETS.contains(bytes)).and_then(|bytes| u32::try_from(bytes).ok());
    bytes.ok_or_else(|| format!("allowed: a size from {} B to {} B", PACKETS.start(), PACKETS.end()))
}

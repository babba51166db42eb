//! A promise and its outcome.

use crate::fallible::Fallible;
use crate::gateway::Gateway;
use fairwire_control::snapshot::WaySnapshot;
use fairwire_metrics::judge::{Allowed, Rule, Value, Verdict, judge};
use serde::Serialize;
use std::fmt::Display;

/// A promise and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The measurement and the promised bounds, as text.
    pub what: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason for a miss, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Its subject.
    pub subject: Subject,
}

/// The subject of a promise. It determines what besides the gateway can break the promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// Shares, memory, and other values that chance may spoil once.
    #[default]
    Shares,
    /// Rate and delay, which do not count if the gateway was starved.
    Time,
    /// Accounting for every packet. Neither chance nor a busy machine excuses a missing packet.
    Places,
}

impl Finding {
    /// A condition that must hold. It holds if `is_so`.
    pub fn fact(is_so: bool, what: impl Into<String>) -> Finding {
        let verdict = if is_so { Verdict::Holds } else { Verdict::Fails };
        Finding { what: what.into(), verdict, because: None, subject: Subject::default() }
    }

    /// Compares `value` with the `promised` bounds. A miss within the `known` bounds is excused
    /// with their reason.
    pub fn judged(
        what: impl Display,
        value: f64,
        promised: Allowed,
        known: Option<(Allowed, &str)>,
    ) -> Finding {
        let excuse = known.filter(|(allowed, _)| allowed.contains(value));
        let verdict = judge(Value::exact(value), promised, Rule::Mean).with_reason(excuse.is_some());
        let instead = known.map_or(String::new(), |(allowed, _)| format!(", known: {}", words(allowed)));
        Finding {
            what: format!("{what}: {value:.3} ({}{instead})", words(promised)),
            verdict,
            because: excuse.filter(|_| verdict == Verdict::Known).map(|(_, because)| because.to_owned()),
            subject: Subject::default(),
        }
    }

    /// This finding, about `subject`.
    #[must_use]
    pub fn about(self, subject: Subject) -> Finding {
        Finding { subject, ..self }
    }

    /// True for a miss that is not known.
    pub fn fails(&self) -> bool {
        self.verdict == Verdict::Fails
    }
}

fn balance(way: &WaySnapshot) -> Finding {
    let (came, placed) = way.totals.balance();
    let what = format!("{}: {came} packets in = {placed} out, dropped, lost or inside", way.way);
    Finding::fact(came == placed, what).about(Subject::Places)
}

/// Checks that the counters of `gateway` account for every packet in each direction.
pub fn balances(gateway: &Gateway) -> Fallible<Vec<Finding>> {
    Ok(gateway.status()?.ways.iter().map(balance).collect())
}

fn words(Allowed { min, max }: Allowed) -> String {
    match (min.is_finite(), max.is_finite()) {
        (true, false) => format!("at least {min:.3}"),
        (false, true) => format!("at most {max:.3}"),
        _ => format!("from {min:.3} to {max:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_known_within_the_known_bound_and_fails_beyond_it() {
        let verdict = |value, known| {
            let finding = Finding::judged("a share", value, Allowed::at_most(0.03), known);
            (finding.verdict, finding.because.is_some())
        };
        let known = Some((Allowed::at_most(0.1), "chance"));
        assert_eq!(verdict(0.02, known), (Verdict::Holds, false));
        assert_eq!(verdict(0.05, known), (Verdict::Known, true));
        assert_eq!(verdict(0.05, None), (Verdict::Fails, false));
        assert_eq!(verdict(0.11, known), (Verdict::Fails, false));
        assert_eq!(verdict(f64::NAN, known), (Verdict::Fails, false), "what is not a number does not hold");
    }
}

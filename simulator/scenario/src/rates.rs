//! How a link changes, as checked: by steps, or as in a trace.

use crate::bounds::{FASTEST, MAX_DELAY};
use crate::fault::{Fault, missing, refused};
use crate::files::Files;
use crate::varying::{ChangeSpec, Varying};
use fairwire_core::{DelayStep, Duration, Rate, RateLaw, Step, Time};
use fairwire_laws::spec::Quantity;
use std::sync::Arc;

/// How a link changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) rates: RateLaw,
    pub(crate) delays: Arc<[DelayStep]>,
}

impl Varying<'_> {
    /// How the link in the table at `path` changes, which has this rate at first.
    pub(crate) fn law(self, path: &str, first: Rate, files: &Files) -> Result<Changes, Fault> {
        let changes = match self.changes {
            None => Changes::default(),
            Some(changes) => steps(&format!("{path}.changes"), changes, first)?,
        };
        match self.trace {
            None => Ok(changes),
            Some(name) if changes.rates == RateLaw::Fixed => {
                Ok(Changes { rates: RateLaw::Trace(files.trace(name)), ..changes })
            }
            Some(_) => {
                let why = "`changes` say already how the rate changes";
                let allowed = "one of the two, or `changes` of the delay alone";
                Err(refused(format!("{path}.trace"), "given", why, allowed))
            }
        }
    }

    /// Does it change?
    pub(crate) fn is_given(self) -> bool {
        self.changes.is_some() || self.trace.is_some()
    }

    /// The rate that disciplines go by: as `typed`, or else the mean of the trace. `None` without
    /// either.
    pub(crate) fn rate(self, typed: Option<Quantity<Rate>>, files: &Files) -> Option<Rate> {
        typed.map(|rate| rate.0).or_else(|| Some(files.trace(self.trace?).mean()))
    }

    /// The same, or the fault that the table at `path` has no rate.
    pub(crate) fn required_rate(
        self,
        path: &str,
        typed: Option<Quantity<Rate>>,
        files: &Files,
    ) -> Result<Rate, Fault> {
        self.rate(typed, files).ok_or_else(|| missing(path, "rate", "or `trace`"))
    }
}

const EXAMPLE: &str = "such as { at = \"10 s\", rate = \"5 Mbit/s\" }";

/// The changes in the array at `path`, in order of time, all of them after the start.
fn steps(path: &str, changes: &[ChangeSpec], first: Rate) -> Result<Changes, Fault> {
    if changes.is_empty() {
        let allowed = format!("at least one, {EXAMPLE}");
        return Err(refused(path, "empty", "a link that changes has changes", allowed));
    }
    let (mut rates, mut delays) = (Vec::new(), Vec::new());
    let (mut rate, mut free_from, mut why) =
        (first, Duration::ZERO, "the table of the link says what it is at the start");
    for (number, change) in changes.iter().enumerate() {
        let path = format!("{path}.{number}");
        let at = change.at.0;
        if at <= free_from {
            let allowed = format!("later than {free_from}");
            return Err(refused(format!("{path}.at"), at, why, allowed));
        }
        check(&path, change)?;
        let step = |after, rate| Step { at: Time::ZERO + at + after, rate };
        let was = rate;
        rate = change.rate.map_or(rate, |rate| rate.0);
        let down = change.down.map_or(Duration::ZERO, |down| down.0);
        if change.down.is_some() {
            rates.extend([step(Duration::ZERO, None), step(down, Some(rate))]);
        } else if change.rate.is_some() || rate != was {
            rates.push(step(Duration::ZERO, Some(rate)));
        }
        delays.extend(change.delay.map(|delay| DelayStep { at: Time::ZERO + at, delay: delay.0 }));
        free_from = at + down;
        why =
            if down.is_zero() { "the change above is not before it" } else { "the link is down until then" };
    }
    let rates = if rates.is_empty() { RateLaw::Fixed } else { RateLaw::Steps(rates.into()) };
    Ok(Changes { rates, delays: delays.into() })
}

/// Does the change at `path` say something, within the ranges that links have?
fn check(path: &str, change: &ChangeSpec) -> Result<(), Fault> {
    let ChangeSpec { at: _, rate, delay, down } = change;
    if rate.is_none() && delay.is_none() && down.is_none() {
        let allowed = format!("`rate`, `delay` or `down`, {EXAMPLE}");
        return Err(refused(path, "a time alone", "nothing changes then", allowed));
    }
    let fastest = Rate::from_bps(FASTEST).expect("not zero");
    let above = "that is above the maximum";
    if let Some(rate) = rate.filter(|rate| rate.0 > fastest) {
        let allowed = format!("1 bit/s to {fastest}");
        return Err(refused(format!("{path}.rate"), rate, above, allowed));
    }
    for (key, given) in [("delay", delay), ("down", down)] {
        if let Some(given) = given.filter(|given| given.0 > MAX_DELAY) {
            let allowed = format!("0 ns to {MAX_DELAY}");
            return Err(refused(format!("{path}.{key}"), given, above, allowed));
        }
    }
    if down.is_some_and(|down| down.0.is_zero()) {
        return Err(refused(format!("{path}.down"), "0 ns", "that is no time", "a time above 0"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(text: &str) -> Result<Changes, String> {
        #[derive(serde::Deserialize)]
        struct Holder {
            changes: Vec<ChangeSpec>,
        }
        let holder: Holder =
            toml::from_str(&format!("changes = [{text}]")).map_err(|error| error.to_string())?;
        let first = Rate::from_bps(1_000_000).expect("not zero");
        steps("link.changes", &holder.changes, first)
            .map_err(|fault| format!("{}: {:?}", fault.path, fault.problem))
    }

    #[test]
    fn a_handover_is_a_time_without_a_link_and_then_another_one() {
        let text = "{ at = \"1 s\", down = \"200 ms\" }, { at = \"2 s\", down = \"100 ms\", rate = \"2 Mbit/s\", delay = \"9 ms\" }";
        let Changes { rates, delays } = changes(text).unwrap();
        let RateLaw::Steps(steps) = rates else { panic!("{rates:?}") };
        let seen: Vec<_> =
            steps.iter().map(|step| (step.at.ns() / 1_000_000, step.rate.map(Rate::bps))).collect();
        let mbps = |n: u64| Some(n * 1_000_000);
        assert_eq!(seen, [(1000, None), (1200, mbps(1)), (2000, None), (2100, mbps(2))]);
        assert_eq!(
            delays[..],
            [DelayStep { at: Time::ZERO + Duration::from_secs(2), delay: Duration::from_ms(9) }]
        );
        assert_eq!(changes("{ at = \"1 s\", delay = \"2 ms\" }").unwrap().rates, RateLaw::Fixed);
    }

    #[test]
    fn changes_that_make_no_sense_are_refused() {
        for (text, place, why) in [
            ("", "link.changes", "has changes"),
            ("{ at = \"0 s\", down = \"1 s\" }", "link.changes.0.at", "at the start"),
            ("{ at = \"1 s\" }", "link.changes.0", "nothing changes"),
            ("{ at = \"1 s\", down = \"0 s\" }", "link.changes.0.down", "no time"),
            ("{ at = \"1 s\", rate = \"2 Tbit/s\" }", "link.changes.0.rate", "above the maximum"),
            ("{ at = \"1 s\", delay = \"2 h\" }", "link.changes.0.delay", "above the maximum"),
            (
                "{ at = \"1 s\", down = \"3 s\" }, { at = \"3 s\", delay = \"1 ms\" }",
                "link.changes.1.at",
                "down until then",
            ),
            (
                "{ at = \"2 s\", delay = \"3 s\" }, { at = \"1 s\", delay = \"1 ms\" }",
                "link.changes.1.at",
                "not before it",
            ),
        ] {
            let error = changes(text).unwrap_err();
            assert!(error.starts_with(&format!("{place}: ")) && error.contains(why), "{text}: {error}");
        }
    }
}

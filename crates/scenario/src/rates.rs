//! How the rate of a link changes, as checked: by steps, or as in a trace.

use crate::fault::Fault;
use crate::fault::refused;
use crate::files::Files;
use crate::varying::ChangeSpec;
use crate::varying::Varying;
use fairwire_core::Duration;
use fairwire_core::Rate;
use fairwire_core::RateLaw;
use fairwire_core::Step;
use fairwire_core::Time;
use fairwire_document::Problem;
use fairwire_laws::spec::Quantity;

impl Varying<'_> {
    /// The rate law of the link in the table at `path`.
    pub(crate) fn law(self, path: &str, files: &Files) -> Result<RateLaw, Fault> {
        match (self.changes, self.trace) {
            (None, None) => Ok(RateLaw::Fixed),
            (Some(changes), None) => steps(&format!("{path}.changes"), changes),
            (None, Some(name)) => Ok(RateLaw::Trace(files.trace(name))),
            (Some(_), Some(_)) => {
                let why = "`changes` say already how the rate changes";
                Err(refused(format!("{path}.trace"), "given", why, "one of the two"))
            }
        }
    }

    /// Does the rate change?
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
        self.rate(typed, files).ok_or_else(|| {
            let note = "or `trace`".into();
            let problem = Problem::Missing { key: "rate".into(), table: path.into(), note };
            Fault { path: path.into(), problem }
        })
    }
}

/// The steps in the array at `path`, in order of time, all of them after the start.
fn steps(path: &str, changes: &[ChangeSpec]) -> Result<RateLaw, Fault> {
    if changes.is_empty() {
        let allowed = "at least one, such as { at = \"10 s\", rate = \"5 Mbit/s\" }";
        return Err(refused(path.into(), "empty", "a rate that changes has changes", allowed));
    }
    let mut before = Duration::ZERO;
    for (number, change) in changes.iter().enumerate() {
        if change.at.0 <= before {
            let why = if number == 0 {
                "the link's `rate` is the one at the start"
            } else {
                "the change above is not before it"
            };
            let allowed = format!("later than {before}");
            return Err(refused(format!("{path}.{number}.at"), &change.at.to_string(), why, &allowed));
        }
        before = change.at.0;
    }
    let step = |change: &ChangeSpec| Step { at: Time::ZERO + change.at.0, rate: change.rate.0 };
    Ok(RateLaw::Steps(changes.iter().map(step).collect()))
}

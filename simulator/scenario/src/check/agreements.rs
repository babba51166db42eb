//! Checks the required agreement of stages.

use super::{Check, Checked};
use crate::agree::AgreeSpec;
use crate::fault::{missing, refused, unknown};
use fairwire_metrics::agreement::is_called;

impl Check<'_> {
    /// Checks an `[[agree]]` entry, except the name of its stage. The code that knows the stages
    /// checks this name: see [`Scenario::unknown_stage`](crate::Scenario::unknown_stage).
    pub(super) fn agreement(&self, at: usize, agree: &AgreeSpec, measures: &[String]) -> Checked {
        let path = |key: &str| format!("agree.{at}.{key}");
        agree.discipline.as_ref().map_or(Ok(()), |name| self.known(&path("discipline"), name))?;
        self.called(&path("measure"), &agree.measure, measures)?;
        for (key, text) in [("because", Some(&agree.because)), ("known", agree.known.as_ref())] {
            let Some(text) = text else { continue };
            self.text(&path(key), text)?;
            if text.trim().is_empty() {
                return Err(refused(path(key), "blank", "it must give a reason", "a reason, in a sentence"));
            }
        }
        let numbers =
            [("tolerance", agree.tolerance), ("relative", agree.relative), ("deviations", agree.deviations)];
        for (key, number) in numbers {
            self.finite(&path(key), number)?;
            if let Some(below) = number.filter(|number| *number < 0.0) {
                return Err(refused(path(key), below, "that is negative", "0 or more"));
            }
        }
        match (agree.tolerance, agree.relative) {
            (None, None) => {
                let note = "or `relative`, a fraction of the first stage's mean";
                Err(missing(format!("agree.{at}"), "tolerance", note))
            }
            (Some(_), Some(relative)) => {
                Err(refused(path("relative"), relative, "`tolerance` is given too", "one of the two"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that `name` is a measure, or that a measure's name begins with `name` and a dot.
    fn called(&self, path: &str, name: &str, measures: &[String]) -> Checked {
        if measures.iter().any(|measure| is_called(measure, name)) {
            return Ok(());
        }
        let kinds = measures.iter().filter_map(|measure| measure.rsplit_once('.').map(|(kind, _)| kind));
        let mut allowed: Vec<String> = Vec::new();
        for kind in kinds.map(String::from) {
            if !allowed.contains(&kind) && !measures.contains(&kind) {
                allowed.push(kind);
            }
        }
        allowed.extend_from_slice(measures);
        Err(unknown(path, "measure", name, allowed))
    }
}

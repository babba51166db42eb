//! How near stages are to be.

use super::{Check, Checked, Refusal};
use crate::agree::AgreeSpec;
use fairwire_document::{Problem, shortened};
use fairwire_metrics::agreement::is_called;

impl Check<'_> {
    /// Names of stages are checked by who knows them: see
    /// [`Scenario::unknown_stage`](crate::Scenario::unknown_stage).
    pub(super) fn agreement(&self, at: usize, agree: &AgreeSpec, measures: &[String]) -> Checked {
        let path = |key: &str| format!("agree.{at}.{key}");
        agree.discipline.as_ref().map_or(Ok(()), |name| self.known(&path("discipline"), name))?;
        self.called(&path("measure"), &agree.measure, measures)?;
        for (key, text) in [("because", Some(&agree.because)), ("known", agree.known.as_ref())] {
            let Some(text) = text else { continue };
            self.text(&path(key), text)?;
            if text.trim().is_empty() {
                return self.refuse(Refusal {
                    path: &path(key),
                    given: "nothing".into(),
                    why: "an agreement states its reason".into(),
                    allowed: "a reason, in a sentence".into(),
                });
            }
        }
        let numbers =
            [("tolerance", agree.tolerance), ("relative", agree.relative), ("deviations", agree.deviations)];
        for (key, number) in numbers {
            self.finite(&path(key), number)?;
            if let Some(below) = number.filter(|number| *number < 0.0) {
                return self.refuse(Refusal {
                    path: &path(key),
                    given: below.to_string(),
                    why: "a distance is not negative".into(),
                    allowed: "0 or more".into(),
                });
            }
        }
        match (agree.tolerance, agree.relative) {
            (None, None) => Err(self.locations.refuse(
                &format!("agree.{at}"),
                Problem::Missing {
                    key: "tolerance".into(),
                    table: format!("agree.{at}"),
                    note: "or `relative`, a part of what the first stage has".into(),
                },
            )),
            (Some(_), Some(relative)) => self.refuse(Refusal {
                path: &path("relative"),
                given: relative.to_string(),
                why: "`tolerance` is given too".into(),
                allowed: "one of the two".into(),
            }),
            _ => Ok(()),
        }
    }

    /// Is there such a measure, or some that begin with that?
    fn called(&self, path: &str, name: &str, measures: &[String]) -> Checked {
        if measures.iter().any(|measure| is_called(measure, name)) {
            return Ok(());
        }
        let kinds = measures.iter().filter_map(|measure| measure.rsplit_once('.').map(|(kind, _)| kind));
        let mut allowed: Vec<String> = kinds.map(String::from).collect();
        allowed.dedup();
        allowed.extend_from_slice(measures);
        Err(self
            .locations
            .refuse(path, Problem::Unknown { what: "measure", given: shortened(name), allowed }))
    }
}

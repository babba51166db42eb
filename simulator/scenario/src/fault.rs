//! A problem in a scenario, and its key.

use fairwire_document::{DocumentError, Locations, Problem, shortened};

#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) path: String,
    pub(crate) problem: Problem,
}

impl Fault {
    pub(crate) fn located(self, locations: &Locations) -> DocumentError {
        locations.refuse(&self.path, self.problem)
    }
}

pub(crate) fn refused(
    path: impl Into<String>,
    given: impl ToString,
    why: impl Into<String>,
    allowed: impl Into<String>,
) -> Fault {
    let path = path.into();
    let (key, given, why, allowed) = (path.clone(), given.to_string(), why.into(), allowed.into());
    Fault { path, problem: Problem::Refused { key, given, why, allowed } }
}

/// `note` gives alternatives.
pub(crate) fn missing(path: impl Into<String>, key: &str, note: &str) -> Fault {
    let path = path.into();
    let problem = Problem::Missing { key: key.into(), table: path.clone(), note: note.into() };
    Fault { path, problem }
}

pub(crate) fn unknown(
    path: impl Into<String>,
    what: &'static str,
    given: &str,
    allowed: Vec<String>,
) -> Fault {
    Fault { path: path.into(), problem: Problem::Unknown { what, given: shortened(given), allowed } }
}

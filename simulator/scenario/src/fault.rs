//! What is wrong in a scenario, and at which key.

use fairwire_document::Problem;

/// What is wrong, and at which key.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) path: String,
    pub(crate) problem: Problem,
}

/// The value at `path` is refused.
pub(crate) fn refused(path: String, given: &str, why: &str, allowed: &str) -> Fault {
    let problem =
        Problem::Refused { key: path.clone(), given: given.into(), why: why.into(), allowed: allowed.into() };
    Fault { path, problem }
}

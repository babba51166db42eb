//! What can be wrong with a discipline as given.

use core::fmt;
use fairwire_core::spelling;
use fairwire_laws::BadParameter;

/// A discipline that could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// No discipline has that name.
    #[error(transparent)]
    Unknown(#[from] UnknownDiscipline),
    /// One of its parameters makes no sense.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
}

/// No discipline has the name given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDiscipline {
    /// What was given, cut short where it is long.
    pub given: String,
    /// Why it is none, where that is more than a slip.
    pub why: Option<String>,
    /// The names or aliases that were most likely meant, if any come near.
    pub likely: Vec<&'static str>,
    /// All names, for people.
    pub(crate) allowed: String,
}

impl std::error::Error for UnknownDiscipline {}

impl fmt::Display for UnknownDiscipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no discipline `{}`", self.given)?;
        if let Some(why) = &self.why {
            write!(f, ": {why}")?;
        }
        write!(f, "; ")?;
        if let Some(question) = spelling::question(&self.likely) {
            write!(f, "{question} ")?;
        }
        write!(f, "allowed: {}", self.allowed)
    }
}

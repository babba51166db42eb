//! What can be wrong with a discipline as given.

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
pub use fairwire_parameters::Unknown as UnknownDiscipline;

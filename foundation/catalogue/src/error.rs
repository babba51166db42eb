//! Errors in disciplines' names and parameters.

use fairwire_laws::BadParameter;

/// A discipline that could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// No discipline has that name.
    #[error(transparent)]
    Unknown(Box<UnknownDiscipline>),
    /// A parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
}

impl From<UnknownDiscipline> for BuildError {
    fn from(unknown: UnknownDiscipline) -> Self {
        BuildError::Unknown(Box::new(unknown))
    }
}

/// No discipline has the name given.
pub use fairwire_parameters::Unknown as UnknownDiscipline;

//! A grid of wires with faults, on which our TCPs are held against a kernel's.
//!
//! The cells are those of sweeps in `proof/suite/senders`. A kernel's figures are measured on a
//! stage and kept beside them, so that ours are compared within seconds.
#![forbid(unsafe_code)]

pub mod cell;
pub mod judge;
pub mod kept;
pub mod picture;

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong arguments, or a file that makes no sense.
    #[error("{0}")]
    User(String),
    /// This machine lacks what a stage needs.
    #[error("{0}")]
    Lacking(String),
    /// A run failed, or a file could not be written.
    #[error("{0}")]
    Machine(String),
}

impl From<fairwire_document::DocumentError> for Failure {
    fn from(error: fairwire_document::DocumentError) -> Self {
        Failure::User(error.to_string())
    }
}

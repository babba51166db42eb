//! Compares our TCPs with a kernel's on a grid of wires with faults.
//!
//! Sweeps in `proof/suite/senders` define the cells. The kernel's figures are stored next to the
//! sweeps.
#![forbid(unsafe_code)]

pub mod cell;
pub mod judge;
pub mod kept;
pub mod picture;

/// Why a comparison failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong arguments, or an invalid file.
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

//! The errors of a field run.

/// A result whose error a person reads.
pub type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

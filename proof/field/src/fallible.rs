//! The errors of a field run.

/// What can fail here fails for a person who reads why.
pub type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

//! What a running gateway tells of itself.

pub mod snapshot;

//! Studies: the exhibits of papers as data, run, measured, and held against what the papers claim.
#![forbid(unsafe_code)]

pub mod record;

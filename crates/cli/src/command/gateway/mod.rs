//! `fairwire gateway`.

pub mod top;

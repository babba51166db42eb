//! `fairwire gateway`: one file per command.

pub mod check;

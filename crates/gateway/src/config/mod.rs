//! A gateway's configuration: typed, checked, and made into a datapath.

pub mod spec;

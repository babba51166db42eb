//! Contests: traffic against a discipline, compared with the max-min oracle.

mod case;
mod group;
mod judge;
mod suite;
mod tree;

pub use case::Case;
pub use group::{Group, Source, UNCLAIMED};
pub use judge::{Delay, Judged, WayJudged, judge};
pub(crate) use suite::read;
pub use suite::read_all;
#[cfg(test)]
pub(crate) use suite::{SUITE, find};

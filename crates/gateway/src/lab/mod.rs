//! The live contest.

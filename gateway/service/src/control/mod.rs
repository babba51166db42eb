//! The control socket of a running gateway: requests, answers, and the files that come with them.

pub mod handed;
pub mod protocol;

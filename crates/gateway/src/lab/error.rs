//! What can go wrong in a lab.

use fairwire_catalogue::BuildError;
use fairwire_linux::port::PortError;
use fairwire_testbed::error::TestbedError;

/// A contest that could not be held.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// There is no network for it, or its hosts did not do as they were told.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// The kernel does not have this congestion control.
    #[error("this kernel's TCP has no congestion control `{given}`; allowed here: {available}")]
    NoCongestionControl {
        /// As given.
        given: String,
        /// What the kernel lists.
        available: String,
    },
    /// A quantity of the contest that makes no sense.
    #[error("{what} is {given}; allowed: {allowed}")]
    BadContest {
        /// Which.
        what: &'static str,
        /// As given.
        given: String,
        /// What is allowed.
        allowed: String,
    },
    /// The discipline could not be built.
    #[error(transparent)]
    Discipline(#[from] BuildError),
    /// A port of the gateway failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// A helper process did not answer in time.
    #[error("the lab's helpers did not get as far as {what} within {seconds} s")]
    Stalled {
        /// What was waited for.
        what: &'static str,
        /// How long.
        seconds: u64,
    },
    /// The caller asked to stop.
    #[error("the contest was stopped before its end")]
    Stopped,
}

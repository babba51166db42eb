//! What a discipline says of itself, beside its [`Part`](crate::part::Part).

use core::fmt;

/// The description of a discipline in the catalogue, from the discipline's own file.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// What kind of discipline it is.
    pub family: Family,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it remembers, and for which flows, classes or packets.
    pub state: &'static str,
    /// The work per packet.
    pub cost: &'static str,
    /// Does it give early signals, which a mark can carry in place of a drop?
    pub marks: bool,
    /// The paper or RFC, with its section.
    pub source: &'static str,
}

/// What kind of discipline it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// What a plain router does; the others are measured against it.
    Baseline,
    /// Signals congestion early, blind to flows.
    ActiveQueueManagement,
    /// One first-come-first-served queue, made fair between flows by which packets it drops.
    FairDropping,
    /// A full buffer takes its room back from the flows that hold more than their part.
    PushOut,
    /// Flows or hosts have queues of their own, served in turn.
    FairQueueing,
    /// Made of other disciplines.
    Composition,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Family::Baseline => "baseline",
            Family::ActiveQueueManagement => "active queue management",
            Family::FairDropping => "fair dropping",
            Family::PushOut => "push-out",
            Family::FairQueueing => "fair queueing",
            Family::Composition => "composition",
        })
    }
}

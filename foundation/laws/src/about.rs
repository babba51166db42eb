//! The description of a discipline, in addition to its [`Part`](crate::part::Part).

use core::fmt;

/// The description of a discipline in the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its family.
    pub family: Family,
    /// Its function, in one line.
    pub summary: &'static str,
    /// The state that it keeps, such as "90 bytes per queue, 1024 queues".
    pub state: &'static str,
    /// The work per packet.
    pub cost: &'static str,
    /// Does it signal congestion early, so that marks can replace drops?
    pub marks: bool,
    /// The paper or RFC, with its section.
    pub source: &'static str,
}

/// The family of a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// The behaviour of a simple router, with which other families are compared.
    Baseline,
    /// Signals congestion early, without distinguishing flows.
    ActiveQueueManagement,
    /// One first-come-first-served queue, made fair between flows by the choice of dropped packets.
    FairDropping,
    /// A full buffer takes room back from the flows that hold more than their share.
    PushOut,
    /// Flows or hosts have separate queues, served in turn.
    FairQueueing,
    /// Composed of other disciplines.
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

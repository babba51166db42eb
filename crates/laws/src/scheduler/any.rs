//! The schedulers by name, and one type that is any of them.

use crate::scheduler::{Drr, Fbfq, Fcfs, Scfq, Sfq, Wf2qPlus};
use crate::spec::WeightOf;
use fairwire_core::{Buffer, Key, Limit, Needs, NotReweighed, Packet, Probe, Scheduler, Time, Weight};
#[cfg(feature = "serde")]
use schemars::JsonSchema;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// The schedulers by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Kind {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Frame-based fair queueing, the fair queueing of Suter et al.
    Fbfq,
    /// Deficit round robin.
    Drr,
    /// Self-clocked fair queueing.
    Scfq,
    /// Start-time fair queueing.
    #[cfg_attr(feature = "serde", serde(alias = "sfq-start"))]
    Sfq,
    /// Worst-case fair weighted fair queueing.
    #[cfg_attr(feature = "serde", serde(rename = "wf2q+"))]
    Wf2qPlus,
}

/// Bytes of a queue that flows are given from a bounded table.
const QUEUE: u64 = 64;
/// Flows remembered at least by schedulers that remember those with nothing waiting.
const REMEMBERED: u64 = 1024;

impl Kind {
    /// All, in the order in which they are listed to people.
    pub const ALL: [Kind; 6] = [Kind::Fcfs, Kind::Fbfq, Kind::Drr, Kind::Scfq, Kind::Sfq, Kind::Wf2qPlus];

    /// Its name, as typed.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Fcfs => "fcfs",
            Kind::Fbfq => "fbfq",
            Kind::Drr => "drr",
            Kind::Scfq => "scfq",
            Kind::Sfq => "sfq",
            Kind::Wf2qPlus => "wf2q+",
        }
    }

    /// Another name, as typed.
    pub const fn alias(self) -> Option<&'static str> {
        match self {
            Kind::Sfq => Some("sfq-start"),
            _ => None,
        }
    }

    /// Bytes of its tables with room for `packets`, where flows share so many `queues`. An estimate.
    pub fn table_bytes(self, packets: u64, queues: Option<u32>) -> u64 {
        let order = match self {
            Kind::Fcfs => 0,
            Kind::Drr => 16 * packets,
            Kind::Scfq => 52 * packets,
            Kind::Sfq => 132 * packets.max(REMEMBERED),
            Kind::Fbfq => 172 * packets.max(REMEMBERED),
            Kind::Wf2qPlus => 204 * packets.max(REMEMBERED),
        };
        order + queues.map_or(0, |queues| u64::from(queues) * QUEUE)
    }
}

/// What any scheduler is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The link's rate and more, for schedulers that follow it: bits per second.
    pub rate_bps: u64,
    /// Bytes that a flow of weight 1 may send per round, for schedulers with rounds.
    pub quantum: u32,
    /// The weights of classes.
    pub weights: WeightOf,
    /// The buffer that it will serve.
    pub limit: Limit,
}

/// Any scheduler, told apart when it is called.
#[derive(Debug)]
pub enum AnyScheduler {
    /// First come, first served.
    Fcfs(Fcfs),
    /// Frame-based fair queueing.
    Fbfq(Fbfq),
    /// Deficit round robin.
    Drr(Drr),
    /// Self-clocked fair queueing.
    Scfq(Scfq),
    /// Start-time fair queueing.
    Sfq(Sfq),
    /// Worst-case fair weighted fair queueing.
    Wf2qPlus(Wf2qPlus),
}

impl AnyScheduler {
    /// The scheduler of that kind.
    pub fn new(kind: Kind, terms: &Terms) -> Self {
        match kind {
            Kind::Fcfs => AnyScheduler::Fcfs(Fcfs),
            Kind::Fbfq => AnyScheduler::Fbfq(Fbfq::new(terms)),
            Kind::Drr => AnyScheduler::Drr(Drr::new(terms)),
            Kind::Scfq => AnyScheduler::Scfq(Scfq::new(terms)),
            Kind::Sfq => AnyScheduler::Sfq(Sfq::new(terms)),
            Kind::Wf2qPlus => AnyScheduler::Wf2qPlus(Wf2qPlus::new(terms)),
        }
    }
}

/// Calls the same method of whichever scheduler it is.
macro_rules! each {
    ($self:expr, $scheduler:ident => $call:expr) => {
        match $self {
            AnyScheduler::Fcfs($scheduler) => $call,
            AnyScheduler::Fbfq($scheduler) => $call,
            AnyScheduler::Drr($scheduler) => $call,
            AnyScheduler::Scfq($scheduler) => $call,
            AnyScheduler::Sfq($scheduler) => $call,
            AnyScheduler::Wf2qPlus($scheduler) => $call,
        }
    };
}

impl Scheduler for AnyScheduler {
    fn needs(&self) -> Needs {
        each!(self, scheduler => scheduler.needs())
    }
    fn clock(&mut self, now: Time) {
        each!(self, scheduler => scheduler.clock(now));
    }
    fn inserted(&mut self, key: Key, buffer: &Buffer) {
        each!(self, scheduler => scheduler.inserted(key, buffer));
    }
    fn evicting(&mut self, key: Key, buffer: &Buffer) {
        each!(self, scheduler => scheduler.evicting(key, buffer));
    }
    fn choose(&mut self, buffer: &Buffer) -> Option<Key> {
        each!(self, scheduler => scheduler.choose(buffer))
    }
    fn charge(&mut self, packet: &Packet, buffer: &Buffer) {
        each!(self, scheduler => scheduler.charge(packet, buffer));
    }

    #[inline]
    fn skip(&mut self, packet: &Packet, buffer: &Buffer) {
        each!(self, scheduler => scheduler.skip(packet, buffer));
    }
    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        each!(self, scheduler => scheduler.reweigh(class, weight))
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        each!(self, scheduler => scheduler.inspect(probe));
    }
}

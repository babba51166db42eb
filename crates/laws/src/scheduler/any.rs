//! The schedulers by name, and one type that is any of them.

use crate::scheduler::kind::Kind;
use crate::scheduler::terms::Terms;
use crate::scheduler::{Drr, Fbfq, Fcfs, Scfq, Sfq, Wf2qPlus};
use fairwire_core::{
    Buffer, Chosen, FlowKey, Key, Needs, NotReweighed, Packet, Probe, Scheduler, Time, Weight,
};

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
    fn inserted(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        each!(self, scheduler => scheduler.inserted(key, flow, buffer));
    }
    fn evicting(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        each!(self, scheduler => scheduler.evicting(key, flow, buffer));
    }
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        each!(self, scheduler => scheduler.choose(buffer))
    }
    fn charge(&mut self, packet: &Packet, flow: FlowKey, buffer: &Buffer) {
        each!(self, scheduler => scheduler.charge(packet, flow, buffer));
    }

    #[inline]
    fn skip(&mut self, packet: &Packet, flow: FlowKey, buffer: &Buffer) {
        each!(self, scheduler => scheduler.skip(packet, flow, buffer));
    }
    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        each!(self, scheduler => scheduler.reweigh(class, weight))
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        each!(self, scheduler => scheduler.inspect(probe));
    }
}

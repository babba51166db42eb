//! A running user of TCP: a load and its connections.

use super::load::{Cause, Machine, Step};
use fairwire_core::{Rng, Time};
use fairwire_metrics::{Kind, Lasted, TransferMeter};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(crate) struct Timed {
    pub(crate) transfers: TransferMeter,
    pub(crate) pages: TransferMeter,
    pub(crate) lasting: BTreeMap<Kind, TransferMeter>,
}

impl Timed {
    pub(crate) fn lasted(&mut self, lasted: Lasted, from: Time) {
        if lasted.until >= from {
            self.lasting.entry(lasted.kind).or_default().lasted(lasted, from);
        }
    }
}

/// One user of TCP. Its connections are flows with consecutive numbers.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) group: u32,
    first: u32,
    machine: Machine,
    rng: Rng,
    wakes_at: Time, // the one valid pending wake; MAX when there is none
    connections: Box<[Connection]>,
    given: u64,  // to its connections since the warm-up, in segments, excluding endless ones
    waited: u64, // of segments, at the end of the warm-up
    owed: u64,   // of segments, at the end of the warm-up: given to connections and not yet arrived
    page: u64,   // of segments, given to its connections since the last page was complete
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    given: u64,
    /// The start of the timed transfer; `None` if none is in progress.
    timed_from: Option<Time>,
    /// Its segments.
    timed: u64,
    /// True until the sender knows that all data has arrived.
    is_busy: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) flow: u32,
    pub(crate) segments: u64,
    pub(crate) is_new: bool,
}

impl Session {
    pub(crate) fn new(group: u32, flows: std::ops::Range<u32>, machine: Machine, rng: Rng) -> Self {
        let connections = vec![Connection::default(); flows.len()].into();
        Session {
            group,
            first: flows.start,
            machine,
            rng,
            wakes_at: Time::MAX,
            connections,
            given: 0,
            waited: 0,
            owed: 0,
            page: 0,
            is_over: false,
        }
    }

    pub(crate) fn wake_at(&mut self, at: Time) {
        self.wakes_at = at;
    }

    /// True if the wake at `now` is valid. A valid wake is consumed.
    pub(crate) fn is_due(&mut self, now: Time) -> bool {
        let is_due = self.wakes_at == now;
        if is_due {
            self.wakes_at = Time::MAX;
        }
        is_due
    }

    pub(crate) fn react(&mut self, cause: Cause, now: Time, steps: &mut Vec<Step>) {
        self.machine.react(cause, now, &mut self.rng, steps);
    }

    pub(crate) fn under_way(&self, end: Time) -> Vec<Lasted> {
        if self.is_over { Vec::new() } else { self.machine.under_way(end) }
    }

    pub(crate) fn stop(&mut self, now: Time) -> Vec<Lasted> {
        let lasted = self.under_way(now);
        (self.is_over, self.wakes_at) = (true, Time::MAX);
        lasted
    }

    /// `arrived` returns the number of segments that a flow's receiver has.
    pub(crate) fn start_measuring(&mut self, arrived: impl Fn(u32) -> u64) {
        self.given = 0;
        self.waited = self.machine.waiting();
        let owed = |(flow, connection): (u32, &Connection)| match connection.given {
            super::load::ENDLESS => 0,
            given => given.saturating_sub(arrived(flow)),
        };
        self.owed = (self.first..).zip(&self.connections).map(owed).sum();
    }

    /// Segments that the user tried to send since the warm-up, including those waiting for a
    /// connection.
    pub(crate) fn offered(&self) -> u64 {
        self.given + self.machine.waiting() - self.waited
    }

    /// Segments outstanding at the end of the warm-up, or requested since.
    pub(crate) fn requested(&self) -> u64 {
        self.owed + self.given
    }

    pub(crate) fn request(&mut self, step: Step) -> Option<Request> {
        let (place, segments, timed_from, is_new) = match step {
            Step::Open { place, segments, timed_from } => (place, segments, timed_from, true),
            Step::Write { place, segments, timed_from } => (place, segments, timed_from, false),
            Step::WakeAt(_) | Step::PageSince(_) | Step::Lasted(_) => return None,
        };
        let connection = &mut self.connections[usize::from(place)];
        let before = if is_new { 0 } else { connection.given };
        let given = before.saturating_add(segments);
        *connection = Connection { given, timed_from, timed: segments, is_busy: true };
        self.page = self.page.saturating_add(segments);
        if segments != super::load::ENDLESS {
            self.given += segments;
        }
        Some(Request { flow: self.first + u32::from(place), segments, is_new })
    }

    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    pub(crate) fn end_page(&mut self) -> u64 {
        std::mem::take(&mut self.page)
    }

    /// Records that the receiver of `flow` has `segments`. If they complete a timed transfer,
    /// returns when the transfer began, and its number of segments.
    pub(crate) fn arrived(&mut self, flow: u32, segments: u64) -> Option<(Time, u64)> {
        let connection = &mut self.connections[(flow - self.first) as usize];
        if segments < connection.given {
            return None;
        }
        connection.timed_from.take().map(|since| (since, connection.timed))
    }

    /// Records that the sender of `flow` knows that everything has arrived. Returns a cause for the
    /// load, unless the sender knew before.
    pub(crate) fn finished(&mut self, flow: u32) -> Option<Cause> {
        let place = (flow - self.first) as u16;
        let was_busy = std::mem::take(&mut self.connections[usize::from(place)].is_busy);
        (was_busy && !self.is_over).then_some(Cause::Finished(place))
    }
}

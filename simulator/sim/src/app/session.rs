//! A user of TCP at work: a load, and the connections that it has.

use super::load::{Cause, Machine, Step};
use fairwire_core::{Rng, Time};
use fairwire_metrics::{Kind, Lasted, TransferMeter};
use std::collections::BTreeMap;

/// The completion times of what the users of a group did.
#[derive(Clone, Default)]
pub(crate) struct Timed {
    pub(crate) transfers: TransferMeter,
    pub(crate) pages: TransferMeter,
    /// What lasted.
    pub(crate) lasting: BTreeMap<Kind, TransferMeter>,
}

impl Timed {
    /// Something lasted; the measured time began at `from`.
    pub(crate) fn lasted(&mut self, lasted: Lasted, from: Time) {
        if lasted.until >= from {
            self.lasting.entry(lasted.kind).or_default().lasted(lasted, from);
        }
    }
}

/// One user. Its connections are flows with consecutive numbers.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) group: u32,
    /// The flow of its first connection.
    first: u32,
    machine: Machine,
    rng: Rng,
    wakes_at: Time, // the one pending wake that counts; MAX when there is none
    connections: Box<[Connection]>,
    given: u64,  // to its connections since the warm-up, in segments, endless ones left out
    waited: u64, // of segments, at the end of the warm-up
    owed: u64,   // of segments, at the end of the warm-up: given to connections and not yet arrived
    page: u64,   // of segments, given to its connections since the last page was complete
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    /// Segments given to the one that is open.
    given: u64,
    /// When the transfer began that is complete when all that was given has arrived.
    timed_from: Option<Time>,
    /// Its segments.
    timed: u64,
    /// Is there something that the sender does not know to have arrived?
    is_busy: bool,
}

/// A request to a connection: a new one, or more segments.
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

    /// It is to be woken at `at`, and at no other time.
    pub(crate) fn wake_at(&mut self, at: Time) {
        self.wakes_at = at;
    }

    /// Is this the wake that counts? It is used up then.
    pub(crate) fn is_due(&mut self, now: Time) -> bool {
        let is_due = self.wakes_at == now;
        if is_due {
            self.wakes_at = Time::MAX;
        }
        is_due
    }

    /// What is to be done at `now`.
    pub(crate) fn react(&mut self, cause: Cause, now: Time, steps: &mut Vec<Step>) {
        self.machine.react(cause, now, &mut self.rng, steps);
    }

    /// What has ended by `end` and was not reported yet, and what is under way as if it ended then.
    pub(crate) fn under_way(&self, end: Time) -> Vec<Lasted> {
        if self.is_over { Vec::new() } else { self.machine.under_way(end) }
    }

    /// It does nothing from `now` on. Returns what ends by that.
    pub(crate) fn stop(&mut self, now: Time) -> Vec<Lasted> {
        let lasted = self.under_way(now);
        (self.is_over, self.wakes_at) = (true, Time::MAX);
        lasted
    }

    /// The warm-up is over, and `arrived` returns the segments that the receiver of each flow has.
    pub(crate) fn start_measuring(&mut self, arrived: impl Fn(u32) -> u64) {
        self.given = 0;
        self.waited = self.machine.waiting();
        let owed = |(flow, connection): (u32, &Connection)| match connection.given {
            super::load::ENDLESS => 0,
            given => given.saturating_sub(arrived(flow)),
        };
        self.owed = (self.first..).zip(&self.connections).map(owed).sum();
    }

    /// Segments that it wanted to send since the warm-up, those included that still wait for a
    /// connection.
    pub(crate) fn offered(&self) -> u64 {
        self.given + self.machine.waiting() - self.waited
    }

    /// Segments that it waited for at the end of the warm-up, or has requested since.
    pub(crate) fn requested(&self) -> u64 {
        self.owed + self.given
    }

    /// Takes note of a connection that is opened or given data, where `step` is one.
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

    /// The flow of its first connection.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// A page is complete: its segments.
    pub(crate) fn end_page(&mut self) -> u64 {
        std::mem::take(&mut self.page)
    }

    /// The receiver of `flow` has `segments`. Returns since when the transfer was requested and its
    /// segments, if it is complete by them.
    pub(crate) fn arrived(&mut self, flow: u32, segments: u64) -> Option<(Time, u64)> {
        let connection = &mut self.connections[(flow - self.first) as usize];
        if segments < connection.given {
            return None;
        }
        connection.timed_from.take().map(|since| (since, connection.timed))
    }

    /// The sender of `flow` knows that all has arrived. Where this is news, the load is to hear of
    /// it.
    pub(crate) fn finished(&mut self, flow: u32) -> Option<Cause> {
        let place = (flow - self.first) as u16;
        let was_busy = std::mem::take(&mut self.connections[usize::from(place)].is_busy);
        (was_busy && !self.is_over).then_some(Cause::Finished(place))
    }
}

//! The events of a run on two sides: what happens at hosts, and what happens at queued links.
//!
//! What a link does reaches no host before the link's delay is over, and that of the host's own link. So all that is due at hosts within such a
//! time, the lookahead, can be handled before anything at the links is: nothing that is still to come there changes it. Then the links catch up,
//! and know all that the hosts sent to them. This is what conservative parallel simulation does with logical processes (K. Chandy and
//! J. Misra, "Distributed simulation", IEEE TSE 5(5), 1979), here on one processor: events of one kind come one after the other,
//! which the processor foretells better than their mixture, and fewer lanes compete on each side.
//!
//! The outcome is the same to the bit as that of one side for all: events at the same instant on one side are told apart by what they are, not
//! by when they were scheduled ([`Ties`](crate::ties::Ties)), and on different sides they have nothing to do with each other.

use crate::event::{Event, EventQueue, Events, Lane};
use crate::plan::Settings;
use fairwire_core::{Duration, Time};

/// Events to come, at hosts and at links.
#[derive(Debug)]
pub(crate) struct Sides {
    /// What happens at links; where there is no lookahead, all.
    pub(crate) links: EventQueue,
    /// What happens at hosts, where there is a lookahead.
    pub(crate) hosts: EventQueue,
    lookahead: Option<Duration>,
    /// All that is due before is handled, on both sides.
    done: Time,
}

impl Sides {
    /// Without events; with the time that nothing takes less to get from a link to a host, if it is worth to look so far ahead.
    pub(crate) fn new(settings: &Settings, lookahead: Option<Duration>) -> Self {
        let queue = || EventQueue::new(settings.tie_rule, settings.seed);
        Sides { links: queue(), hosts: queue(), lookahead, done: Time::ZERO }
    }

    /// The queue of what happens at hosts.
    #[inline(always)]
    fn of_hosts(&mut self) -> &mut EventQueue {
        if self.lookahead.is_some() { &mut self.hosts } else { &mut self.links }
    }

    /// See [`EventQueue::expect`]; these are at hosts.
    pub(crate) fn expect(&mut self, events: usize, last: Time) {
        [&mut self.links, &mut self.hosts].into_iter().for_each(EventQueue::expect_crowd);
        self.of_hosts().expect(events, last);
    }

    /// Up to when the hosts can be served now, and then the links, until `end` at most; nothing where all is done until then. Only where
    /// there are two sides. Something may be due at a link at `unscheduled`.
    pub(crate) fn window(&mut self, unscheduled: Time, end: Time) -> Option<Time> {
        let lookahead = self.lookahead?;
        let first = self.hosts.earliest().min(self.links.earliest()).min(unscheduled).max(self.done);
        if first > end {
            return None;
        }
        let until = end.min((first + lookahead).saturating_sub(Duration::from_ns(1)));
        self.done = until + Duration::from_ns(1);
        Some(until)
    }

    /// Are there two sides?
    #[inline]
    pub(crate) fn are_apart(&self) -> bool {
        self.lookahead.is_some()
    }

    /// Is there an event up to `end`?
    pub(crate) fn has_next(&mut self, end: Time) -> bool {
        [&mut self.links, &mut self.hosts].into_iter().any(|queue| {
            queue.set_end(end);
            queue.has_next()
        })
    }
}

impl Events for Sides {
    fn lane_at_hosts(&mut self) -> Lane {
        self.of_hosts().lane()
    }

    fn lane_at_links(&mut self) -> Lane {
        self.links.lane()
    }

    #[inline(always)]
    fn push_at_host(&mut self, time: Time, event: Event, identity: u32, lane: Lane) {
        self.of_hosts().push(time, event, identity, lane);
    }

    #[inline(always)]
    fn push_at_link(&mut self, time: Time, event: Event, identity: u32, lane: Lane) {
        self.links.push(time, event, identity, lane);
    }
}

#[cfg(test)]
impl Sides {
    /// Any event to come.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let next = self.hosts.pop_until(Time::MAX).or_else(|| self.links.pop_until(Time::MAX))?;
        Some(next.1)
    }
}

//! A plain engine of the same model, as the oracle of the tuned one: a heap of events in the order that is documented, each handled when
//! it comes up. No lookahead, no lanes, no calendar, nothing asked for ahead.
//!
//! Flows, links and their arithmetic are the tuned engine's own: they carry no tuning. Both give the same bits over random networks.

mod oracle;

use super::Run;
use crate::event::{Event, Events, Lane, Next};
use crate::observe::Tap;
use crate::plan::{Network, Settings, TieRule};
use crate::ties::Ties;
use crate::tuning::Tuning;
use fairwire_core::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events to come, in a heap.
pub(super) struct Plain {
    events: BinaryHeap<Reverse<Due>>,
    tie_rule: TieRule,
    ties: Ties,
    scheduled: u64,
    now: Time,
}

/// An event, in the order of events: by time, then by draw, then by when it was scheduled.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    time: Time,
    draw: u64,
    scheduled: u64,
    event: Event,
}

impl Plain {
    fn new(settings: &Settings) -> Self {
        let tie_rule = settings.tie_rule;
        let ties = Ties::new(tie_rule, settings.seed);
        Plain { events: BinaryHeap::new(), tie_rule, ties, scheduled: 0, now: Time::ZERO }
    }

    fn push(&mut self, time: Time, event: Event, identity: u32) {
        assert!(time >= self.now, "an event in the past: {time} after {}", self.now);
        let draw = match self.tie_rule {
            TieRule::Random => self.ties.order(time, identity ^ event.mark()),
            TieRule::Fifo => 0,
        };
        self.scheduled += 1;
        self.events.push(Reverse(Due { time, draw, scheduled: self.scheduled, event }));
    }

    fn pop_until(&mut self, end: Time) -> Option<(Time, Event)> {
        if self.events.peek()?.0.time > end {
            return None;
        }
        let Reverse(Due { time, event, .. }) = self.events.pop()?;
        self.now = time;
        Some((time, event))
    }
}

impl Events for Plain {
    fn lane_at_hosts(&mut self) -> Lane {
        Lane::NONE
    }

    fn lane_at_links(&mut self) -> Lane {
        Lane::NONE
    }

    fn push_at_host(&mut self, time: Time, event: Event, identity: u32, _: Lane) {
        self.push(time, event, identity);
    }

    fn push_at_link(&mut self, time: Time, event: Event, identity: u32, _: Lane) {
        self.push(time, event, identity);
    }
}

impl<T: Tap> Run<T, Plain> {
    pub(super) fn plain(plan: Network, settings: &Settings, tap: T) -> Self {
        Run::over(Plain::new(settings), plan, settings, tap, Tuning::default())
    }

    /// Handles every event up to the end.
    pub(super) fn go_plainly(&mut self) {
        while let Some((now, event)) = self.events.pop_until(self.end) {
            if !self.is_measuring && now >= self.measured_from {
                self.start_measuring();
            }
            self.handle(Next::new(now, event.parts()));
            self.handled += 1;
        }
        self.ledger.count_drops();
        if !self.is_measuring {
            self.start_measuring();
        }
    }
}

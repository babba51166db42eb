//! A simple engine, with which the tuned engine is compared. It handles events one by one, from a
//! heap in the documented order. Both engines share the flows, the links and their arithmetic.

mod oracle;

use crate::event::{Event, Events, Lane, Leaving, Memory, Next};
use crate::model::Model;
use crate::observe::Tap;
use crate::plan::{Network, Settings, TieRule};
use crate::store::Store;
use crate::ties::Ties;
use fairwire_core::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) struct ReferenceQueue {
    events: BinaryHeap<Reverse<Due>>,
    tie_rule: TieRule,
    ties: Ties,
    scheduled: u64,
    now: Time,
    end: Time,
}

/// The derived order is the order in which events come up.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    time: Time,
    draw: u64,
    scheduled: u64,
    event: Event,
}

impl ReferenceQueue {
    fn new(settings: &Settings) -> Self {
        let tie_rule = settings.tie_rule;
        let ties = Ties::new(tie_rule, settings.seed);
        ReferenceQueue {
            events: BinaryHeap::new(),
            tie_rule,
            ties,
            scheduled: 0,
            now: Time::ZERO,
            end: Time::ZERO,
        }
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
}

impl ReferenceQueue {
    fn packets_on_the_way(&self) -> usize {
        let has_frame =
            |event| matches!(event, Event::Arrival(_) | Event::Sink(_) | Event::Ack(_) | Event::Packet(_));
        self.events.iter().filter(|Reverse(due)| has_frame(due.event)).count()
    }
}

impl Events for ReferenceQueue {
    fn lane_at_hosts(&mut self) -> Lane {
        Lane::NONE
    }

    fn lane_at_links(&mut self) -> Lane {
        Lane::NONE
    }

    fn mix_at_links(&mut self) {}

    fn add_link(&mut self) {}

    fn push_at_host(&mut self, time: Time, event: Event, identity: u32, _: Lane) {
        self.push(time, event, identity);
    }

    fn push_at_link(&mut self, time: Time, event: Event, identity: u32, _: Lane) {
        self.push(time, event, identity);
    }

    fn push_link_free(&mut self, time: Time, link: u32) {
        self.push(time, Event::LinkFree(link), link);
    }

    fn put_off(&mut self, _: u32, _: Leaving) -> bool {
        false
    }

    fn begin_turn(&mut self, end: Time) -> bool {
        self.end = end;
        self.events.peek().is_some_and(|Reverse(next)| next.time <= end)
    }

    fn next_at_hosts(&mut self, _: &impl Memory) -> Next {
        Next::NOTHING
    }

    fn next_at_links(&mut self, _: &impl Memory) -> Next {
        if self.events.peek().is_none_or(|Reverse(next)| next.time > self.end) {
            return Next::NOTHING;
        }
        let Some(Reverse(Due { time, event, .. })) = self.events.pop() else { return Next::NOTHING };
        self.now = time;
        Next::new(time, event.parts())
    }

    fn next_left(&mut self, _: &impl Memory) -> Option<Leaving> {
        None
    }
}

impl<T: Tap> Model<T, ReferenceQueue> {
    pub(super) fn plain(plan: Network, settings: &Settings, tap: T) -> Self {
        let store = Store::new(tap, plan.flow_count());
        Model::whole(ReferenceQueue::new(settings), store, plan, settings)
    }
}

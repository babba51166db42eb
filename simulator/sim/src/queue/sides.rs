//! The events of a run on two sides: those at hosts, and those at queued links.
//!
//! A link's event reaches no host before the delays of the link and of the host's own link have
//! passed. This time is the lookahead. All host events within the lookahead are handled first, then
//! the link events. By then, everything sent to the links is known.
//!
//! Conservative parallel simulation does the same with logical processes (K. Chandy and J. Misra,
//! "Distributed simulation", IEEE TSE 5(5), 1979). Here one processor handles both sides. This
//! helps for two reasons. A processor predicts a succession of events of one type better than a
//! mixture. Fewer lanes compete on each side.
//!
//! Packets that leave their last queue are handled together, after the links' events. They affect
//! only their hosts, which have not yet reached the time at which these packets arrive.
//!
//! The outcome is bit-identical to that with one side. Simultaneous events on one side are
//! distinguished by their identity, not by scheduling order ([`Ties`](crate::ties::Ties)). Events
//! on different sides are independent.

use super::side::EventLane;
use crate::event::{Event, Events, Lane, Leaving, Memory, Next};
use crate::plan::Settings;
use crate::tuning::Tuning;
use fairwire_core::{Duration, Time};

#[derive(Debug)]
pub(crate) struct Sides {
    /// Events at links; without a lookahead, all events.
    links: EventLane,
    hosts: EventLane,
    tuning: Tuning,
    /// All events due before this time have been handled, on both sides.
    done: Time,
    /// The lane of each link's [`Event::LinkFree`].
    free: Vec<Lane>,
    /// The time at which the network's only link becomes free, kept here instead of as an event.
    /// MAX if there is no such time, or if events are used.
    free_at: Time,
    left: Vec<Leaving>,
    came_up: usize,
}

/// While packets that left the links are handled, flows are prefetched this many packets ahead.
/// Frames are prefetched twice as far ahead.
const LEFT_AHEAD: usize = 16;

impl Sides {
    pub(crate) fn new(settings: &Settings, tuning: &Tuning) -> Self {
        Sides {
            links: EventLane::new(settings),
            hosts: EventLane::new(settings),
            tuning: tuning.clone(),
            done: Time::ZERO,
            free: Vec::new(),
            free_at: Time::MAX,
            left: Vec::new(),
            came_up: 0,
        }
    }

    #[inline(always)]
    fn of_hosts(&mut self) -> &mut EventLane {
        if self.tuning.lookahead.is_some() { &mut self.hosts } else { &mut self.links }
    }
}

impl Events for Sides {
    fn lane_at_hosts(&mut self) -> Lane {
        self.of_hosts().lane()
    }

    fn lane_at_links(&mut self) -> Lane {
        self.links.lane()
    }

    fn mix_at_links(&mut self) {
        self.links.want_spares();
    }

    fn add_link(&mut self) {
        let lane = if self.tuning.has_one_link { Lane::NONE } else { self.links.lane() };
        self.free.push(lane);
    }

    #[inline(always)]
    fn push_at_host(&mut self, time: Time, event: Event, identity: u32, lane: Lane) {
        self.of_hosts().push(time, event, identity, lane);
    }

    #[inline(always)]
    fn push_at_link(&mut self, time: Time, event: Event, identity: u32, lane: Lane) {
        self.links.push(time, event, identity, lane);
    }

    #[inline(always)]
    fn push_link_free(&mut self, time: Time, link: u32) {
        if self.tuning.has_one_link {
            self.free_at = time;
        } else {
            self.links.push(time, Event::LinkFree(link), link, self.free[link as usize]);
        }
    }

    #[inline(always)]
    fn put_off(&mut self, link: u32, leaving: Leaving) -> bool {
        let is_last = self.tuning.last_links.get(link as usize) == Some(&true);
        if is_last {
            self.left.push(leaving);
        }
        is_last
    }

    fn begin_turn(&mut self, end: Time) -> bool {
        self.left.clear();
        self.came_up = 0;
        let first = self.hosts.earliest().min(self.links.earliest()).min(self.free_at).max(self.done);
        if first > end {
            return false;
        }
        let until = match self.tuning.lookahead {
            Some(lookahead) => end.min((first + lookahead).saturating_sub(Duration::from_ns(1))),
            None => end,
        };
        self.done = until + Duration::from_ns(1);
        self.hosts.set_end(until);
        self.links.set_end(until);
        true
    }

    #[inline(always)]
    fn next_at_hosts(&mut self, memory: &impl Memory) -> Next {
        let next = self.hosts.next();
        if self.tuning.has_many_flows {
            self.hosts.look_ahead(memory);
        }
        next
    }

    #[inline(always)]
    fn next_at_links(&mut self, memory: &impl Memory) -> Next {
        let next = if self.tuning.has_one_link {
            self.links.next_or_free(&mut self.free_at)
        } else {
            self.links.next()
        };
        if self.tuning.has_many_flows {
            self.links.look_ahead(memory);
        }
        next
    }

    #[inline(always)]
    fn next_left(&mut self, memory: &impl Memory) -> Option<Leaving> {
        let at = self.came_up;
        let leaving = *self.left.get(at)?;
        self.came_up += 1;
        if self.tuning.has_many_flows {
            if let Some(later) = self.left.get(at + 2 * LEFT_AHEAD) {
                memory.fetch_frame(Event::Sink(later.slot));
            }
            if let Some(next) = self.left.get(at + LEFT_AHEAD) {
                memory.fetch_flow(Event::Sink(next.slot));
            }
        }
        Some(leaving)
    }
}

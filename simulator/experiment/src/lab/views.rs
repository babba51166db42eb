//! The link, seen while the contest goes on.

use crate::dumbbell::Sender;
use crate::forwarding::{VIEW_EVERY, flow_view, link_view};
use crate::view::{FlowView, View};
use fairwire_core::{Duration, Time};
use fairwire_datapath::account::FlowCount;
use fairwire_datapath::direction::Direction;

/// What the next view needs of those before.
pub(super) struct Views {
    next: Time,
    before: Time,
    flows: Vec<FlowCount>,
}

impl Views {
    pub(super) fn new(flows: usize) -> Self {
        Views { next: Time::ZERO, before: Time::ZERO, flows: vec![FlowCount::default(); flows] }
    }

    /// The view that is due at `now`, of a contest that began at `start`, where the flows were
    /// counted for `flows`. Its link has a name, and a mean rate between two times after the start.
    pub(super) fn take(
        &mut self,
        (start, now): (Time, Time),
        (name, rate): (&str, &dyn Fn(Duration, Duration) -> f64),
        link: &Direction,
        senders: &[Sender],
        flows: Vec<FlowCount>,
    ) -> Option<View> {
        if now < self.next.max(start) {
            return None;
        }
        let since = self.before.max(start);
        let seconds = now.since(since).secs();
        (self.next, self.before) = (now + VIEW_EVERY, now);
        let before = std::mem::replace(&mut self.flows, flows);
        if seconds <= 0.0 {
            return None;
        }
        let flow = |(sender, (count, before)): (&Sender, (&FlowCount, &FlowCount))| {
            flow_view(sender.name.clone(), &count.since(before), count.dropped, seconds)
        };
        let flows: Vec<FlowView> = senders.iter().zip(self.flows.iter().zip(&before)).map(flow).collect();
        let rate_bps = rate(since.since(start), now.since(start));
        let view = link_view((name, rate_bps), (link, now), flows);
        Some(View { at_s: now.since(start).secs(), links: vec![view] })
    }
}

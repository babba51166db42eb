//! Views of the link during the contest.

use crate::contest::ContestPlan;
use crate::dumbbell::Sender;
use crate::forwarding::{VIEW_EVERY, flow_view, link_view};
use crate::view::{FlowView, View};
use fairwire_core::Time;
use fairwire_datapath::account::FlowCount;
use fairwire_datapath::direction::Direction;

pub(super) struct Views<'a> {
    plan: &'a ContestPlan,
    label: &'a str,
    next: Time,
    before: Time,
    flows: Vec<FlowCount>,
}

impl<'a> Views<'a> {
    pub(super) fn new(plan: &'a ContestPlan, label: &'a str) -> Self {
        let flows = vec![FlowCount::default(); plan.senders.len()];
        Views { plan, label, next: Time::ZERO, before: Time::ZERO, flows }
    }

    pub(super) fn take(
        &mut self,
        start: Time,
        now: Time,
        link: &Direction,
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
        let flows: Vec<FlowView> =
            self.plan.senders.iter().zip(self.flows.iter().zip(&before)).map(flow).collect();
        let rate_bps = self.plan.law.mean_bps(self.plan.rate, since.since(start), now.since(start));
        let view = link_view(self.label, rate_bps, link, now, flows);
        Some(View { at_s: now.since(start).secs(), links: vec![view] })
    }
}

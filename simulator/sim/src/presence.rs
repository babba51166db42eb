//! Stops flows, and records the bytes delivered to each member by the end of each slot.
//!
//! Both happen between events, so they add no work per packet. A stop follows all actions of the
//! flow at that instant.

use crate::event::Events;
use crate::flow::Counts;
use crate::model::Model;
use crate::observe::Tap;
use crate::plan::{GroupPlan, Member, OnTime};
use fairwire_core::{Duration, Time};
use fairwire_metrics::presence::Presence;
use std::ops::Range;

impl<T: Tap, E: Events> Model<T, E> {
    pub(crate) fn stop_at(&mut self, until: Duration, flows: Range<u32>) {
        let end = self.end.since(Time::ZERO);
        if let Some(on_times) = &mut self.on_times
            && until < end
        {
            on_times.stops.push((Time::ZERO + until, flows));
        }
    }

    pub(crate) fn next_change(&self) -> Time {
        let Some(on_times) = &self.on_times else { return Time::MAX };
        on_times.stops.last().map_or(Time::MAX, |(at, _)| *at).min(on_times.slot_ends)
    }

    pub(crate) fn change(&mut self, now: Time) {
        let Some(mut on_times) = self.on_times.take() else { return };
        if on_times.slot_ends == now {
            on_times.slot_ends = now + on_times.slot;
            let bytes = self.by_member().map(|(plan, _, counts)| self.bytes(plan, &counts).0);
            on_times.delivered.extend(bytes);
        }
        while let Some((_, flows)) = on_times.stops.pop_if(|(at, _)| *at == now) {
            self.stop(flows, now);
        }
        self.on_times = Some(on_times);
    }

    fn stop(&mut self, flows: Range<u32>, now: Time) {
        if let Some(session) = self.store.flows[flows.start as usize].session() {
            let session = &mut self.sessions[session as usize];
            let (head, lasted) = (self.groups[session.group as usize].head, session.stop(now));
            let timed = self.timed.entry(head).or_default();
            lasted.into_iter().for_each(|lasted| timed.lasted(lasted, self.measured_from));
        }
        flows.for_each(|flow| self.store.flows[flow as usize].stop(now));
    }

    fn by_member(&self) -> impl Iterator<Item = (&GroupPlan, Member, Counts)> {
        let mut rest = &self.store.flows[..];
        self.groups
            .iter()
            .flat_map(|group| group.plan.members.iter().map(|member| (&group.plan, *member)))
            .map(move |(plan, member)| {
                let (of_member, others) = rest.split_at(plan.flows_each());
                rest = others;
                (plan, member, Counts::sum(of_member))
            })
    }

    pub(crate) fn active(&self, plan: &GroupPlan, member: Member) -> Duration {
        self.measured_on(plan, member).fold(Duration::ZERO, |sum, on| sum + (on.until - on.from))
    }

    fn measured_on(&self, plan: &GroupPlan, member: Member) -> impl Iterator<Item = OnTime> {
        let [from, end] = [self.measured_from, self.end].map(|at| at.since(Time::ZERO));
        let within = move |at: Duration| at.clamp(from, end);
        let on_times = plan.on_times(member);
        on_times.map(move |on| OnTime { from: within(on.from), until: within(on.until) })
    }

    pub(crate) fn presence(&self) -> Option<Presence> {
        let on_times = self.on_times.as_ref()?;
        let of_member = |(plan, member, _): (&GroupPlan, Member, Counts)| {
            let on = self.measured_on(plan, member).filter(|on| on.from < on.until);
            on.map(|on| [on.from.seconds(), on.until.seconds()]).collect()
        };
        let [from_s, until_s] = [self.measured_from, self.end].map(|at| at.since(Time::ZERO).seconds());
        let on = self.by_member().map(of_member).collect();
        Some(Presence {
            from_s,
            until_s,
            on,
            slot_s: on_times.slot.seconds(),
            bytes: on_times.delivered.clone(),
        })
    }
}

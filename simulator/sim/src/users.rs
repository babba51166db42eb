//! Users of TCP in operation: their actions on connections, and the connections' reports.

use crate::app::load::{Cause, Step};
use crate::app::session::{Request, Timed};
use crate::event::{Event, Events, Lane};
use crate::model::Model;
use crate::observe::Tap;
use crate::seen::TransferEvent;
use fairwire_core::Time;
use fairwire_metrics::Completed;

impl<T: Tap, E: Events> Model<T, E> {
    pub(crate) fn on_session(&mut self, session: u32, now: Time) {
        if self.sessions[session as usize].is_due(now) {
            self.react(session, Cause::Due, now);
        }
    }

    #[inline(never)]
    pub(crate) fn arrived(&mut self, session: u32, flow: u32, at: Time) {
        let segments = self.store.flows[flow as usize].arrived();
        let user = &mut self.sessions[session as usize];
        if let Some((since, segments)) = user.arrived(flow, segments)
            && at <= self.end
        {
            let group = user.group;
            let access_delay = self.store.flows[flow as usize].access_delay();
            let alone = self.groups[group as usize].empty.alone(access_delay, segments);
            let bytes = self.payload(group, segments);
            if T::IS_ON {
                let event = TransferEvent { at, since, flow, is_page: false, bytes, alone };
                self.store.tap.completes(&event);
            }
            if at >= self.measured_from {
                let completed = Completed { took: at.since(since), bytes, alone };
                self.timed(group).transfers.completed(completed);
            }
        }
    }

    fn timed(&mut self, group: u32) -> &mut Timed {
        self.timed.entry(self.groups[group as usize].head).or_default()
    }

    pub(crate) fn finished(&mut self, session: u32, flow: u32, now: Time) {
        if let Some(cause) = self.sessions[session as usize].finished(flow) {
            self.react(session, cause, now);
        }
    }

    fn payload(&self, group: u32, segments: u64) -> Option<u64> {
        let tcp = self.groups[group as usize].tcp.as_deref()?;
        Some(segments * u64::from(tcp.segment_bytes))
    }

    #[inline(never)]
    pub(crate) fn react(&mut self, session: u32, cause: Cause, now: Time) {
        let mut steps = std::mem::take(&mut self.steps);
        let user = session as usize;
        self.sessions[user].react(cause, now, &mut steps);
        for step in steps.drain(..) {
            match step {
                Step::WakeAt(at) => {
                    self.sessions[user].wake_at(at);
                    self.events.push_at_host(at, Event::Session(session), session, Lane::NONE);
                }
                Step::PageSince(since) => {
                    let (segments, group) = (self.sessions[user].end_page(), self.sessions[user].group);
                    let bytes = self.payload(group, segments);
                    if T::IS_ON {
                        let flow = self.sessions[user].first();
                        let event = TransferEvent { at: now, since, flow, is_page: true, bytes, alone: None };
                        self.store.tap.completes(&event);
                    }
                    if now >= self.measured_from {
                        let completed = Completed { took: now.since(since), bytes, alone: None };
                        self.timed(group).pages.completed(completed);
                    }
                }
                Step::Lasted(lasted) => {
                    let (group, from) = (self.sessions[user].group, self.measured_from);
                    self.timed(group).lasted(lasted, from);
                }
                step => {
                    let Some(request) = self.sessions[user].request(step) else { continue };
                    let Request { flow, segments, is_new } = request;
                    let group = self.sessions[user].group;
                    let (flow, mut stage) = self.stage(flow, group, now);
                    if is_new { flow.open(segments, &mut stage) } else { flow.write(segments, &mut stage) }
                }
            }
        }
        self.steps = steps;
    }
}

//! Users of TCP at work: what they do to their connections, and what these have for them.

use crate::app::load::{Cause, Step};
use crate::app::session::Request;
use crate::event::{Event, Events, Lane};
use crate::model::Model;
use crate::observe::Tap;
use fairwire_core::Time;

impl<T: Tap, E: Events> Model<T, E> {
    /// A user of TCP may have something to do.
    pub(crate) fn on_session(&mut self, session: u32, now: Time) {
        if self.sessions[session as usize].is_due(now) {
            self.react(session, Cause::Due, now);
        }
    }

    /// A connection's receiver has more than before, at `at`.
    #[inline(never)]
    pub(crate) fn arrived(&mut self, session: u32, flow: u32, at: Time) {
        let segments = self.store.flows[flow as usize].arrived();
        let user = &mut self.sessions[session as usize];
        if let Some(took) = user.arrived(flow, segments, at)
            && at >= self.measured_from
            && at <= self.end
        {
            let head = self.groups[user.group as usize].head;
            self.timed.entry(head).or_default().transfers.completed(took);
        }
    }

    /// All that a connection was given is acknowledged.
    pub(crate) fn finished(&mut self, session: u32, flow: u32, now: Time) {
        if let Some(cause) = self.sessions[session as usize].finished(flow) {
            self.react(session, cause, now);
        }
    }

    /// Lets a session do what it does for this reason.
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
                Step::PageSince(since) if now >= self.measured_from => {
                    let head = self.groups[self.sessions[user].group as usize].head;
                    self.timed.entry(head).or_default().pages.completed(now.since(since));
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

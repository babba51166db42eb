//! The sending end of a flow in operation.

use super::protocol::{Datagrams, Protocol};
use super::record::Flow;
use super::stage::{Outlet, Stage};
use crate::app::datagram::Emission;
use crate::event::{Event, Events};
use crate::frames::Frame;
use fairwire_core::Time;
use fairwire_tcp::{Ack, Receiver, Sender};

impl Flow {
    /// Opens a connection. Packets of an earlier connection that are still in flight become stale.
    pub(crate) fn open(&mut self, segments: u64, stage: &mut Stage<'_, impl Events>) {
        let Protocol::Tcp(sender) = &mut self.protocol else { return };
        if sender.has_started() {
            let config = sender.config();
            let next = Sender::without_data(config).counting_from(sender.loss_counts());
            (self.receiver, *sender) = (Receiver::new(config), next);
            self.source.connection = self.source.connection.wrapping_add(1);
        }
        let now = stage.now;
        let mut outlet = Outlet { way: &mut self.source, stage };
        sender.write(segments, now, &mut outlet);
        sender.start(now, &mut outlet);
        self.keep_timer(stage);
    }

    pub(crate) fn write(&mut self, segments: u64, stage: &mut Stage<'_, impl Events>) {
        let Protocol::Tcp(sender) = &mut self.protocol else { return };
        let now = stage.now;
        sender.write(segments, now, &mut Outlet { way: &mut self.source, stage });
        self.keep_timer(stage);
    }

    pub(crate) fn stop(&mut self, now: Time) {
        match &mut self.protocol {
            Protocol::Tcp(sender) => return sender.stop(), // whose timer continues
            Protocol::Datagrams(_) => {}
            Protocol::Outside(outside) => outside.ends.stop(now),
        }
        self.source.wakes_at = Time::MAX;
    }

    /// Returns whether the source acted.
    pub(crate) fn on_wake(&mut self, stage: &mut Stage<'_, impl Events>) -> bool {
        if self.source.wakes_at != stage.now {
            return false;
        }
        self.source.wakes_at = Time::MAX;
        if let Protocol::Outside(_) = self.protocol {
            return self.on_timeout(stage);
        }
        let now = stage.now;
        let mut outlet = Outlet { way: &mut self.source, stage };
        match &mut self.protocol {
            Protocol::Tcp(sender) => {
                let starts = !sender.has_started();
                let is_due = sender.deadline().is_some_and(|due| due <= now);
                if starts {
                    sender.start(now, &mut outlet);
                } else if is_due {
                    sender.on_timeout(now, &mut outlet);
                } // else the timer was deferred since, or stopped
                self.answer_late(now, stage);
                self.keep_timer(stage);
                starts || is_due
            }
            Protocol::Datagrams(source) => {
                let (sent, next) = source.emit(&mut outlet);
                source.bytes.sent += u64::from(sent);
                if let Some(next) = next {
                    self.wake_at(next, stage.index, stage.events);
                }
                true
            }
            Protocol::Outside(_) => unreachable!("its ends were woken"),
        }
    }

    #[inline(always)]
    pub(crate) fn on_ack(&mut self, ack: Ack, stage: &mut Stage<'_, impl Events>) {
        let Protocol::Tcp(sender) = &mut self.protocol else { unreachable!("only TCP is acknowledged") };
        let now = stage.now;
        sender.on_ack(ack, now, &mut Outlet { way: &mut self.source, stage });
        // The receiver's deadline is not read here, because it is in another cache line. A wake was
        // scheduled when the deadline was set.
        let due = sender.deadline().unwrap_or(Time::MAX);
        if due < self.source.wakes_at {
            self.wake_sooner(due, stage);
        }
    }

    #[inline]
    pub(super) fn keep_timer(&mut self, stage: &mut Stage<'_, impl Events>) {
        let Protocol::Tcp(sender) = &self.protocol else { return };
        let due = sender.deadline().unwrap_or(Time::MAX);
        let due = due.min(self.receiver.deadline().unwrap_or(Time::MAX));
        if due < self.source.wakes_at {
            self.wake_sooner(due, stage);
        }
    }

    #[inline(never)] // rare, since a deadline is mostly deferred
    fn wake_sooner(&mut self, at: Time, stage: &mut Stage<'_, impl Events>) {
        self.wake_at(at, stage.index, stage.events);
    }

    /// Schedules a wake that replaces any pending.
    #[inline(always)]
    pub(crate) fn wake_at(&mut self, at: Time, index: u32, events: &mut impl Events) {
        self.source.wakes_at = at;
        events.push_at_host(at, Event::Wake(index), index, self.source.wake);
    }
}

impl Datagrams {
    /// Sends the next packet if it is due. Returns its bytes, and the time of the next wake, if
    /// any.
    #[inline(always)] // called separately
    fn emit(&mut self, outlet: &mut Outlet<'_, '_, impl Events>) -> (u32, Option<Time>) {
        let now = outlet.stage.now;
        let Some(due) = self.pending.take().or_else(|| self.generator.next(now, &mut self.rng)) else {
            return (0, None);
        };
        if due.at > now {
            self.pending = Some(due);
            return (0, Some(due.at));
        }
        let Emission { bytes, conversation, .. } = due;
        let group = outlet.stage.group;
        let ecn = if due.ecn.is_capable() { due.ecn } else { group.plan.ecn };
        outlet.launch(Frame::datagram(outlet.stage.index, conversation, bytes, ecn, group.forward), bytes);
        self.pending = self.generator.next(now, &mut self.rng);
        (bytes, self.pending.map(|next| next.at))
    }
}

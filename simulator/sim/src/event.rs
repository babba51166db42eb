//! Events, and the interface of the event queue.

use fairwire_core::{Ecn, Time};

/// An event of the model. The number names a flow, a session, a link or a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    Arrival(u32),
    /// This link's transmitter becomes free, or a packet waiting there becomes ready.
    LinkFree(u32),
    /// A frame reaches its sink's access link without having crossed a queue.
    Sink(u32),
    /// An acknowledgement, carried by this frame, reaches its sender.
    Ack(u32),
    /// A flow starts, resumes sending, or reaches a timeout.
    Wake(u32),
    Session(u32),
    /// A packet, in this frame, reaches an external endpoint.
    Packet(u32),
}

impl Event {
    /// The number of the event's type, which is below 8, and the number of its subject.
    #[inline(always)]
    pub(crate) fn parts(self) -> (u8, u32) {
        match self {
            Event::Arrival(frame) => (0, frame),
            Event::LinkFree(link) => (1, link),
            Event::Sink(frame) => (2, frame),
            Event::Ack(frame) => (3, frame),
            Event::Wake(flow) => (4, flow),
            Event::Session(session) => (5, session),
            Event::Packet(frame) => (6, frame),
        }
    }

    #[inline(always)]
    pub(crate) fn of((kind, what): (u8, u32)) -> Option<Event> {
        Some(match kind {
            0 => Event::Arrival(what),
            1 => Event::LinkFree(what),
            2 => Event::Sink(what),
            3 => Event::Ack(what),
            4 => Event::Wake(what),
            5 => Event::Session(what),
            6 => Event::Packet(what),
            _ => return None,
        })
    }

    #[inline(always)]
    pub(crate) fn mark(self) -> u32 {
        u32::from(self.parts().0) << 29
    }
}

/// The next event, or none. Its two numbers are returned in registers. In memory, a read of both
/// would stall after two separate writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    time: Time,
    parts: u64,
}

impl Next {
    pub(crate) const NOTHING: Next = Next { time: Time::MAX, parts: u64::MAX };

    #[inline(always)]
    pub(crate) fn new(time: Time, (kind, what): (u8, u32)) -> Self {
        Next { time, parts: u64::from(what) << 8 | u64::from(kind) }
    }

    #[inline(always)]
    pub(crate) fn event(self) -> Option<(Time, Event)> {
        Some((self.time, Event::of((self.parts as u8, (self.parts >> 8) as u32))?))
    }
}

/// A stream of events that come mostly in time order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane(pub(crate) u8);

impl Lane {
    /// No such stream.
    pub(crate) const NONE: Lane = Lane(u8::MAX);
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub(crate) slot: u32,
    pub(crate) ecn: Ecn,
    /// The time at which the packet's last bit reaches the other end.
    pub(crate) reaches: Time,
}

/// Future events. Every implementation gives the results of one total order: by time, then by the
/// tie rule ([`Ties`](crate::ties::Ties)), then by scheduling order.
pub(crate) trait Events: Send + 'static {
    /// A new lane for events at hosts; [`Lane::NONE`] if there are too many.
    fn lane_at_hosts(&mut self) -> Lane;

    fn lane_at_links(&mut self) -> Lane;

    /// Declares that hosts take processing time, so packets arrive at links slightly out of order.
    fn mix_at_links(&mut self);

    fn add_link(&mut self);

    fn push_at_host(&mut self, time: Time, event: Event, identity: u32, lane: Lane);

    fn push_at_link(&mut self, time: Time, event: Event, identity: u32, lane: Lane);

    /// Schedules the time at which `link` next becomes free. Voids the earlier schedule, whose
    /// event may still come up.
    fn push_link_free(&mut self, time: Time, link: u32);

    /// Takes charge of a packet that leaves its last link, if the packet can change nothing before
    /// [`next_left`](Events::next_left) returns it. Otherwise returns false, and the model handles
    /// the packet at once.
    fn put_off(&mut self, link: u32, leaving: Leaving) -> bool;

    /// Begins a turn of events due up to `end`. Returns false if none is left. In a turn, hosts may
    /// run ahead of links. If they do not, [`next_at_links`](Events::next_at_links) returns all
    /// events, in one order.
    fn begin_turn(&mut self, end: Time) -> bool;

    fn next_at_hosts(&mut self, memory: &impl Memory) -> Next;

    /// Takes this turn's next event at links. Invoked only after all events at hosts were taken.
    fn next_at_links(&mut self, memory: &impl Memory) -> Next;

    fn next_left(&mut self, memory: &impl Memory) -> Option<Leaving>;
}

/// The memory that events need. The event queue prefetches it, which changes no result.
pub(crate) trait Memory {
    fn fetch_frame(&self, event: Event);

    /// Prefetches the flow data for `event`, whose frame was prefetched before.
    fn fetch_flow(&self, event: Event);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_put_together_from_its_parts() {
        assert_eq!((Next::NOTHING.event(), Event::of((7, 5))), (None, None));
        for kind in 0..7 {
            assert_eq!(Event::of((kind, 5)).map(Event::parts), Some((kind, 5)));
        }
    }
}

//! The two ends of a flow with external endpoints. They are called as [`Endpoint`] promises, and
//! their answers are checked.

use crate::endpoint::{Endpoint, Endpoints, Packet, Start};
use core::fmt::{self, Display};
use fairwire_core::{Duration, Time};
use fairwire_metrics::Lasted;
use std::ops::RangeInclusive;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowEnd {
    /// The end whose packets are counted.
    First,
    /// The other end, whose packets take the path of acknowledgements.
    Second,
}

/// Sizes that an IP packet can have (RFC 791, RFC 8200), bytes.
const SIZES: RangeInclusive<u32> = 1..=65_535;

/// An end that returns more packets than this at one instant is assumed to loop. The limit is twice
/// a window of 10 Gbit/s over 40 ms.
const MAX_AT_ONCE: u32 = 1 << 16;

/// An end is assumed to loop if it has more timeouts than this within [`IDLE`] without a packet.
const MAX_IDLE: u32 = 1 << 16;
const IDLE: Duration = Duration::from_secs(1);

pub(crate) struct Ends {
    name: &'static str,
    number: u32,
    ends: [End; 2],
    started: Option<Time>,
    took: Option<Took>,
    stopped: Time, // MAX until it is stopped
}

/// The time at which the first end finished, and the duration from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Took {
    pub(crate) at: Time,
    pub(crate) took: Duration,
}

struct End {
    endpoint: Box<dyn Endpoint>,
    due: Time, // MAX when there is no timeout
    is_finished: bool,
    /// The number of timeouts since the last packet in either direction, or since `idle_since` if
    /// that is later.
    idle: u32,
    idle_since: Time,
}

impl Ends {
    pub(crate) fn new(endpoints: &Endpoints, start: Start) -> Self {
        let (name, number) = (endpoints.name(), start.number);
        let end =
            |endpoint| End { endpoint, due: Time::ZERO, is_finished: false, idle: 0, idle_since: Time::ZERO };
        Ends {
            name,
            number,
            ends: endpoints.start(start).map(end),
            started: None,
            took: None,
            stopped: Time::MAX,
        }
    }

    pub(crate) fn is_due(&self, side: FlowEnd, now: Time) -> bool {
        self.ends[side as usize].due <= now
    }

    pub(crate) fn next_timeout(&self) -> Time {
        let [first, second] = &self.ends;
        first.due.min(second.due)
    }

    pub(crate) fn took(&self) -> Option<Took> {
        self.took
    }

    pub(crate) fn lasted(&self, end: Time) -> Vec<Lasted> {
        self.ends.iter().flat_map(|one| one.endpoint.lasted(end.min(self.stopped))).collect()
    }

    pub(crate) fn stop(&mut self, now: Time) {
        self.stopped = now;
        self.ends.iter_mut().for_each(|end| (end.is_finished, end.due) = (true, Time::MAX));
    }

    pub(crate) fn take(&mut self, side: FlowEnd, packet: Packet, now: Time) {
        let end = &mut self.ends[side as usize];
        if !end.is_finished {
            end.idle = 0;
            end.endpoint.on_packet(packet, now);
        }
    }

    /// Lets an end act at `now`, and sends the packets that it returns.
    ///
    /// # Panics
    /// If the end violates the contract of [`Endpoint`]. Otherwise, the simulation might never end.
    pub(crate) fn poll(&mut self, side: FlowEnd, now: Time, mut send: impl FnMut(Packet)) {
        let started = *self.started.get_or_insert(now);
        let who = Who { name: self.name, number: self.number, side };
        let end = &mut self.ends[side as usize];
        if end.is_finished {
            return;
        }
        let mut sent = 0;
        while let Some(packet) = end.endpoint.poll_transmit(now) {
            sent += 1;
            assert!(
                sent <= MAX_AT_ONCE,
                "{who} returned more than {MAX_AT_ONCE} packets at {now}; `poll_transmit` must return `None` when all that is due is sent"
            );
            let bytes = packet.bytes;
            assert!(
                SIZES.contains(&bytes),
                "{who} returned a packet of {bytes} bytes at {now}; allowed: {} to {}",
                SIZES.start(),
                SIZES.end()
            );
            send(packet);
        }
        end.settle(who, sent, now);
        if end.is_finished && side == FlowEnd::First {
            self.took = Some(Took { at: now, took: now.since(started) });
        }
    }
}

impl End {
    fn settle(&mut self, who: Who, sent: u32, now: Time) {
        self.is_finished = self.endpoint.finished();
        let timeout = if self.is_finished { None } else { self.endpoint.next_timeout() };
        self.due = timeout.unwrap_or(Time::MAX);
        assert!(
            self.due > now,
            "{who} returned {} as its next timeout at {now}; allowed: a later time, since `poll_transmit` was just called",
            self.due
        );
        if sent > 0 || now.since(self.idle_since) > IDLE {
            (self.idle, self.idle_since) = (0, now);
        }
        self.idle += 1;
        assert!(
            self.idle <= MAX_IDLE,
            "{who} had more than {MAX_IDLE} timeouts within {IDLE} without a packet, up to {now}; allowed: fewer"
        );
    }
}

#[derive(Clone, Copy)]
struct Who {
    name: &'static str,
    number: u32,
    side: FlowEnd,
}

impl Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Who { name, number, side } = self;
        let side = match side {
            FlowEnd::First => "first",
            FlowEnd::Second => "second",
        };
        write!(f, "the {side} endpoint of flow {number} of `{name}`")
    }
}

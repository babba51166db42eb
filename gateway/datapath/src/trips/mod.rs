//! Round trips and retransmissions, by what passes.
//!
//! A segment that leaves by one port is answered from beyond it. The time between is the round trip
//! of that part of the path. A download leaves towards the inside, so its trips are those between
//! the gateway and the subscriber. Those of an upload are between the gateway and the rest of the
//! network. A trip begins when its segment *leaves*, and ends when the answer *arrives*: waits in
//! the gateway's own queues are no part of it.
//!
//! **How a segment is found again.** By its timestamp, which the other end echoes (RFC 7323,
//! section 4; the method is that of Kathleen Nichols' `pping`): only the first segment with a
//! timestamp is timed, and only its exact echo counts. Where there are no timestamps, by the
//! acknowledgement of its last byte; a retransmission in between voids it, as in Karn's algorithm
//! (RFC 6298, section 3). One segment at a time is timed of each conversation and way. Segments
//! without payload are not timed, for they are not answered at once.
//!
//! **Of QUIC** the spin bit says it (RFC 9000, section 17.4): see [`spin`].
//!
//! **Retransmissions** are segments that begin before the highest byte seen of their conversation
//! and way. One with an older timestamp than the newest was overtaken, and is none.
//!
//! **Who follows the line outside** ([`Trips::listen`]) hears each trip of an upload, and more: of
//! a download the inside sends acknowledgements alone. One whose timestamp is the first of its kind
//! is timed until the data that it releases echoes it, as `pping` does. A sender that has nothing
//! to send then makes such a trip too long, so none of these is counted among the round trips. With
//! each trip goes what it took [at least](RoundTrip::least): the answer was sent after the segment
//! before it in the same way, which did not answer yet. And with it goes what the conversation
//! carried.
//!
//! A host that forges timestamps or acknowledgements changes the numbers of its own class alone.
//! The table is bounded, and its places are found by a hash under keys that no host knows.

mod conversation;
mod spin;
mod table;

pub use table::MAX_CONVERSATIONS;

use crate::account::renumbered;
use crate::sojourn::Sojourns;
use conversation::{Answered, Sent};
use fairwire_core::RoundTrip;
use fairwire_core::{Duration, Time};
use fairwire_wire::Way;
use fairwire_wire::headers::Headers;
use fairwire_wire::quic::QuicPacket;
use fairwire_wire::tcp::Segment;
use spin::Passed;
use std::sync::mpsc::SyncSender;
use table::Table;

/// Round trips and retransmissions of both ways.
#[derive(Debug)]
pub struct Trips {
    table: Table,
    ways: [WayTrips; 2],
    listener: Option<Listener>,
}

/// Hears round trips over the outside, each with the time of its answer. What it has no room for is
/// left out.
pub type Listener = SyncSender<(RoundTrip, Time)>;

/// Round trips and retransmissions of one way.
#[derive(Debug)]
pub struct WayTrips {
    /// Round trips from the port by which the way leaves, and back.
    pub round_trips: Sojourns,
    /// What was counted of TCP.
    pub count: TcpCount,
    /// By the number of the class.
    pub classes: ClassTrips,
}

/// Segments of a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCount {
    /// Segments with payload, SYN or FIN that arrived.
    pub segments: u64,
    /// Of these, segments that were sent again.
    pub retransmitted: u64,
}

/// What was measured of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TripCount {
    /// Round trips.
    pub trips: u64,
    /// Their sum, microseconds.
    pub sum_us: u64,
    /// Segments that arrived again.
    pub retransmitted: u64,
    /// The smoothed round trip, microseconds: of each trip an eighth (RFC 6298, section 2).
    pub smoothed_us: u32,
}

/// What was measured, by the number of the class.
#[derive(Debug)]
pub struct ClassTrips {
    all: Box<[TripCount]>,
    gone: TripCount,
}

/// A segment whose departure is waited for; 0 for none.
pub(crate) type Ticket = u32;

/// The trips, for a direction of the way.
pub struct TripsOf<'a> {
    trips: &'a mut Trips,
    way: Way,
}

impl Trips {
    /// Nothing yet, of `classes` classes. 2 MiB for conversations, taken now.
    pub fn new(classes: usize) -> Self {
        Trips {
            table: Table::new(MAX_CONVERSATIONS),
            ways: [(); 2].map(|()| WayTrips::new(classes)),
            listener: None,
        }
    }

    /// For the direction of `way`.
    pub fn of(&mut self, way: Way) -> TripsOf<'_> {
        TripsOf { trips: self, way }
    }

    /// From now on `listener` hears the round trips over the outside; without one none does.
    pub fn listen(&mut self, listener: Option<Listener>) {
        self.listener = listener;
    }

    /// What was measured of `way`.
    pub fn way(&self, way: Way) -> &WayTrips {
        &self.ways[way as usize]
    }

    /// Goes on with the `classes` of another configuration, where class n is now `class_map[n]`.
    /// Returns what was in use.
    pub fn replace_classes(&mut self, classes: [ClassTrips; 2], class_map: &[u32]) -> [ClassTrips; 2] {
        let mut places = self.ways.iter_mut();
        classes.map(|mut new| {
            let Some(place) = places.next() else { return new };
            new.add_renumbered(&place.classes, class_map);
            std::mem::replace(&mut place.classes, new)
        })
    }

    /// The number of `class` is vacant from now on, or another's.
    pub fn vacate(&mut self, class: u32) {
        for ClassTrips { all, gone } in self.ways.iter_mut().map(|way| &mut way.classes) {
            gone.add(&all.get_mut(class as usize).map(std::mem::take).unwrap_or_default());
        }
    }
}

impl TripsOf<'_> {
    /// A segment of `class` arrives in `frame`, whose parts have `part_bytes` of payload each; 0
    /// where it is no super-packet. Returns the ticket of its first part, where that is timed.
    #[inline]
    pub(crate) fn arrives(
        &mut self,
        frame: &[u8],
        headers: &Headers,
        part_bytes: u32,
        class: u32,
        now: Time,
    ) -> Ticket {
        match Segment::of(frame, headers) {
            Some(segment) => self.takes(&segment, frame, headers, part_bytes, class, now),
            None => 0,
        }
    }

    fn takes(
        &mut self,
        segment: &Segment,
        frame: &[u8],
        headers: &Headers,
        part_bytes: u32,
        class: u32,
        now: Time,
    ) -> Ticket {
        let Trips { table, ways, listener } = &mut *self.trips;
        let (own, other) = (self.way as usize, 1 - self.way as usize);
        let parts = |bytes: u32| if part_bytes == 0 { 1 } else { bytes.div_ceil(part_bytes).max(1) };
        let has_bytes = segment.span() > 0;
        if has_bytes {
            ways[own].count.segments += u64::from(parts(segment.payload_bytes));
        }
        let hash = table.hash(frame, headers, self.way);
        let Some((place, conversation)) = table.find(hash, has_bytes, now) else { return 0 };
        conversation.carried = conversation.carried.saturating_add(frame.len() as u32);
        if let Some(Answered { trip, least, had_payload }) = conversation.answered(other, segment, now) {
            if had_payload {
                ways[other].round_trips.record(now, trip);
                ways[other].classes.entry(class).add_trip(trip);
            }
            if let Some(listener) = listener.as_ref().filter(|_| self.way == Way::Download) {
                let bytes = std::mem::take(&mut conversation.carried);
                // Where it is full, enough was heard.
                let _ = listener
                    .try_send((RoundTrip { peer: (hash >> 32) as u32, time: trip, least, bytes }, now));
            }
        }
        if !has_bytes {
            let is_heard = listener.is_some() && self.way == Way::Upload;
            let timed = if is_heard { conversation.acknowledges(own, segment, now) } else { None };
            return timed.map_or(0, |number| Table::ticket(place, number));
        }
        let sent = conversation.sent(own, segment, part_bytes, now);
        if let Sent::Again(bytes) = sent {
            let again = u64::from(parts(bytes));
            ways[own].count.retransmitted += again;
            ways[own].classes.entry(class).retransmitted += again;
        }
        if let Sent::Timed(number) = sent { Table::ticket(place, number) } else { 0 }
    }

    /// A datagram of `class` arrives in `frame`: where it is QUIC, its spin bit may begin a trip
    /// and end one. Returns its ticket, where it begins one.
    #[inline]
    pub(crate) fn spins(&mut self, frame: &[u8], headers: &Headers, class: u32, now: Time) -> Ticket {
        match QuicPacket::of(frame, headers) {
            Some(packet) => self.passes(packet, frame, headers, class, now),
            None => 0,
        }
    }

    fn passes(
        &mut self,
        packet: QuicPacket,
        frame: &[u8],
        headers: &Headers,
        class: u32,
        now: Time,
    ) -> Ticket {
        let Trips { table, ways, .. } = &mut *self.trips;
        let (own, other) = (self.way as usize, 1 - self.way as usize);
        // A short header has little to be known by: its conversation began with a long one.
        let hash = table.hash_of_quic(frame, headers, self.way);
        let opens = packet == QuicPacket::Long;
        let Some((place, conversation)) = table.find(hash, opens, now) else { return 0 };
        let QuicPacket::Short { spin } = packet else {
            conversation.spin().shakes_hands(own);
            return 0;
        };
        let Passed { trip, number } = conversation.spin().passes(own, spin, now);
        if let Some(trip) = trip {
            ways[other].round_trips.record(now, trip);
            ways[other].classes.entry(class).add_trip(trip);
        }
        number.map_or(0, |number| Table::ticket(place, number))
    }

    /// The segment with `ticket` leaves.
    #[inline]
    pub(crate) fn leaves(&mut self, ticket: Ticket, now: Time) {
        if ticket != 0 {
            self.trips.table.leaves(ticket, self.way as usize, now);
        }
    }
}

impl WayTrips {
    fn new(classes: usize) -> Self {
        WayTrips {
            round_trips: Sojourns::new(),
            count: TcpCount::default(),
            classes: ClassTrips::new(classes),
        }
    }
}

impl TripCount {
    fn add_trip(&mut self, trip: Duration) {
        let us = u32::try_from(trip.ns() / 1000).unwrap_or(u32::MAX);
        self.smoothed_us = match self.trips {
            0 => us,
            _ => ((u64::from(self.smoothed_us) * 7 + u64::from(us) + 4) / 8) as u32,
        };
        self.trips += 1;
        self.sum_us += u64::from(us);
    }

    /// Adds all that `other` counted; the smoothed trip is then that of the one with more trips.
    pub fn add(&mut self, other: &TripCount) {
        if other.trips > self.trips {
            self.smoothed_us = other.smoothed_us;
        }
        self.trips += other.trips;
        self.sum_us += other.sum_us;
        self.retransmitted += other.retransmitted;
    }
}

impl ClassTrips {
    /// Nothing yet, of `classes` classes, at least one.
    pub fn new(classes: usize) -> Self {
        ClassTrips { all: vec![TripCount::default(); classes.max(1)].into(), gone: TripCount::default() }
    }

    /// What was measured of `class`, to be added to; a number that there is not counts as the
    /// first.
    #[inline]
    fn entry(&mut self, class: u32) -> &mut TripCount {
        let place = if (class as usize) < self.all.len() { class as usize } else { 0 };
        &mut self.all[place]
    }

    /// All of them.
    pub fn all(&self) -> &[TripCount] {
        &self.all
    }

    /// What was measured of classes that left their numbers to others, or are gone.
    pub fn gone(&self) -> &TripCount {
        &self.gone
    }

    /// Adds what `before` counted, where class n of it is now `map[n]`. What is gone counts as
    /// unclaimed.
    fn add_renumbered(&mut self, before: &ClassTrips, map: &[u32]) {
        for (class, count) in before.all.iter().enumerate() {
            self.entry(renumbered(class as u32, map)).add(count);
        }
        self.gone.add(&before.gone);
    }
}

#[cfg(test)]
mod tests;

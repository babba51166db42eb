//! Round trips and retransmissions, measured from passing packets.
//!
//! A trip begins when its segment *leaves* by a port, and ends when the answer *arrives* at that
//! port. So it excludes waits in the gateway's queues. Trips of downloads are between the gateway
//! and the subscriber. Trips of uploads are between the gateway and the rest of the network.
//!
//! **Matching answers.** The other end echoes a segment's timestamp (RFC 7323, section 4; Kathleen
//! Nichols' `pping` does the same). Of several segments with one timestamp, only the first is
//! timed, and only the exact echo counts. Without timestamps, the acknowledgement of the segment's
//! last byte counts, unless a retransmission in between voids it (Karn's algorithm: RFC 6298,
//! section 3). One segment at a time is timed per conversation and direction. Bare acknowledgements
//! are timed only for a listener.
//!
//! **Retransmissions** are segments that begin before the highest byte observed in their
//! conversation and direction. A segment whose timestamp is older than the newest was overtaken,
//! and does not count.
//!
//! **A listener** ([`Trips::listen`]) receives the round trips over the outside line. For uploads,
//! these are the trips described above. In a download, the inside sends only acknowledgements. A
//! trip then lasts from the first acknowledgement with a new timestamp to the data that echoes the
//! timestamp. Such a trip is too long if the sender has no data for a while, so only the listener
//! gets it.
//!
//! The [lower bound](RoundTrip::least) of a trip is the time from the segment's departure to the
//! arrival of the last packet before the answer. The other end sent that packet before it received
//! the segment, and packets stay in order.
//!
//! A host that forges timestamps or acknowledgements changes the numbers of no other class.

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

/// Round trips and retransmissions of both directions.
#[derive(Debug)]
pub struct Trips {
    table: Table,
    ways: [WayTrips; 2],
    listener: Option<Listener>,
}

/// Receives round trips over the outside line, each with the time of its answer. If the channel is
/// full, trips are dropped.
pub type Listener = SyncSender<(RoundTrip, Time)>;

/// Round trips and retransmissions of one direction.
#[derive(Debug)]
pub struct WayTrips {
    /// Round trips that begin and end at the port by which the direction's packets leave.
    pub round_trips: Sojourns,
    /// Counts of TCP segments.
    pub count: TcpCount,
    /// Counts by class number.
    pub classes: ClassTrips,
}

/// Segments of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCount {
    /// Segments with payload, SYN or FIN that arrived.
    pub segments: u64,
    /// The retransmissions among `segments`.
    pub retransmitted: u64,
}

/// Measurements of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TripCount {
    /// Round trips.
    pub trips: u64,
    /// The sum of the trips, in microseconds.
    pub sum_us: u64,
    /// Retransmissions that arrived.
    pub retransmitted: u64,
    /// The smoothed round trip, in microseconds. Each new trip weighs an eighth (RFC 6298, section
    /// 2).
    pub smoothed_us: u32,
}

/// Measurements by class number.
#[derive(Debug)]
pub struct ClassTrips {
    all: Box<[TripCount]>,
    gone: TripCount,
}

/// Identifies a segment whose departure is awaited; 0 if there is none.
pub(crate) type Ticket = u32;

/// Records the packets of one direction in [`Trips`].
pub struct TripsOf<'a> {
    trips: &'a mut Trips,
    way: Way,
}

impl Trips {
    /// Starts without measurements, for `classes` classes. Allocates 2 MiB for conversations.
    pub fn new(classes: usize) -> Self {
        Trips {
            table: Table::new(MAX_CONVERSATIONS),
            ways: [(); 2].map(|()| WayTrips::new(classes)),
            listener: None,
        }
    }

    /// Records the packets of direction `way`.
    pub fn of(&mut self, way: Way) -> TripsOf<'_> {
        TripsOf { trips: self, way }
    }

    /// Sets the `listener`, which receives the round trips over the outside line.
    pub fn listen(&mut self, listener: Option<Listener>) {
        self.listener = listener;
    }

    /// Measurements of `way`.
    pub fn way(&self, way: Way) -> &WayTrips {
        &self.ways[way as usize]
    }

    /// Installs `classes` of another configuration with the present counts: class n becomes
    /// `class_map[n]`. Returns the previous classes.
    pub fn replace_classes(&mut self, classes: [ClassTrips; 2], class_map: &[u32]) -> [ClassTrips; 2] {
        let mut places = self.ways.iter_mut();
        classes.map(|mut new| {
            let Some(place) = places.next() else { return new };
            new.add_renumbered(&place.classes, class_map);
            std::mem::replace(&mut place.classes, new)
        })
    }

    /// Frees the number of `class` for another class.
    pub fn vacate(&mut self, class: u32) {
        for ClassTrips { all, gone } in self.ways.iter_mut().map(|way| &mut way.classes) {
            gone.add(&all.get_mut(class as usize).map(std::mem::take).unwrap_or_default());
        }
    }
}

impl TripsOf<'_> {
    /// Records an arriving segment of `class`. `part_bytes` is the payload per segment of a
    /// super-packet; 0 for other frames. Returns the first segment's ticket, or 0 if untimed.
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
                // If the channel is full, enough trips were reported.
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

    /// Takes an arriving QUIC packet of `class`, whose spin bit may end a trip. Returns the ticket
    /// of the trip that the packet begins, or 0.
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
        // A short header cannot identify a packet as QUIC, so only a long header opens a
        // conversation.
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

    /// Adds the counts of `other`. The smoothed trip comes from the count with more trips.
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
    /// Starts without measurements, for `classes` classes, but at least one.
    pub fn new(classes: usize) -> Self {
        ClassTrips { all: vec![TripCount::default(); classes.max(1)].into(), gone: TripCount::default() }
    }

    #[inline]
    fn entry(&mut self, class: u32) -> &mut TripCount {
        let place = if (class as usize) < self.all.len() { class as usize } else { 0 };
        &mut self.all[place]
    }

    /// The measurements of all classes.
    pub fn all(&self) -> &[TripCount] {
        &self.all
    }

    /// Measurements of classes that were removed or lost their numbers.
    pub fn gone(&self) -> &TripCount {
        &self.gone
    }

    /// Adds the counts of `before`, whose class n is now `map[n]`. Counts of removed classes go to
    /// unclaimed traffic.
    fn add_renumbered(&mut self, before: &ClassTrips, map: &[u32]) {
        for (class, count) in before.all.iter().enumerate() {
            self.entry(renumbered(class as u32, map)).add(count);
        }
        self.gone.add(&before.gone);
    }
}

#[cfg(test)]
mod tests;

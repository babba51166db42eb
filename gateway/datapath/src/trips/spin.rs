//! Round trips of QUIC, by its spin bit (RFC 9000, section 17.4; for observers RFC 9312, section
//! 3.8.2).
//!
//! A server sends back the last spin bit that it received, and a client the inverse. So an edge, a
//! change of the bit, circles between the ends once per round trip. An edge that leaves by a port
//! comes back to that port after the round trip beyond the port.
//!
//! Edges are wrong if packets overtake one another, or if ends randomize the bit, as RFC 9000
//! recommends for one in 16 paths or connection IDs. Edges are late if an end had nothing to send.
//! Hence:
//! - Two edges in a row in one direction are a contradiction. No trip counts until [`SURE`] trips
//!   in a row are consistent.
//! - The answer may be late by at most the time since the previous packet of its direction. If this
//!   time is more than a quarter of the trip, the trip does not count. So no trip is more than a
//!   third too long.

use fairwire_core::{Duration, Time};

/// A QUIC conversation's state. Times are in microseconds, which wrap after 71 minutes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spin {
    /// The departure of the last edge, or its arrival if it has not left.
    since: u32,
    came: [u32; 2],
    last: [Last; 2],
    edge: Edge,
    /// Counts edges, so a late departure is not assigned to another edge.
    number: u8,
    /// Trips since the last contradiction.
    trips: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    None,
    Long,
    Spin(bool),
}

/// The last unanswered edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Edge {
    #[default]
    None,
    /// The edge waits in the gateway, in the direction with this number.
    Waits(u8),
    Left(u8),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    /// The round trip that the packet ends. The trip belongs to the other direction.
    pub trip: Option<Duration>,
    /// The number under which the packet is timed.
    pub number: Option<u8>,
}

/// The number of consistent trips in a row that must precede a counted trip. With a randomized bit,
/// half of the packets are edges, and hardly any conversation reaches this number.
const SURE: u8 = 4;
const MAX_TRIP_US: u32 = 10_000_000;

fn us(now: Time) -> u32 {
    (now.ns() / 1000) as u32
}

impl Spin {
    pub(super) fn is_mutual(&self) -> bool {
        self.last.iter().all(|last| *last != Last::None)
    }

    pub(super) fn shakes_hands(&mut self, way: usize) {
        if self.last[way] == Last::None {
            self.last[way] = Last::Long;
        }
    }

    pub(super) fn passes(&mut self, way: usize, spin: bool, now: Time) -> Passed {
        let now = us(now);
        let before = std::mem::replace(&mut self.came[way], now);
        let is_edge = std::mem::replace(&mut self.last[way], Last::Spin(spin)) == Last::Spin(!spin);
        if !is_edge {
            return Passed::default();
        }
        let trip = match self.edge {
            Edge::Waits(of) | Edge::Left(of) if usize::from(of) == way => {
                (self.edge, self.trips) = (Edge::None, 0);
                return Passed::default();
            }
            Edge::Left(_) => self.trip(now, before),
            Edge::None | Edge::Waits(_) => None,
        };
        self.number = self.number.wrapping_add(1);
        (self.edge, self.since) = (Edge::Waits(way as u8), now);
        Passed { trip, number: Some(self.number) }
    }

    /// Returns the trip that ends at `now`, if the trip counts. The packet before the answer
    /// arrived at `before`.
    fn trip(&mut self, now: u32, before: u32) -> Option<Duration> {
        self.trips = self.trips.saturating_add(1);
        let [trip, silence] = [self.since, before].map(|since| now.wrapping_sub(since));
        let counts = self.trips > SURE && trip <= MAX_TRIP_US && silence <= trip / 4;
        counts.then(|| Duration::from_us(trip.into()))
    }

    pub(super) fn leaves(&mut self, way: usize, number: u8, now: Time) {
        if self.edge == Edge::Waits(way as u8) && self.number == number {
            (self.edge, self.since) = (Edge::Left(way as u8), us(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection whose ends send packets `every` microseconds apart.
    struct Path {
        spin: Spin,
        every: u64,
        /// Round trips, in microseconds, from the gateway to the inside and outside.
        trips: [u64; 2],
        counted: [Vec<u64>; 2],
    }

    impl Path {
        fn new(every: u64) -> Self {
            let mut spin = Spin::default();
            (0..2).for_each(|way| spin.shakes_hands(way));
            Path { spin, every, trips: [3000, 40_000], counted: Default::default() }
        }

        /// `edit` changes the bits before the gateway receives them.
        fn run(&mut self, steps: u64, edit: &mut dyn FnMut(usize, bool) -> bool) {
            // Direction 0 leads to the client.
            let mut seen: [Vec<(u64, bool)>; 2] = Default::default();
            for now in (0..steps).map(|step| step * self.every) {
                for way in [0, 1] {
                    let heard =
                        seen[1 - way].iter().rev().find(|(left, _)| left + self.trips[1 - way] <= now);
                    let bit = heard.is_some_and(|(_, bit)| if way == 1 { !bit } else { *bit });
                    seen[way].push((now, bit));
                    let Passed { trip, number } =
                        self.spin.passes(way, edit(way, bit), Time::from_ns(now * 1000));
                    self.counted[1 - way].extend(trip.map(|trip| trip.ns() / 1000));
                    if let Some(number) = number {
                        self.spin.leaves(way, number, Time::from_ns(now * 1000));
                    }
                }
            }
        }
    }

    #[test]
    fn the_travelling_spin_edge_times_both_parts_of_the_path() {
        let mut path = Path::new(500);
        path.run(10_000, &mut |_, bit| bit);
        // A trip ends with the next packet of its direction, up to 500 us late.
        for (counted, true_us) in path.counted.iter().zip([3000, 40_000]) {
            assert!(counted.len() > 100, "{}", counted.len());
            assert!(counted.iter().all(|us| (true_us..=true_us + 500).contains(us)), "{counted:?}");
        }
    }

    #[test]
    fn ends_that_seldom_send_are_not_timed() {
        let mut path = Path::new(11_000);
        path.run(10_000, &mut |_, bit| bit);
        assert!(path.counted[0].is_empty(), "{:?}", path.counted[0]);
        assert!(path.counted[1].iter().all(|us| *us < 54_000), "at most a third too long");
    }

    #[test]
    fn ends_with_a_random_spin_bit_are_not_timed() {
        let mut random = fairwire_core::Seed(7).stream("spin");
        let mut path = Path::new(500);
        path.run(100_000, &mut |_, _| random.next_u64() & 1 == 1);
        let counted = path.counted.iter().map(Vec::len).sum::<usize>();
        assert!(counted < 1000, "{counted} of 100 000 packets each way");
        let mut path = Path::new(500);
        path.run(10_000, &mut |_, _| false);
        assert_eq!(path.counted.map(|counted| counted.len()), [0, 0]);
    }

    #[test]
    fn a_spin_edge_lost_in_the_gateway_starts_no_trip_and_the_next_one_does() {
        let mut spin = Spin { trips: SURE, ..Spin::default() };
        let at = |us: u64| Time::from_ns(us * 1000);
        for way in [0, 1] {
            spin.passes(way, false, at(0));
        }
        let first = spin.passes(0, true, at(10)).number.expect("an edge");
        assert_eq!(spin.passes(1, true, at(19)).trip, None, "the edge did not leave");
        spin.leaves(0, first, at(20)); // too late: it is already answered
        let second = spin.passes(0, false, at(30)).number.expect("an edge");
        assert_ne!(first, second);
        spin.leaves(0, second, at(100));
        spin.passes(1, true, at(190));
        assert_eq!(spin.passes(1, false, at(200)).trip, Some(Duration::from_us(100)));
    }
}

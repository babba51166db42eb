//! Observes both ends of a bottleneck: the arrivals at a kernel's discipline, and its departures.

use super::tally::{FlowTally, Tally};
use fairwire_core::{Duration, Ecn, Time};
use fairwire_testbed::path::FaultCounts;
use std::collections::BTreeMap;
use std::ops::Range;

/// The packets that the sockets observe, matched between both ends of the bottleneck.
pub(crate) struct WatchedPackets {
    /// The source port of flow 0. The other flows have the next ports.
    first_port: u16,
    flows: u16,
    /// The times of arrival and departure of each packet that left during the measurement.
    stays: Vec<(Time, Time)>,
    measured: Range<Time>,
    /// Arrival times of waiting packets, by [`Name`]. No two packets in the network have equal
    /// names.
    waiting: BTreeMap<Name, Time>,
    on_wire: Option<OnWire>,
    tally: Tally,
}

#[derive(Default)]
struct OnWire {
    /// The shortest delay of a packet that counts as held back. `None` if no packets are held back.
    is_late: Option<Duration>,
    /// Packets in order of departure: source port, departure time, and delay.
    crossings: Vec<(u16, Time, Option<Duration>)>,
    /// The index in `crossings` of the latest packet with each name.
    places: BTreeMap<Name, usize>,
}

/// A packet's source port and its IPv4 identification.
type Name = (u16, u16);

/// A data packet of a contest, as observed at an end of the bottleneck or at the end of its wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    /// Its source port.
    pub port: u16,
    /// The IPv4 identification.
    pub identification: u16,
    pub ecn: Ecn,
    /// Bytes, including the Ethernet header.
    pub bytes: u64,
}

impl Passing {
    fn name(&self) -> Name {
        (self.port, self.identification)
    }
}

impl WatchedPackets {
    pub(crate) fn new(first_port: u16, flows: usize, measured: Range<Time>) -> Self {
        WatchedPackets {
            first_port,
            flows: flows as u16,
            stays: Vec::new(),
            measured,
            waiting: BTreeMap::new(),
            on_wire: None,
            tally: Tally {
                delivered_bytes: vec![0; flows],
                flows: vec![FlowTally::default(); flows],
                ..Tally::default()
            },
        }
    }

    pub(crate) fn with_wire(mut self, is_late: Option<Duration>) -> Self {
        self.on_wire = Some(OnWire { is_late, ..OnWire::default() });
        self.tally.faults.lost_of = vec![0; usize::from(self.flows)];
        self
    }

    pub(crate) fn passing(&self, frame: &[u8]) -> Option<Passing> {
        let headers = fairwire_wire::parse(frame);
        let ip = headers.network.as_ref()?.offset;
        let port = headers.transport.as_ref()?.ports.source;
        let identification = u16::from_be_bytes(*frame.get(ip + 4..)?.first_chunk()?);
        let is_ours = (self.first_port..self.first_port + self.flows).contains(&port);
        is_ours.then(|| Passing { port, identification, ecn: headers.ecn(), bytes: frame.len() as u64 })
    }

    pub(crate) fn number(&self, port: u16) -> usize {
        usize::from(port - self.first_port)
    }

    fn flow(&mut self, port: u16) -> &mut FlowTally {
        let number = self.number(port);
        &mut self.tally.flows[number]
    }

    pub(crate) fn delivered(&mut self, flow: usize, bytes: u64, now: Time) {
        if self.measured.contains(&now) {
            self.tally.delivered_bytes[flow] += bytes;
        }
    }

    /// Records that a packet arrived at the bottleneck.
    pub(crate) fn came(&mut self, packet: Passing, now: Time) {
        let name = packet.name();
        let is_measured = u64::from(self.measured.contains(&now));
        self.tally.arrived += is_measured;
        self.flow(name.0).arrived += is_measured;
        // If an earlier packet of this name still waits, that packet was dropped, since its flow
        // has sent 65 536 further packets.
        if self.waiting.insert(name, now).is_some_and(|before| self.measured.contains(&before)) {
            self.dropped(name.0);
        }
    }

    fn dropped(&mut self, port: u16) {
        self.tally.dropped += 1;
        self.flow(port).dropped += 1;
    }

    /// Records that a packet started to leave the bottleneck.
    pub(crate) fn left(&mut self, packet: Passing, now: Time) {
        let Passing { port, ecn, bytes, .. } = packet;
        let Some(came) = self.waiting.remove(&packet.name()) else { return };
        let is_measured = self.measured.contains(&now);
        if let Some(OnWire { crossings, places, .. }) = &mut self.on_wire {
            if is_measured {
                places.insert(packet.name(), crossings.len());
                crossings.push((port, now, None));
            } else {
                places.remove(&packet.name()); // or an earlier packet would get its fate
            }
        }
        if is_measured {
            self.tally.waits_ns.push(now.since(came).ns());
            self.stays.push((came, now));
            self.tally.marked += u64::from(ecn == Ecn::Ce);
            let flow = self.flow(port);
            flow.marked += u64::from(ecn == Ecn::Ce);
            flow.left += 1;
            flow.left_bytes += bytes;
        }
    }

    /// Records that a packet arrived at the end of the wire.
    pub(crate) fn arrived(&mut self, packet: Passing, now: Time) {
        let Some(OnWire { crossings, places, .. }) = &mut self.on_wire else { return };
        let Some((_, left, took)) = places.get(&packet.name()).map(|place| &mut crossings[*place]) else {
            return;
        };
        match took {
            None => *took = Some(now.since(*left)),
            Some(_) => self.tally.faults.duplicated += 1,
        }
    }

    /// True once `drain` has passed after the measurement. Then no packet is queued.
    pub(crate) fn is_settled(&self, now: Time, drain: Duration) -> bool {
        now >= self.measured.end + drain
    }

    /// The tally. Packets that still wait in the bottleneck count as dropped.
    pub(crate) fn finish(mut self) -> Tally {
        let lost: Vec<u16> = self
            .waiting
            .iter()
            .filter(|(_, came)| self.measured.contains(came))
            .map(|((port, _), _)| *port)
            .collect();
        lost.into_iter().for_each(|port| self.dropped(port));
        let OnWire { is_late, crossings, .. } = self.on_wire.take().unwrap_or_default();
        for (port, _, took) in crossings {
            let number = self.number(port);
            let FaultCounts { lost, lost_of, held_back, .. } = &mut self.tally.faults;
            match took {
                None => {
                    *lost += 1;
                    lost_of[number] += 1;
                }
                Some(took) => *held_back += u64::from(is_late.is_some_and(|least| took >= least)),
            }
            self.tally.crossed_ns.push(took.map(Duration::ns));
        }
        self.tally.most_waiting = most_at_once(&self.stays);
        self.tally
    }
}

/// The maximum number of waiting packets. At equal times, departures precede arrivals.
fn most_at_once(stays: &[(Time, Time)]) -> u64 {
    let mut steps: Vec<(Time, i64)> =
        stays.iter().flat_map(|(came, left)| [(*came, 1), (*left, -1)]).collect();
    steps.sort_unstable();
    let mut there = 0i64;
    steps
        .iter()
        .map(|(_, step)| {
            there += step;
            there.unsigned_abs()
        })
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_wire::set_ecn;

    const FIRST_PORT: u16 = 10_001;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn seen() -> WatchedPackets {
        WatchedPackets::new(FIRST_PORT, 2, at(10)..at(100))
    }

    fn nothing() -> Tally {
        Tally { delivered_bytes: vec![0; 2], flows: vec![FlowTally::default(); 2], ..Tally::default() }
    }

    fn frame(port: u16, number: u16) -> Vec<u8> {
        // Ethernet, IPv4 (ECT(0), 28 bytes, UDP), and UDP.
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        frame.extend([0x45, 2, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0, 0, 0, 7, 0, 8, 0, 0]);
        frame[18..20].copy_from_slice(&number.to_be_bytes());
        frame[34..36].copy_from_slice(&port.to_be_bytes());
        frame
    }

    fn came(seen: &mut WatchedPackets, frame: &[u8], now: Time) {
        seen.passing(frame).into_iter().for_each(|packet| seen.came(packet, now));
    }

    fn left(seen: &mut WatchedPackets, frame: &[u8], now: Time) {
        seen.passing(frame).into_iter().for_each(|packet| seen.left(packet, now));
    }

    #[test]
    fn packets_that_leave_have_waited_and_others_were_dropped() {
        let mut seen = seen();
        came(&mut seen, &frame(FIRST_PORT, 7), at(20));
        came(&mut seen, &frame(FIRST_PORT + 1, 7), at(21)); // another flow with the same number
        left(&mut seen, &frame(FIRST_PORT + 1, 7), at(24));
        let tally = seen.finish();
        assert_eq!((tally.arrived, tally.dropped, tally.marked), (2, 1, 0));
        assert_eq!(tally.waits_ns, [3_000_000]);
    }

    #[test]
    fn a_repeated_number_shows_that_the_first_packet_was_dropped() {
        let mut seen = seen();
        came(&mut seen, &frame(FIRST_PORT, 7), at(20));
        came(&mut seen, &frame(FIRST_PORT, 7), at(30));
        left(&mut seen, &frame(FIRST_PORT, 7), at(31));
        let tally = seen.finish();
        assert_eq!((tally.arrived, tally.dropped, tally.waits_ns), (2, 1, vec![1_000_000]));
    }

    #[test]
    fn warm_up_and_foreign_packets_do_not_count() {
        let mut seen = seen();
        came(&mut seen, &frame(FIRST_PORT, 1), at(9));
        came(&mut seen, &frame(FIRST_PORT + 2, 2), at(20));
        assert_eq!(seen.finish(), nothing());
    }

    #[test]
    fn fates_on_the_wire_are_known_from_arrivals_at_its_end() {
        let mut seen = seen().with_wire(Some(Duration::from_ms(5)));
        let arrived = |seen: &mut WatchedPackets, number, now| {
            let packet = seen.passing(&frame(FIRST_PORT, number)).expect("it is ours");
            seen.arrived(packet, now);
        };
        for number in 1..=3 {
            came(&mut seen, &frame(FIRST_PORT, number), at(20));
            left(&mut seen, &frame(FIRST_PORT, number), at(20));
        }
        arrived(&mut seen, 1, at(21));
        arrived(&mut seen, 1, at(21));
        arrived(&mut seen, 2, at(26));
        arrived(&mut seen, 9, at(26)); // it left in the warm-up
        let expected = FaultCounts { lost: 1, lost_of: vec![1, 0], held_back: 1, duplicated: 1 };
        let tally = seen.finish();
        assert_eq!(
            (tally.faults, tally.crossed_ns),
            (expected, vec![Some(1_000_000), Some(6_000_000), None])
        );
    }

    #[test]
    fn a_number_repeated_after_the_end_is_another_packet() {
        let mut seen = seen().with_wire(None);
        for (number, is_lost) in [(1, false), (2, true)] {
            let frame = frame(FIRST_PORT, number);
            for ms in [20, 5_000] {
                came(&mut seen, &frame, at(ms));
                left(&mut seen, &frame, at(ms));
                if ms == 5_000 || !is_lost {
                    let packet = seen.passing(&frame).expect("it is one of ours");
                    seen.arrived(packet, at(ms));
                }
            }
        }
        let expected = FaultCounts { lost: 1, lost_of: vec![1, 0], held_back: 0, duplicated: 0 };
        assert_eq!(seen.finish().faults, expected);
    }

    #[test]
    fn a_mark_is_observed_at_the_departure() {
        let mut seen = seen();
        let mut frame = frame(FIRST_PORT, 1);
        came(&mut seen, &frame, at(20));
        let headers = fairwire_wire::parse(&frame);
        set_ecn(&mut frame, &headers, Ecn::Ce);
        left(&mut seen, &frame, at(20));
        assert_eq!(seen.finish().marked, 1);
    }
}

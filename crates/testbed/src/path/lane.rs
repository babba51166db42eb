//! One direction of a path: frames wait here until they are due.

use super::Lane;
use crate::traffic::flow_of;
use fairwire_core::rng::Rng;
use fairwire_core::{Duration, Seed, Time};
use fairwire_wire::headers::{Headers, parse};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes that may be under way in a direction: 1 Gbit/s for half a second, and as much again.
pub(super) const MAX_BYTES: usize = 128 << 20;

/// Frames under way, the next one due first.
#[derive(Debug)]
pub(super) struct Held {
    delays: Vec<Duration>,
    others: Duration,
    loss: f64,
    rng: Rng,
    frames: BinaryHeap<Reverse<Travelling>>,
    bytes: usize,
    most_bytes: usize,
    /// Frames taken so far.
    taken: u64,
    /// Frames that were drawn to be lost.
    pub lost: u64,
    /// Frames that found no room.
    pub overflowed: u64,
}

/// Ordered by when it is due, and then by when it came.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Travelling {
    due: Time,
    number: u64,
    frame: Box<[u8]>,
}

impl Held {
    /// Nothing yet; `name` is that of its random stream.
    pub(super) fn new(lane: &Lane, seed: Seed, name: &str) -> Self {
        Held {
            delays: lane.flows_ns.iter().map(|ns| Duration::from_ns(*ns)).collect(),
            others: Duration::from_ns(lane.others_ns),
            loss: lane.loss,
            rng: seed.stream(name),
            frames: BinaryHeap::new(),
            bytes: 0,
            most_bytes: MAX_BYTES,
            taken: 0,
            lost: 0,
            overflowed: 0,
        }
    }

    /// Takes a frame that came at `now`.
    pub(super) fn push(&mut self, frame: &[u8], now: Time) {
        let headers = parse(frame);
        if self.loss > 0.0 && headers.is_ip() && self.rng.chance(self.loss) {
            self.lost += 1;
        } else if self.bytes + frame.len() > self.most_bytes {
            self.overflowed += 1;
        } else {
            self.bytes += frame.len();
            let due = now + self.delay(&headers);
            self.frames.push(Reverse(Travelling { due, number: self.taken, frame: frame.into() }));
            self.taken += 1;
        }
    }

    /// A flow is known by its port, whichever way the packet goes.
    fn delay(&self, headers: &Headers) -> Duration {
        let ports = headers.transport.map(|transport| transport.ports);
        let of = |port: u16| flow_of(port, self.delays.len());
        let flow = ports.and_then(|ports| of(ports.source).or_else(|| of(ports.destination)));
        flow.map_or(self.others, |flow| self.delays[flow])
    }

    /// The next frame that is due at `now`.
    pub(super) fn pop(&mut self, now: Time) -> Option<Box<[u8]>> {
        self.next_due().filter(|due| *due <= now)?;
        let Reverse(travelling) = self.frames.pop()?;
        self.bytes -= travelling.frame.len();
        Some(travelling.frame)
    }

    /// When the next frame is due.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.frames.peek().map(|Reverse(next)| next.due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{UDP_PORT, port_of};

    fn held(lane: &Lane) -> Held {
        Held::new(lane, Seed(1), "test")
    }

    /// UDP over IPv4 over Ethernet.
    fn frame(source: u16, destination: u16) -> Vec<u8> {
        let ip = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let [a, b] = source.to_be_bytes();
        let [c, d] = destination.to_be_bytes();
        [&[0; 12][..], &[8, 0], &ip, &[a, b, c, d, 0, 8, 0, 0]].concat()
    }

    #[test]
    fn a_frame_takes_the_delay_of_its_flow_either_way_and_others_theirs() {
        let mut held = held(&Lane { flows_ns: vec![50, 20], others_ns: 30, loss: 0.0 });
        let at = Time::from_ns(100);
        let frames =
            [frame(port_of(0), UDP_PORT), frame(UDP_PORT, port_of(1)), frame(7, port_of(2)), vec![0; 60]];
        frames.iter().for_each(|frame| held.push(frame, at));
        let mut out = Vec::new();
        while let Some(due) = held.next_due() {
            assert!(held.pop(Time::from_ns(due.ns() - 1)).is_none());
            out.push((due.ns(), held.pop(due).expect("it is due")));
        }
        let expected = [(120, 1), (130, 2), (130, 3), (150, 0)];
        assert_eq!(out, expected.map(|(due, place): (u64, usize)| (due, frames[place].as_slice().into())));
        assert_eq!(held.bytes, 0);
    }

    #[test]
    fn what_finds_no_room_is_counted_and_there_is_room_again() {
        let mut held = held(&Lane::default());
        held.most_bytes = 150;
        for _ in 0..3 {
            held.push(&[0; 60], Time::ZERO);
        }
        assert_eq!((held.overflowed, held.frames.len()), (1, 2));
        assert!(held.pop(Time::ZERO).is_some());
        held.push(&[0; 60], Time::ZERO);
        assert_eq!((held.overflowed, held.frames.len()), (1, 2));
    }

    #[test]
    fn about_as_many_are_lost_as_configured_and_the_same_under_the_same_seed() {
        let lost = |loss, seed| {
            let mut held = Held::new(&Lane { loss, ..Lane::default() }, Seed(seed), "test");
            (0..10_000).for_each(|_| held.push(&frame(1, 2), Time::ZERO));
            held.push(&[0; 60], Time::ZERO); // no IP
            let kept: Vec<u64> = held.frames.into_sorted_vec().iter().map(|Reverse(it)| it.number).collect();
            (held.lost, kept.len())
        };
        let (count, kept) = lost(0.1, 1);
        assert!((880..=1120).contains(&count), "{count}"); // 1000 +- 4 sd of 30
        assert_eq!(count as usize + kept, 10_001);
        assert_eq!(lost(0.1, 1), (count, kept));
        assert_ne!(lost(0.1, 2), (count, kept));
        assert_eq!([lost(0.0, 1).0, lost(1.0, 1).0], [0, 10_000]);
    }
}

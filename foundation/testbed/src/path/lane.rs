//! One direction of a wire.

use super::plan::{FaultCounts, Path, Run};
use crate::side::Side;
use crate::traffic::flow_of;
use fairwire_core::{Duration, Fate, Seed, Time, Wire};
use fairwire_linux::port::{LinkKind, Outgoing};
use fairwire_wire::headers::Headers;
use fairwire_wire::join::TcpOffsets;
use std::collections::BTreeMap;

/// The maximum number of bytes in transit: about one second at 1 Gbit/s.
const MAX_BYTES: usize = 128 << 20;

#[derive(Debug)]
pub(super) struct Held {
    delays: Vec<Duration>,
    others: Duration,
    wire: Option<Wire>,
    /// The part of the run in which faults are counted. If `None`, faults start immediately.
    run: Option<Run>,
    /// The wire's time zero, once known.
    begins: Option<Time>,
    /// The shortest delay.
    pub shortest: Duration,
    /// The frames, by due time and then by arrival.
    pub frames: BTreeMap<(Time, u64), Travelling>,
    bytes: usize,
    most_bytes: usize,
    taken: u64,
    /// Counts of the faults.
    pub counts: FaultCounts,
    /// Frames lost for lack of room.
    pub overflowed: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Travelling {
    bytes: Box<[u8]>,
    offsets: Option<TcpOffsets>,
}

impl Travelling {
    pub(super) fn outgoing(&self) -> Outgoing<'_> {
        Outgoing { offsets: self.offsets, ..Outgoing::of(&self.bytes) }
    }
}

impl Held {
    pub(super) fn new(path: &Path, side: Side) -> Self {
        let lane = path.to(side);
        let default = match side {
            Side::Left => "path/to-source",
            Side::Right => "path/to-sink",
        };
        let name = if lane.name.is_empty() { default } else { &lane.name };
        let law = lane.faults.law();
        let wire = (!law.is_plain()).then(|| Wire::new(law, Seed(path.seed), name));
        let held = Held::of(Duration::from_ns(lane.others_ns), wire, Time::ZERO);
        let delays: Vec<Duration> = lane.flows_ns.iter().map(|ns| Duration::from_ns(*ns)).collect();
        Held {
            shortest: delays.iter().copied().fold(held.shortest, Duration::min),
            counts: FaultCounts { lost_of: vec![0; delays.len()], ..FaultCounts::default() },
            begins: held.begins.filter(|_| path.run.is_none()),
            run: path.run,
            delays,
            ..held
        }
    }

    /// `start` is the wire's time zero.
    pub(super) fn of(delay: Duration, wire: Option<Wire>, start: Time) -> Self {
        Held {
            delays: Vec::new(),
            others: delay,
            shortest: wire.as_ref().map_or(delay, |wire| wire.law().shortest(delay)),
            wire,
            run: None,
            begins: Some(start),
            frames: BTreeMap::new(),
            bytes: 0,
            most_bytes: MAX_BYTES,
            taken: 0,
            counts: FaultCounts::default(),
            overflowed: 0,
        }
    }

    pub(super) fn begin(&mut self, at: Time) {
        if self.run.is_some() {
            self.begins = Some(at);
        }
    }

    pub(super) fn push(&mut self, frame: &Outgoing<'_>, kind: LinkKind, now: Time) {
        let headers = kind.parse(frame.bytes);
        let flow = self.flow(&headers);
        match self.fate(flow, headers.is_ip(), now) {
            Fate::Lost => {}
            Fate::Arrives { at, twice, .. } => {
                (0..1 + u8::from(twice)).for_each(|_| self.hold(frame, at));
            }
        }
    }

    fn fate(&mut self, flow: Option<usize>, is_ip: bool, now: Time) -> Fate {
        let delay = flow.map_or(self.others, |flow| self.delays[flow]);
        let plain = Fate::Arrives { at: now + delay, is_late: false, twice: false };
        let (Some(wire), Some(zero)) = (self.wire.as_mut().filter(|_| is_ip), self.begins) else {
            return plain;
        };
        let Some(since) = now.ns().checked_sub(zero.ns()) else { return plain };
        let fate = wire.carry(Time::from_ns(since), delay);
        if self.run.is_none_or(|run| (run.from_ns..run.until_ns).contains(&since)) {
            self.count(fate, flow);
        }
        match fate {
            Fate::Lost => Fate::Lost,
            Fate::Arrives { at, is_late, twice } => {
                Fate::Arrives { at: zero + at.since(Time::ZERO), is_late, twice }
            }
        }
    }

    fn count(&mut self, fate: Fate, flow: Option<usize>) {
        match fate {
            Fate::Lost => {
                self.counts.lost += 1;
                flow.into_iter().for_each(|flow| self.counts.lost_of[flow] += 1);
            }
            Fate::Arrives { is_late, twice, .. } => {
                self.counts.held_back += u64::from(is_late);
                self.counts.duplicated += u64::from(twice);
            }
        }
    }

    fn hold(&mut self, frame: &Outgoing<'_>, due: Time) {
        if self.bytes + frame.bytes.len() > self.most_bytes {
            self.overflowed += 1;
            return;
        }
        self.bytes += frame.bytes.len();
        let travelling = Travelling { bytes: frame.bytes.into(), offsets: frame.offsets };
        self.frames.insert((due, self.taken), travelling);
        self.taken += 1;
    }

    /// The frame's flow. The flow's port is the source port in one direction, and the destination
    /// port in the other.
    fn flow(&self, headers: &Headers) -> Option<usize> {
        let ports = headers.transport.map(|transport| transport.ports)?;
        let of = |port: u16| flow_of(port, self.delays.len());
        of(ports.source).or_else(|| of(ports.destination))
    }

    pub(super) fn pop(&mut self, now: Time) -> Option<Travelling> {
        let next = self.frames.first_entry().filter(|next| next.key().0 <= now)?;
        let travelling = next.remove();
        self.bytes -= travelling.bytes.len();
        Some(travelling)
    }

    pub(super) fn next_due(&self) -> Option<Time> {
        self.frames.first_key_value().map(|((due, _), _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::super::faults::Faults;
    use super::super::plan::Lane;
    use super::*;
    use crate::traffic::{UDP_PORT, port_of};

    fn held(to_sink: Lane) -> Held {
        Held::new(&Path { to_sink, seed: 1, ..Path::default() }, Side::Right)
    }

    fn push(held: &mut Held, frame: &[u8], now: Time) {
        held.push(&Outgoing::of(frame), LinkKind::Ethernet, now);
    }

    fn frame(source: u16, destination: u16) -> Vec<u8> {
        let ip = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let [a, b] = source.to_be_bytes();
        let [c, d] = destination.to_be_bytes();
        [&[0; 12][..], &[8, 0], &ip, &[a, b, c, d, 0, 8, 0, 0]].concat()
    }

    #[test]
    fn each_frame_takes_the_delay_of_its_flow_in_both_directions() {
        let mut held = held(Lane { flows_ns: vec![50, 20], others_ns: 30, ..Lane::default() });
        let at = Time::from_ns(100);
        let frames =
            [frame(port_of(0), UDP_PORT), frame(UDP_PORT, port_of(1)), frame(7, port_of(2)), vec![0; 60]];
        frames.iter().for_each(|frame| push(&mut held, frame, at));
        let mut out = Vec::new();
        while let Some(due) = held.next_due() {
            assert!(held.pop(Time::from_ns(due.ns() - 1)).is_none());
            out.push((due.ns(), held.pop(due).expect("it is due").bytes));
        }
        let expected = [(120, 1), (130, 2), (130, 3), (150, 0)];
        assert_eq!(out, expected.map(|(due, place): (u64, usize)| (due, frames[place].as_slice().into())));
        assert_eq!(held.bytes, 0);
    }

    #[test]
    fn frames_without_room_are_counted_until_there_is_room_again() {
        let mut held = held(Lane::default());
        held.most_bytes = 150;
        for _ in 0..3 {
            push(&mut held, &[0; 60], Time::ZERO);
        }
        assert_eq!((held.overflowed, held.frames.len()), (1, 2));
        assert!(held.pop(Time::ZERO).is_some());
        push(&mut held, &[0; 60], Time::ZERO);
        assert_eq!((held.overflowed, held.frames.len()), (1, 2));
    }

    #[test]
    fn losses_have_the_configured_rate_and_repeat_with_the_seed() {
        let lost = |loss, seed| {
            let to_sink = Lane { faults: Faults::losing(loss), ..Lane::default() };
            let mut held = Held::new(&Path { to_sink, seed, ..Path::default() }, Side::Right);
            (0..10_000).for_each(|_| push(&mut held, &frame(1, 2), Time::ZERO));
            push(&mut held, &[0; 60], Time::ZERO); // no IP
            let kept: Vec<u64> = held.frames.keys().map(|(_, number)| *number).collect();
            (held.counts.lost, kept.len())
        };
        let (count, kept) = lost(0.1, 1);
        assert!((880..=1120).contains(&count), "{count}"); // 1000 +- 4 sd of 30
        assert_eq!(count as usize + kept, 10_001);
        assert_eq!(lost(0.1, 1), (count, kept));
        assert_ne!(lost(0.1, 2), (count, kept));
        assert_eq!([lost(0.0, 1).0, lost(1.0, 1).0], [0, 10_000]);
    }

    #[test]
    fn faults_apply_from_the_start_of_a_run_and_count_while_it_is_measured() {
        let ns = Duration::from_ns;
        let lane = Lane {
            flows_ns: vec![50],
            faults: Faults { duplicate: 1.0, delays_ns: vec![(200, 90)], ..Faults::default() },
            ..Lane::default()
        };
        let mut held = Held::new(
            &Path { to_sink: lane, run: Some(Run { from_ns: 100, until_ns: 300 }), ..Path::default() },
            Side::Right,
        );
        let start = Time::from_ns(1000);
        let frame = frame(port_of(0), UDP_PORT);
        let sent = |held: &mut Held, at: Time| {
            push(held, &frame, at);
            let dues: Vec<u64> = std::iter::from_fn(|| {
                let due = held.next_due()?;
                held.pop(due).map(|_| due.since(at).ns())
            })
            .collect();
            (dues, held.counts.duplicated)
        };
        assert_eq!(sent(&mut held, start), (vec![50], 0), "it is not known when the run begins");
        held.begins = Some(start);
        assert_eq!(sent(&mut held, Time::from_ns(999)), (vec![50], 0), "it has not begun");
        assert_eq!(sent(&mut held, start), (vec![50, 50], 0), "it is not counted yet");
        assert_eq!(sent(&mut held, start + ns(100)), (vec![50, 50], 1));
        assert_eq!(sent(&mut held, start + ns(299)), (vec![90, 90], 2), "another delay");
        assert_eq!(sent(&mut held, start + ns(300)), (vec![90, 90], 2), "it is not counted any more");
    }

    #[test]
    fn losses_are_counted_per_flow() {
        let faults = Faults::losing(1.0);
        let mut held = held(Lane { flows_ns: vec![50, 20], faults, ..Lane::default() });
        [port_of(1), port_of(1), 7]
            .into_iter()
            .for_each(|port| push(&mut held, &frame(port, UDP_PORT), Time::ZERO));
        let expected = FaultCounts { lost: 3, lost_of: vec![0, 2], ..FaultCounts::default() };
        assert_eq!((held.counts.clone(), held.frames.len()), (expected, 0));
    }
}

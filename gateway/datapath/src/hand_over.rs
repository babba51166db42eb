//! Hands the packets waiting in one discipline to its successor while a link keeps running.
//!
//! Packets are offered to the new discipline in order of arrival. If it would drop any, all packets
//! go [`Ahead`] of it, first come, first served, so each flow stays in order.

use fairwire_core::{Backlog, Cause, Control, Discipline, Packet, Probe, Room, Signals, Time, Unit};
use std::any::Any;
use std::collections::VecDeque;

/// Drains `old` and puts its packets into `new`, or ahead of `new`. No packet is lost.
///
/// All waiting packets must have different frames. Packets keep the marks and colours that `new`
/// gives them, even if they go ahead.
///
/// ```
/// use fairwire_core::{Discipline, Dropper, Ignore, Limit, Packet, Queue, Time, scheduler::Fcfs};
/// use fairwire_datapath::hand_over::hand_over;
///
/// struct TailDrop;
/// impl Dropper for TailDrop {}
///
/// let queue = |packets| Queue::new(Limit::packets(packets), Fcfs, TailDrop);
/// let mut old = queue(9);
/// for frame in 0..5 {
///     old.enqueue(Packet::new(frame, 1500, 7.into(), Time::ZERO), Time::ZERO, &mut Ignore);
/// }
/// let new = hand_over(&mut old, Box::new(queue(2)), Time::ZERO);
/// assert_eq!((old.backlog().packets, new.backlog().packets), (0, 5));
/// ```
pub fn hand_over(old: &mut dyn Discipline, new: Box<dyn Discipline>, now: Time) -> Box<dyn Discipline> {
    let mut scratch = Scratch::of(old.backlog().packets as usize);
    hand_over_in(&mut scratch, |_, take| old.drain(take), new, now)
}

/// Memory for handing over packets, allocated and touched in advance.
#[derive(Debug, Default)]
pub struct Scratch {
    waiting: Vec<Packet>,
    refused: Vec<Packet>,
    /// Each packet's frame number, and the packet's position in order of arrival.
    places: Vec<(u32, u32)>,
}

impl Scratch {
    /// Memory for `packets` packets. The memory grows for more.
    pub fn of(packets: usize) -> Self {
        let touched = || {
            let nothing = || Packet::new(0, 0, 0.into(), Time::ZERO);
            let mut packets: Vec<Packet> = std::iter::repeat_with(nothing).take(packets).collect();
            packets.clear();
            packets
        };
        let mut places = vec![(u32::MAX, u32::MAX); packets];
        places.clear();
        Scratch { waiting: touched(), refused: touched(), places }
    }
}

/// Like [`hand_over`], for the packets that `drain` yields. `drain` may also move packets into the
/// new discipline directly.
pub(crate) fn hand_over_in(
    scratch: &mut Scratch,
    drain: impl FnOnce(&mut dyn Discipline, &mut dyn FnMut(Packet)),
    mut new: Box<dyn Discipline>,
    now: Time,
) -> Box<dyn Discipline> {
    let Scratch { waiting, refused, places } = scratch;
    drain(&mut *new, &mut |packet| waiting.push(packet));
    // A tree of disciplines drains one leaf after another, not in order of arrival.
    if !waiting.is_sorted_by_key(|packet| packet.arrived) {
        waiting.sort_by_key(|packet| packet.arrived);
    }
    places.extend((0..).zip(waiting.iter()).map(|(place, packet)| (packet.frame, place)));
    for packet in waiting.drain(..) {
        if refused.is_empty() {
            new.enqueue(packet, now, &mut Refused(refused));
        } else {
            refused.push(packet);
        }
    }
    if refused.is_empty() {
        return new;
    }
    new.drain(&mut |packet| refused.push(packet));
    places.sort_unstable();
    let place_of = |frame: u32| {
        let found = places.binary_search_by_key(&frame, |(frame, _)| *frame);
        found.map_or(u32::MAX, |at| places[at].1) // it stayed in its queue, which keeps its order
    };
    refused.sort_by_key(|packet| (packet.arrived, place_of(packet.frame)));
    Box::new(Ahead::new(std::mem::take(refused), new))
}

/// Collects the packets that the new discipline drops, whether just offered or earlier.
struct Refused<'a>(&'a mut Vec<Packet>);

impl Signals for Refused<'_> {
    fn dropped(&mut self, packet: Packet, _: Cause) {
        self.0.push(packet);
    }
    fn marked(&mut self, _: &Packet, _: Cause) {}
}

/// Sends the carried packets, oldest first, and then the packets of `inner`.
///
/// Arrivals wait in `inner`. Until all carried packets are sent, `inner` is not polled, and assumes
/// that the link is busy.
pub struct Ahead {
    carried: VecDeque<Packet>,
    bytes: u64,
    inner: Box<dyn Discipline>,
}

impl Ahead {
    /// Puts `carried`, the oldest first, ahead of `inner`.
    pub fn new(carried: Vec<Packet>, inner: Box<dyn Discipline>) -> Self {
        let bytes = carried.iter().map(|packet| u64::from(packet.len)).sum();
        Ahead { carried: carried.into(), bytes, inner }
    }

    pub(crate) fn behind(&mut self, take: &mut dyn FnMut(Packet)) -> &mut dyn Discipline {
        self.bytes = 0;
        self.carried.drain(..).for_each(take);
        &mut *self.inner
    }

    /// Carried packets that still wait.
    pub fn carried(&self) -> Backlog {
        Backlog { packets: self.carried.len() as u32, bytes: self.bytes }
    }
}

impl Discipline for Ahead {
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        self.inner.offer(packet, room, now, signals);
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        match self.carried.pop_front() {
            Some(packet) => {
                self.bytes -= u64::from(packet.len);
                Some(packet)
            }
            None => self.inner.dequeue(now, signals),
        }
    }

    fn ready_at(&self) -> Option<Time> {
        if self.carried.is_empty() { self.inner.ready_at() } else { Some(Time::ZERO) }
    }

    fn backlog(&self) -> Backlog {
        let inner = self.inner.backlog();
        Backlog { packets: inner.packets + self.carried.len() as u32, bytes: inner.bytes + self.bytes }
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        if !self.carried.is_empty() {
            probe.gauge("carried_over_packets", Unit::Packets, self.carried.len() as f64);
            probe.gauge("carried_over_bytes", Unit::Bytes, self.bytes as f64);
        }
        self.inner.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.carried.drain(..).for_each(&mut *take);
        self.bytes = 0;
        self.inner.drain(take);
    }
}

impl Control for Ahead {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut *self.inner);
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let ahead = (fresh as &dyn Any).downcast_ref::<Self>();
        self.inner.retune(ahead.map_or(fresh, |fresh| &*fresh.inner), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_catalogue::{self as catalogue, Entry};
    use fairwire_catalogue::{Parameters, Site, build};
    use fairwire_core::units::Amount;
    use fairwire_core::{Ecn, Rate, Seed};
    use fairwire_testing::{Operation, Shape, lost_inside, operations};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn made(entry: &Entry, buffer: Amount) -> Box<dyn Discipline> {
        let rate = Rate::from_bps(10_000_000).expect("not zero");
        let site = Site { rate, buffer, packet_bytes: 512, seed: Seed(1), stream: "hand-over" };
        build(entry.name, &Parameters::default(), &site).expect("the defaults are allowed")
    }

    #[derive(Default)]
    struct Ledger {
        offered: u32,
        now: Time,
        inside: BTreeMap<u32, u32>, // the length of each frame
        sent: Vec<Packet>,
        dropped: Vec<u32>,
    }

    impl Signals for Ledger {
        fn dropped(&mut self, packet: Packet, _: Cause) {
            self.leaves(&packet);
            self.dropped.push(packet.frame);
        }
        fn marked(&mut self, _: &Packet, _: Cause) {}
    }

    impl Ledger {
        fn leaves(&mut self, packet: &Packet) {
            assert_eq!(self.inside.remove(&packet.frame), Some(packet.len), "frame {}", packet.frame);
        }

        fn apply(&mut self, discipline: &mut dyn Discipline, operation: Operation) {
            match operation {
                Operation::Enqueue { flow, len, ecn } => {
                    let packet = Packet::new(self.offered, len, flow.into(), self.now);
                    let packet = Packet { ecn, class: flow as u32 % 4, dscp: flow as u8, ..packet };
                    self.inside.insert(self.offered, len);
                    self.offered += 1;
                    discipline.enqueue(packet, self.now, self);
                }
                Operation::Dequeue => {
                    if let Some(packet) = discipline.dequeue(self.now, self) {
                        self.leaves(&packet);
                        self.sent.push(packet);
                    }
                }
                Operation::Wait(ns) => self.now = Time::from_ns(self.now.ns() + ns),
            }
            self.check(discipline);
        }

        fn check(&self, discipline: &dyn Discipline) {
            let bytes = self.inside.values().map(|&len| u64::from(len)).sum();
            let expected = Backlog { packets: self.inside.len() as u32, bytes };
            assert_eq!(discipline.backlog(), expected);
            assert_eq!(discipline.ready_at().is_none(), expected.is_empty());
        }

        fn finish(&mut self, discipline: &mut dyn Discipline) {
            while let Some(ready) = discipline.ready_at() {
                self.now = self.now.max(ready);
                let before = self.inside.len();
                self.apply(discipline, Operation::Dequeue);
                assert!(self.inside.len() < before, "it stalls");
            }
            assert!(self.inside.is_empty(), "{} are missing", self.inside.len());
        }
    }

    fn carried(discipline: &dyn Discipline) -> usize {
        let mut carried = 0;
        discipline.inspect(&mut |name: &str, _, value: f64| {
            if name == "carried_over_packets" {
                carried = value as usize;
            }
        });
        carried
    }

    fn run(
        old: &Entry,
        new: &Entry,
        buffers: [Amount; 2],
        before: &[Operation],
        after: &[Operation],
    ) -> usize {
        let name = format!("{} {} to {} {}", buffers[0], old.name, buffers[1], new.name);
        let mut ledger = Ledger::default();
        let mut discipline = made(old, buffers[0]);
        before.iter().for_each(|&operation| ledger.apply(&mut *discipline, operation));
        let waiting: Vec<u32> = ledger.inside.keys().copied().collect();
        let (sent, dropped) = (ledger.sent.len(), ledger.dropped.len());
        let mut discipline = {
            let new = hand_over(&mut *discipline, made(new, buffers[1]), ledger.now);
            assert!(discipline.backlog().is_empty() && discipline.ready_at().is_none(), "{name}");
            new
        };
        ledger.check(&*discipline);
        let ahead = carried(&*discipline);
        assert!(ahead == 0 || ahead == waiting.len(), "{name}: all take the same way");
        after.iter().for_each(|&operation| ledger.apply(&mut *discipline, operation));
        ledger.finish(&mut *discipline);
        assert_eq!(carried(&*discipline), 0, "{name}");
        // `dualpi2` may split a flow by codepoint and reorder its packets.
        if ![old.name, new.name].contains(&"dualpi2") {
            assert_order(&ledger.sent, &name);
            if ahead > 0 {
                let first: Vec<u32> =
                    ledger.sent[sent..][..ahead].iter().map(|packet| packet.frame).collect();
                assert_eq!(sorted(first), waiting, "{name}: they go first");
            }
        }
        if ahead > 0 {
            let lost = ledger.dropped[dropped..].iter().find(|frame| waiting.contains(frame));
            assert_eq!(lost, None, "{name}: what is carried over is not dropped");
        }
        ahead
    }

    fn sorted(mut frames: Vec<u32>) -> Vec<u32> {
        frames.sort_unstable();
        frames
    }

    fn assert_order(sent: &[Packet], name: &str) {
        let mut last: BTreeMap<u64, u32> = BTreeMap::new();
        for packet in sent {
            let before = last.insert(packet.flow.0, packet.frame);
            assert!(before < Some(packet.frame), "{name}: {packet:?} after {before:?}");
        }
    }

    fn entries() -> impl Strategy<Value = &'static Entry> {
        (0..catalogue::all().len()).prop_map(|at| &catalogue::all()[at])
    }

    fn buffers() -> impl Strategy<Value = Amount> {
        prop::sample::select(vec![
            Amount::Packets(1),
            Amount::Packets(10),
            Amount::Packets(60),
            Amount::Bytes(9_000),
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

        #[test]
        fn a_change_between_any_two_disciplines_loses_and_reorders_nothing(
            old in entries(),
            new in entries(),
            buffers in [buffers(), buffers()],
            before in operations(Shape::default()),
            after in operations(Shape::default()),
        ) {
            run(old, new, buffers, &before, &after);
        }
    }

    fn arrivals(flows: u64, count: u64) -> Vec<Operation> {
        let arrival = |i| Operation::Enqueue { flow: i % flows, len: 500, ecn: Ecn::Ect0 };
        (0..count).flat_map(|i| [arrival(i), Operation::Wait(1000)]).collect()
    }

    #[test]
    fn a_backlog_with_room_is_taken_over_and_any_other_is_sent_first() {
        let [tail_drop, drr] = ["tail-drop", "drr"].map(|name| catalogue::find(name).expect("there"));
        for (old, new) in [(tail_drop, drr), (drr, tail_drop), (drr, drr)] {
            let carried = |packets| {
                let buffers = [Amount::Packets(30), Amount::Packets(packets)];
                run(old, new, buffers, &arrivals(5, 20), &arrivals(5, 10))
            };
            assert_eq!([carried(20), carried(19)], [0, 20], "{} to {}", old.name, new.name);
        }
    }

    #[test]
    fn carried_packets_stay_first_across_further_replacements() {
        let entry = catalogue::find("drr").expect("there");
        let mut ledger = Ledger::default();
        let mut discipline = made(entry, Amount::Packets(60));
        arrivals(3, 30).into_iter().for_each(|operation| ledger.apply(&mut *discipline, operation));
        for packets in [8, 5, 3] {
            discipline = hand_over(&mut *discipline, made(entry, Amount::Packets(packets)), ledger.now);
            assert!(carried(&*discipline) >= 30, "{packets}");
            arrivals(3, 2).into_iter().for_each(|operation| ledger.apply(&mut *discipline, operation));
        }
        ledger.finish(&mut *discipline);
        let frames: Vec<u32> = ledger.sent.iter().map(|packet| packet.frame).collect();
        assert_eq!(frames, (0..36).collect::<Vec<_>>());
    }

    #[test]
    fn a_discipline_keeps_all_capabilities_behind_carried_packets() {
        for entry in catalogue::all() {
            let alone = || made(entry, Amount::Packets(40));
            let lost = lost_inside(&alone, &|inner| Box::new(Ahead::new(Vec::new(), inner)));
            assert!(lost.is_empty(), "{}: {lost:?}", entry.name);
        }
    }

    #[test]
    fn a_mark_given_while_packets_were_offered_is_kept() {
        struct MarksFirst(Vec<Packet>);
        impl Discipline for MarksFirst {
            fn offer(&mut self, mut packet: Packet, _: Room, _: Time, signals: &mut dyn Signals) {
                if self.0.len() == 2 {
                    return signals.dropped(packet, Cause::Overflow);
                }
                if self.0.is_empty() {
                    packet.ecn = Ecn::Ce;
                    signals.marked(&packet, Cause::Early);
                }
                self.0.push(packet);
            }
            fn dequeue(&mut self, _: Time, _: &mut dyn Signals) -> Option<Packet> {
                (!self.0.is_empty()).then(|| self.0.remove(0))
            }
            fn ready_at(&self) -> Option<Time> {
                (!self.0.is_empty()).then_some(Time::ZERO)
            }
            fn backlog(&self) -> Backlog {
                Backlog { packets: self.0.len() as u32, bytes: self.0.iter().map(|p| u64::from(p.len)).sum() }
            }
            fn inspect(&self, _: &mut dyn Probe) {}
            fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
                self.0.drain(..).for_each(take);
            }
        }

        impl Control for MarksFirst {
            fn inside(&mut self, _: Option<u32>, _: &mut dyn FnMut(&mut dyn Discipline)) {}
        }
        let mut ledger = Ledger::default();
        let mut old = made(catalogue::find("tail-drop").expect("there"), Amount::Packets(30));
        arrivals(1, 4).into_iter().for_each(|operation| ledger.apply(&mut *old, operation));
        let mut new = hand_over(&mut *old, Box::new(MarksFirst(Vec::new())), ledger.now);
        assert_eq!(carried(&*new), 4);
        ledger.finish(&mut *new);
        let marked: Vec<bool> = ledger.sent.iter().map(|packet| packet.ecn == Ecn::Ce).collect();
        assert_eq!(marked, [true, false, false, false]);
    }
}

//! Applies operations to any discipline, and checks conservation after each operation.

use crate::operation::Operation;
use crate::trace::TraceHash;
use fairwire_core::{Backlog, Cause, Discipline, Ecn, Packet, Room, Signals, Time};
use std::collections::HashMap;

/// A discipline under test, with a model of its contents.
///
/// After each operation, the driver checks:
///
/// - Every packet is either in the discipline, sent, or dropped.
/// - Packets and bytes of the backlog agree with the model.
/// - `ready_at` is `None` exactly when the backlog is empty.
/// - Only packets that allow marks are marked. Apart from marks, packets return unchanged.
///
/// ```
/// use fairwire_core::{Dropper, Ecn, Limit, Queue, scheduler::Fcfs};
/// use fairwire_testing::{Driver, Operation};
///
/// struct TailDrop;
/// impl Dropper for TailDrop {}
///
/// let mut driver = Driver::new(Queue::new(Limit::packets(2), Fcfs, TailDrop));
/// for flow in 0..3 {
///     driver.apply(Operation::Enqueue { flow, len: 100, ecn: Ecn::NotEct });
/// }
/// let outcome = driver.finish();
/// assert_eq!((outcome.sent, outcome.dropped), (2, 1));
/// ```
#[derive(Debug)]
pub struct Driver<D> {
    discipline: D,
    now: Time,
    next_frame: u32,
    ledger: Ledger,
}

/// The fates of all packets offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets offered.
    pub offered: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets dropped, by any cause.
    pub dropped: u64,
    /// Marks given.
    pub marked: u64,
    /// All decisions.
    pub trace: TraceHash,
}

/// A packet in the discipline, in the form in which the discipline must return it.
#[derive(Clone, Copy, Debug)]
struct Held {
    flow: u64,
    len: u32,
    arrived: Time,
    ecn: Ecn,
}

#[derive(Debug, Default)]
struct Ledger {
    now: Time,
    held: HashMap<u32, Held>,
    bytes: u64,
    outcome: Outcome,
    early_drops_of_capable: u64,
    drained: u64,
}

impl Ledger {
    fn take_back(&mut self, packet: &Packet) {
        let Some(held) = self.held.remove(&packet.frame) else {
            panic!("frame {} came back, but the discipline did not have it", packet.frame)
        };
        self.bytes -= u64::from(held.len);
        assert_eq!(packet.flow.0, held.flow, "frame {} changed its flow", packet.frame);
        assert_eq!(packet.len, held.len, "frame {} changed its length", packet.frame);
        assert_eq!(packet.arrived, held.arrived, "frame {} changed its time of arrival", packet.frame);
        assert_eq!(packet.ecn, held.ecn, "frame {} changed its ECN field without a signal", packet.frame);
    }
}

impl Signals for Ledger {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.take_back(&packet);
        self.outcome.dropped += 1;
        self.outcome.trace.dropped(&packet, cause, self.now);
        if cause == Cause::Early && packet.ecn.is_capable() {
            self.early_drops_of_capable += 1;
        }
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        // A packet marked on departure is still in `held`, because the discipline marks it before
        // returning it.
        let held = self.held.get_mut(&packet.frame);
        let held = held.unwrap_or_else(|| panic!("frame {} was marked after it had left", packet.frame));
        assert!(held.ecn.is_capable(), "frame {} was marked, but is not ECN-capable", packet.frame);
        assert_eq!(packet.ecn, Ecn::Ce, "frame {} was said to be marked, but is not", packet.frame);
        held.ecn = Ecn::Ce;
        self.outcome.marked += 1;
        self.outcome.trace.marked(packet, cause, self.now);
    }
}

/// Derives class, codepoint and colour from the flow: four classes (0 is no class), all codepoints,
/// and all colours.
fn of_flow(flow: u64, packet: Packet) -> Packet {
    Packet { class: (flow % 4) as u32, dscp: (flow % 64) as u8, color: (flow % 3) as u8, ..packet }
}

impl<D: Discipline> Driver<D> {
    /// Drives `discipline`, which must be empty, from time zero.
    pub fn new(discipline: D) -> Self {
        let driver = Driver { discipline, now: Time::ZERO, next_frame: 0, ledger: Ledger::default() };
        driver.check();
        driver
    }

    /// The discipline.
    pub fn discipline(&self) -> &D {
        &self.discipline
    }

    /// The fates of all packets offered so far.
    pub fn outcome(&self) -> Outcome {
        self.ledger.outcome
    }

    /// The number of ECN-capable packets that an early decision dropped.
    pub fn early_drops_of_capable(&self) -> u64 {
        self.ledger.early_drops_of_capable
    }

    /// Applies one operation, and checks the discipline.
    ///
    /// # Panics
    /// When the discipline breaks its contract.
    pub fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Enqueue { flow, len, ecn } => self.enqueue(flow, len, ecn, Room::Open),
            Operation::Dequeue => self.dequeue(),
            Operation::Wait(ns) => self.now = Time::from_ns(self.now.ns() + ns),
        }
        self.check();
    }

    /// Offers a packet while the enclosing disciplines have no room, and checks that the backlog
    /// has not grown.
    ///
    /// # Panics
    /// When the discipline breaks its contract.
    pub fn squeeze(&mut self, flow: u64, len: u32, ecn: Ecn) {
        let before = self.discipline.backlog();
        self.enqueue(flow, len, ecn, Room::Full);
        self.check();
        let after = self.discipline.backlog();
        assert!(
            after.packets <= before.packets && after.bytes <= before.bytes,
            "without room it grew from {before:?} to {after:?}"
        );
    }

    /// Drains the discipline, and checks that every waiting packet returns, unchanged and without a
    /// signal.
    ///
    /// # Panics
    /// When the discipline breaks its contract.
    pub fn drain(&mut self) -> Vec<Packet> {
        let mut drained = Vec::new();
        let Driver { discipline, ledger, .. } = self;
        discipline.drain(&mut |packet| {
            ledger.take_back(&packet);
            ledger.drained += 1;
            drained.push(packet);
        });
        assert!(
            self.ledger.held.is_empty(),
            "a drain left {} packets behind, or lost them",
            self.ledger.held.len()
        );
        self.check();
        drained
    }

    /// Gives the discipline the parameters of `fresh`, and checks that waiting packets stay.
    /// Returns true if the discipline accepted the parameters.
    ///
    /// # Panics
    /// When the discipline breaks its contract.
    pub fn retune(&mut self, fresh: &dyn Discipline) -> bool {
        let takes = self.discipline.retune(fresh, self.now);
        self.check();
        takes
    }

    /// Offers packets that waited elsewhere until `now`, and checks after each packet.
    ///
    /// # Panics
    /// When the discipline breaks its contract.
    pub fn take_over(&mut self, packets: Vec<Packet>, now: Time) {
        self.now = self.now.max(now);
        for packet in packets {
            self.next_frame = self.next_frame.max(packet.frame + 1);
            self.offer(packet, Room::Open);
            self.check();
        }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Applies all of `operations`, and [finishes](Driver::finish).
    ///
    /// # Panics
    /// When the discipline breaks its contract.
    pub fn run(mut self, operations: &[Operation]) -> Outcome {
        operations.iter().for_each(|&operation| self.apply(operation));
        self.finish()
    }

    /// Dequeues all waiting packets, and checks that none was lost.
    ///
    /// # Panics
    /// When the discipline breaks its contract.
    pub fn finish(mut self) -> Outcome {
        while let Some(ready) = self.discipline.ready_at() {
            self.now = self.now.max(ready);
            let before = self.ledger.held.len();
            self.dequeue();
            assert!(self.ledger.held.len() < before, "it said it was ready, but nothing left it");
            self.check();
        }
        assert!(
            self.ledger.held.is_empty(),
            "it says it is empty, but {} are missing",
            self.ledger.held.len()
        );
        let outcome = self.ledger.outcome;
        assert_eq!(outcome.offered, outcome.sent + outcome.dropped + self.ledger.drained);
        outcome
    }

    fn enqueue(&mut self, flow: u64, len: u32, ecn: Ecn, room: Room) {
        let (frame, arrived) = (self.next_frame, self.now);
        self.next_frame += 1;
        let packet = Packet::new(frame, len, flow.into(), arrived);
        self.offer(Packet { ecn, ..of_flow(flow, packet) }, room);
    }

    fn offer(&mut self, packet: Packet, room: Room) {
        let Packet { frame, len, arrived, ecn, .. } = packet;
        self.ledger.now = self.now;
        self.ledger.outcome.offered += 1;
        self.ledger.bytes += u64::from(len);
        self.ledger.held.insert(frame, Held { flow: packet.flow.0, len, arrived, ecn });
        self.discipline.offer(packet, room, self.now, &mut self.ledger);
    }

    fn dequeue(&mut self) {
        self.ledger.now = self.now;
        if let Some(packet) = self.discipline.dequeue(self.now, &mut self.ledger) {
            self.ledger.take_back(&packet);
            self.ledger.outcome.sent += 1;
            self.ledger.outcome.trace.sent(&packet, self.now);
        }
    }

    fn check(&self) {
        let expected = Backlog { packets: self.ledger.held.len() as u32, bytes: self.ledger.bytes };
        assert_eq!(self.discipline.backlog(), expected, "the backlog is not what must be there");
        assert_eq!(self.discipline.ready_at().is_none(), expected.is_empty(), "ready_at is wrong");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Control;
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Dropper, Limit, Probe, Queue};

    struct Broken {
        queue: Queue<Fcfs, Sound>,
        fault: Fault,
    }

    #[derive(PartialEq)]
    enum Fault {
        Loses,
        ForgesFrame,
        ForgesEcn,
        NeverReady,
        Stalls,
        KeepsWhenDrained,
    }

    struct Sound;
    impl Dropper for Sound {}

    impl Discipline for Broken {
        fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
            if self.fault != Fault::Loses {
                self.queue.offer(packet, room, now, signals);
            }
        }
        fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
            if self.fault == Fault::Stalls {
                return None;
            }
            let mut packet = self.queue.dequeue(now, signals)?;
            match self.fault {
                Fault::ForgesFrame => packet.frame += 1,
                Fault::ForgesEcn => packet.ecn = Ecn::Ce,
                _ => {}
            }
            Some(packet)
        }
        fn ready_at(&self) -> Option<Time> {
            if self.fault == Fault::NeverReady { None } else { self.queue.ready_at() }
        }
        fn backlog(&self) -> Backlog {
            self.queue.backlog()
        }
        fn inspect(&self, _: &mut dyn Probe) {}
        fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
            let mut packets = Vec::new();
            self.queue.drain(&mut |packet| packets.push(packet));
            if self.fault == Fault::KeepsWhenDrained {
                packets.pop();
            }
            packets.into_iter().for_each(take);
        }
    }

    impl Control for Broken {
        fn inside(&mut self, _: Option<u32>, _: &mut dyn FnMut(&mut dyn Discipline)) {}
    }

    fn drive(fault: Fault) {
        let mut driver = Driver::new(Broken { queue: Queue::new(Limit::packets(2), Fcfs, Sound), fault });
        driver.apply(Operation::Enqueue { flow: 1, len: 100, ecn: Ecn::NotEct });
        driver.finish();
    }

    #[test]
    #[should_panic(expected = "backlog is not what must be there")]
    fn a_lost_packet_is_noticed() {
        drive(Fault::Loses);
    }

    #[test]
    #[should_panic(expected = "did not have it")]
    fn a_packet_from_nowhere_is_noticed() {
        drive(Fault::ForgesFrame);
    }

    #[test]
    #[should_panic(expected = "without a signal")]
    fn a_silent_mark_is_noticed() {
        drive(Fault::ForgesEcn);
    }

    #[test]
    #[should_panic(expected = "ready_at is wrong")]
    fn a_wrong_ready_at_is_noticed() {
        drive(Fault::NeverReady);
    }

    #[test]
    #[should_panic(expected = "a drain left 1 packets behind, or lost them")]
    fn an_incomplete_drain_is_noticed() {
        let queue = Queue::new(Limit::packets(2), Fcfs, Sound);
        let mut driver = Driver::new(Broken { queue, fault: Fault::KeepsWhenDrained });
        driver.apply(Operation::Enqueue { flow: 1, len: 100, ecn: Ecn::NotEct });
        driver.drain();
    }

    #[test]
    #[should_panic(expected = "nothing left it")]
    fn a_discipline_that_stalls_is_noticed() {
        drive(Fault::Stalls);
    }
}

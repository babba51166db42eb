//! Our half of the comparison. The same arrivals pass through our discipline, in front of a shaper
//! like the kernel's.

use crate::case::RATE;
use crate::outcome::{Outcome, PacketOutcome};
use crate::trace::Arrival;
use fairwire_core::rng::mix;
use fairwire_core::{Cause, Discipline, Duration, Packet, Signals, Time, Transmitter};

/// A shaper with a deficit, like the kernel's HTB. Unlike `fairwire_core::Server`, this shaper
/// compensates for lost time up to a limit, and polls only while packets wait.
///
/// HTB never polls an empty class, so no kernel discipline under HTB learns that the link is idle.
struct Shaper<'a> {
    discipline: &'a mut dyn Discipline,
    transmitter: Transmitter,
    ledger: Ledger<'a>,
}

struct Ledger<'a> {
    arrivals: &'a [Arrival],
    fates: Vec<PacketOutcome>,
}

impl Signals for Ledger<'_> {
    fn dropped(&mut self, packet: Packet, _: Cause) {
        self.fates[packet.frame as usize] = PacketOutcome::Dropped;
    }
    fn marked(&mut self, _: &Packet, _: Cause) {}
}

impl Shaper<'_> {
    fn run_until(&mut self, now: Time) {
        while !self.discipline.backlog().is_empty() && self.transmitter.free_at() <= now {
            if !self.poll(self.transmitter.free_at()) {
                break;
            }
        }
    }

    fn offer(&mut self, packet: Packet, now: Time) {
        self.discipline.enqueue(packet, now, &mut self.ledger);
        if self.transmitter.is_free(now) && !self.discipline.backlog().is_empty() {
            self.poll(now);
        }
    }

    fn poll(&mut self, now: Time) -> bool {
        let Some(packet) = self.discipline.dequeue(now, &mut self.ledger) else { return false };
        self.transmitter.start(packet.len, now);
        let number = packet.frame as usize;
        self.ledger.fates[number] = PacketOutcome::of(self.ledger.arrivals[number].ecn, packet.ecn, now.ns());
        true
    }
}

/// Runs `discipline` on `arrivals` at the times `came_ns`, in front of a shaper that compensates
/// for lost time up to `credit`.
///
/// # Panics
/// If the discipline holds packets, but returns none when it is polled.
pub fn replay(
    discipline: &mut dyn Discipline,
    credit: Duration,
    arrivals: &[Arrival],
    came_ns: &[u64],
) -> Outcome {
    let ledger = Ledger { arrivals, fates: vec![PacketOutcome::Dropped; arrivals.len()] };
    let transmitter = Transmitter::with_catch_up(RATE, credit);
    let mut shaper = Shaper { discipline, transmitter, ledger };
    for (number, (arrival, &came)) in arrivals.iter().zip(came_ns).enumerate() {
        let now = Time::from_ns(came);
        shaper.run_until(now);
        let mut packet = Packet::new(number as u32, arrival.bytes, mix(arrival.flow as u64).into(), now);
        packet.ecn = arrival.ecn;
        shaper.offer(packet, now);
    }
    while !shaper.discipline.backlog().is_empty() {
        let (before, free_at) = (shaper.discipline.backlog(), shaper.transmitter.free_at());
        shaper.run_until(free_at);
        assert!(shaper.discipline.backlog() != before, "the discipline does not give back what waits");
    }
    Outcome { came_ns: came_ns.to_vec(), fates: shaper.ledger.fates }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Dropper, Ecn, Limit, Queue};

    const CREDIT: Duration = Duration::from_ns(960);

    struct TailDrop;
    impl Dropper for TailDrop {}

    fn arrivals(times_us: &[u64]) -> (Vec<Arrival>, Vec<u64>) {
        let at = |&us: &u64| Arrival { at_ns: us * 1000, flow: 0, bytes: 128, ecn: Ecn::NotEct };
        (times_us.iter().map(at).collect(), times_us.iter().map(|us| us * 1000).collect())
    }

    #[test]
    fn packets_leave_one_service_time_apart_and_a_full_queue_drops() {
        let (arrivals, came) = arrivals(&[0, 1, 2, 3]);
        let mut queue = Queue::new(Limit::packets(2), Fcfs, TailDrop);
        let outcome = replay(&mut queue, CREDIT, &arrivals, &came); // 1 byte = 1 us
        let expected = [
            PacketOutcome::Sent(0),
            PacketOutcome::Sent(128_000),
            PacketOutcome::Sent(256_000),
            PacketOutcome::Dropped,
        ];
        assert_eq!(outcome.fates, expected);
    }

    #[test]
    fn an_idle_shaper_keeps_no_more_than_its_credit() {
        let (arrivals, came) = arrivals(&[0, 10_000, 10_001]);
        let mut queue = Queue::new(Limit::packets(2), Fcfs, TailDrop);
        let outcome = replay(&mut queue, CREDIT, &arrivals, &came);
        assert_eq!(outcome.fates[2], PacketOutcome::Sent(10_128_000 - CREDIT.ns()));
    }
}

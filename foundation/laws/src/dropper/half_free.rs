//! The buffer rule of ns-2's SFQ.
//!
//! # What it does
//! Refuses an arrival whose queue holds at least half as many packets as there is still room for.
//! If fewer than [`BUCKETS`] packets fit, an arrival is also refused if its queue holds more than
//! the buffer divided by [`BUCKETS`].
//!
//! # Why
//! A single queue takes a third of the buffer, and two queues a fourth each, so a newcomer has room
//! without push-outs. McKenney's rule ("Stochastic Fairness Queueing", INFOCOM 1990) instead takes
//! from the longest queue.
//!
//! # Source
//! Derived from traces of ns-2 2.35 (65 063 arrivals of six bursty flows with `maxqueue_` 40 and
//! `buckets_` 16), in which it predicts the fate of every arrival.
//!
//! # Where we differ
//! ns-2 hashes pairs of addresses into its buckets; here each queue of the scheduler is a bucket.
//! Room is counted in packets, even if the buffer counts bytes.

use fairwire_core::{Buffer, Cause, Dropper, Needs, Packet, Time, Verdict};

/// ns-2's `buckets_`.
pub const BUCKETS: u32 = 16;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HalfFree;

impl Dropper for HalfFree {
    fn needs(&self) -> Needs {
        Needs::QUEUES
    }

    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Verdict {
        let places = buffer.limit().max_packets();
        let free = places.saturating_sub(buffer.backlog().packets);
        let held = buffer.flow(packet).map_or(0, |flow| buffer.flow_backlog(flow).packets);
        let is_too_much = held >= free / 2 || (free < BUCKETS && held > places / BUCKETS);
        if is_too_much { Verdict::Drop(Cause::Forced) } else { Verdict::Pass }
    }

    fn retune(&mut self, _: &Self, _: Time) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Discipline, FlowHash, Ignore, Limit, Queue};

    fn fill(queue: &mut Queue<Fcfs, HalfFree>, flow: u64) -> u32 {
        loop {
            let before = queue.backlog().packets;
            queue.enqueue(Packet::new(before, 552, FlowHash(flow), Time::ZERO), Time::ZERO, &mut Ignore);
            if queue.backlog().packets == before {
                return before;
            }
        }
    }

    #[test]
    fn each_queue_takes_half_of_the_free_space_until_little_is_free() {
        let mut queue = Queue::new(Limit::packets(40), Fcfs, HalfFree);
        // `fill` returns the total backlog. Flow 1 stops at 13 packets, half of the 27 places then
        // free. Once fewer than 16 places are free, each flow stops at 3 packets.
        let waiting: Vec<u32> = (1..=5).map(|flow| fill(&mut queue, flow)).collect();
        assert_eq!(waiting, [13, 22, 25, 28, 31]);
    }
}

//! The event queue: a total order by time, then by tie rule.
//!
//! A 4-ary heap of 24-byte entries. Nothing is ever removed from its middle: timers are lazy, so an event that has lost its
//! meaning is recognised when it comes up.

use crate::plan::TieRule;
use fairwire_core::{Rng, Seed, Time};

/// What happens. The number names a link, a flow or a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A frame reaches the bottleneck.
    Arrival(u32),
    /// The bottleneck's transmitter becomes free, or what waits there becomes ready.
    LinkFree,
    /// An acknowledgement, carried by this frame, reaches its sender.
    Ack(u32),
    /// A flow starts, sends on, or runs out of patience.
    Wake(u32),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    tie: u64,
    event: Event,
}

impl Entry {
    fn is_before(&self, other: &Entry) -> bool {
        (self.time, self.tie) < (other.time, other.tie)
    }
}

/// Events to come.
#[derive(Debug)]
pub(crate) struct EventQueue {
    heap: Vec<Entry>,
    now: Time,
    scheduled: u64,
    ties: Option<Rng>, // none: in the order scheduled
}

const CHILDREN: usize = 4;

impl EventQueue {
    pub(crate) fn new(rule: TieRule, seed: Seed) -> Self {
        let ties = match rule {
            TieRule::Random => Some(seed.stream("ties")),
            TieRule::Fifo => None,
        };
        EventQueue { heap: Vec::new(), now: Time::ZERO, scheduled: 0, ties }
    }

    /// Schedules `event` at `time`, which is not before the latest event handled.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, event: Event) {
        assert!(time >= self.now, "an event in the past: {time} after {}", self.now);
        let tie = self.tie();
        let entry = Entry { time, tie, event };
        self.heap.push(entry);
        self.sift_up(self.heap.len() - 1, entry);
    }

    /// When the next event is due.
    #[inline]
    pub(crate) fn next_time(&self) -> Option<Time> {
        self.heap.first().map(|entry| entry.time)
    }

    /// Takes the next event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, Event)> {
        let last = self.heap.pop()?;
        let first = match self.heap.first() {
            None => last,
            Some(&first) => {
                self.sift_down(last);
                first
            }
        };
        self.now = first.time;
        Some((first.time, first.event))
    }

    /// Unique among events that can meet: the low half counts, the high half is random or the rest of the count.
    #[inline]
    fn tie(&mut self) -> u64 {
        self.scheduled += 1;
        match &mut self.ties {
            None => self.scheduled,
            Some(rng) => (rng.next_u64() & !0xffff_ffff) | (self.scheduled & 0xffff_ffff),
        }
    }

    fn sift_up(&mut self, mut at: usize, entry: Entry) {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if !entry.is_before(&self.heap[parent]) {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    /// Puts `entry` in place of the first, then where it belongs.
    fn sift_down(&mut self, entry: Entry) {
        let mut at = 0;
        loop {
            let first_child = at * CHILDREN + 1;
            let children = first_child..(first_child + CHILDREN).min(self.heap.len());
            let Some(least) =
                children.reduce(|a, b| if self.heap[b].is_before(&self.heap[a]) { b } else { a })
            else {
                break;
            };
            if !self.heap[least].is_before(&entry) {
                break;
            }
            self.heap[at] = self.heap[least];
            at = least;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn drained(queue: &mut EventQueue) -> Vec<(Time, Event)> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn no_event_is_lost_or_reordered_against_a_sorted_map() {
        for rule in [TieRule::Random, TieRule::Fifo] {
            let mut rng = Seed(5).stream("test");
            let mut ours = EventQueue::new(rule, Seed(1));
            let mut model: BTreeMap<Time, Vec<Event>> = BTreeMap::new();
            let mut now = Time::ZERO;
            for number in 0..50_000 {
                if rng.chance(0.55) {
                    let time = Time::from_ns(now.ns() + u64::from(rng.below(50)));
                    ours.push(time, Event::Wake(number));
                    model.entry(time).or_default().push(Event::Wake(number));
                } else if let Some((time, event)) = ours.pop() {
                    now = time;
                    let mut first = model.first_entry().expect("the model has it too");
                    assert_eq!(*first.key(), time);
                    let place = first.get().iter().position(|e| *e == event).expect("scheduled for then");
                    if rule == TieRule::Fifo {
                        assert_eq!(place, 0, "ties come in the order scheduled");
                    }
                    first.get_mut().remove(place);
                    if first.get().is_empty() {
                        first.remove();
                    }
                }
            }
            let rest = drained(&mut ours);
            assert_eq!(rest.len(), model.values().map(Vec::len).sum::<usize>());
            assert!(rest.is_sorted_by_key(|(time, _)| *time));
        }
    }

    #[test]
    fn random_ties_favour_nobody_and_repeat_with_the_seed() {
        let first = |seed| {
            let mut queue = EventQueue::new(TieRule::Random, Seed(seed));
            for flow in 0..4 {
                queue.push(Time::ZERO, Event::Wake(flow));
            }
            queue.pop()
        };
        assert_eq!(first(3), first(3));
        let mut wins = [0; 4];
        for seed in 0..4000 {
            let Some((_, Event::Wake(flow))) = first(seed) else { unreachable!("a wake was pushed") };
            wins[flow as usize] += 1;
        }
        assert!(wins.iter().all(|&w| (900..1100).contains(&w)), "{wins:?}"); // 1000 +- 3.6 sd
    }

    #[test]
    #[should_panic(expected = "in the past")]
    fn time_never_goes_back() {
        let mut queue = EventQueue::new(TieRule::Fifo, Seed(1));
        queue.push(Time::from_ns(5), Event::LinkFree);
        queue.pop();
        queue.push(Time::from_ns(4), Event::LinkFree);
    }
}

//! The order of simultaneous events.
//!
//! Under the random rule, the order follows a hash of the seed, the instant and the event's
//! identity: the arrival of one packet, or a timer of one flow. So the order depends on nothing
//! else in the run.

use crate::plan::TieRule;
use fairwire_core::rng::mix;
use fairwire_core::{Seed, Time};

/// Distinguishes simultaneous events.
#[derive(Debug)]
pub(crate) struct Ties {
    /// The number of events scheduled so far, modulo 2^32; always 0 under the random rule.
    scheduled: u32,
    salt: Option<u64>, // none: in the order scheduled
}

impl Ties {
    pub(crate) fn new(rule: TieRule, seed: Seed) -> Self {
        let salt = match rule {
            TieRule::Random => Some(seed.stream("ties").next_u64()),
            TieRule::Fifo => None,
        };
        Ties { scheduled: 0, salt }
    }

    #[inline(always)]
    pub(crate) fn number(&mut self, identity: u32) -> u32 {
        if self.salt.is_some() {
            return identity;
        }
        self.scheduled = self.scheduled.wrapping_add(1);
        self.scheduled
    }

    #[inline]
    pub(crate) fn goes_first(&self, time: Time, one: u32, other: u32) -> bool {
        self.order(time, one) < self.order(time, other)
    }

    /// The sort key of an event at `time`. Under the random rule it is a hash, different for
    /// different numbers. Otherwise earlier scheduled events have smaller keys.
    #[inline]
    pub(crate) fn order(&self, time: Time, number: u32) -> u64 {
        match self.salt {
            Some(salt) => mix((salt ^ time.ns()).rotate_left(32).wrapping_add(u64::from(number))),
            None => u64::from(!self.scheduled.wrapping_sub(number)), // the longer ago, the smaller
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn events_at_one_instant_have_an_order_that_depends_on_the_seed() {
        let orders = |seed| {
            let ties = Ties::new(TieRule::Random, Seed(seed));
            (0..10_000).map(|number| ties.order(at(5), number)).collect::<Vec<u64>>()
        };
        let mut distinct = orders(7);
        assert_eq!(distinct, orders(7));
        assert_ne!(distinct, orders(8));
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 10_000);
    }

    #[test]
    fn random_ties_are_fair_and_independent_across_instants_and_pairs() {
        let ties = Ties::new(TieRule::Random, Seed(7));
        let is_fair = |flips: &mut dyn Iterator<Item = bool>| {
            let (mut wins, mut all, mut turns, mut before) = (0, 0, 0, false);
            for first in flips {
                (wins, all, turns) = (wins + i64::from(first), all + 1, turns + i64::from(first != before));
                before = first;
            }
            let off = |count: i64| (2 * count - all).abs() as f64 / (all as f64).sqrt();
            assert!(off(wins) < 4.0 && off(turns) < 4.0, "{wins} wins, {turns} turns of {all}");
        };
        for (one, other) in [(0, 1), (3, 4), (0, 1 << 31), (17, 1 << 16)] {
            for step in [1, 4096, 1_000_000] {
                is_fair(&mut (0..100_000).map(|n| ties.goes_first(at(n * step), one, other)));
            }
        }
        for apart in [1, 2, 64, 1000] {
            is_fair(&mut (0..100_000).map(|n| ties.goes_first(at(5), n * 2000, n * 2000 + apart)));
        }
    }

    #[test]
    fn without_draws_numbers_decide_beyond_half_their_range_too() {
        let mut ties = Ties { scheduled: u32::MAX - 1, ..Ties::new(TieRule::Fifo, Seed(7)) };
        let [one, other, third] = [(); 3].map(|()| ties.number(9));
        assert_eq!([one, other, third], [u32::MAX, 0, 1]);
        let goes_first = |one, other| ties.goes_first(at(5), one, other);
        assert!(goes_first(one, other) && goes_first(other, third) && goes_first(one, third));
        assert!(!goes_first(third, one));
    }
}

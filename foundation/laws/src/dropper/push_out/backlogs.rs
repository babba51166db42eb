//! The backlogged queues, each compared exactly with its share of the buffer.

use super::ranking::Rank;
use super::{Config, Lengths, Numbers, Ranking, Shares};
use crate::spec::Measure;
use fairwire_core::{Buffer, FlowKey, Packet, Rng, SetWeightError, Weight};

/// The backlogged queues and their excess over their shares.
///
/// The shares change whenever a queue appears or empties, so queues are ordered by length within
/// each weight. The longest queue of a weight is also the furthest above its share.
#[derive(Debug)]
pub struct Backlogs {
    config: Config,
    shares: Shares,
    /// The different weights, numbered. A queue is ranked under the number of its weight. When the
    /// weight changes, the queue keeps the old number until its next packet enters or leaves.
    numbers: Numbers,
    ranks: Ranks,
}

#[derive(Debug)]
enum Ranks {
    /// For lengths in packets and equal weights: O(1).
    Lengths(Lengths),
    /// For lengths in bytes, or different weights. A packet takes O(log n); making room takes O(log
    /// n) per different weight.
    Ranking(Ranking),
}

impl Backlogs {
    /// Starts without backlogged queues. Draws a salt from `rng` if one is needed.
    pub fn new(config: Config, rng: &mut Rng) -> Self {
        let shares = Shares::new(&config);
        let slots = config.limit.max_packets();
        let ranks = if shares.are_equal() && config.measure == Measure::Packets {
            Ranks::Lengths(Lengths::new(slots))
        } else {
            Ranks::Ranking(Ranking::new(slots, rng))
        };
        Backlogs { numbers: Numbers::new(&config.weights), config, shares, ranks }
    }

    /// Its configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Takes over the parameters of `fresh`. Returns false if the measure or the weights differ, or
    /// if `fresh` has room for more queues.
    pub fn retune(&mut self, fresh: &Backlogs) -> bool {
        let has_room = match (&self.ranks, &fresh.ranks) {
            (Ranks::Lengths(ranks), Ranks::Lengths(fresh)) => ranks.has_room_for(fresh),
            (Ranks::Ranking(ranks), Ranks::Ranking(fresh)) => ranks.has_room_for(fresh),
            _ => false,
        };
        let counts_alike = self.config.measure == fresh.config.measure;
        let takes = counts_alike && has_room && self.shares.retune(&fresh.shares);
        if takes {
            self.config.clone_from(&fresh.config);
        }
        takes
    }

    /// Counts `packet`, which has entered or left `buffer`.
    #[inline]
    pub fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        // With `Ranks::Lengths` all weights are equal, so there are no shares to update.
        let Ranks::Lengths(lengths) = &mut self.ranks else { return self.rank(packet, flow, inside, buffer) };
        lengths.changed(flow, buffer.flow_backlog(flow).packets, inside);
    }

    #[inline(never)] // it would bloat the path of queues counted in packets
    fn rank(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        self.shares.tracked(packet, flow, inside, buffer);
        let Ranks::Ranking(ranking) = &mut self.ranks else { return };
        let packets = buffer.flow_backlog(flow).packets;
        let was_in = if inside { packets > 1 } else { true };
        if was_in {
            ranking.remove(flow);
        }
        if packets > 0 {
            let number = self.numbers.of(self.shares.class(flow));
            ranking.insert(flow, (number, self.config.length(flow, buffer)));
        }
    }

    /// Gives `class` another weight and returns the previous one. O(w log n) with w different
    /// weights, at most 256.
    pub fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        let Ranks::Ranking(ranking) = &self.ranks else { return Err(SetWeightError::NoWeights) };
        self.config.weights.find(class)?;
        let is_free = |number: u32| ranking.below((number, 0)) == ranking.below((number + 1, 0));
        self.numbers.set_weight(class, weight, is_free)?;
        self.shares.set_weight(class, weight)
    }

    /// The queue furthest above its share, counting the queue of `arrival` as backlogged. Ties go
    /// to the arrival's queue, or else to a random queue. `None` only if the buffer is empty.
    #[inline]
    pub fn furthest_above(&self, arrival: &Packet, buffer: &Buffer, rng: &mut Rng) -> Option<FlowKey> {
        match &self.ranks {
            Ranks::Lengths(lengths) => {
                if buffer.is_empty() {
                    return None;
                }
                let first = lengths.nth(0, buffer);
                let longest = buffer.flow_backlog(first).packets;
                let equals = lengths.at_least(longest);
                if equals == 1 {
                    return Some(first);
                }
                match buffer.flow(arrival) {
                    Some(own) if buffer.flow_backlog(own).packets == longest => Some(own),
                    _ => draw(equals, rng).map(|n| lengths.nth(n, buffer)),
                }
            }
            Ranks::Ranking(ranking) => self.furthest_ranked(ranking, arrival, buffer, rng),
        }
    }

    /// A random queue above its share, with the queue of `arrival` counted as backlogged.
    #[inline]
    pub fn any_above(&self, arrival: &Packet, buffer: &Buffer, rng: &mut Rng) -> Option<FlowKey> {
        let unit = self.shares.unit_for(arrival, buffer);
        match &self.ranks {
            Ranks::Lengths(lengths) => {
                let above = lengths.at_least(more_than(unit).min(u64::from(u32::MAX)) as u32);
                draw(above, rng).map(|n| lengths.nth(n, buffer))
            }
            Ranks::Ranking(ranking) => {
                let above = |number: u32| {
                    let least = more_than(unit * self.numbers.weight(number));
                    ranking.below((number, least))..ranking.below((number + 1, 0))
                };
                let total = self.numbers.all().map(|number| above(number).len() as u32).sum();
                let ranges = self.numbers.all().map(above);
                draw(total, rng).and_then(|n| ranking.nth(nth_of(ranges, n)))
            }
        }
    }

    /// The length of the longest queue, in packets or bytes as configured; for gauges.
    pub fn longest(&self) -> u64 {
        match &self.ranks {
            Ranks::Lengths(lengths) => lengths.longest_length().into(),
            Ranks::Ranking(ranking) => self
                .numbers
                .all()
                .filter_map(|number| longest_of(ranking, number))
                .map(|((_, length), _)| length)
                .max()
                .unwrap_or(0),
        }
    }

    fn furthest_ranked(
        &self,
        ranking: &Ranking,
        arrival: &Packet,
        buffer: &Buffer,
        rng: &mut Rng,
    ) -> Option<FlowKey> {
        let unit = self.shares.unit_for(arrival, buffer);
        let above = |(number, length): (u32, u64)| length as f64 - unit * self.numbers.weight(number);
        let all = || self.numbers.all().filter_map(|number| longest_of(ranking, number));
        let furthest = all().map(|(rank, _)| above(rank)).max_by(f64::total_cmp)?;
        let own = buffer.flow(arrival);
        if own.is_some_and(|own| above(ranking.rank(own)) == furthest) {
            return own;
        }
        let equals =
            || all().filter(|&(rank, _)| above(rank) == furthest).map(|(rank, end)| ranking.below(rank)..end);
        let total = equals().map(|range| range.len() as u32).sum();
        draw(total, rng).and_then(|n| ranking.nth(nth_of(equals(), n)))
    }
}

/// The rank of the longest queue whose weight has `number`, and the count of queues with this or a
/// lower number. `None` without such a queue.
fn longest_of(ranking: &Ranking, number: u32) -> Option<(Rank, u32)> {
    let end = ranking.below((number + 1, 0));
    let last = ranking.rank(ranking.nth(end.checked_sub(1)?)?);
    (last.0 == number).then_some((last, end))
}

#[inline]
fn more_than(part: f64) -> u64 {
    part as u64 + 1
}

#[inline]
fn draw(count: u32, rng: &mut Rng) -> Option<u32> {
    match count {
        0 => None,
        1 => Some(0),
        _ => Some(rng.below(count)),
    }
}

/// Element `n` of the joined `ranges`, from 0; it must exist.
fn nth_of(ranges: impl Iterator<Item = core::ops::Range<u32>>, mut n: u32) -> u32 {
    for range in ranges {
        let len = range.end - range.start;
        if n < len {
            return range.start + n;
        }
        n -= len;
    }
    unreachable!("n is below the number of all in the ranges")
}

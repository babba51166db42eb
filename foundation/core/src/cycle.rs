//! Repeating values, each with its duration.

use crate::time::Duration;
use alloc::boxed::Box;

/// The longest period: a year, so hundreds of repetitions fit into [`Time`](crate::Time).
pub(crate) const MAX_PERIOD: Duration = Duration::from_secs(366 * 24 * 3600);

/// A repeated sequence of values, each with its duration. Times are integers from the start of a
/// period, so no error accumulates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cycle<V> {
    /// Each value with its end, counted from the start of a period.
    spells: Box<[(Duration, V)]>,
}

impl<V: Copy> Cycle<V> {
    /// A cycle of the values with a duration above zero; `None` if there are none.
    pub(crate) fn new(spells: impl IntoIterator<Item = (Duration, V)>) -> Option<Self> {
        let mut end = Duration::ZERO;
        let lasting = spells.into_iter().filter(|(length, _)| !length.is_zero());
        let spells: Box<[_]> = lasting
            .map(|(length, value)| {
                end = end + length;
                (end, value)
            })
            .collect();
        (!spells.is_empty()).then_some(Cycle { spells })
    }

    /// The time after which the cycle repeats; above zero.
    pub(crate) fn period(&self) -> Duration {
        self.spells[self.spells.len() - 1].0
    }

    /// The index of the value at time `rest` in a period. `rest` is below the period.
    pub(crate) fn place(&self, rest: Duration) -> usize {
        self.spells.partition_point(|(end, _)| *end <= rest)
    }

    /// The start within the period, and the value, of the spell with index `place`.
    pub(crate) fn spell(&self, place: usize) -> (Duration, V) {
        (place.checked_sub(1).map_or(Duration::ZERO, |before| self.spells[before].0), self.spells[place].1)
    }

    /// The value at time `after`, and the time when this value ends. Both times count from the
    /// start of the cycle.
    pub(crate) fn at(&self, after: Duration) -> (V, Duration) {
        let (periods, rest) = self.divided(after);
        let (end, value) = self.spells[self.place(rest)];
        (value, self.period() * periods + end)
    }

    pub(crate) fn divided(&self, after: Duration) -> (u64, Duration) {
        let period = self.period().ns();
        (after.ns() / period, Duration::from_ns(after.ns() % period))
    }

    /// The start, duration and value of each spell of a period.
    pub(crate) fn spells(&self) -> impl Iterator<Item = (Duration, Duration, V)> {
        let starts = core::iter::once(Duration::ZERO).chain(self.spells.iter().map(|(end, _)| *end));
        starts.zip(&self.spells).map(|(start, (end, value))| (start, *end - start, *value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lasts_its_time_in_each_period() {
        let ns = Duration::from_ns;
        let cycle = Cycle::new([(ns(3), 'a'), (ns(0), 'b'), (ns(2), 'c')]).expect("some time");
        let seen: alloc::string::String = (0..11).map(|at| cycle.at(ns(at)).0).collect();
        assert_eq!(seen, "aaaccaaacca");
        assert_eq!((cycle.at(ns(2)).1, cycle.at(ns(3)).1, cycle.at(ns(9)).1), (ns(3), ns(5), ns(10)));
        assert_eq!(cycle.spells().last(), Some((ns(3), ns(2), 'c')));
        assert!(Cycle::new([(ns(0), 'a')]).is_none());
    }
}

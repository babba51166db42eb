//! Endless transfers in succession, each for a limited time: the HTTP client of FABA.

use super::step::{Cause, Demand, ENDLESS, Segments, Step};
use crate::app::datagram::gap_problem;
use fairwire_core::{Duration, Rng, Time};

/// Endless transfers in succession, each for a limited time and over a new connection with a
/// separate flow hash.
///
/// FABA's HTTP (A. Kamra et al., 2003) is such a sequence, of 5 s each. A connection is abandoned
/// when its time is over. In ns-2 its lost packets would be repaired in the background.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// The length of each transfer; above zero.
    pub lasts: Duration,
}

impl Default for Sequence {
    fn default() -> Self {
        Sequence { lasts: Duration::from_secs(5) }
    }
}

impl Sequence {
    pub(super) fn problem(&self) -> Option<String> {
        gap_problem(self.lasts)
    }

    pub(super) fn connections(&self) -> u16 {
        1
    }

    pub(super) fn demand(&self) -> Demand {
        Demand::Endless
    }
}

#[derive(Debug)]
pub(crate) struct Machine {
    lasts: Duration,
}

impl Machine {
    pub(crate) fn waiting(&self) -> u64 {
        0
    }

    pub(crate) fn new(plan: &Sequence, _segments: Segments) -> Self {
        Machine { lasts: plan.lasts }
    }

    pub(crate) fn react(&mut self, _cause: Cause, now: Time, _rng: &mut Rng, steps: &mut Vec<Step>) {
        steps.push(Step::Open { place: 0, segments: ENDLESS, timed_from: None });
        steps.push(Step::WakeAt(now + self.lasts));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Load;
    use super::super::tests::Ideal;
    use super::*;

    #[test]
    fn a_new_connection_is_opened_every_five_seconds() {
        let steps = Ideal::run(&Load::Sequence(Sequence::default()), Time::ZERO + Duration::from_secs(12));
        let opened = steps.iter().filter(|(_, step)| matches!(step, Step::Open { segments: ENDLESS, .. }));
        let seconds: Vec<u64> = opened.map(|(at, _)| at.ns() / 1_000_000_000).collect();
        assert_eq!(seconds, [0, 5, 10]);
    }
}

//! Files of random size.

use super::step::{Cause, Demand, Segments, Step};
use crate::app::datagram::gap_problem;
use crate::app::law::{Law, Sampler};
use fairwire_core::{Duration, Rng, Time};
use std::collections::VecDeque;

/// Files of random size, each over a new connection with a separate flow hash.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfers {
    /// Bytes per file, sent in full segments.
    pub size: Law,
    /// When transfers begin.
    pub arrivals: Arrivals,
}

/// When transfers begin.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// One after another: a transfer begins this number of seconds after the end of the previous
    /// one.
    Think(Law),
    /// At random times, whatever happens to earlier transfers.
    Poisson {
        /// Mean time between arrivals; above zero.
        mean_gap: Duration,
        /// Maximum simultaneous transfers, 1 or more. Other transfers wait for a connection, and
        /// their completion times include the wait.
        connections: u16,
    },
}

impl Transfers {
    pub(super) fn connections(&self) -> u16 {
        self.arrivals.connections()
    }

    pub(super) fn demand(&self) -> Demand {
        if self.arrivals.is_open_loop() { Demand::Offered } else { Demand::Requested }
    }

    pub(super) fn problem(&self) -> Option<String> {
        let size = self.size.problem().map(str::to_owned);
        let arrivals = || match &self.arrivals {
            Arrivals::Think(law) => law.problem().map(str::to_owned),
            Arrivals::Poisson { connections: 0, .. } => {
                Some("transfers need a connection at least".to_owned())
            }
            Arrivals::Poisson { mean_gap, .. } => gap_problem(*mean_gap),
        };
        size.or_else(arrivals)
    }
}

impl Arrivals {
    pub(super) fn connections(&self) -> u16 {
        match *self {
            Arrivals::Think(_) => 1,
            Arrivals::Poisson { connections, .. } => connections,
        }
    }

    pub(super) fn is_open_loop(&self) -> bool {
        matches!(self, Arrivals::Poisson { .. })
    }
}

#[derive(Debug)]
pub(crate) struct Machine {
    size: Sampler,
    segments: Segments,
    gap: Gap,
    /// Idle connections; the last is used next.
    idle: Vec<u16>,
    /// Transfers that wait for a connection: arrival and segments.
    waiting: VecDeque<(Time, u64)>,
    has_started: bool,
}

#[derive(Debug)]
enum Gap {
    Think(Sampler),
    Poisson(Sampler),
}

impl Machine {
    pub(crate) fn new(plan: &Transfers, segments: Segments) -> Self {
        let gap = match &plan.arrivals {
            Arrivals::Think(law) => Gap::Think(law.sampler()),
            Arrivals::Poisson { mean_gap, .. } => {
                Gap::Poisson(Law::Exponential { mean: mean_gap.secs() }.sampler())
            }
        };
        Machine {
            size: plan.size.sampler(),
            segments,
            gap,
            idle: (0..plan.arrivals.connections()).rev().collect(),
            waiting: VecDeque::new(),
            has_started: false,
        }
    }

    pub(crate) fn react(&mut self, cause: Cause, now: Time, rng: &mut Rng, steps: &mut Vec<Step>) {
        let is_first = !std::mem::replace(&mut self.has_started, true);
        match (cause, &self.gap) {
            (Cause::Finished(place), gap) => {
                if let Gap::Think(law) = gap {
                    steps.push(Step::WakeAt(now + law.duration(rng)));
                }
                self.idle.push(place);
            }
            (Cause::Due, Gap::Think(_)) => self.arrive(now, rng),
            (Cause::Due, Gap::Poisson(law)) => {
                steps.push(Step::WakeAt(now + law.duration(rng)));
                if !is_first {
                    self.arrive(now, rng);
                }
            }
        }
        while let (Some((since, segments)), Some(place)) =
            (self.waiting.front().copied(), self.idle.last().copied())
        {
            self.waiting.pop_front();
            self.idle.pop();
            steps.push(Step::Open { place, segments, timed_from: Some(since) });
        }
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.iter().map(|(_, segments)| segments).sum()
    }

    fn arrive(&mut self, now: Time, rng: &mut Rng) {
        let segments = self.segments.of(self.size.draw(rng));
        self.waiting.push_back((now, segments));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Load;
    use super::super::tests::Ideal;
    use super::*;

    fn steps(arrivals: Arrivals, size: Law, end: Duration) -> Vec<(Time, Step)> {
        Ideal::run(&Load::Transfers(Transfers { size, arrivals }), Time::ZERO + end)
    }

    #[test]
    fn the_next_transfer_begins_when_the_user_has_thought() {
        let steps = steps(Arrivals::Think(Law::Fixed(0.005)), Law::Fixed(9_001.0), Duration::from_ms(29));
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let open = |ms| (at(ms), Step::Open { place: 0, segments: 10, timed_from: Some(at(ms)) });
        assert_eq!(
            steps,
            [open(0), (at(10), Step::WakeAt(at(15))), open(15), (at(25), Step::WakeAt(at(30)))]
        );
    }

    #[test]
    fn random_arrivals_come_at_their_rate_and_wait_for_a_connection() {
        // A transfer takes 8 ms, so the connection is an M/D/1 queue that is busy 80 % of the time.
        let arrivals = Arrivals::Poisson { mean_gap: Duration::from_ms(10), connections: 1 };
        let steps = steps(arrivals, Law::Fixed(8_000.0), Duration::from_secs(2_000));
        let waits: Vec<f64> = steps
            .iter()
            .filter_map(|(at, step)| match step {
                Step::Open { timed_from: Some(since), .. } => Some(at.since(*since).secs()),
                _ => None,
            })
            .collect();
        let n = waits.len() as f64;
        assert!((n - 200_000.0).abs() < 3.3 * 200_000.0_f64.sqrt(), "{n}");
        // Waits are correlated for 100 ms or so. A batch takes 10 s, so batch means are nearly
        // independent.
        let batches: Vec<f64> =
            waits.chunks_exact(1000).map(|batch| batch.iter().sum::<f64>() / 1000.0).collect();
        let mean = batches.iter().sum::<f64>() / batches.len() as f64;
        let variance = batches.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / batches.len() as f64;
        let expected = 0.8 / (2.0 * 0.2) * 0.008;
        assert!(
            (mean - expected).abs() < 3.3 * (variance / batches.len() as f64).sqrt(),
            "{mean}, not {expected}"
        );
    }

    #[test]
    fn no_more_connections_are_used_than_there_are() {
        let arrivals = Arrivals::Poisson { mean_gap: Duration::from_ms(1), connections: 5 };
        let steps = steps(arrivals, Law::Pareto { mean: 8_000.0, shape: 1.5 }, Duration::from_secs(10));
        let places: std::collections::BTreeSet<u16> = steps
            .iter()
            .filter_map(|(_, step)| if let Step::Open { place, .. } = step { Some(*place) } else { None })
            .collect();
        assert_eq!(places, (0..5).collect());
    }
}

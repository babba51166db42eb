//! Keystrokes: one full segment per exponential gap, as in ns-2's Telnet.

use super::step::{Cause, Demand, Segments, Step};
use crate::app::datagram::gap_problem;
use crate::app::law::{Law, Sampler};
use fairwire_core::{Duration, Rng, Time};

/// One full segment per exponential gap, over one connection.
///
/// The model is ns-2's `Application/Telnet` with an `interval_`. The default is FABA's 5 ms (A.
/// Kamra et al., 2003).
#[derive(Clone, Debug, PartialEq)]
pub struct Telnet {
    /// Mean time between segments; above zero.
    pub mean_gap: Duration,
}

impl Default for Telnet {
    fn default() -> Self {
        Telnet { mean_gap: Duration::from_ms(5) }
    }
}

impl Telnet {
    pub(super) fn problem(&self) -> Option<String> {
        gap_problem(self.mean_gap)
    }

    pub(super) fn connections(&self) -> u16 {
        1
    }

    pub(super) fn demand(&self) -> Demand {
        Demand::Offered
    }
}

#[derive(Debug)]
pub(crate) struct Machine {
    gap: Sampler,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fresh,
    Silent,
    Typing,
}

impl Machine {
    pub(crate) fn waiting(&self) -> u64 {
        0
    }

    pub(crate) fn new(plan: &Telnet, _segments: Segments) -> Self {
        Machine { gap: Law::Exponential { mean: plan.mean_gap.secs() }.sampler(), state: State::Fresh }
    }

    pub(crate) fn react(&mut self, cause: Cause, now: Time, rng: &mut Rng, steps: &mut Vec<Step>) {
        if cause != Cause::Due {
            return; // the next key has its own time
        }
        let (place, segments, timed_from) = (0, 1, None);
        self.state = match self.state {
            State::Fresh => State::Silent,
            State::Silent => {
                steps.push(Step::Open { place, segments, timed_from });
                State::Typing
            }
            State::Typing => {
                steps.push(Step::Write { place, segments, timed_from });
                State::Typing
            }
        };
        steps.push(Step::WakeAt(now + self.gap.duration(rng)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Load;
    use super::super::tests::Ideal;
    use super::*;

    #[test]
    fn keystrokes_come_at_their_rate_over_one_connection() {
        let steps = Ideal::run(&Load::Telnet(Telnet::default()), Time::ZERO + Duration::from_secs(500));
        let opened = steps.iter().filter(|(_, step)| matches!(step, Step::Open { .. })).count();
        let keys = steps.iter().filter(|(_, step)| !matches!(step, Step::WakeAt(_))).count() as f64;
        assert_eq!(opened, 1);
        assert!((keys - 100_000.0).abs() < 3.3 * 100_000.0_f64.sqrt(), "{keys}");
    }
}

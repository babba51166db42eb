//! Bursts of segments separated by pauses.

use super::step::{Cause, Demand, Segments, Step};
use crate::app::law::{Law, Sampler};
use fairwire_core::{Rng, Time};

/// Bursts of segments separated by pauses. A pause begins when the sender knows that the burst has
/// been delivered.
///
/// A burst has max(1, round(x)) segments. By default, the random x is Pareto with shape 1.5 and
/// mean 15, as in B. Suter et al. (INFOCOM 1998, section 4). Their pauses have a mean of 1 s (10 s
/// in figure 10) and an unstated distribution; ours is exponential.
#[derive(Clone, Debug, PartialEq)]
pub struct Bursts {
    /// Segments per burst, before rounding.
    pub burst: Law,
    /// Seconds between bursts.
    pub idle: Law,
    /// True if each burst is a new connection with a separate flow hash; otherwise all bursts share
    /// one connection.
    pub renews: bool,
}

impl Default for Bursts {
    fn default() -> Self {
        Bursts {
            burst: Law::Pareto { mean: 15.0, shape: 1.5 },
            idle: Law::Exponential { mean: 1.0 },
            renews: false,
        }
    }
}

impl Bursts {
    pub(super) fn problem(&self) -> Option<String> {
        self.burst.problem().or(self.idle.problem()).map(str::to_owned)
    }

    pub(super) fn connections(&self) -> u16 {
        1
    }

    pub(super) fn demand(&self) -> Demand {
        Demand::Requested
    }
}

#[derive(Debug)]
pub(crate) struct Machine {
    burst: Sampler,
    idle: Sampler,
    renews: bool,
    has_started: bool,
}

impl Machine {
    pub(crate) fn waiting(&self) -> u64 {
        0
    }

    pub(crate) fn new(plan: &Bursts, _segments: Segments) -> Self {
        let (burst, idle) = (plan.burst.sampler(), plan.idle.sampler());
        Machine { burst, idle, renews: plan.renews, has_started: false }
    }

    pub(crate) fn react(&mut self, cause: Cause, now: Time, rng: &mut Rng, steps: &mut Vec<Step>) {
        if let Cause::Finished(_) = cause {
            return steps.push(Step::WakeAt(now + self.idle.duration(rng)));
        }
        let is_first = !std::mem::replace(&mut self.has_started, true);
        let (place, segments, timed_from) = (0, self.burst.count(rng).max(1), Some(now));
        steps.push(if is_first || self.renews {
            Step::Open { place, segments, timed_from }
        } else {
            Step::Write { place, segments, timed_from }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::Load;
    use super::super::tests::Ideal;
    use super::*;
    use fairwire_core::Duration;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn a_pause_begins_when_the_burst_has_been_delivered() {
        let (burst, idle) = (Law::Fixed(15.0), Law::Fixed(0.1));
        let steps = |renews| {
            let bursts = Bursts { burst: burst.clone(), idle: idle.clone(), renews };
            Ideal::run(&Load::Bursts(bursts), at(120))
        };
        let open = |ms| (at(ms), Step::Open { place: 0, segments: 15, timed_from: Some(at(ms)) });
        let write = |ms| (at(ms), Step::Write { place: 0, segments: 15, timed_from: Some(at(ms)) });
        assert_eq!(steps(false), [open(0), (at(15), Step::WakeAt(at(115))), write(115)]);
        assert_eq!(steps(true), [open(0), (at(15), Step::WakeAt(at(115))), open(115)]);
    }

    #[test]
    fn the_papers_bursts_have_half_their_weight_below_eight_packets() {
        let steps = Ideal::run(&Load::Bursts(Bursts::default()), at(60_000_000));
        let sizes: Vec<u64> = steps
            .iter()
            .filter_map(|(_, step)| match step {
                Step::Open { segments, .. } | Step::Write { segments, .. } => Some(*segments),
                _ => None,
            })
            .collect();
        assert!(sizes.iter().all(|&size| size >= 5));
        // The size of a burst is Pareto with shape 1.5 and minimum 5. Sizes above 7.5 are rounded
        // to 8 or more.
        let (n, tail) = (sizes.len() as f64, (5.0_f64 / 7.5).powf(1.5));
        let share = sizes.iter().filter(|&&size| size >= 8).count() as f64 / n;
        assert!((share - tail).abs() < 3.3 * (tail * (1.0 - tail) / n).sqrt(), "{share}, not {tail}");
    }
}

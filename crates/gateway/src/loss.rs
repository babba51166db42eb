//! Random loss, as on a bad wire: what a lab without netem puts beside the [delay line](crate::delay_line).

use fairwire_core::Seed;
use fairwire_core::rng::Rng;

/// Loses each packet with the same probability, independent of the others.
#[derive(Debug)]
pub struct RandomLoss {
    probability: f64,
    rng: Rng,
}

/// A probability that is none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the loss probability is {given}; allowed: 0 to 1")]
pub struct BadProbability {
    /// As given.
    pub given: f64,
}

impl RandomLoss {
    /// Loses packets with `probability`, drawing from the stream `stream` of `seed`: the same packets are lost under the same
    /// seed.
    pub fn new(probability: f64, seed: Seed, stream: &str) -> Result<Self, BadProbability> {
        match probability {
            0.0..=1.0 => Ok(RandomLoss { probability, rng: seed.stream(stream) }),
            given => Err(BadProbability { given }),
        }
    }

    /// Is the next packet lost?
    pub fn is_next_lost(&mut self) -> bool {
        self.rng.chance(self.probability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost_of(probability: f64, seed: u64) -> Vec<bool> {
        let mut loss = RandomLoss::new(probability, Seed(seed), "forward").expect("allowed");
        (0..10_000).map(|_| loss.is_next_lost()).collect()
    }

    #[test]
    fn about_as_many_are_lost_as_are_asked_for_and_the_same_under_the_same_seed() {
        let lost = lost_of(0.1, 1);
        let count = lost.iter().filter(|lost| **lost).count();
        assert!((880..=1120).contains(&count), "{count}"); // 1000 +- 4 sd of 30
        assert_eq!(lost, lost_of(0.1, 1));
        assert_ne!(lost, lost_of(0.1, 2));
        assert!(lost_of(1.0, 1).iter().all(|lost| *lost) && !lost_of(0.0, 1).contains(&true));
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for given in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = RandomLoss::new(given, Seed(1), "forward").expect_err("no probability");
            assert!(error.to_string().contains("allowed: 0 to 1"), "{error}");
        }
    }
}

//! What happens to packets between the queue and the far end: loss, jitter, reordering,
//! duplication.
//!
//! Each draws from a random stream of its own, so that one more of them changes nothing of what the
//! others do.

use fairwire_core::{Duration, Rng, Seed, Time};

/// Which packets are lost on the wire, after they have been sent: they take their time at the
/// queue. What the queue drops comes on top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each packet by itself, with this probability.
    Bernoulli(f64),
    /// In bursts.
    GilbertElliott(GilbertElliott),
}

/// The model of E. N. Gilbert (1960) and E. O. Elliott (1963): a wire that is good or bad. It
/// begins good. A packet is lost with the probability of the state; then the state changes with its
/// probability.
///
/// In the mean it is bad for `1 / to_good` packets at a time, and `to_bad / (to_bad + to_good)` of
/// all packets meet it bad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// The probability, per packet, of becoming bad.
    pub to_bad: f64,
    /// The probability, per packet, of becoming good again.
    pub to_good: f64,
    /// The probability of a loss while it is good.
    pub loss_when_good: f64,
    /// The probability of a loss while it is bad.
    pub loss_when_bad: f64,
}

impl From<f64> for Loss {
    fn from(probability: f64) -> Self {
        Loss::Bernoulli(probability)
    }
}

impl From<GilbertElliott> for Loss {
    fn from(model: GilbertElliott) -> Self {
        Loss::GilbertElliott(model)
    }
}

impl Loss {
    fn probabilities(self) -> Vec<f64> {
        match self {
            Loss::Bernoulli(p) => vec![p],
            Loss::GilbertElliott(GilbertElliott { to_bad, to_good, loss_when_good, loss_when_bad }) => {
                vec![to_bad, to_good, loss_when_good, loss_when_bad]
            }
        }
    }

    /// The same, if all its probabilities are some.
    pub(crate) fn check(self) -> Result<Loss, String> {
        self.probabilities().into_iter().try_for_each(|p| probability(p).map(drop))?;
        Ok(self)
    }
}

/// `p`, if it is a probability.
pub(crate) fn probability(p: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&p) { Ok(p) } else { Err(format!("{p} is no probability; allowed: 0 to 1")) }
}

/// What is given for a wire, checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireTerms {
    pub(crate) delay: Duration,
    pub(crate) jitter: Duration,
    pub(crate) loss: Option<Loss>,
    /// Which part of the packets is held back, and for how long.
    pub(crate) reorder: Option<(f64, Duration)>,
    pub(crate) duplicate: f64,
}

/// A wire at work.
#[derive(Debug)]
pub(crate) struct Wire {
    terms: WireTerms,
    is_bad: bool,
    /// When the latest packet that is not held back arrives: none behind it arrives earlier.
    latest: Time,
    losses: Rng,
    jitters: Rng,
    reorders: Rng,
    duplicates: Rng,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    Arrives { at: Time, twice: bool },
}

impl Wire {
    /// A wire that draws from streams called after `name`.
    pub(crate) fn new(terms: WireTerms, seed: Seed, name: &str) -> Self {
        let stream = |part| seed.stream_of(format_args!("{name}/{part}"));
        Wire {
            terms,
            is_bad: false,
            latest: Time::ZERO,
            losses: stream("loss"),
            jitters: stream("jitter"),
            reorders: stream("reorder"),
            duplicates: stream("duplicate"),
        }
    }

    /// The time that no packet undercuts.
    pub(crate) fn delay(&self) -> Duration {
        self.terms.delay
    }

    /// What becomes of a packet whose last bit was sent at `sent`.
    #[inline]
    pub(crate) fn carry(&mut self, sent: Time) -> Fate {
        if self.loses() {
            return Fate::Lost;
        }
        let twice = happens(&mut self.duplicates, self.terms.duplicate);
        let jitter = self.jitter();
        let at = sent + self.terms.delay + jitter;
        if let Some((part, by)) = self.terms.reorder
            && happens(&mut self.reorders, part)
        {
            return Fate::Arrives { at: at + by, twice };
        }
        self.latest = self.latest.max(at);
        Fate::Arrives { at: self.latest, twice }
    }

    fn loses(&mut self) -> bool {
        match self.terms.loss {
            None => false,
            Some(Loss::Bernoulli(p)) => happens(&mut self.losses, p),
            Some(Loss::GilbertElliott(model)) => {
                let (loss, change) = if self.is_bad {
                    (model.loss_when_bad, model.to_good)
                } else {
                    (model.loss_when_good, model.to_bad)
                };
                let is_lost = happens(&mut self.losses, loss);
                self.is_bad ^= happens(&mut self.losses, change);
                is_lost
            }
        }
    }

    fn jitter(&mut self) -> Duration {
        match self.terms.jitter {
            Duration::ZERO => Duration::ZERO,
            most => Duration::from_ns((self.jitters.uniform() * most.ns() as f64) as u64),
        }
    }
}

/// Does it happen, with this probability? What never happens draws nothing.
#[inline]
fn happens(rng: &mut Rng, probability: f64) -> bool {
    probability > 0.0 && rng.uniform() < probability
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: WireTerms = WireTerms {
        delay: Duration::from_ms(5),
        jitter: Duration::ZERO,
        loss: None,
        reorder: None,
        duplicate: 0.0,
    };

    fn fates(terms: WireTerms, count: u64) -> Vec<Fate> {
        let mut wire = Wire::new(terms, Seed(1), "wire");
        (0..count).map(|at| wire.carry(Time::ZERO + Duration::from_ms(at))).collect()
    }

    fn lost(terms: WireTerms, count: u64) -> Vec<bool> {
        fates(terms, count).into_iter().map(|fate| fate == Fate::Lost).collect()
    }

    #[test]
    fn single_losses_are_as_frequent_as_given() {
        let lost = lost(WireTerms { loss: Some(Loss::Bernoulli(0.1)), ..PLAIN }, 100_000);
        let count = lost.iter().filter(|lost| **lost).count() as f64;
        assert!((count - 10_000.0).abs() < 380.0, "{count}"); // 4 sd: sqrt(100 000 x 0.1 x 0.9) = 95
    }

    #[test]
    fn bursts_are_as_long_and_as_frequent_as_the_model_says() {
        let model = GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_when_good: 0.0, loss_when_bad: 1.0 };
        let lost = lost(WireTerms { loss: Some(model.into()), ..PLAIN }, 400_000);
        let losses = lost.iter().filter(|lost| **lost).count() as f64;
        let bursts = lost.windows(2).filter(|two| !two[0] && two[1]).count() as f64;
        // 1/26 of 400 000. The state remembers itself with 1 - 0.01 - 0.25 = 0.74. So the variance
        // of the sum is that of single losses, 14 793, times (1 + 0.74) / (1 - 0.74): sd 315; 4 of
        // them.
        assert!((losses - 15_385.0).abs() < 1260.0, "{losses}");
        // Mean 1 / 0.25 = 4 with sd 3.5 of each, of 3800 bursts: 4 x 3.5 / sqrt(3800) = 0.23.
        assert!((losses / bursts - 4.0).abs() < 0.23, "{}", losses / bursts);
    }

    #[test]
    fn jitter_is_bounded_and_keeps_the_order() {
        let most = Duration::from_ms(20);
        let mut last = Time::ZERO;
        for (n, fate) in fates(WireTerms { jitter: most, ..PLAIN }, 10_000).into_iter().enumerate() {
            let sent = Time::ZERO + Duration::from_ms(n as u64);
            let Fate::Arrives { at, .. } = fate else { panic!("nothing is lost") };
            assert!(at >= last && at >= sent + PLAIN.delay && at <= sent + PLAIN.delay + most);
            last = at;
        }
    }

    #[test]
    fn another_impairment_does_not_change_which_packets_are_lost() {
        let some = WireTerms { loss: Some(Loss::Bernoulli(0.3)), ..PLAIN };
        let all = WireTerms {
            jitter: Duration::from_ms(3),
            reorder: Some((0.2, Duration::from_ms(9))),
            duplicate: 0.5,
            ..some
        };
        assert_eq!(lost(some, 5_000), lost(all, 5_000));
    }

    #[test]
    fn a_delayed_packet_delays_no_other() {
        let reorder = Some((0.5, Duration::from_ms(100)));
        let mut held_back = 0;
        for (n, fate) in fates(WireTerms { reorder, ..PLAIN }, 1_000).into_iter().enumerate() {
            let Fate::Arrives { at, .. } = fate else { panic!("nothing is lost") };
            let took = at.since(Time::ZERO + Duration::from_ms(n as u64));
            assert!(took == Duration::from_ms(5) || took == Duration::from_ms(105), "{took}");
            held_back += usize::from(took > PLAIN.delay);
        }
        assert!((437..563).contains(&held_back), "{held_back}"); // 500 ± 4 sd of 15.8
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for p in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert!(Loss::Bernoulli(p).check().unwrap_err().contains("allowed: 0 to 1"));
            let model = GilbertElliott { to_bad: 0.1, to_good: p, loss_when_good: 0.0, loss_when_bad: 1.0 };
            assert!(Loss::from(model).check().is_err());
        }
    }
}

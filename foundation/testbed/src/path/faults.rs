//! Faults of a wire, as data for another process.

use fairwire_core::{
    DelayStep, DelayTrace, Duration, GilbertElliott, Jitter, Loss, Outage, Rng, Seed, Time, WireLaw,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The faults of a [wire](fairwire_core::Wire); none by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Faults {
    /// Changes of the delay, sorted by time: the time and the new delay, in nanoseconds.
    pub delays_ns: Vec<(u64, u64)>,
    /// Periodic delays, which replace `delays_ns` and the path's constant delays.
    #[serde(default)]
    pub delay_trace_ns: Option<RepeatedDelays>,
    /// Outages, in which all packets are lost, sorted by time: start and end, nanoseconds.
    pub outages_ns: Vec<(u64, u64)>,
    /// Random losses.
    pub losses: Losses,
    /// Extra delays of packets, nanoseconds, all equally probable.
    pub jitter_ns: Vec<u64>,
    /// True if packets take the extra delays in order, which preserves correlation. If false, each
    /// packet takes a random extra delay.
    #[serde(default)]
    pub jitter_in_order: bool,
    /// May a packet overtake packets that were sent earlier?
    pub overtakes: bool,
    /// The fraction of packets held back, and the holding time, nanoseconds.
    pub reorder: Option<(f64, u64)>,
    /// The probability that a packet arrives twice.
    pub duplicate: f64,
}

/// A repeated period, in nanoseconds: its intervals, each a duration and a delay (`None` in an
/// outage), and the offset into the period at time zero.
type RepeatedDelays = (Vec<(u64, Option<u64>)>, u64);

/// The probabilities of a wire that is [good or bad](GilbertElliott). If it never becomes bad,
/// losses are independent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Per packet, the probability of becoming bad.
    pub to_bad: f64,
    /// Per packet, the probability of becoming good again.
    pub to_good: f64,
    /// The probability of a loss while good.
    pub when_good: f64,
    /// The probability of a loss while bad.
    pub when_bad: f64,
}

/// The number of random jitter values. The standard error of their mean is 1/256 of the
/// distribution's standard deviation.
const DRAWS: usize = 1 << 16;

impl Faults {
    /// The faults of `law`. A jitter distribution cannot be sent to another process, so its values
    /// are drawn in advance, with `seed`.
    pub fn of(law: &WireLaw, seed: Seed) -> Self {
        let mut rng = seed.stream("path/jitter");
        let mut memory = None;
        let draws = |jitter: &Arc<dyn Jitter>| {
            (0..DRAWS).map(|_| jitter.draw_after(&mut memory, &mut rng).ns()).collect()
        };
        let WireLaw { delays, outages, delay_trace, loss, jitter, overtakes, reorder, duplicate } = law;
        let trace = |trace: &Arc<DelayTrace>| {
            let (parts, phase) = trace.parts();
            let ns = |(length, delay): (Duration, Option<Duration>)| (length.ns(), delay.map(Duration::ns));
            (parts.into_iter().map(ns).collect(), phase.ns())
        };
        Faults {
            delays_ns: delays.iter().map(|step| (step.at.ns(), step.delay.ns())).collect(),
            delay_trace_ns: delay_trace.as_ref().map(trace),
            outages_ns: outages.iter().map(|outage| (outage.from.ns(), outage.until.ns())).collect(),
            losses: loss.map_or_else(Losses::default, Losses::from),
            jitter_in_order: jitter.as_ref().is_some_and(|jitter| jitter.correlation() != 0.0),
            jitter_ns: jitter.as_ref().map_or_else(Vec::new, draws),
            overtakes: *overtakes,
            reorder: reorder.map(|(part, by)| (part, by.ns())),
            duplicate: *duplicate,
        }
    }

    /// Independent losses with the probability `part`.
    pub fn losing(part: f64) -> Self {
        Faults { losses: Loss::from(part).into(), ..Faults::default() }
    }

    /// The corresponding law.
    pub fn law(&self) -> WireLaw {
        let steps = self
            .delays_ns
            .iter()
            .map(|(at, delay)| DelayStep { at: Time::from_ns(*at), delay: Duration::from_ns(*delay) });
        let time = Time::from_ns;
        let outages =
            self.outages_ns.iter().map(|(from, until)| Outage { from: time(*from), until: time(*until) });
        let drawn = || Drawn { ns: self.jitter_ns.clone(), in_order: self.jitter_in_order };
        let jitter = (!self.jitter_ns.is_empty()).then(|| Arc::new(drawn()) as _);
        let ns =
            |(length, delay): &(u64, Option<u64>)| (Duration::from_ns(*length), delay.map(Duration::from_ns));
        let trace = self.delay_trace_ns.as_ref();
        let trace = trace
            .and_then(|(parts, phase)| DelayTrace::of_parts(parts.iter().map(ns), Duration::from_ns(*phase)));
        WireLaw {
            delays: steps.collect(),
            delay_trace: trace.map(Arc::new),
            outages: outages.collect(),
            loss: self.losses.law(),
            jitter,
            overtakes: self.overtakes,
            reorder: self.reorder.map(|(part, by)| (part, Duration::from_ns(by))),
            duplicate: self.duplicate,
        }
    }
}

impl From<Loss> for Losses {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Bernoulli(when_good) => Losses { when_good, ..Losses::default() },
            Loss::GilbertElliott(GilbertElliott { to_bad, to_good, loss_when_good, loss_when_bad }) => {
                Losses { to_bad, to_good, when_good: loss_when_good, when_bad: loss_when_bad }
            }
        }
    }
}

impl Losses {
    /// The corresponding [`Loss`], or `None` if no packet is lost.
    pub fn law(self) -> Option<Loss> {
        let Losses { to_bad, to_good, when_good, when_bad } = self;
        if to_bad == 0.0 {
            return (when_good > 0.0).then_some(Loss::Bernoulli(when_good));
        }
        let bursts = GilbertElliott { to_bad, to_good, loss_when_good: when_good, loss_when_bad: when_bad };
        Some(bursts.into())
    }
}

#[derive(Debug)]
struct Drawn {
    ns: Vec<u64>,
    in_order: bool,
}

impl Jitter for Drawn {
    fn draw(&self, rng: &mut Rng) -> Duration {
        Duration::from_ns(self.ns[(rng.uniform() * self.ns.len() as f64) as usize])
    }

    fn draw_after(&self, memory: &mut Option<f64>, rng: &mut Rng) -> Duration {
        if !self.in_order {
            return self.draw(rng);
        }
        let place = memory.map_or(0, |last| (last as usize + 1) % self.ns.len());
        *memory = Some(place as f64);
        Duration::from_ns(self.ns[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialized_faults_restore_the_law() {
        let bursts = GilbertElliott { to_bad: 0.1, to_good: 0.2, loss_when_good: 0.0, loss_when_bad: 1.0 };
        let delays = [DelayStep { at: Time::from_ns(7), delay: Duration::from_ms(9) }];
        let outages = [Outage { from: Time::from_ns(3), until: Time::from_ns(5) }];
        let law = WireLaw {
            delays: delays.into(),
            outages: outages.into(),
            loss: Some(bursts.into()),
            overtakes: true,
            reorder: Some((0.3, Duration::from_ms(2))),
            duplicate: 0.4,
            ..WireLaw::default()
        };
        let text = serde_json::to_string(&Faults::of(&law, Seed(1))).unwrap();
        let again = serde_json::from_str::<Faults>(&text).unwrap().law();
        assert_eq!((&*again.delays, &*again.outages, again.loss), (&delays[..], &outages[..], law.loss));
        assert_eq!((again.reorder, again.duplicate), (law.reorder, 0.4));
        assert!(again.overtakes && again.jitter.is_none());
        assert_eq!(Faults::losing(0.1).law().loss, Some(Loss::Bernoulli(0.1)));
        let trace = DelayTrace::parse("0,40\n0.01,-1\n0.02,60\n").unwrap().back();
        let law = WireLaw { delay_trace: Some(Arc::new(trace)), ..WireLaw::default() };
        assert_eq!(Faults::of(&law, Seed(1)).law().delay_trace, law.delay_trace);
        assert!(
            Faults::default().law().is_plain() && Faults::of(&WireLaw::default(), Seed(1)).law().is_plain()
        );
    }

    #[derive(Debug)]
    struct Rising;

    impl Jitter for Rising {
        fn draw(&self, _: &mut Rng) -> Duration {
            Duration::ZERO
        }
        fn draw_after(&self, memory: &mut Option<f64>, _: &mut Rng) -> Duration {
            let value = memory.map_or(0.0, |last| last + 1.0);
            *memory = Some(value);
            Duration::from_ns(value as u64)
        }
        fn correlation(&self) -> f64 {
            0.9
        }
    }

    #[test]
    fn correlated_jitter_keeps_its_order() {
        let law = WireLaw { jitter: Some(Arc::new(Rising)), ..WireLaw::default() };
        let jitter = Faults::of(&law, Seed(1)).law().jitter.expect("it has some");
        let (mut memory, mut rng) = (None, Seed(2).stream("test"));
        let draws: Vec<u64> = (0..DRAWS + 2).map(|_| jitter.draw_after(&mut memory, &mut rng).ns()).collect();
        assert!(draws[..DRAWS].is_sorted() && draws[DRAWS..] == [0, 1], "and then they begin again");
    }

    #[test]
    fn jitter_drawn_in_advance_has_the_mean_and_spread_of_its_law() {
        let law = WireLaw { jitter: Some(Arc::new(Duration::from_ms(12))), ..WireLaw::default() };
        let jitter = Faults::of(&law, Seed(1)).law().jitter.expect("it has some");
        let mut rng = Seed(2).stream("test");
        let draws: Vec<f64> = (0..40_000).map(|_| jitter.draw(&mut rng).secs()).collect();
        let mean = draws.iter().sum::<f64>() / 40_000.0;
        let variance = draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>() / 40_000.0;
        // `mean` is over 40 000 draws from 65 536 values. Its standard deviation is 0.022 ms, a
        // quarter of the limit.
        assert!((mean - 0.006).abs() < 0.000_088, "{mean}");
        // 12 ms / sqrt(12), the law's standard deviation, is 3.464 ms. Random draws and values
        // cause a relative error of 0.28 %, a quarter of the limit.
        assert!((variance.sqrt() - 0.003_464).abs() < 0.000_04, "{}", variance.sqrt());
    }
}

//! The effects of a wire between a transmitter and the far end of a link.
//!
//! Each effect draws from a separate random stream: adding an effect changes no other.

use crate::delays::DelayTrace;
use crate::rng::{Rng, Seed};
use crate::time::{Duration, Time};
use alloc::sync::Arc;
use core::fmt;

/// A model of the packets lost on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each packet is lost independently, with this probability.
    Bernoulli(f64),
    /// In bursts.
    GilbertElliott(GilbertElliott),
}

/// The model of E. N. Gilbert (1960) and E. O. Elliott (1963): a wire that is good or bad, and
/// begins good. The model first decides whether a packet is lost, and then whether the state
/// changes.
///
/// On average the wire is bad for `1 / to_good` packets at a time, and for `to_bad / (to_bad +
/// to_good)` of all packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// The probability, per packet, of becoming bad.
    pub to_bad: f64,
    /// The probability, per packet, of becoming good again.
    pub to_good: f64,
    /// The probability of a loss while the wire is good.
    pub loss_when_good: f64,
    /// The probability of a loss while the wire is bad.
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
    /// The fraction of packets lost in the long run.
    pub fn mean(self) -> f64 {
        match self {
            Loss::Bernoulli(p) => p,
            Loss::GilbertElliott(GilbertElliott { to_bad, to_good, loss_when_good, loss_when_bad }) => {
                let leaves = to_bad + to_good;
                let bad = if leaves > 0.0 { to_bad / leaves } else { 0.0 };
                (1.0 - bad) * loss_when_good + bad * loss_when_bad
            }
        }
    }
}

/// The time that a packet spends on a wire in addition to the wire's delay.
pub trait Jitter: fmt::Debug + Send + Sync {
    /// The additional time of the next packet.
    fn draw(&self, rng: &mut Rng) -> Duration;

    /// The additional time of the next packet, which may depend on the previous packet. `memory`
    /// keeps a value from one call to the next, and is `None` at first.
    fn draw_after(&self, _memory: &mut Option<f64>, rng: &mut Rng) -> Duration {
        self.draw(rng)
    }

    /// The correlation between consecutive packets' additional times.
    fn correlation(&self) -> f64 {
        0.0
    }
}

/// Jitter that is uniform from zero to this duration.
impl Jitter for Duration {
    fn draw(&self, rng: &mut Rng) -> Duration {
        Duration::from_ns((rng.uniform() * self.ns() as f64) as u64)
    }
}

/// A change of a wire's one-way propagation delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayStep {
    /// Packets sent from this time on have this delay.
    pub at: Time,
    /// The delay.
    pub delay: Duration,
}

/// A period in which a wire loses packets. A packet is lost if its last bit is sent in this period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Its start.
    pub from: Time,
    /// Its end.
    pub until: Time,
}

/// The effects of a wire on packets; by default none.
#[derive(Clone, Debug, Default)]
pub struct WireLaw {
    /// Changes of the delay, in order of time.
    pub delays: Arc<[DelayStep]>,
    /// Delays from a file, which replace `delays` and the initial delay. A packet sent during an
    /// outage in the file is lost.
    pub delay_trace: Option<Arc<DelayTrace>>,
    /// The periods in which all packets are lost, in order of time.
    pub outages: Arc<[Outage]>,
    /// The model of random losses.
    pub loss: Option<Loss>,
    /// The additional time of each packet.
    pub jitter: Option<Arc<dyn Jitter>>,
    /// True if a packet with less jitter may overtake an earlier packet. If false, both arrive
    /// together.
    pub overtakes: bool,
    /// The fraction of packets that are held back, and the time added to each. Later packets may
    /// overtake them.
    pub reorder: Option<(f64, Duration)>,
    /// The probability that a packet arrives twice.
    pub duplicate: f64,
}

impl WireLaw {
    /// True if no packet is affected.
    pub fn is_plain(&self) -> bool {
        let WireLaw { delays, outages, delay_trace, loss, jitter, overtakes: _, reorder, duplicate } = self;
        let has_times = !delays.is_empty() || !outages.is_empty() || delay_trace.is_some();
        !has_times && loss.is_none() && jitter.is_none() && reorder.is_none() && *duplicate == 0.0
    }

    /// Does the delay change?
    pub fn has_delays(&self) -> bool {
        !self.delays.is_empty() || self.delay_trace.is_some()
    }

    /// The shortest delay of a packet on a wire whose initial delay is `delay`.
    pub fn shortest(&self, delay: Duration) -> Duration {
        let steps = || self.delays.iter().map(|step| step.delay).fold(delay, Duration::min);
        self.delay_trace.as_ref().map_or_else(steps, |trace| trace.shortest())
    }
}

/// The state of a wire.
#[derive(Debug)]
pub struct Wire {
    law: WireLaw,
    /// The number of delay changes that have begun.
    steps: usize,
    /// The number of outages that are over.
    outages: usize,
    is_bad: bool,
    /// The latest arrival of a packet that was not held back. If packets may not overtake, no later
    /// packet arrives before this time.
    latest: Time,
    /// The jitter's memory of the previous packet.
    memory: Option<f64>,
    losses: Rng,
    jitters: Rng,
    reorders: Rng,
    duplicates: Rng,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It never arrives.
    Lost,
    /// It arrives.
    Arrives {
        /// The time of arrival.
        at: Time,
        /// Was the packet held back?
        is_late: bool,
        /// Does a copy arrive at the same time?
        twice: bool,
    },
}

impl Wire {
    /// A wire whose random streams have names that begin with `name`.
    pub fn new(law: WireLaw, seed: Seed, name: &str) -> Self {
        let stream = |part| seed.stream_of(format_args!("{name}/{part}"));
        Wire {
            law,
            steps: 0,
            outages: 0,
            is_bad: false,
            latest: Time::ZERO,
            memory: None,
            losses: stream("loss"),
            jitters: stream("jitter"),
            reorders: stream("reorder"),
            duplicates: stream("duplicate"),
        }
    }

    /// Its law.
    pub fn law(&self) -> &WireLaw {
        &self.law
    }

    /// Sets the loss model. A wire with [`Loss::GilbertElliott`] is good at first.
    pub fn set_loss(&mut self, loss: Option<Loss>) {
        (self.law.loss, self.is_bad) = (loss, false);
    }

    /// Does the delay change?
    pub fn has_delays(&self) -> bool {
        self.law.has_delays()
    }

    /// The fate of a packet whose last bit was sent at `sent`, on a wire with the initial delay
    /// `delay`. Packets come in the order of sending.
    #[inline]
    pub fn carry(&mut self, sent: Time, delay: Duration) -> Fate {
        let delay = self.delay(sent, delay);
        // The loss model also advances in an outage, so an outage does not change which later
        // packets are lost.
        if self.loses() | self.is_out(sent) {
            return Fate::Lost;
        }
        let Some(delay) = delay else { return Fate::Lost };
        let twice = happens(&mut self.duplicates, self.law.duplicate);
        let jitter = match &self.law.jitter {
            None => Duration::ZERO,
            Some(law) => law.draw_after(&mut self.memory, &mut self.jitters),
        };
        let at = sent + delay + jitter;
        if let Some((part, by)) = self.law.reorder
            && happens(&mut self.reorders, part)
        {
            return Fate::Arrives { at: at + by, is_late: true, twice };
        }
        if self.law.overtakes {
            return Fate::Arrives { at, is_late: false, twice };
        }
        self.latest = self.latest.max(at);
        Fate::Arrives { at: self.latest, is_late: false, twice }
    }

    /// The delay of a packet sent at `sent`; `None` in an outage.
    #[inline]
    fn delay(&mut self, sent: Time, delay: Duration) -> Option<Duration> {
        if let Some(trace) = &self.law.delay_trace {
            return trace.delay(sent);
        }
        while self.law.delays.get(self.steps).is_some_and(|step| step.at <= sent) {
            self.steps += 1;
        }
        Some(self.steps.checked_sub(1).map_or(delay, |latest| self.law.delays[latest].delay))
    }

    fn is_out(&mut self, sent: Time) -> bool {
        while self.law.outages.get(self.outages).is_some_and(|outage| outage.until <= sent) {
            self.outages += 1;
        }
        self.law.outages.get(self.outages).is_some_and(|outage| outage.from <= sent)
    }

    fn loses(&mut self) -> bool {
        match self.law.loss {
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
}

#[inline]
fn happens(rng: &mut Rng, probability: f64) -> bool {
    probability > 0.0 && rng.uniform() < probability
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const DELAY: Duration = Duration::from_ms(5);

    fn fates(law: WireLaw, count: u64) -> Vec<Fate> {
        let mut wire = Wire::new(law, Seed(1), "wire");
        (0..count).map(|at| wire.carry(Time::ZERO + Duration::from_ms(at), DELAY)).collect()
    }

    fn lossy(loss: impl Into<Loss>) -> WireLaw {
        WireLaw { loss: Some(loss.into()), ..WireLaw::default() }
    }

    fn jittery(most: Duration) -> WireLaw {
        WireLaw { jitter: Some(Arc::new(most)), ..WireLaw::default() }
    }

    fn lost(law: WireLaw, count: u64) -> Vec<bool> {
        fates(law, count).into_iter().map(|fate| fate == Fate::Lost).collect()
    }

    #[test]
    fn a_plain_wire_does_nothing() {
        assert!(WireLaw::default().is_plain() && !lossy(0.1).is_plain() && !jittery(DELAY).is_plain());
        let sent = |n| Time::ZERO + Duration::from_ms(n) + DELAY;
        let plain = |n| Fate::Arrives { at: sent(n), is_late: false, twice: false };
        assert!(fates(WireLaw::default(), 9).into_iter().zip(0..).all(|(fate, n)| fate == plain(n)));
    }

    #[test]
    fn a_new_delay_holds_for_later_packets_and_keeps_the_order() {
        let step =
            |at, delay| DelayStep { at: Time::ZERO + Duration::from_ms(at), delay: Duration::from_ms(delay) };
        let delays: Arc<[DelayStep]> = [step(2, 9), step(4, 1)].into();
        let arrivals = |overtakes| -> Vec<u64> {
            let law = WireLaw { delays: Arc::clone(&delays), overtakes, ..WireLaw::default() };
            let at = |fate| if let Fate::Arrives { at, .. } = fate { at.ns() / 1_000_000 } else { 0 };
            fates(law, 10).into_iter().map(at).collect()
        };
        assert_eq!(arrivals(true), [5, 6, 11, 12, 5, 6, 7, 8, 9, 10]);
        assert_eq!(arrivals(false), [5, 6, 11, 12, 12, 12, 12, 12, 12, 12]);
    }

    #[test]
    fn an_outage_loses_its_packets_and_leaves_other_losses_unchanged() {
        let ms = |ms| Time::ZERO + Duration::from_ms(ms);
        let outages: Arc<[Outage]> = [
            Outage { from: ms(2), until: ms(4) },
            Outage { from: ms(4), until: ms(5) },
            Outage { from: ms(7), until: ms(8) },
        ]
        .into();
        let out = |law| WireLaw { outages: Arc::clone(&outages), ..law };
        assert!(!out(WireLaw::default()).is_plain());
        let is_out = |at: usize| [2, 3, 4, 7].contains(&at);
        assert!(
            lost(out(WireLaw::default()), 10).into_iter().enumerate().all(|(at, lost)| lost == is_out(at))
        );
        let both = lost(out(lossy(0.3)), 5_000).into_iter().enumerate();
        let alone = lost(lossy(0.3), 5_000);
        assert!(both.into_iter().all(|(at, lost)| lost == (alone[at] || is_out(at))));
    }

    #[test]
    fn single_losses_are_as_frequent_as_given() {
        let lost = lost(lossy(0.1), 100_000);
        let count = lost.iter().filter(|lost| **lost).count() as f64;
        assert!((count - 10_000.0).abs() < 380.0, "{count}"); // 4 sd: sqrt(100 000 x 0.1 x 0.9) = 95
    }

    #[test]
    fn bursts_are_as_long_and_as_frequent_as_the_model_says() {
        let model = GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_when_good: 0.0, loss_when_bad: 1.0 };
        let lost = lost(lossy(model), 400_000);
        let losses = lost.iter().filter(|lost| **lost).count() as f64;
        let bursts = lost.windows(2).filter(|two| !two[0] && two[1]).count() as f64;
        // The mean is 400,000 x 0.01 / 0.26 = 15,385 losses. The state's correlation from packet to
        // packet, 1 - 0.01 - 0.25 = 0.74, multiplies the variance of independent losses by 1.74 /
        // 0.26. The bound is 4 standard deviations of 315.
        assert!((losses - 15_385.0).abs() < 1260.0, "{losses}");
        // The bound is 4 x 3.5 / sqrt(3800) = 0.23: four standard deviations of the mean length of
        // 3800 bursts.
        assert!((losses / bursts - 4.0).abs() < 0.23, "{}", losses / bursts);
    }

    #[test]
    fn lengths_of_bursts_are_geometric() {
        let model = GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_when_good: 0.0, loss_when_bad: 1.0 };
        let mut counts = [0.0; 10]; // of lengths 1 to 9, and of more
        let lost = lost(lossy(model), 1_000_000);
        let bursts: Vec<usize> = lost.chunk_by(|a, b| a == b).filter(|run| run[0]).map(<[_]>::len).collect();
        bursts.iter().for_each(|length| counts[(length - 1).min(9)] += 1.0);
        let all = bursts.len() as f64;
        let tail = |length: i32| (0..length).fold(all, |left, _| left * 0.75);
        let expected = |at: i32| if at < 9 { tail(at) * 0.25 } else { tail(9) };
        let chi_square: f64 = counts
            .iter()
            .zip(0..)
            .map(|(seen, at)| (seen - expected(at)) * (seen - expected(at)) / expected(at))
            .sum();
        // Chi-square with nine degrees of freedom exceeds 27.9 one time in a thousand.
        assert!(chi_square < 27.9, "{chi_square}: {counts:?}");
    }

    #[test]
    fn losses_in_both_states_come_to_the_stationary_mean() {
        let model = GilbertElliott { to_bad: 0.02, to_good: 0.08, loss_when_good: 0.05, loss_when_bad: 0.6 };
        let mean = Loss::from(model).mean();
        assert!((mean - (0.8 * 0.05 + 0.2 * 0.6)).abs() < 1e-12, "a fifth of the packets meets it bad");
        let count = lost(lossy(model), 400_000).into_iter().filter(|lost| *lost).count() as f64;
        // On average, 400,000 x 0.16 = 64,000 packets are lost. The standard deviation is 634,
        // since the wire's state has a correlation of 0.9 between packets. The bound is 4 x 634.
        assert!((count - 64_000.0).abs() < 2540.0, "{count}");
    }

    #[test]
    fn jitter_is_bounded_and_keeps_the_order() {
        let most = Duration::from_ms(20);
        let mut last = Time::ZERO;
        for (n, fate) in fates(jittery(most), 10_000).into_iter().enumerate() {
            let sent = Time::ZERO + Duration::from_ms(n as u64);
            let Fate::Arrives { at, .. } = fate else { panic!("nothing is lost") };
            assert!(at >= last && at >= sent + DELAY && at <= sent + DELAY + most);
            last = at;
        }
    }

    #[test]
    fn where_packets_may_overtake_jitter_is_uniform() {
        let law = WireLaw { overtakes: true, ..jittery(Duration::from_ms(20)) };
        let (mut sum, mut overtaken, mut last) = (0.0, 0, Time::ZERO);
        for (n, fate) in fates(law, 10_000).into_iter().enumerate() {
            let Fate::Arrives { at, .. } = fate else { panic!("nothing is lost") };
            sum += at.since(Time::ZERO + Duration::from_ms(n as u64) + DELAY).secs();
            overtaken += usize::from(at < last);
            last = at;
        }
        let mean = sum / 10_000.0;
        assert!((mean - 0.010).abs() < 0.000_24, "{mean}"); // sd 20 / sqrt(12) / 100 = 0.058 ms; 4
        assert!(overtaken > 4000, "{overtaken}"); // (19/20)^2 / 2 = 0.45 of them, sd below 50
    }

    #[test]
    fn another_impairment_does_not_change_which_packets_are_lost() {
        let all = WireLaw {
            reorder: Some((0.2, Duration::from_ms(9))),
            duplicate: 0.5,
            loss: Some(0.3.into()),
            ..jittery(Duration::from_ms(3))
        };
        assert_eq!(lost(lossy(0.3), 5_000), lost(all, 5_000));
    }

    #[test]
    fn copies_are_as_frequent_as_given() {
        let law = WireLaw { duplicate: 0.2, ..WireLaw::default() };
        let twice = |fate: &Fate| matches!(fate, Fate::Arrives { twice: true, .. });
        let count = fates(law, 10_000).iter().filter(|fate| twice(fate)).count();
        assert!((1840..2160).contains(&count), "{count}"); // 2000 ± 4 sd of 40
    }

    #[test]
    fn a_delayed_packet_delays_no_other() {
        let law = WireLaw { reorder: Some((0.5, Duration::from_ms(100))), ..WireLaw::default() };
        let mut held_back = 0;
        for (n, fate) in fates(law, 1_000).into_iter().enumerate() {
            let Fate::Arrives { at, is_late, .. } = fate else { panic!("nothing is lost") };
            let took = at.since(Time::ZERO + Duration::from_ms(n as u64));
            assert_eq!(took, if is_late { Duration::from_ms(105) } else { DELAY });
            held_back += usize::from(is_late);
        }
        assert!((437..563).contains(&held_back), "{held_back}"); // 500 ± 4 sd of 15.8
    }
}

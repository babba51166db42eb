//! Bursts at a constant rate, separated by pauses.

use super::packet::{Emission, packet_problem};
use crate::app::law::{Law, Sampler};
use fairwire_core::{Rate, Rng, Time, Transmitter};

/// Bursts at a constant rate, separated by pauses.
///
/// As in ns-2's exponential and Pareto on/off sources, a burst has max(1, round(x)) packets, where
/// x is random. Packets are one packet time apart, and the pause begins one packet time after the
/// last packet. With Pareto bursts of a shape below 2, many such sources create traffic that is
/// bursty at every time scale (W. Willinger et al., IEEE/ACM Transactions on Networking 5(1),
/// 1997).
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// Bits per second on the wire within a burst.
    pub rate: Rate,
    /// Bytes on the wire per packet.
    pub packet_bytes: u32,
    /// Packets per burst, before rounding.
    pub burst: Law,
    /// Seconds between bursts.
    pub idle: Law,
}

impl OnOff {
    pub(super) fn typical_bytes(&self, _header_bytes: u32) -> u32 {
        self.packet_bytes
    }

    pub(super) fn problem(&self, header_bytes: u32) -> Option<String> {
        let laws = self.burst.problem().or(self.idle.problem());
        packet_problem(self.packet_bytes, header_bytes).or(laws.map(str::to_owned))
    }
}

#[derive(Debug)]
pub(crate) struct Generator {
    pace: Transmitter,
    bytes: u32,
    burst: Sampler,
    idle: Sampler,
    left: u64, // remaining packets of this burst
    has_started: bool,
}

impl Generator {
    pub(crate) fn new(plan: &OnOff, _header_bytes: u32) -> Self {
        Generator {
            pace: Transmitter::new(plan.rate),
            bytes: plan.packet_bytes,
            burst: plan.burst.sampler(),
            idle: plan.idle.sampler(),
            left: 0,
            has_started: false,
        }
    }

    pub(crate) fn next(&mut self, now: Time, rng: &mut Rng) -> Emission {
        let mut at = now;
        if std::mem::replace(&mut self.has_started, true) {
            let before = self.pace.free_at();
            at += self.pace.start(self.bytes, before).since(before);
            if self.left == 0 {
                at += self.idle.duration(rng);
            }
        }
        if self.left == 0 {
            self.left = self.burst.count(rng).max(1);
        }
        self.left -= 1;
        Emission::of(self.bytes, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Duration, Seed};

    fn plan(burst: Law, idle: Law) -> OnOff {
        let rate = Rate::from_bps(8_000_000).expect("not zero"); // 1 byte = 1 us
        OnOff { rate, packet_bytes: 1000, burst, idle }
    }

    fn times(plan: &OnOff, count: usize) -> Vec<Time> {
        let (mut source, mut rng) = (Generator::new(plan, 0), Seed(1).stream("test"));
        let mut now = Time::ZERO;
        let mut next = || {
            now = source.next(now, &mut rng).at;
            now
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn a_pause_begins_one_packet_time_after_a_burst() {
        let times = times(&plan(Law::Fixed(3.0), Law::Fixed(0.01)), 7);
        let ms: Vec<u64> = times.iter().map(|at| at.ns() / 1_000_000).collect();
        assert_eq!(ms, [0, 1, 2, 13, 14, 15, 26]);
    }

    #[test]
    fn a_burst_has_a_packet_at_least() {
        let times = times(&plan(Law::Fixed(0.0), Law::Fixed(0.009)), 3);
        assert_eq!(times[2], Time::ZERO + Duration::from_ms(20));
    }

    #[test]
    fn bursts_and_pauses_have_their_means() {
        let plan = plan(Law::Exponential { mean: 20.0 }, Law::Exponential { mean: 0.05 });
        let times = times(&plan, 400_000);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1].since(pair[0]).secs()).collect();
        let pauses: Vec<f64> = gaps.iter().filter(|&&gap| gap > 0.001_000_5).map(|gap| gap - 0.001).collect();
        let n = pauses.len() as f64;
        let mean = pauses.iter().sum::<f64>() / n;
        assert!((mean - 0.05).abs() < 3.3 * 0.05 / n.sqrt(), "{mean}"); // deviation of one pause: its mean
        // A burst has max(1, round(X)) packets, where X is exponential with mean 20. The terms are
        // the mean of round(X) and the probability that it is 0.
        let expected = 1.0 / (2.0 * (1.0_f64 / 40.0).sinh()) + 1.0 - (-1.0_f64 / 40.0).exp();
        let burst = times.len() as f64 / n;
        // The last burst may be cut short.
        assert!((burst - expected).abs() < 3.3 * 20.0 / n.sqrt() + expected / n, "{burst}, not {expected}");
    }
}

//! Packets at random times, with exponential gaps.

use super::packet::{Emission, MAX_BYTES, gap_problem, whole_bytes};
use crate::app::law::{Law, Sampler};
use fairwire_core::{Duration, Rng, Time};

/// A Poisson process of packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson {
    /// Mean time between packets; above zero.
    pub mean_gap: Duration,
    /// Bytes on the wire per packet: rounded to an integer, at least the headers, at most 65 535.
    pub size: Law,
}

impl Poisson {
    pub(super) fn typical_bytes(&self, header_bytes: u32) -> u32 {
        match self.size {
            Law::Fixed(bytes) => whole_bytes(bytes, header_bytes),
            _ => 0,
        }
    }

    pub(super) fn problem(&self, header_bytes: u32) -> Option<String> {
        let size = self.size.problem().map(str::to_owned);
        let headers = || {
            let too_many = u64::from(header_bytes) > MAX_BYTES;
            too_many
                .then(|| format!("{header_bytes} bytes of headers are more than IP could carry: {MAX_BYTES}"))
        };
        gap_problem(self.mean_gap).or(size).or_else(headers)
    }
}

#[derive(Debug)]
pub(crate) struct Generator {
    gap: Sampler,
    size: Sampler,
    header_bytes: u32,
}

impl Generator {
    pub(crate) fn new(plan: &Poisson, header_bytes: u32) -> Self {
        let gap = Law::Exponential { mean: plan.mean_gap.secs() }.sampler();
        Generator { gap, size: plan.size.sampler(), header_bytes }
    }

    /// The first packet also comes after a gap, so the process is stationary from the source's
    /// start.
    pub(crate) fn next(&mut self, now: Time, rng: &mut Rng) -> Emission {
        let at = now + self.gap.duration(rng);
        Emission::of(whole_bytes(self.size.draw(rng), self.header_bytes), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    #[test]
    fn the_number_of_packets_has_the_mean_and_variance_of_its_rate() {
        let plan = Poisson { mean_gap: Duration::from_ms(10), size: Law::Exponential { mean: 1000.0 } };
        let (mut source, mut rng) = (Generator::new(&plan, 28), Seed(1).stream("test"));
        let (mut now, mut counts, mut bytes) = (Time::ZERO, vec![0_u32; 2_000], 0_u64);
        loop {
            let Emission { at, bytes: size, .. } = source.next(now, &mut rng);
            let Some(count) = counts.get_mut((at.ns() / 1_000_000_000) as usize) else { break };
            *count += 1;
            bytes += u64::from(size);
            now = at;
        }
        let total: u32 = counts.iter().sum();
        let n = counts.len() as f64;
        let mean = f64::from(total) / n;
        assert!((mean - 100.0).abs() < 3.3 * 10.0 / n.sqrt(), "{mean}"); // a Poisson count's deviation: the root of its mean
        let variance = counts.iter().map(|&count| (f64::from(count) - 100.0).powi(2)).sum::<f64>() / n;
        // A Poisson count of mean 100 has the fourth central moment 100 + 3 x 100^2.
        let bound = 3.3 * ((100.0 + 30_000.0 - 10_000.0) / n).sqrt();
        assert!((variance - 100.0).abs() < bound, "{variance} +- {bound}");
        // Sizes below 28 bytes count as 28, so the mean is 1000.39.
        let size = bytes as f64 / f64::from(total);
        assert!((size - 1000.39).abs() < 3.3 * 1000.0 / f64::from(total).sqrt(), "{size}");
    }
}

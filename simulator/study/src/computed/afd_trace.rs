//! Fig. 1 of the AFD paper: the distribution of the rates of flows over one second. The traces are
//! synthetic, because the paper's are not available.
//!
//! Flows arrive at random times; their durations are exponential with a mean of one second. A link
//! that carries four fifths of the load gets the shadow buffer that the paper's rule requires.

use super::made::{Made, MadeCurve};
use fairwire_core::{Duration, Rng, Seed};
use fairwire_laws::dropper::afd::sb::ShadowBuffer;
use fairwire_laws::dropper::afd::{Sample, Sampled, Sampling};
use fairwire_metrics::FlowRates;
use fairwire_metrics::flow_rates::TracePacket;
use std::collections::BTreeMap;

const SECOND: Duration = Duration::from_secs(1);
const SECONDS: u64 = 20;
/// The seconds left out at the start, until arrivals and departures of flows balance, and the
/// shadow buffer is full.
const LEFT_OUT: u64 = 5;
const FLOWS: u32 = 20_000;
const PACKET_BYTES: u32 = 500;
/// The rate of the slowest flow, bit/s: one packet per second.
const SLOWEST_BPS: f64 = 4000.0;
/// The rate of the fastest access line, bit/s.
const FASTEST_BPS: f64 = 10e6;
const CARRIED: f64 = 0.8;
/// The size b of the shadow buffer in units of R / r_fair, the link's rate over the fair rate:
/// section "Memory requirement".
const SAMPLES_PER_RATIO: f64 = 10.0;
const SAMPLING: f64 = 0.2;
/// The fraction of fast flows: the tenth that the paper describes.
const FAST: f64 = 0.1;

#[derive(Clone, Copy, Debug)]
enum Law {
    /// A Pareto law of this shape, from the slowest rate upwards.
    Pareto(f64),
    /// Exponential above the slowest rate, with a mean of six times the slowest rate.
    Exponential,
}

/// The distributions of the flows' rates. The first three have the only property that the paper
/// states of its traces: the fastest tenth of the flows has 60 to 90 % of the bytes.
const LAWS: [(&str, Law); 4] = [
    ("Pareto 0.9", Law::Pareto(0.9)),
    ("Pareto 1.0", Law::Pareto(1.0)),
    ("Pareto 1.1", Law::Pareto(1.1)),
    ("exponential", Law::Exponential),
];

fn exponential(rng: &mut Rng) -> f64 {
    -libm::log(1.0 - rng.uniform())
}

impl Law {
    fn rate_bps(self, rng: &mut Rng) -> f64 {
        let rate = match self {
            Law::Pareto(shape) => SLOWEST_BPS * libm::pow(1.0 - rng.uniform(), -1.0 / shape),
            Law::Exponential => SLOWEST_BPS * (1.0 + 5.0 * exponential(rng)),
        };
        rate.min(FASTEST_BPS)
    }
}

fn trace(law: Law, rng: &mut Rng) -> Vec<TracePacket> {
    let mut packets = Vec::new();
    for flow in 0..FLOWS {
        let gap = f64::from(PACKET_BYTES * 8) / law.rate_bps(rng);
        let mut at = rng.uniform() * SECONDS as f64;
        let end = (at + exponential(rng)).min(SECONDS as f64);
        while at < end {
            packets.push(TracePacket { at: Duration::from_secs_f64(at), flow, bytes: PACKET_BYTES });
            at += gap * exponential(rng);
        }
    }
    packets.sort_by_key(|packet| packet.at);
    packets
}

/// The max-min fair rate of flows with these `rates`, in descending order, if the link carries the
/// fraction `carried` of their sum.
fn fair_rate(rates: &[f64], carried: f64) -> f64 {
    let mut left = carried * rates.iter().sum::<f64>();
    let mut flows = rates.len() as f64;
    for rate in rates.iter().rev() {
        if rate * flows > left {
            return left / flows;
        }
        left -= rate;
        flows -= 1.0;
    }
    f64::INFINITY
}

#[derive(Debug, Default)]
struct Found {
    seconds: f64,
    /// N / b.
    table: f64,
    /// The fast flows' share of the samples.
    fast: f64,
    /// The fraction of slow flows without a sample.
    unseen: f64,
}

fn sampled(packets: &[TracePacket], b: u32, rng: &mut Rng) -> Found {
    let sampling = Sampling { samples: b, probability: SAMPLING, typical: 1 };
    let mut sampled = Sampled::new(sampling, ShadowBuffer::new(b));
    let mut found = Found::default();
    let mut sent: BTreeMap<u32, u64> = BTreeMap::new();
    let mut second = 0;
    for packet in packets {
        let now = packet.at.ns() / SECOND.ns();
        if now > second {
            if second >= LEFT_OUT {
                found.look(&sampled, &sent, b);
            }
            (second, sent) = (now, BTreeMap::new());
        }
        *sent.entry(packet.flow).or_insert(0) += 1;
        if rng.chance(SAMPLING) {
            sampled.sample(Sample { flow: u64::from(packet.flow).into(), size: 1 }, rng);
        }
    }
    found
}

impl Found {
    fn look(&mut self, sampled: &Sampled<ShadowBuffer>, sent: &BTreeMap<u32, u64>, b: u32) {
        let counts = sampled.counts();
        let mut flows: Vec<(u64, u32)> = sent.iter().map(|(flow, packets)| (*packets, *flow)).collect();
        flows.sort_by(|a, b| b.cmp(a));
        let fast = (FAST * flows.len() as f64) as usize;
        let of = |flow: u32| counts.of(u64::from(flow).into());
        let samples: u64 = flows[..fast].iter().map(|(_, flow)| of(*flow)).sum();
        let slow = &flows[fast..];
        let unseen = slow.iter().filter(|(_, flow)| of(*flow) == 0).count();
        self.seconds += 1.0;
        self.table += counts.flows() as f64 / f64::from(b);
        self.fast += samples as f64 / f64::from(counts.samples());
        self.unseen += unseen as f64 / slow.len() as f64;
    }
}

pub(super) fn make(seed: u64) -> Made {
    let mut made = Made::default();
    for (name, law) in LAWS {
        let packets = trace(law, &mut Seed(seed).stream(&format!("afd-fig1 {name}")));
        let rates = FlowRates::of(&packets, SECOND);
        let per_second = rates.rates().iter().sum::<f64>() / SECONDS as f64;
        let b = (SAMPLES_PER_RATIO * per_second / fair_rate(rates.rates(), CARRIED)).ceil() as u32;
        let found = sampled(&packets, b, &mut Seed(seed).stream(&format!("afd-fig1 sampling {name}")));
        let mean = |sum: f64| sum / found.seconds;
        for (number, value) in [
            ("top_share", rates.share_of_fastest(FAST)),
            ("b", f64::from(b)),
            ("sampled_top_share", mean(found.fast)),
            ("unseen_slow", mean(found.unseen)),
            ("table_over_b", mean(found.table)),
        ] {
            made.number(name, 0.0, "", number, value);
        }
        let curve = MadeCurve { panel: String::new(), label: name.into(), points: rates.complementary() };
        made.curves.push(curve);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fair_rate_is_max_min() {
        // The flows and the link of AFD's Fig. 6.
        let rates: Vec<f64> = [600.0, 400.0, 200.0, 100.0, 50.0].into_iter().flat_map(|r| [r; 10]).collect();
        let fair = fair_rate(&rates, 10_000.0 / 13_500.0);
        assert!((fair - 325.0).abs() < 1e-9, "{fair}");
        assert_eq!(fair_rate(&rates, 1.0), f64::INFINITY);
    }

    #[test]
    fn a_heavier_tail_leaves_more_to_the_fastest_tenth() {
        let made = make(1);
        let top = |name: &str| {
            let is_it = |n: &&super::super::MadeNumber| n.series == name && n.name == "top_share";
            made.numbers.iter().find(is_it).expect("it is there").value
        };
        let shares = LAWS.map(|(name, _)| top(name));
        assert!(shares.windows(2).all(|pair| pair[0] > pair[1]), "{shares:?}");
        // With an exponential law the fastest tenth has a share of 0.1 (1 + ln 10) = 0.33.
        assert!(shares[3] < 0.45 && shares[0] > 0.6, "{shares:?}");
    }
}

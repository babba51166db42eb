//! Arrival traces: the same packets at the same times for both sides.

use fairwire_core::{Ecn, Seed};

/// The traffic of a case.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// How long packets arrive, in milliseconds.
    pub duration_ms: u64,
    /// The flows, by number.
    pub flows: &'static [Flow],
}

/// One flow: packets of one size, at random gaps.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Bytes of each packet on the wire, Ethernet header included.
    pub bytes: u32,
    /// Mean gap between packets in microseconds; gaps are uniform from nothing to twice that.
    pub mean_gap_us: u64,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// The part of the trace in which it sends, in milliseconds.
    pub from_ms: u64,
    /// The end of that part.
    pub until_ms: u64,
}

/// One packet of a trace. Its number in the trace is its name everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, in nanoseconds since the beginning of the trace.
    pub at_ns: u64,
    /// Which flow.
    pub flow: usize,
    /// Bytes on the wire, Ethernet header included.
    pub bytes: u32,
    /// Its ECN codepoint.
    pub ecn: Ecn,
}

/// Arrivals stand on this grid, the step of the guest's clock.
const STEP_NS: u64 = 256;

impl Traffic {
    /// The arrivals under `seed`, in order of time.
    pub fn arrivals(&self, seed: u64) -> Vec<Arrival> {
        let mut arrivals = Vec::new();
        for (number, flow) in self.flows.iter().enumerate() {
            let mut rng = Seed(seed).stream(&format!("oracle/flow/{number}"));
            let gap_steps = flow.mean_gap_us * 1000 * 2 / STEP_NS;
            let mut at_ns = flow.from_ms * 1_000_000;
            loop {
                at_ns += u64::from(rng.below(gap_steps as u32)) * STEP_NS;
                if at_ns >= flow.until_ms.min(self.duration_ms) * 1_000_000 {
                    break;
                }
                arrivals.push(Arrival { at_ns, flow: number, bytes: flow.bytes, ecn: flow.ecn });
            }
        }
        arrivals.sort_by_key(|arrival| (arrival.at_ns, arrival.flow));
        // Two at one time would be in an order that nobody chose.
        arrivals.dedup_by_key(|arrival| arrival.at_ns);
        arrivals
    }

    /// The offered load as a part of a link of `rate_bps`, over the whole trace.
    pub fn load(&self, rate_bps: f64) -> f64 {
        let bits: f64 = self
            .flows
            .iter()
            .map(|flow| {
                let active_us = (flow.until_ms.min(self.duration_ms) - flow.from_ms) as f64 * 1000.0;
                f64::from(flow.bytes) * 8.0 * active_us / flow.mean_gap_us as f64
            })
            .sum();
        bits / (rate_bps * self.duration_ms as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::RATE;
    use crate::traffic::OVERLOAD;

    #[test]
    fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
        assert_eq!(OVERLOAD.arrivals(1), OVERLOAD.arrivals(1));
        assert_ne!(OVERLOAD.arrivals(1), OVERLOAD.arrivals(2));
    }

    #[test]
    fn arrivals_are_in_strict_order_on_the_grid_and_within_their_part() {
        let arrivals = OVERLOAD.arrivals(3);
        assert!(arrivals.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
        for arrival in &arrivals {
            let flow = OVERLOAD.flows[arrival.flow];
            assert!(arrival.at_ns.is_multiple_of(STEP_NS));
            assert!((flow.from_ms..=flow.until_ms).contains(&(arrival.at_ns / 1_000_000)));
            assert_eq!((arrival.bytes, arrival.ecn), (flow.bytes, flow.ecn));
        }
    }

    #[test]
    fn the_trace_offers_the_load_that_its_flows_promise() {
        let bytes: u64 = OVERLOAD.arrivals(1).iter().map(|arrival| u64::from(arrival.bytes)).sum();
        let load = bytes as f64 * 8000.0 / (OVERLOAD.duration_ms as f64 * RATE.bps() as f64);
        let promised = OVERLOAD.load(RATE.bps() as f64);
        // Some 20 000 gaps, each with a standard deviation of 0.58 of its mean: 0.4 %, at 5 sd.
        assert!((load / promised - 1.0).abs() < 0.02, "{load} against {promised}");
    }
}

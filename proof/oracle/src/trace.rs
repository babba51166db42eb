//! Arrival traces: packets and their times, the same for the kernel and for us.

use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn, Rate, Seed};
use fairwire_laws::spec::Quantity;
use serde::Deserialize;
use std::ops::RangeInclusive;

/// The traffic of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The TOML text of the traffic.
    pub text: String,
    /// The time during which packets arrive.
    pub duration: Duration,
    /// The flows, by number.
    pub flows: Vec<Flow>,
}

/// One flow, with packets of one size at random intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// The bytes of each packet on the wire, including the Ethernet header.
    pub bytes: u32,
    /// The mean gap between packets. Gaps are uniform between zero and twice the mean.
    pub mean_gap: Duration,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// When it starts.
    pub start: Duration,
    /// When it stops.
    pub stop: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    duration: Quantity<Duration>,
    flow: Vec<TypedFlow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedFlow {
    source: Source,
    #[serde(default)]
    ecn: TypedEcn,
    start: Option<Quantity<Duration>>,
    stop: Option<Quantity<Duration>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    cbr: Cbr,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cbr {
    rate: Quantity<Rate>,
    packet: Quantity<Size>,
    dither: f64,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TypedEcn {
    #[default]
    Off,
    Ect0,
    Ect1,
}

/// One packet of a trace. Its number in the trace identifies it everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The arrival time, in nanoseconds since the start of the trace.
    pub at_ns: u64,
    /// The index of the packet's flow.
    pub flow: usize,
    /// Bytes on the wire, including the Ethernet header.
    pub bytes: u32,
    /// Its ECN codepoint.
    pub ecn: Ecn,
}

/// The resolution of arrival times, which is the step of the guest's clock.
const STEP_NS: u64 = 256;

/// The allowed packet sizes, with room for the headers and the packet's number.
const PACKET_BYTES: RangeInclusive<u64> = 64..=1514;

impl Traffic {
    /// Reads traffic in the syntax of a scenario. Sources must be `cbr` with `dither = 1.0`.
    ///
    /// # Errors
    /// An invalid value.
    pub fn read(text: &str) -> Result<Traffic, String> {
        let typed: Typed = toml::from_str(text).map_err(|error| error.to_string())?;
        let duration = typed.duration.0;
        let flows = typed.flow.iter().map(|flow| flow.read(duration)).collect::<Result<_, _>>()?;
        Ok(Traffic { text: text.into(), duration, flows })
    }

    /// The arrivals under `seed`, sorted by time.
    pub fn arrivals(&self, seed: u64) -> Vec<Arrival> {
        let mut arrivals = Vec::new();
        for (number, flow) in self.flows.iter().enumerate() {
            let mut rng = Seed(seed).stream(&format!("oracle/flow/{number}"));
            let gap_steps = flow.mean_gap.ns() * 2 / STEP_NS;
            let mut at_ns = flow.start.ns();
            loop {
                at_ns += u64::from(rng.below(gap_steps as u32)) * STEP_NS;
                if at_ns >= flow.stop.ns() {
                    break;
                }
                arrivals.push(Arrival { at_ns, flow: number, bytes: flow.bytes, ecn: flow.ecn });
            }
        }
        arrivals.sort_by_key(|arrival| (arrival.at_ns, arrival.flow));
        // Only one of several simultaneous arrivals is kept, since their order would be arbitrary.
        arrivals.dedup_by_key(|arrival| arrival.at_ns);
        arrivals
    }
}

impl TypedFlow {
    fn read(&self, duration: Duration) -> Result<Flow, String> {
        let Cbr { rate, packet, dither } = &self.source.cbr;
        if *dither != 1.0 {
            return Err(format!("`dither = {dither}`; allowed: 1.0, gaps from nothing to twice their mean"));
        }
        if !PACKET_BYTES.contains(&packet.0.0) {
            return Err(format!("`packet = \"{}\"`; allowed: 64 B to 1514 B", packet.0));
        }
        let stop = self.stop.map_or(duration, |stop| stop.0.min(duration));
        Ok(Flow {
            bytes: packet.0.0 as u32,
            mean_gap: rate.0.time_to_send(packet.0.0),
            ecn: match self.ecn {
                TypedEcn::Off => Ecn::NotEct,
                TypedEcn::Ect0 => Ecn::Ect0,
                TypedEcn::Ect1 => Ecn::Ect1,
            },
            start: self.start.map_or(Duration::ZERO, |start| start.0),
            stop,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{RATE, find};

    fn overload() -> Traffic {
        find("pfifo").traffic
    }

    #[test]
    fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
        assert_eq!(overload().arrivals(1), overload().arrivals(1));
        assert_ne!(overload().arrivals(1), overload().arrivals(2));
    }

    #[test]
    fn arrivals_are_in_strict_order_on_the_grid_between_start_and_stop() {
        let traffic = overload();
        let arrivals = traffic.arrivals(3);
        assert!(arrivals.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
        for arrival in &arrivals {
            let flow = traffic.flows[arrival.flow];
            assert!(arrival.at_ns.is_multiple_of(STEP_NS));
            assert!((flow.start.ns()..=flow.stop.ns()).contains(&arrival.at_ns));
            assert_eq!((arrival.bytes, arrival.ecn), (flow.bytes, flow.ecn));
        }
        let greedy = traffic.flows[4];
        assert_eq!((greedy.start, greedy.stop), (Duration::from_secs(2), Duration::from_secs(8)));
        assert_eq!(greedy.mean_gap, Duration::from_ms(2));
    }

    #[test]
    fn the_trace_offers_the_load_that_its_flows_promise() {
        let traffic = overload();
        let bits = |flow: &Flow| {
            f64::from(flow.bytes) * 8.0 * (flow.stop - flow.start).secs() / flow.mean_gap.secs()
        };
        let capacity = RATE.bps() as f64 * traffic.duration.secs();
        let promised = traffic.flows.iter().map(bits).sum::<f64>() / capacity;
        let bytes: u64 = traffic.arrivals(1).iter().map(|arrival| u64::from(arrival.bytes)).sum();
        let load = bytes as f64 * 8.0 / capacity;
        // A gap's standard deviation is 0.58 of its mean, so the load of 20 000 gaps has a standard
        // deviation of 0.4 %. The tolerance is five times 0.4 %.
        assert!((load / promised - 1.0).abs() < 0.02, "{load} against {promised}");
    }

    #[test]
    fn foreign_traffic_is_refused() {
        let error = |source: &str| {
            let text = format!("duration = \"1 s\"\n[[flow]]\nsource = {{ {source} }}\n");
            Traffic::read(&text).expect_err("it is none")
        };
        let even = "cbr = { rate = \"1 Mbit/s\", packet = \"512 B\", dither = 0.5 }";
        assert!(error(even).contains("allowed: 1.0"), "{}", error(even));
        let long = "cbr = { rate = \"1 Mbit/s\", packet = \"9 kB\", dither = 1.0 }";
        assert!(error(long).contains("64 B to 1514 B"), "{}", error(long));
        assert!(error("poisson = {}").contains("poisson"));
    }
}

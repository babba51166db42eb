//! The default gateway and traffic of faults, and their measurements.

use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::run::{Middle, Run};
use crate::world::{Wiring, flow};
use fairwire_core::Duration;
use fairwire_laws::spec::Quantity;
use fairwire_service::config::spec::{FlowsChoice, OnFailure};
use fairwire_testbed::traffic::{Flow, HostCounts, SLOT, Sends, Traffic};
use fairwire_wire::Way;

pub(super) const MBPS: u64 = 20;

pub(super) const WATCHDOG: Duration = Duration::from_ms(500);

pub(super) fn document(on_failure: OnFailure) -> Document {
    let mut document = Document::both_ways(direction(MBPS, "faba", Some(FlowsChoice::FiveTuple)));
    document.spec.safety.on_failure = on_failure;
    document.spec.safety.watchdog = (on_failure == OnFailure::Open).then_some(Quantity(WATCHDOG));
    document
}

pub(super) fn traffic(seconds: u64) -> Traffic {
    let duration_ns = seconds * 1_000_000_000;
    let mut flows: Vec<Flow> = (0..DOWNLOADS)
        .map(|number| flow("tcp", Sends::Tcp("cubic".into()), Way::Download, number, duration_ns))
        .collect();
    for way in Way::ALL {
        flows.push(flow("ping", Sends::Ping { every_ns: 5_000_000 }, way, 50, duration_ns));
    }
    Traffic::new(flows, duration_ns)
}

pub(super) const DOWNLOADS: u16 = 4;

pub(super) fn begin(document: &Document, traffic: Traffic) -> Fallible<Run> {
    Run::begin(Wiring::default(), Middle::Gateway(document), traffic)
}

pub(crate) fn bps(traffic: &Traffic, seen: &HostCounts, group: &str, from_s: f64, to_s: f64) -> f64 {
    let slot = |s: f64| (s / SLOT.secs()).round() as usize;
    let flows = traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| flow.group == group);
    let bytes: u64 =
        flows.flat_map(|(_, seen)| &seen.link_bytes[slot(from_s)..slot(to_s).min(traffic.slots.count)]).sum();
    bytes as f64 * 8.0 / (to_s - from_s)
}

pub(super) fn tcp_percent(traffic: &Traffic, seen: &HostCounts, from_s: f64, to_s: f64) -> f64 {
    bps(traffic, seen, "tcp", from_s, to_s) / (MBPS as f64 * 1e4)
}

/// The longest time between successive arrivals of pings in one direction, in milliseconds, from
/// `from_s` to `to_s`. Both ends count as arrivals.
pub(super) fn longest_gap_ms(traffic: &Traffic, seen: &HostCounts, from_s: f64, to_s: f64) -> f64 {
    let (from, to) = ((from_s * 1e9) as u64, (to_s * 1e9) as u64);
    let pings =
        traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| matches!(flow.sends, Sends::Ping { .. }));
    let gap = |delays: &[(u64, u64)]| {
        let mut arrivals: Vec<u64> =
            delays.iter().map(|(at, took)| at + took).filter(|at| (from..to).contains(at)).collect();
        arrivals.extend([from, to]);
        arrivals.sort_unstable();
        arrivals.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    };
    pings.map(|(_, seen)| gap(&seen.delays_ns)).max().unwrap_or(0) as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_testbed::traffic::FlowCounts;

    #[test]
    fn the_gap_is_the_longest_and_includes_both_ends() {
        let traffic = traffic(1);
        let pings = |delays_ns: Vec<(u64, u64)>| FlowCounts { delays_ns, ..FlowCounts::default() };
        let ms = |ms: u64| (ms * 1_000_000, 0);
        let mut flows = vec![FlowCounts::default(); usize::from(DOWNLOADS)];
        flows.push(pings(vec![ms(100), ms(200), ms(900)]));
        flows.push(pings((0..100).map(|n| ms(n * 10)).collect()));
        let seen = HostCounts { flows, ..HostCounts::default() };
        assert_eq!(longest_gap_ms(&traffic, &seen, 0.0, 1.0), 700.0);
        assert_eq!(longest_gap_ms(&traffic, &seen, 0.0, 0.5), 300.0);
    }
}

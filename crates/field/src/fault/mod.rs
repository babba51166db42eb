//! Faults with the real process: for each what is promised, what happened, and the counters.

mod cases;
mod hostile;
mod kinds;
mod live;

pub use cases::{FAULTS, Fault, find};

use crate::Fallible;
use crate::config::{Document, Link};
use crate::gateway::Gateway;
use crate::run::{Middle, Run};
use crate::traffic::{Flow, SLOT, Seen, Sends, Traffic};
use crate::world::{Wiring, server, subscriber};
use fairwire_gateway::class_book::Way;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a fault came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Happened {
    /// Which.
    pub fault: &'static str,
    /// What was promised.
    pub promised: &'static str,
    /// What happened, a line each.
    pub happened: Vec<String>,
    /// Counters.
    pub counters: BTreeMap<String, f64>,
    /// What does not hold.
    pub broken: Vec<String>,
    /// Is a packet without its place? No busy machine makes that.
    pub is_unbalanced: bool,
}

impl Happened {
    /// What comes of `act`, which `promised` something.
    pub(crate) fn of(
        fault: &'static str,
        promised: &'static str,
        act: impl FnOnce(&mut Happened) -> Fallible<()>,
    ) -> Happened {
        let mut happened = Happened { fault, promised, ..Happened::default() };
        if let Err(error) = act(&mut happened) {
            happened.broken.push(format!("the run failed: {error}"));
        }
        happened
    }

    /// Notes that `what` was promised, and whether it is so.
    pub(crate) fn check(&mut self, is_so: bool, what: impl Into<String>) {
        let what = what.into();
        match is_so {
            true => self.happened.push(what),
            false => self.broken.push(what),
        }
    }

    pub(crate) fn count(&mut self, name: &str, value: f64) {
        self.counters.insert(name.to_owned(), value);
    }

    /// Every packet that came in has its place, as the gateway's own counters tell.
    pub(crate) fn check_conservation(&mut self, gateway: &Gateway) -> Fallible<()> {
        for way in gateway.status()?.ways {
            let totals = way.totals;
            let (came, placed) = totals.balance();
            self.is_unbalanced |= came != placed;
            for (name, value) in [
                ("in", totals.packets_in),
                ("out", totals.packets_out),
                ("dropped", totals.dropped.values().sum()),
                ("lost", totals.lost.values().sum()),
                ("inside", totals.inside),
            ] {
                self.count(&format!("{} {name}", way.way), value as f64);
            }
            for (kind, count) in totals.lost.iter().filter(|(_, count)| **count > 0) {
                self.count(&format!("{} lost {kind}", way.way), *count as f64);
            }
            self.check(
                came == placed,
                format!("{}: {came} packets in = {placed} out, dropped, lost or inside", way.way),
            );
        }
        Ok(())
    }
}

/// The link of all faults.
const MBPS: u64 = 20;

/// The plain gateway of faults, with what `safety` says.
fn document(safety: &str) -> Document {
    let link = Link { mbps: MBPS, discipline: "faba", buffer: "50 ms", delay_ms: 0 };
    Document {
        download: Some(link),
        upload: Some(link),
        flows: Some("5-tuple"),
        safety: safety.into(),
        ..Document::default()
    }
}

/// The fault number of bulk downloads, and a ping each way every 5 ms, for `seconds`.
fn traffic(seconds: u64) -> Traffic {
    let duration_ns = seconds * 1_000_000_000;
    let mut flows: Vec<Flow> = (0..DOWNLOADS)
        .map(|number| flow("tcp", Sends::Tcp("cubic".into()), Way::Download, number, duration_ns))
        .collect();
    for way in Way::ALL {
        flows.push(flow("ping", Sends::Ping { every_ns: 5_000_000 }, way, 50, duration_ns));
    }
    Traffic { flows, duration_ns }
}

const DOWNLOADS: u16 = 4;

/// A flow between outside host and subscriber `number`.
fn flow(group: &str, sends: Sends, way: Way, number: u16, stop_ns: u64) -> Flow {
    let (outside, inside) = (server(number, false), subscriber(1, number, false));
    let (source, destination) = if way == Way::Download { (outside, inside) } else { (inside, outside) };
    Flow {
        group: group.into(),
        sends,
        way,
        source,
        destination,
        start_ns: 0,
        stop_ns,
        is_opened_by_receiver: false,
    }
}

fn begin(document: &Document, traffic: Traffic) -> Fallible<Run> {
    Run::begin(Wiring::default(), Middle::Gateway(document), traffic)
}

/// Bit/s on the link of `group` between two seconds of a run.
fn bps(traffic: &Traffic, seen: &Seen, group: &str, from_s: f64, to_s: f64) -> f64 {
    let slot = |s: f64| (s / SLOT.secs()).round() as usize;
    let flows = traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| flow.group == group);
    let bytes: u64 =
        flows.flat_map(|(_, seen)| &seen.link_bytes[slot(from_s)..slot(to_s).min(traffic.slots())]).sum();
    bytes as f64 * 8.0 / (to_s - from_s)
}

/// The longest time between two pings that arrived of those sent between two seconds of a run, both ends included; both
/// ways, milliseconds.
fn longest_gap_ms(traffic: &Traffic, seen: &Seen, from_s: f64, to_s: f64) -> f64 {
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
    use crate::traffic::FlowSeen;

    #[test]
    fn a_gap_is_told_and_ends_count() {
        let traffic = traffic(1);
        let pings = |delays_ns: Vec<(u64, u64)>| FlowSeen { delays_ns, ..FlowSeen::default() };
        let ms = |ms: u64| (ms * 1_000_000, 0);
        let mut flows = vec![FlowSeen::default(); usize::from(DOWNLOADS)];
        flows.push(pings(vec![ms(100), ms(200), ms(900)]));
        flows.push(pings((0..100).map(|n| ms(n * 10)).collect()));
        let seen = Seen { flows, ..Seen::default() };
        assert_eq!(longest_gap_ms(&traffic, &seen, 0.0, 1.0), 700.0);
        assert_eq!(longest_gap_ms(&traffic, &seen, 0.0, 0.5), 300.0);
    }
}

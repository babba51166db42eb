//! Contests: traffic against a discipline, held against the max-min oracle.

pub mod cases;
mod group;
pub mod home;
mod judge;
mod tree;
pub mod tries;

pub use cases::{Case, all, find};
pub use group::{Group, Kind, NOBODY};
pub use judge::{Delay, Judged, WayJudged, judge};

use crate::config::{Document, Link};
use crate::fallible::Fallible;
use crate::run::{Middle, Run};
use crate::world::Wiring;
use fairwire_gateway::class_book::Way;
use fairwire_gateway::telemetry::snapshot::WaySnapshot;
use fairwire_testbed::traffic::Traffic;

impl Case {
    /// The gateway's configuration.
    pub fn document(&self) -> Document {
        let link = |mbps: u64| {
            (mbps > 0).then_some(Link {
                mbps,
                discipline: self.discipline,
                buffer: self.buffer,
                delay_ms: self.delay_ms,
            })
        };
        Document {
            download: link(self.down_mbps),
            upload: link(self.up_mbps),
            classes: self.classes.to_vec(),
            flows: Some(if self.is_by_host { "inside" } else { "5-tuple" }),
            more: self.parameters.to_owned(),
            ..Document::default()
        }
    }

    /// Its traffic, with pings on the ways that are loaded.
    pub fn traffic(&self) -> Traffic {
        let duration_ns = self.seconds * 1_000_000_000;
        let mut flows = Vec::new();
        for group in self.groups {
            flows.extend((0..group.flows).map(|number| group.flow(number, duration_ns)));
        }
        for way in Way::ALL.into_iter().filter(|way| self.mbps(*way) > 0) {
            let ping = Group {
                name: "ping",
                flows: 1,
                sends: Kind::Ping,
                way,
                is_ipv6: false,
                class: NOBODY,
                subscribers: 1,
            };
            flows.push(ping.flow(0, duration_ns));
        }
        Traffic::new(flows, duration_ns)
    }

    /// The rate of a way, Mbit/s; 0 where it is not shaped.
    pub fn mbps(&self, way: Way) -> u64 {
        match way {
            Way::Download => self.down_mbps,
            Way::Upload => self.up_mbps,
        }
    }

    /// Holds it, and judges.
    pub fn hold(&self) -> Fallible<Judged> {
        let document = self.document();
        let mut run = Run::begin(Wiring::default(), Middle::Gateway(&document), self.traffic())?;
        let gateway = run.gateway();
        let (before, waited_before) = (gateway.processor_s(), gateway.waited_s());
        let seen = run.finish()?;
        let took = run.gateway().processor_s() - before;
        let waited_s = run.gateway().waited_s() - waited_before;
        if let Some(status) = run.gateway().end() {
            return Err(format!("the gateway ended ({status}): {}", run.gateway().last_words()).into());
        }
        let status = run.gateway().status()?;
        let overflows = status.ports.iter().map(|port| port.overflows).sum();
        let mut judged = judge::judge(self, &run.traffic, &seen, took);
        judged.broken = status.ways.iter().filter_map(unbalanced).collect();
        judged.starved = tries::starved(waited_s, self.seconds as f64, overflows);
        Ok(judged)
    }
}

/// What is wrong if not every packet of `way` has its place.
pub(crate) fn unbalanced(way: &WaySnapshot) -> Option<String> {
    let (came, placed) = way.totals.balance();
    (came != placed).then(|| format!("{}: {came} packets in, {placed} out, dropped, lost or inside", way.way))
}

//! Contests: traffic against a discipline, held against the max-min oracle.

pub mod cases;
pub mod home;
mod judge;
mod tree;
pub mod tries;

pub use cases::{Case, all, find};
pub use judge::{Delay, Judged, WayJudged, judge};

use crate::Fallible;
use crate::config::{Branch, Document, Link};
use crate::run::{Middle, Run};
use crate::traffic::{Flow, Sends, Traffic};
use crate::world::{Wiring, server, subscriber};
use fairwire_gateway::class_book::Way;
use fairwire_gateway::telemetry::snapshot::WaySnapshot;

/// Flows that are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Its name in results.
    pub name: &'static str,
    /// How many flows.
    pub flows: u16,
    /// What each does.
    pub sends: Kind,
    /// Their way through the gateway.
    pub way: Way,
    /// IPv6 instead of IPv4?
    pub is_ipv6: bool,
    /// The second byte of their subscribers' addresses.
    pub class: u8,
    /// Over how many subscribers they are spread.
    pub subscribers: u16,
}

/// What a flow of a contest does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Endless data over TCP with this congestion control.
    Tcp(&'static str),
    /// UDP of this many kbit/s in full packets.
    Udp(u64),
    /// A ping each 10 ms.
    Ping,
    /// A ping each 200 ms, as a person does it (`ping -i 0.2`).
    SlowPing,
}

/// The class of addresses that no class claims.
pub const NOBODY: u8 = 99;
/// Payload of a full UDP packet, of either version of IP.
const UDP_PAYLOAD: u32 = 1400;
/// Between two pings.
const PING_NS: u64 = 10_000_000;
/// The same of a person's.
const SLOW_PING_NS: u64 = 200_000_000;
/// TCP flows begin one after another within the first half second.
const SPREAD_NS: u64 = 500_000_000;

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
        Traffic { flows, duration_ns }
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

impl Group {
    fn flow(&self, number: u16, stop_ns: u64) -> Flow {
        let inside = subscriber(self.class, number % self.subscribers.max(1), self.is_ipv6);
        let outside = server(number, self.is_ipv6);
        let (source, destination) = match self.way {
            Way::Download => (outside, inside),
            Way::Upload => (inside, outside),
        };
        let start_ns = match self.sends {
            Kind::Tcp(_) => u64::from(number) * SPREAD_NS / u64::from(self.flows.max(1)),
            _ => 0,
        };
        let sends = match self.sends {
            Kind::Tcp(control) => Sends::Tcp(control.to_owned()),
            Kind::Udp(kbps) => Sends::Udp { bps: kbps * 1000, payload: UDP_PAYLOAD },
            Kind::Ping => Sends::Ping { every_ns: PING_NS },
            Kind::SlowPing => Sends::Ping { every_ns: SLOW_PING_NS },
        };
        let group = self.name.to_owned();
        Flow {
            group,
            sends,
            way: self.way,
            source,
            destination,
            start_ns,
            stop_ns,
            is_opened_by_receiver: false,
        }
    }
}

/// The leaf of `branches` that the subscribers of `class` are in.
fn leaf_of(branches: &[Branch], class: u8) -> Option<usize> {
    branches.iter().position(|branch| branch.subscribers == Some(class))
}

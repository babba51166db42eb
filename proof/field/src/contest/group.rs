//! Identical flows of a contest.

use crate::world::{flow, server, subscriber};
use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;
use fairwire_testbed::traffic::{Flow, Sends, datagram_bytes};
use fairwire_wire::Way;
use serde::Deserialize;

/// Identical flows, as written in the file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The group's name in results.
    pub group: String,
    /// The number of flows.
    #[serde(default = "one")]
    pub count: u16,
    /// The traffic of each flow.
    pub source: Source,
    /// The direction of the flows through the gateway.
    #[serde(default = "download")]
    pub direction: Way,
    /// Do the flows use IPv6 instead of IPv4?
    #[serde(default)]
    pub ipv6: bool,
    /// The network `k` of the flows' inside hosts: 10.k.0.0/16 and 2001:db8:1:k::/64.
    #[serde(default = "unclaimed")]
    pub network: u8,
    /// The number of inside hosts over which the flows are spread.
    #[serde(default = "one")]
    pub hosts: u16,
}

/// The traffic of a flow.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Source {
    /// Unlimited data over TCP.
    Bulk {
        /// The kernel's name of the congestion control.
        control: String,
    },
    /// UDP in full packets.
    Cbr {
        /// The rate offered on the link.
        rate: Quantity<Rate>,
    },
    /// Small datagrams with measured delay.
    Ping {
        /// The time between datagrams.
        every: Quantity<Duration>,
    },
}

/// The network of hosts that no class claims.
pub const UNCLAIMED: u8 = 99;
const UDP_PAYLOAD: u32 = 1400;
/// TCP flows start in turn within the first half second.
const SPREAD_NS: u64 = 500_000_000;

fn one() -> u16 {
    1
}

fn download() -> Way {
    Way::Download
}

fn unclaimed() -> u8 {
    UNCLAIMED
}

impl Group {
    pub(super) fn flow(&self, number: u16, stop_ns: u64) -> Flow {
        let inside = subscriber(self.network, number % self.hosts.max(1), self.ipv6);
        let outside = server(number, self.ipv6);
        let (source, destination) = match self.direction {
            Way::Download => (outside, inside),
            Way::Upload => (inside, outside),
        };
        let start_ns = match self.source {
            Source::Bulk { .. } => u64::from(number) * SPREAD_NS / u64::from(self.count.max(1)),
            _ => 0,
        };
        let sends = match &self.source {
            Source::Bulk { control } => Sends::Tcp(control.clone()),
            Source::Cbr { rate } => Sends::Udp {
                bps: rate.0.bps(),
                payload: UDP_PAYLOAD,
                counted: datagram_bytes(UDP_PAYLOAD, source) as u32,
            },
            Source::Ping { every } => Sends::Ping { every_ns: every.0.ns() },
        };
        Flow { source, destination, start_ns, ..flow(&self.group, sends, self.direction, number, stop_ns) }
    }
}

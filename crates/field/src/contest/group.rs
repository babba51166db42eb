//! Flows of a contest that are alike.

use crate::world::{server, side, subscriber};
use fairwire_gateway::class_book::Way;
use fairwire_testbed::traffic::{Flow, Sends, datagram_bytes};

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

impl Group {
    pub(super) fn flow(&self, number: u16, stop_ns: u64) -> Flow {
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
            Kind::Udp(kbps) => Sends::Udp {
                bps: kbps * 1000,
                payload: UDP_PAYLOAD,
                counted: datagram_bytes(UDP_PAYLOAD, source) as u32,
            },
            Kind::Ping => Sends::Ping { every_ns: PING_NS },
            Kind::SlowPing => Sends::Ping { every_ns: SLOW_PING_NS },
        };
        let group = self.name.to_owned();
        Flow {
            group,
            sends,
            from: side(self.way),
            source,
            destination,
            start_ns,
            stop_ns,
            receiver_behind: None,
            ecn: false,
        }
    }
}

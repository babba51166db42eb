//! What is sent through the gateway, as data: which flows, from where to where, and when.

use fairwire_core::Duration;
use fairwire_gateway::class_book::Way;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Traffic of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traffic {
    /// The flows. The number of a flow is its place here.
    pub flows: Vec<Flow>,
    /// The length of the run, nanoseconds.
    pub duration_ns: u64,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// What it belongs to, for whoever judges.
    pub group: String,
    /// What it does.
    pub sends: Sends,
    /// Its way through the gateway.
    pub way: Way,
    /// The sender's address.
    pub source: IpAddr,
    /// The receiver's.
    pub destination: IpAddr,
    /// When it begins, nanoseconds after the run does.
    pub start_ns: u64,
    /// When it ends.
    pub stop_ns: u64,
    /// Does the receiver open it, as who is behind NAT must? Then its port is the receiver's.
    #[serde(default)]
    pub is_opened_by_receiver: bool,
}

/// What a flow does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sends {
    /// Endless data over TCP with this congestion control.
    Tcp(String),
    /// Datagrams at a constant rate.
    Udp {
        /// Bit/s as counted on the link.
        bps: u64,
        /// Payload of each, bytes.
        payload: u32,
    },
    /// Small datagrams, whose delay is measured.
    Ping {
        /// Between two, nanoseconds.
        every_ns: u64,
    },
    /// UDP frames with a source address drawn anew for each, IPv4.
    Spoofed {
        /// Frames per second.
        per_second: u64,
        /// Payload of each, bytes.
        payload: u32,
    },
    /// Frames of 1000 bytes that pass for no plain IP: PPPoE sessions, three VLAN tags, LLC and SNAP, ARP, random EtherTypes, in turn.
    Kinds {
        /// Frames per second.
        per_second: u64,
    },
    /// Frames of random bytes.
    Garbage {
        /// Frames per second.
        per_second: u64,
    },
}

/// Bytes that Ethernet adds to a frame as a packet socket sees it: the default framing of a gateway.
pub const FRAMING: u32 = 24;
/// The least that a frame counts.
pub const SHORTEST: u32 = 84;
/// The port to which TCP goes.
pub const TCP_PORT: u16 = 5000;
/// The port to which datagrams go.
pub const UDP_PORT: u16 = 5001;
/// Flow `i` comes from this port plus `i`.
const FIRST_PORT: u16 = 6000;
/// Counts are kept in slots of this length.
pub const SLOT: Duration = Duration::from_ms(100);
/// Payload of a ping, and of the head of every datagram: flow, time, number.
pub const HEAD_BYTES: usize = 20;

/// The port from which flow `flow` comes.
pub const fn port_of(flow: usize) -> u16 {
    FIRST_PORT + flow as u16
}

/// Which of `flows` flows comes from `port`.
pub fn flow_of(port: u16, flows: usize) -> Option<usize> {
    port.checked_sub(FIRST_PORT).map(usize::from).filter(|flow| *flow < flows)
}

/// Bytes on the link of a frame of `bytes` from its Ethernet header on.
pub fn on_the_link(bytes: usize) -> u64 {
    u64::from((bytes as u32 + FRAMING).max(SHORTEST))
}

impl Flow {
    /// Bytes on the link of a UDP packet of this flow with `payload` bytes.
    pub fn datagram_bytes(&self, payload: u32) -> u64 {
        let headers = if self.source.is_ipv6() { 14 + 40 + 8 } else { 14 + 20 + 8 };
        on_the_link((headers + payload) as usize)
    }

    /// Bit/s that it offers on the link; none where it takes what it gets.
    pub fn offered_bps(&self) -> Option<f64> {
        match &self.sends {
            Sends::Udp { bps, .. } => Some(*bps as f64),
            Sends::Spoofed { per_second, payload } => {
                Some((self.datagram_bytes(*payload) * 8 * per_second) as f64)
            }
            _ => None,
        }
    }

    /// Does who sends what goes `way` open it?
    pub fn is_opened_by(&self, way: Way) -> bool {
        (self.way == way) != self.is_opened_by_receiver
    }

    /// Does it send frames without asking the kernel for a connection or a socket of its own?
    pub fn is_raw(&self) -> bool {
        matches!(self.sends, Sends::Spoofed { .. } | Sends::Kinds { .. } | Sends::Garbage { .. })
    }
}

impl Traffic {
    /// How many slots the counts have.
    pub fn slots(&self) -> usize {
        self.duration_ns.div_ceil(SLOT.ns()) as usize
    }
}

/// What one host saw of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    /// By flow.
    pub flows: Vec<FlowSeen>,
    /// Bytes on the link, by slot, of IP packets of no flow.
    pub strange_bytes: Vec<u64>,
    /// Frames that the watching socket missed.
    pub missed: u64,
}

/// What one host saw of one flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowSeen {
    /// Bytes on the link that arrived for it, by slot.
    pub link_bytes: Vec<u64>,
    /// Bytes on the link that came back for it (acknowledgements), by slot, at the host that sends it.
    pub back_bytes: Vec<u64>,
    /// Payload in order and once that its receiver read, by slot.
    pub payload_bytes: Vec<u64>,
    /// One-way delays of its pings, in the order of arrival: when they were sent, nanoseconds after the start, and how
    /// long they took.
    pub delays_ns: Vec<(u64, u64)>,
    /// Which of its pings they were, counted from 0.
    pub numbers: Vec<u32>,
    /// Datagrams or frames that it sent.
    pub sent: u64,
    /// What its sender was refused, and how often it was.
    pub refused: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_known_by_its_port_and_a_stranger_is_not() {
        assert_eq!(flow_of(port_of(0), 2), Some(0));
        assert_eq!(flow_of(port_of(1), 2), Some(1));
        assert_eq!(flow_of(port_of(2), 2), None);
        assert_eq!(flow_of(5001, 2), None);
    }

    #[test]
    fn the_shortest_and_the_longest_frame_count_as_ethernet_carries_them() {
        assert_eq!((on_the_link(42), on_the_link(1514)), (84, 1538));
    }
}

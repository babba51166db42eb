//! Traffic between two hosts, as data.

use super::path::plan::Carried;
use super::side::Side;
use fairwire_core::Duration;
use fairwire_linux::tcp_info::TcpInfo;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The traffic of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traffic {
    /// The flows, numbered by position.
    pub flows: Vec<Flow>,
    /// The length of the run, nanoseconds.
    pub duration_ns: u64,
    /// The slots in which bytes are counted.
    pub slots: Slots,
    /// True if each host counts all arriving frames, in bytes on the link.
    pub is_tapped: bool,
    /// The sampling interval of TCP senders' states, nanoseconds; `None` for never.
    pub tcp_every_ns: Option<u64>,
}

/// Consecutive intervals of equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slots {
    /// The start of the first slot, nanoseconds after the run's start.
    pub from_ns: u64,
    /// The length of each slot.
    pub each_ns: u64,
    /// Their number.
    pub count: usize,
}

impl Slots {
    /// The slot of the instant `since_ns` nanoseconds after the run's start; `None` outside the
    /// slots.
    pub fn at(&self, since_ns: u64) -> Option<usize> {
        let slot = since_ns.checked_sub(self.from_ns)? / self.each_ns.max(1);
        Some(slot as usize).filter(|slot| *slot < self.count)
    }
}

/// One flow between the two hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The name of the flow's group, whose flows the evaluation combines.
    pub group: String,
    /// Its behaviour.
    pub sends: Sends,
    /// Its sender's side.
    pub from: Side,
    /// The sender's address.
    pub source: IpAddr,
    /// The receiver's.
    pub destination: IpAddr,
    /// The flow's start, nanoseconds after the run's start.
    pub start_ns: u64,
    /// Its end.
    pub stop_ns: u64,
    /// The public address of a receiver behind NAT. Such a receiver opens the flow; otherwise, the
    /// sender does. The opener's port is the flow's [port](port_of).
    pub receiver_behind: Option<IpAddr>,
    /// Does the flow's TCP use ECN (RFC 3168)?
    pub ecn: bool,
}

/// The behaviour of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sends {
    /// Unlimited data over TCP with this congestion control.
    Tcp(String),
    /// A TCP conversation: both ends regularly send a small message.
    Talk {
        /// The interval between messages of each end, nanoseconds.
        every_ns: u64,
        /// Payload of each message, bytes.
        payload: u32,
    },
    /// Datagrams at a constant rate.
    Udp {
        /// Bit/s.
        bps: u64,
        /// The payload of each datagram, bytes.
        payload: u32,
        /// The bytes per datagram that count towards `bps`.
        counted: u32,
    },
    /// Small datagrams with measured delay.
    Ping {
        /// The interval, nanoseconds.
        every_ns: u64,
    },
    /// IPv4 UDP frames, each with a new random source address.
    Spoofed {
        /// Frames per second.
        per_second: u64,
        /// The payload of each frame, bytes.
        payload: u32,
    },
    /// Frames of 1000 bytes, in turn: PPPoE sessions, three VLAN tags, LLC and SNAP, ARP, and
    /// random EtherTypes.
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

impl Sends {
    /// The TCP congestion control; `None` if the flow does not use TCP.
    pub fn control(&self) -> Option<&str> {
        match self {
            Sends::Tcp(control) => Some(control),
            Sends::Talk { .. } => Some("reno"), // in every kernel, and without effect here
            _ => None,
        }
    }
}

/// The Ethernet overhead per frame in a gateway's default framing, bytes. A packet socket does not
/// count this overhead.
pub const FRAMING: u32 = 24;
/// The minimum length of a frame on the link, bytes, including [`FRAMING`].
pub const SHORTEST: u32 = 84;
/// The destination port of TCP.
pub const TCP_PORT: u16 = 5000;
/// The destination port of datagrams.
pub const UDP_PORT: u16 = 5001;
const FIRST_PORT: u16 = 6000;
/// The default length of a slot.
pub const SLOT: Duration = Duration::from_ms(100);
/// Bytes of the head of every datagram: flow, time, number. A ping has no other payload.
pub const HEAD_BYTES: usize = 20;

/// The source port of flow `flow`.
pub const fn port_of(flow: usize) -> u16 {
    FIRST_PORT + flow as u16
}

/// The addresses for a listener on `port`. The first accepts both IP versions. The second accepts
/// only IPv4, for a kernel without IPv6.
pub(crate) fn everywhere(port: u16) -> [SocketAddr; 2] {
    [(Ipv6Addr::UNSPECIFIED, port).into(), (Ipv4Addr::UNSPECIFIED, port).into()]
}

/// The flow with the source `port`, among `flows` flows.
pub fn flow_of(port: u16, flows: usize) -> Option<usize> {
    port.checked_sub(FIRST_PORT).map(usize::from).filter(|flow| *flow < flows)
}

/// The bytes that a UDP packet from `source` with `payload` bytes takes on the link.
pub fn datagram_bytes(payload: u32, source: IpAddr) -> u64 {
    let headers = if source.is_ipv6() { 14 + 40 + 8 } else { 14 + 20 + 8 };
    on_the_link((headers + payload) as usize)
}

/// The bytes that a frame takes on the link. `bytes` includes the Ethernet header.
pub fn on_the_link(bytes: usize) -> u64 {
    u64::from((bytes as u32 + FRAMING).max(SHORTEST))
}

impl Flow {
    /// The offered rate of [`Sends::Udp`] and [`Sends::Spoofed`] on the link, in bit/s; `None` for
    /// any other flow.
    pub fn offered_bps(&self) -> Option<f64> {
        match &self.sends {
            Sends::Udp { bps, .. } => Some(*bps as f64),
            Sends::Spoofed { per_second, payload } => {
                Some((datagram_bytes(*payload, self.source) * 8 * per_second) as f64)
            }
            _ => None,
        }
    }

    /// Does the host at `side` open the flow?
    pub fn is_opened_by(&self, side: Side) -> bool {
        (self.from == side) != self.receiver_behind.is_some()
    }
}

impl Traffic {
    /// Traffic that lasts `duration_ns` nanoseconds. Every frame is counted, in [slots of a tenth
    /// of a second](SLOT).
    pub fn new(flows: Vec<Flow>, duration_ns: u64) -> Self {
        let count = duration_ns.div_ceil(SLOT.ns()) as usize;
        let slots = Slots { from_ns: 0, each_ns: SLOT.ns(), count };
        Traffic { flows, duration_ns, slots, is_tapped: true, tcp_every_ns: None }
    }
}

/// The counts of one host in a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostCounts {
    /// Per flow.
    pub flows: Vec<FlowCounts>,
    /// Per slot, the bytes on the link of IP packets that belong to no flow.
    pub strange_bytes: Vec<u64>,
    /// Frames that the host's packet socket missed.
    pub missed: u64,
    /// Frames on the [path](crate::path) between the hosts, counted only for a bed of [separate
    /// processes](crate::processes).
    #[serde(default)]
    pub path: Carried,
}

/// One host's counts of one flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Bytes on the link that arrived at the flow's receiving host, per slot.
    pub link_bytes: Vec<u64>,
    /// Bytes on the link that returned to the flow's sending host (acknowledgements), per slot.
    pub back_bytes: Vec<u64>,
    /// Payload that the receiver read, bytes per slot.
    pub payload_bytes: Vec<u64>,
    /// For each ping, in order of arrival: the sending time (after the start) and the one-way
    /// delay, nanoseconds.
    pub delays_ns: Vec<(u64, u64)>,
    /// The sequence number of each ping in `delays_ns`, from 0.
    pub numbers: Vec<u32>,
    /// Datagrams or frames that the flow sent.
    pub sent: u64,
    /// The number of refused sends.
    pub refused: u64,
    /// The states of the TCP sender, sorted by time, if [`Traffic::tcp_every_ns`] is set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<TcpSample>,
}

/// The state of a TCP sender at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpSample {
    /// The time, nanoseconds after the run's start.
    pub at_ns: u64,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments; `None` before the first loss.
    pub ssthresh: Option<u32>,
    /// Smoothed round-trip time, microseconds.
    pub srtt_us: Option<u32>,
    /// Segments retransmitted since the connection began.
    pub retransmissions: u32,
    /// The kernel's estimate of the delivery rate, bit/s of payload.
    pub delivery_rate_bps: Option<u64>,
}

impl TcpSample {
    pub(crate) fn new(at_ns: u64, info: &TcpInfo) -> Self {
        let TcpInfo { cwnd, ssthresh, srtt_us, retransmissions, delivery_rate_bps } = *info;
        TcpSample { at_ns, cwnd, ssthresh, srtt_us, retransmissions, delivery_rate_bps }
    }
}

impl HostCounts {
    pub(crate) fn add(&mut self, other: HostCounts) {
        fn sum(own: &mut Vec<u64>, other: Vec<u64>) {
            own.resize(own.len().max(other.len()), 0);
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
        self.flows.resize_with(self.flows.len().max(other.flows.len()), Default::default);
        for (own, other) in self.flows.iter_mut().zip(other.flows) {
            sum(&mut own.link_bytes, other.link_bytes);
            sum(&mut own.back_bytes, other.back_bytes);
            sum(&mut own.payload_bytes, other.payload_bytes);
            own.delays_ns.extend(other.delays_ns);
            own.numbers.extend(other.numbers);
            own.sent += other.sent;
            own.refused += other.refused;
            own.tcp.extend(other.tcp);
        }
        sum(&mut self.strange_bytes, other.strange_bytes);
        self.missed += other.missed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_known_by_its_port_and_unknown_ports_are_ignored() {
        assert_eq!(flow_of(port_of(0), 2), Some(0));
        assert_eq!(flow_of(port_of(1), 2), Some(1));
        assert_eq!(flow_of(port_of(2), 2), None);
        assert_eq!(flow_of(5001, 2), None);
    }

    #[test]
    fn times_outside_all_slots_belong_to_none() {
        let slots = Slots { from_ns: 10, each_ns: 5, count: 2 };
        assert_eq!(
            [9, 10, 14, 15, 19, 20].map(|ns| slots.at(ns)),
            [None, Some(0), Some(0), Some(1), Some(1), None]
        );
    }

    #[test]
    fn the_shortest_and_longest_frames_count_as_on_ethernet() {
        assert_eq!((on_the_link(42), on_the_link(1514)), (84, 1538));
    }

    #[test]
    fn observations_of_a_flow_on_two_hosts_are_combined() {
        let mut all = HostCounts::default();
        let receiver = FlowCounts { link_bytes: vec![1, 2], ..FlowCounts::default() };
        let sender = FlowCounts { link_bytes: vec![0, 0], sent: 3, ..FlowCounts::default() };
        all.add(HostCounts {
            flows: vec![receiver],
            strange_bytes: vec![5],
            missed: 1,
            ..HostCounts::default()
        });
        all.add(HostCounts {
            flows: vec![sender],
            strange_bytes: vec![1],
            missed: 1,
            ..HostCounts::default()
        });
        assert_eq!((all.flows[0].link_bytes.as_slice(), all.flows[0].sent), (&[1, 2][..], 3));
        assert_eq!((all.strange_bytes, all.missed), (vec![6], 2));
    }
}

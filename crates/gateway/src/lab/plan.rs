//! What a contest is, and what follows from it for the hosts.

use super::error::LabError;
use fairwire_catalogue::Parameters;
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate, Seed};
use fairwire_testbed::bed::{SINK_ADDRESS, SOURCE_ADDRESS, Side};
use fairwire_testbed::traffic::{Flow, Sends, Slots, Traffic};

/// A live contest: TCP senders and one UDP sender of constant rate share a gateway.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The discipline, by its name in the catalogue.
    pub discipline: String,
    /// What was typed about it.
    pub parameters: Parameters,
    /// The rate of the gateway's link towards the sink, counting IP packets.
    pub rate: Rate,
    /// The round-trip time without waiting; each direction is delayed by half of it.
    pub rtt: Duration,
    /// How much may wait at the gateway.
    pub buffer: Amount,
    /// TCP senders with endless data.
    pub tcp_flows: u32,
    /// What the UDP sender offers, counting IP packets.
    pub udp_rate: Rate,
    /// Length of the contest, warm-up included.
    pub duration: Duration,
    /// What is not measured, at the start.
    pub warm_up: Duration,
    /// The number of this repetition: seeds the discipline and the times at which senders start.
    pub seed: u64,
    /// The senders' congestion control, by the kernel's name for it.
    pub congestion_control: String,
    /// Bytes of a UDP sender's IP packet. TCP's are 40 bytes longer, as in the simulated contest, where they carry as much
    /// payload as the UDP packet is long.
    pub packet_bytes: u32,
}

impl Default for Contest {
    /// The demo's contest: nine Reno flows against 5 Mbit/s of UDP on 10 Mbit/s, under tail-drop.
    fn default() -> Self {
        let mbps = |n: u64| Rate::from_bps(n * 1_000_000).expect("not zero");
        Contest {
            discipline: "tail-drop".to_owned(),
            parameters: Parameters::default(),
            rate: mbps(10),
            rtt: Duration::from_ms(32),
            buffer: Amount::Packets(780),
            tcp_flows: 9,
            udp_rate: mbps(5),
            duration: Duration::from_secs(10),
            warm_up: Duration::from_secs(2),
            seed: 1,
            congestion_control: "reno".to_owned(),
            packet_bytes: 512,
        }
    }
}

/// As many threads connect them, so that none waits for another's round trips.
const MOST_TCP_FLOWS: u32 = 200;
/// An IP and a UDP header and a few octets of payload; so that TCP keeps a segment of at least 48 bytes, the kernel's least.
const SMALLEST_PACKET: u32 = 64;
/// With the 40 bytes more that TCP's packets have, an Ethernet of 1500.
const LARGEST_PACKET: u32 = 1460;
const LONGEST: Duration = Duration::from_secs(3600);
/// A user-space gateway does not get further on one core.
const FASTEST_BPS: u64 = 10_000_000_000;
const LONGEST_RTT: Duration = Duration::from_secs(2);

/// IPv4 and UDP headers.
const UDP_HEADERS: u32 = 28;
/// How much longer TCP's packets are: IPv4 and TCP headers without options.
const TCP_HEADERS: u32 = 40;

impl Contest {
    /// Are all quantities within what a lab can do?
    pub fn check(&self) -> Result<(), LabError> {
        within("the number of TCP flows", self.tcp_flows, "0", MOST_TCP_FLOWS)?;
        require(self.packet_bytes >= SMALLEST_PACKET && self.packet_bytes <= LARGEST_PACKET, || BadValue {
            what: "the packet size",
            given: format!("{} B", self.packet_bytes),
            allowed: format!("{SMALLEST_PACKET} B to {LARGEST_PACKET} B"),
        })?;
        require(self.warm_up < self.duration && self.duration <= LONGEST, || BadValue {
            what: "the duration",
            given: self.duration.to_string(),
            allowed: format!("longer than the warm-up of {}, at most {LONGEST}", self.warm_up),
        })?;
        within("the round-trip time", self.rtt, "0 s", LONGEST_RTT)?;
        let fastest = Rate::from_bps(FASTEST_BPS).expect("not zero");
        within("the link's rate", self.rate, "above 0", fastest)?;
        within("the UDP sender's rate", self.udp_rate, "above 0", fastest)
    }

    /// What the hosts send: each TCP flow, and the UDP flow last. Counted is what arrives after the warm-up.
    pub(super) fn traffic(&self) -> Traffic {
        let (warm_up_ns, duration_ns) = (self.warm_up.ns(), self.duration.ns());
        let flow = |flow: u32| Flow {
            group: self.name_of(flow).1.to_owned(),
            sends: if flow < self.tcp_flows {
                Sends::Tcp(self.congestion_control.clone())
            } else {
                self.udp()
            },
            from: Side::Left,
            source: SOURCE_ADDRESS.into(),
            destination: SINK_ADDRESS.into(),
            start_ns: self.start_ns(flow),
            stop_ns: duration_ns,
            receiver_behind: None,
        };
        let slots = Slots { from_ns: warm_up_ns, each_ns: duration_ns - warm_up_ns, count: 1 };
        // The gateway counts what is on the link.
        Traffic { flows: (0..=self.tcp_flows).map(flow).collect(), duration_ns, slots, is_tapped: false }
    }

    fn udp(&self) -> Sends {
        let (bps, counted) = (self.udp_rate.bps(), self.packet_bytes);
        Sends::Udp { bps, payload: counted - UDP_HEADERS, counted }
    }

    /// The longest IP packet on the lab's wires.
    pub(super) fn mtu(&self) -> u32 {
        self.packet_bytes + TCP_HEADERS
    }

    /// Flow `flow`'s name and group in results.
    pub(super) fn name_of(&self, flow: u32) -> (String, &'static str) {
        if flow < self.tcp_flows { (format!("tcp.{}", flow + 1), "tcp") } else { ("udp.1".to_owned(), "udp") }
    }

    /// Uniform in the first second, or the first half of a shorter warm-up, so that no two flows move in step.
    fn start_ns(&self, flow: u32) -> u64 {
        let spread = (self.warm_up.ns() / 2).min(1_000_000_000);
        let mut rng = Seed(self.seed).stream(&format!("start/{}", self.name_of(flow).0));
        (rng.uniform() * spread as f64) as u64
    }
}

struct BadValue {
    what: &'static str,
    given: String,
    allowed: String,
}

fn within<T: PartialOrd + std::fmt::Display>(
    what: &'static str,
    given: T,
    least: &str,
    most: T,
) -> Result<(), LabError> {
    let allowed = format!("{least} to {most}");
    require(given <= most, || BadValue { what, given: given.to_string(), allowed })
}

fn require(is_good: bool, bad: impl FnOnce() -> BadValue) -> Result<(), LabError> {
    if is_good {
        return Ok(());
    }
    let BadValue { what, given, allowed } = bad();
    Err(LabError::BadContest { what, given, allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_is_a_good_contest() {
        Contest::default().check().unwrap();
    }

    #[test]
    fn quantities_that_make_no_sense_are_named_with_what_is_allowed() {
        let good = Contest::default;
        for (bad, message) in [
            (Contest { tcp_flows: 201, ..good() }, "the number of TCP flows is 201; allowed: 0 to 200"),
            (Contest { packet_bytes: 63, ..good() }, "the packet size is 63 B; allowed: 64 B to 1460 B"),
            (
                Contest { warm_up: Duration::from_secs(10), ..good() },
                "the duration is 10 s; allowed: longer than the warm-up of 10 s, at most 3600 s",
            ),
            (
                Contest { rtt: Duration::from_secs(3), ..good() },
                "the round-trip time is 3 s; allowed: 0 s to 2 s",
            ),
        ] {
            assert_eq!(bad.check().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn flows_start_apart_the_same_for_the_same_seed_and_within_the_warm_up() {
        let starts = |seed| -> Vec<u64> {
            let flows = Contest { seed, ..Contest::default() }.traffic().flows;
            flows.iter().map(|flow| flow.start_ns).collect()
        };
        assert_eq!(starts(1), starts(1));
        assert_ne!(starts(1), starts(2));
        assert!(starts(1).iter().all(|start| *start < 1_000_000_000));
        assert_eq!(starts(1).len(), 10);
    }
}

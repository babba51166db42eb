//! The three hosts, set up so that the same pairs can be routed by the kernel and bridged by us.

use super::Failure;
use fairwire_gateway::lab::bed::{Bed, HOST_INTERFACE, Place, SINK_ADDRESS, SOURCE_ADDRESS, Side};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::OnceLock;

/// The source, where the kernel routes.
pub(crate) const ROUTED_SOURCE: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
/// The sink, where the kernel routes.
pub(crate) const ROUTED_SINK: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 2);
/// A neighbour of the sink's that does not exist: what is sent there is counted at the sink and dropped.
pub(crate) const NOBODY: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 9);
/// Its Ethernet address.
pub(crate) const NOBODYS_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x99];

/// The processors, one for each part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Core {
    Source = 1,
    Gateway = 2,
    Sink = 3,
}

pub(crate) struct Stage {
    pub bed: Bed,
    /// The Ethernet address of the gateway's left interface.
    pub gateway_mac: [u8; 6],
}

/// How traffic passes the gateway's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The kernel routes it between two networks.
    Routed,
    /// We carry it between two ends of one network.
    Bridged,
}

impl Way {
    /// The addresses that source and sink have on this way.
    pub(crate) fn addresses(self) -> (Ipv4Addr, Ipv4Addr) {
        match self {
            Way::Routed => (ROUTED_SOURCE, ROUTED_SINK),
            Way::Bridged => (SOURCE_ADDRESS, SINK_ADDRESS),
        }
    }
}

impl Stage {
    pub(crate) fn new() -> Result<Self, Failure> {
        let bed = Bed::new(1500)?;
        let (left, right) = (Side::Left.name(), Side::Right.name());
        run(&format!("ip address add 10.1.0.1/24 dev {left}"))?;
        run(&format!("ip address add 10.2.0.1/24 dev {right}"))?;
        run(&format!("ip neighbour add {NOBODY} lladdr 02:00:00:00:00:99 dev {right}"))?;
        std::fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
        // The larger of this and an interface's own counts; packets come out of TUN devices that no route leads back to.
        std::fs::write("/proc/sys/net/ipv4/conf/all/rp_filter", "0")?;
        let gateway_mac = mac_of(left)?;
        bed.enter(Place::Source)?;
        run(&format!("ip address add {ROUTED_SOURCE}/24 dev {HOST_INTERFACE}"))?;
        run("ip route add 10.2.0.0/24 via 10.1.0.1")?;
        bed.enter(Place::Sink)?;
        run(&format!("ip address add {ROUTED_SINK}/24 dev {HOST_INTERFACE}"))?;
        run("ip route add 10.1.0.0/24 via 10.2.0.1")?;
        bed.enter(Place::Gateway)?;
        Ok(Stage { bed, gateway_mac })
    }

    /// Frames that have come to the sink.
    pub(crate) fn frames_at_sink(&self) -> Result<u64, Failure> {
        self.bed.enter(Place::Sink)?;
        let table = std::fs::read_to_string("/proc/thread-self/net/dev")?;
        let line = table
            .lines()
            .find_map(|line| line.trim().strip_prefix(&format!("{HOST_INTERFACE}:")).map(str::to_owned));
        let line = line.ok_or("the sink has no interface")?;
        Ok(line.split_whitespace().nth(1).ok_or("the kernel's table has no second column")?.parse()?)
    }
}

/// Runs a command in this thread's network, and tells what it said when it fails.
pub(crate) fn run(line: &str) -> Result<(), Failure> {
    let output = Command::new("sh").args(["-c", line]).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("`{line}`: {}", String::from_utf8_lossy(&output.stderr).trim()).into()),
    }
}

impl Core {
    /// The number of its processor. Of two the gateway has one, and source and sink share the other.
    pub(crate) fn number(self) -> usize {
        // Of a thread that is pinned already the count would be one.
        static COUNT: OnceLock<usize> = OnceLock::new();
        let count = *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        self as usize % count
    }
}

/// Keeps this thread on one processor.
pub(crate) fn pin(core: Core) {
    let mut set = CpuSet::new();
    set.set(core.number());
    // Where it is refused the numbers are noisier.
    let _ = sched_setaffinity(None, &set);
}

fn mac_of(interface: &str) -> Result<[u8; 6], Failure> {
    let output = Command::new("ip").args(["-o", "link", "show", interface]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let mac = text
        .split("link/ether ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .ok_or("no Ethernet address")?;
    let octets: Result<Vec<u8>, _> = mac.split(':').map(|octet| u8::from_str_radix(octet, 16)).collect();
    octets?.try_into().map_err(|_| "an odd Ethernet address".into())
}

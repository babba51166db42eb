//! The three hosts: source, gateway and sink.

use super::Failure;
use fairwire_linux::netlink::{Address, Route};
use fairwire_testbed::bed::{Bed, HOST, SINK_ADDRESS, SOURCE_ADDRESS, Side};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::OnceLock;

pub(crate) const ROUTED_SOURCE: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
pub(crate) const ROUTED_SINK: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 2);
/// A neighbour that does not exist. The sink counts and drops packets to it.
pub(crate) const VACANT: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 9);
/// Its Ethernet address.
pub(crate) const VACANT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x99];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Core {
    Source = 1,
    Gateway = 2,
    Sink = 3,
}

pub(crate) struct Stage {
    pub bed: Bed,
    pub gateway_mac: [u8; 6],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The kernel routes between two networks.
    Routed,
    /// Our datapath connects two ends of one network.
    Bridged,
}

impl Way {
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
        let Bed { source, gateway, sink, .. } = &bed;
        let [left, right] = Side::BOTH.map(|side| side.end().index);
        let network = |third: u8, last: u8| Address { ip: [10, third, 0, last].into(), prefix_bits: 24 };
        gateway.add_address(left, network(1, 1))?;
        gateway.add_address(right, network(2, 1))?;
        gateway.add_neighbour(right, VACANT.into(), VACANT_MAC)?;
        gateway.set_variable("net/ipv4/ip_forward", "1")?;
        // No route leads back to the TUN devices, so reverse-path filtering is off. The kernel
        // applies the larger of the values for `all` and for the interface.
        gateway.set_variable("net/ipv4/conf/all/rp_filter", "0")?;
        let gateway_mac = gateway.ethernet_address(left)?;
        source.add_address(HOST.index, Address { ip: ROUTED_SOURCE.into(), prefix_bits: 24 })?;
        source.add_route(network(2, 0), Route::Via([10, 1, 0, 1].into()))?;
        sink.add_address(HOST.index, Address { ip: ROUTED_SINK.into(), prefix_bits: 24 })?;
        sink.add_route(network(1, 0), Route::Via([10, 2, 0, 1].into()))?;
        gateway.enter()?;
        Ok(Stage { bed, gateway_mac })
    }
    pub(crate) fn frames_at_sink(&self) -> Result<u64, Failure> {
        Ok(self.bed.sink.counted(HOST.name)?.received)
    }
}

pub(crate) fn run(line: &str) -> Result<(), Failure> {
    let output = Command::new("sh").args(["-c", line]).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("`{line}`: {}", String::from_utf8_lossy(&output.stderr).trim()).into()),
    }
}

impl Core {
    /// The processor's number. On a machine with two processors, the source and the sink share one.
    pub(crate) fn number(self) -> usize {
        // A pinned thread would count one processor, so processors are counted once, before the
        // first thread is pinned.
        static COUNT: OnceLock<usize> = OnceLock::new();
        let count = *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        self as usize % count
    }
}

pub(crate) fn pin(core: Core) {
    let mut set = CpuSet::new();
    set.set(core.number());
    // If pinning is refused, the measurements are noisier.
    let _ = sched_setaffinity(None, &set);
}

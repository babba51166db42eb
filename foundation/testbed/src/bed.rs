//! Three hosts in a line: a source, a gateway and a sink.
//!
//! ```text
//!   network namespace      network namespace        network namespace
//!   source  eth0 ───────── g0  gateway  g1 ───────── eth0  sink
//! ```
//!
//! A [path](super::path) between the gateway and the sink may delay and lose frames.

use super::error::{During, Trouble};
use super::host::{Host, Wire};
use super::path::{Carried, Path, PathHost};
use super::program::command;
use super::shaping::Shaping;
use fairwire_core::Time;
use fairwire_linux::af_packet::open_socket;
use fairwire_linux::netlink::{Address, End, Netlink};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

pub use super::side::Side;

/// Source, gateway and sink in a line, each in a network namespace. The namespaces end with this
/// value. Only source and sink have addresses.
#[derive(Debug)]
pub struct Bed {
    /// The origin of traffic.
    pub source: Host,
    /// The host between the source and the sink.
    pub gateway: Host,
    /// The destination of traffic.
    pub sink: Host,
    /// The path to the sink; `None` if there is only a wire.
    path: Option<PathHost>,
}

/// The address of the source.
pub const SOURCE_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The address of the sink.
pub const SINK_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const PREFIX_BITS: u8 = 24;
/// The interface of source and sink.
pub const HOST: End<'static> = End { name: "eth0", index: 100 };

impl Side {
    /// The Ethernet address of the host.
    pub const fn ethernet_address(self) -> [u8; 6] {
        [2, 0, 0, 0, 0, 1 + self as u8]
    }

    /// The gateway's interface.
    pub const fn end(self) -> End<'static> {
        match self {
            Side::Left => End { name: "g0", index: 100 },
            Side::Right => End { name: "g1", index: 101 },
        }
    }

    /// The name of the gateway's interface.
    pub const fn name(self) -> &'static str {
        self.end().name
    }
}

impl Bed {
    /// Creates the hosts and connects them by wires of this MTU. Moves this thread to the gateway.
    ///
    /// If network namespaces require a user namespace, this process must have only one thread.
    pub fn new(mtu: u32) -> Result<Self, Trouble> {
        Bed::with_path(mtu, None)
    }

    /// Like [`new`](Self::new), with `path` between the gateway and the sink.
    pub fn with_path(mtu: u32, path: Option<&Path>) -> Result<Self, Trouble> {
        let (source, sink) = (Host::new()?, Host::new()?);
        let between = path.map(|_| PathHost::new()).transpose()?;
        let mut bed = Bed { source, sink, path: between, gateway: Host::new()? };
        Side::BOTH.into_iter().try_for_each(|side| bed.join(side, mtu))?;
        if let (Some(host), Some(path)) = (&mut bed.path, path) {
            host.carry(path)?;
        }
        bed.wait_for_carriers()?;
        Ok(bed)
    }

    fn wait_for_carriers(&self) -> Result<(), Trouble> {
        self.path.iter().try_for_each(PathHost::wait_for_carriers)?;
        [&self.source, &self.sink].into_iter().try_for_each(|host| host.wait_for_carrier(HOST.index))?;
        Side::BOTH.into_iter().try_for_each(|side| self.gateway.wait_for_carrier(side.end().index))
    }

    /// Starts the path's run at the time `at` of the monotonic clock.
    pub fn begin_path(&self, at: Time) {
        self.path.iter().for_each(|path| path.begin(at));
    }

    /// Ends the path, if any, and returns the counts of its frames.
    ///
    /// # Errors
    /// The reason why the path had already ended.
    pub fn finish_path(&mut self) -> Result<Carried, Trouble> {
        self.path.as_mut().map_or(Ok(Carried::default()), PathHost::finish)
    }

    /// Connects the gateway to the host at `side`. Without a path between them, another call can
    /// replace a removed wire.
    pub fn join(&self, side: Side, mtu: u32) -> Result<(), Trouble> {
        let (host, ip) = match side {
            Side::Left => (&self.source, SOURCE_ADDRESS),
            Side::Right => (&self.sink, SINK_ADDRESS),
        };
        match self.path.as_ref().filter(|_| side == Side::Right) {
            Some(path) => {
                path.join(Side::Left, (&self.gateway, side.end()), mtu)?;
                path.join(Side::Right, (host, HOST), mtu)?;
            }
            None => self.gateway.join(host, Wire { here: side.end(), there: HOST, mtu })?,
        }
        host.set_ethernet_address(HOST.index, side.ethernet_address())?;
        host.add_address(HOST.index, Address { ip: ip.into(), prefix_bits: PREFIX_BITS })?;
        // The gateway's interface comes up last. It then has a carrier at once, so watching
        // processes observe only one change.
        host.bring_up(HOST.index)?;
        self.gateway.bring_up(side.end().index)
    }

    /// Makes the kernel at the gateway forward over a bridge, and apply `shaping` to the traffic to
    /// the sink. Moves this thread to the gateway.
    ///
    /// Returns two packet sockets, for frames from the source and for frames that left for the
    /// sink, and a netlink socket at the gateway.
    pub fn let_kernel_forward(&self, shaping: &Shaping) -> Result<[OwnedFd; 3], Trouble> {
        // The source must not send super-packets, because the kernel's discipline would count each
        // as one packet. Our gateway splits super-packets.
        self.source.set_segments(HOST.index, 1)?;
        let left = match &self.path {
            Some(path) => path.watch(Side::Left)?,
            None => self.sink.at(|| open_socket(HOST.name))?,
        };
        self.gateway.bridge("bridge", &Side::BOTH.map(|side| side.end().index))?;
        self.gateway.enter()?;
        for line in shaping.lines(Side::Right.name()) {
            command(&format!("tc {line}"))?;
        }
        let netlink = Netlink::open().during("opening a netlink socket")?;
        Ok([open_socket(Side::Left.name())?, left, netlink.into()])
    }

    /// Changes the MTU of every interface.
    pub fn set_mtu(&self, mtu: u32) -> Result<(), Trouble> {
        self.source.set_mtu(HOST.index, mtu)?;
        self.sink.set_mtu(HOST.index, mtu)?;
        self.path.as_ref().map_or(Ok(()), |path| path.set_mtu(mtu))?;
        Side::BOTH.into_iter().try_for_each(|side| self.gateway.set_mtu(side.end().index, mtu))
    }
}

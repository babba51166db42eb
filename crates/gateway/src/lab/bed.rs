//! Three hosts in a line, for tests and benchmarks on real interfaces: threads of this process move between them.
//!
//! Only root can have one: a user namespace is for a process with a single thread.

use super::error::{During, LabError, Trouble};
use super::host::{GATEWAY, HOST, Host, Hosts};
use super::netlink::Address;
use super::plan;
use rustix::net::{AddressFamily, SocketType, netdevice, socket};
use std::net::Ipv4Addr;

/// Source, gateway and sink, each in a network namespace of its own, which ends with this.
pub struct Bed(Hosts);

/// One of the three hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where traffic comes from.
    Source,
    /// Between the two.
    Gateway,
    /// Where traffic goes.
    Sink,
}

/// An interface of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Towards the source.
    Left,
    /// Towards the sink.
    Right,
}

/// The address of the source, on the network that it shares with the sink.
pub const SOURCE_ADDRESS: Ipv4Addr = plan::SOURCE_ADDRESS;
/// The address of the sink.
pub const SINK_ADDRESS: Ipv4Addr = plan::SINK_ADDRESS;
/// The interface of source and sink.
pub const HOST_INTERFACE: &str = HOST.name;

impl Side {
    /// Both, from source to sink.
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];

    /// The interface's name.
    pub const fn name(self) -> &'static str {
        GATEWAY[self as usize].name
    }

    const fn index(self) -> u32 {
        GATEWAY[self as usize].index
    }
}

impl Bed {
    /// Makes the hosts and joins them by virtual Ethernet pairs of this MTU. This thread is at the gateway from now on.
    pub fn new(mtu: u32) -> Result<Self, LabError> {
        Hosts::new(mtu).map(Bed).map_err(|trouble| trouble.into_error("network"))
    }

    /// Moves this thread to a host. What it starts from now on is there too.
    pub fn enter(&self, place: Place) -> Result<(), LabError> {
        self.host(place).enter().map_err(|trouble| trouble.into_error("network"))
    }

    /// Takes an interface of the gateway down.
    pub fn take_down(&self, side: Side) -> Result<(), LabError> {
        self.0.gateway.netlink.take_down(side.index()).map_err(|trouble| trouble.into_error("network"))
    }

    /// Brings an interface of the gateway up.
    pub fn bring_up(&self, side: Side) -> Result<(), LabError> {
        self.0.gateway.netlink.bring_up(side.index()).map_err(|trouble| trouble.into_error("network"))
    }

    /// Removes an interface of the gateway, and with it that of the host.
    pub fn remove(&self, side: Side) -> Result<(), LabError> {
        self.0.gateway.netlink.remove(side.index()).map_err(|trouble| trouble.into_error("network"))
    }

    /// Changes the MTU of every interface.
    pub fn set_mtu(&self, mtu: u32) -> Result<(), LabError> {
        let Hosts { source, gateway, sink } = &self.0;
        let change = |host: &Host, index| host.netlink.set_mtu(index, mtu);
        change(source, HOST.index)
            .and_then(|()| change(sink, HOST.index))
            .and_then(|()| change(gateway, Side::Left.index()))
            .and_then(|()| change(gateway, Side::Right.index()))
            .map_err(|trouble| trouble.into_error("network"))
    }

    /// Gives the interface `name` of a host an address in a network of 24 bits. This thread is at that host from now on.
    pub fn add_address(&self, place: Place, name: &str, ip: Ipv4Addr) -> Result<(), LabError> {
        self.enter(place)?;
        let add = || -> Result<(), Trouble> {
            let socket = socket(AddressFamily::INET, SocketType::DGRAM, None).during("opening a socket")?;
            let index = netdevice::name_to_index(&socket, name).during("looking for an interface")?;
            self.host(place)
                .netlink
                .add_address(index, Address { ip: ip.into(), prefix_bits: plan::PREFIX_BITS })
        };
        add().map_err(|trouble| trouble.into_error("network"))
    }

    fn host(&self, place: Place) -> &Host {
        match place {
            Place::Source => &self.0.source,
            Place::Gateway => &self.0.gateway,
            Place::Sink => &self.0.sink,
        }
    }
}

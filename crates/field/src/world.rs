//! The network of a field run: the hosts outside and inside, and the gateway's between them.

use crate::fallible::Fallible;
use crate::program::command;
use fairwire_gateway::class_book::Way;
use fairwire_gateway::lab::namespace::Namespace;
use fairwire_gateway::lab::nat::masquerade;
use fairwire_gateway::lab::netlink::{Address, End, LOOPBACK, Netlink, Pair, Route};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The interface of both hosts.
pub const HOST: End<'static> = End { name: "eth0", index: 100 };
/// The same, where it carries a VLAN, as the hosts use it.
const VLAN: End<'static> = End { name: "vlan0", index: 110 };
/// The same, where it carries a tunnel.
const TUNNEL: &str = "vxlan0";
/// What an error says where the kernel, or a missing iproute2, makes no tunnel.
pub const NO_TUNNEL: &str = "no VXLAN tunnel can be made here";
/// The gateway's interface towards the outside.
pub const OUTSIDE: End<'static> = End { name: "g-out", index: 100 };
/// The gateway's interface towards the inside.
pub const INSIDE: End<'static> = End { name: "g-in", index: 101 };

/// What a network is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// Of all interfaces, bytes.
    pub mtu: u32,
    /// The VLAN in which the hosts speak; none for plain frames.
    pub vlan: Option<u16>,
    /// The VXLAN tunnel in which they speak; none for plain frames.
    pub vxlan: Option<Vxlan>,
    /// Is the gateway's host a router with source NAT, rather than a wire?
    pub is_router: bool,
}

/// A VXLAN tunnel (RFC 7348).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vxlan {
    /// Have its UDP packets a checksum?
    pub has_sum: bool,
}

impl Default for Wiring {
    fn default() -> Self {
        Wiring { mtu: 1500, vlan: None, vxlan: None, is_router: false }
    }
}

/// The three hosts, alive as long as this is or a process is in them.
#[derive(Debug)]
pub struct World {
    /// The rest of the world.
    pub outside: Host,
    /// Where the gateway's process runs: two interfaces, without an address but on a router.
    pub gateway: Host,
    /// The subscribers.
    pub inside: Host,
}

/// A host in a network namespace of its own.
#[derive(Debug)]
pub struct Host {
    namespace: Namespace,
    /// A way to change its interfaces.
    pub netlink: Netlink,
}

impl World {
    /// Makes all three. This thread is at the gateway from now on.
    pub fn new(wiring: Wiring) -> Fallible<World> {
        let world = World { outside: Host::new()?, inside: Host::new()?, gateway: Host::new()? };
        // Nothing but the hosts speaks on the wire.
        // This thread is at the gateway, which was made last.
        std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")?;
        for side in Way::ALL {
            world.sender(side).prepare(side)?;
            world.join(wiring, side)?;
        }
        world.gateway.enter()?;
        if wiring.is_router {
            world.gateway.route()?;
        }
        Ok(world)
    }

    /// Joins the gateway anew with the host that sends what goes `way`, after the interfaces between them were removed.
    pub fn rejoin(&self, way: Way) -> Fallible<()> {
        self.join(Wiring::default(), way)?;
        self.gateway.enter()
    }

    fn join(&self, wiring: Wiring, way: Way) -> Fallible<()> {
        let host = self.sender(way);
        let here = if way == Way::Download { OUTSIDE } else { INSIDE };
        let pair = Pair { here, there: HOST, there_namespace: host.namespace.descriptor(), mtu: wiring.mtu };
        self.gateway.netlink.add_pair(&pair)?;
        self.gateway.netlink.bring_up(here.index)?;
        host.connect(wiring, way)
    }

    /// The host that sends what goes `way`.
    pub fn sender(&self, way: Way) -> &Host {
        match way {
            Way::Download => &self.outside,
            Way::Upload => &self.inside,
        }
    }
}

impl Host {
    fn new() -> Fallible<Host> {
        Ok(Host { namespace: Namespace::enter_new()?, netlink: Netlink::open()? })
    }

    /// Moves this thread to this host. Children started from now on are there too.
    pub fn enter(&self) -> Fallible<()> {
        Ok(self.namespace.enter()?)
    }

    /// What its kernel is told, and every address of its networks is its own.
    fn prepare(&self, side: Way) -> Fallible<()> {
        self.enter()?;
        for (variable, value) in [
            ("net/ipv4/tcp_no_metrics_save", "1"), // what a run has learnt is not for the next
            ("net/ipv4/tcp_max_syn_backlog", "4096"),
            ("net/core/somaxconn", "4096"),
            ("net/ipv6/ip_nonlocal_bind", "1"), // IPv6 lets nobody bind to an address of a local network otherwise
            ("net/ipv4/conf/all/rp_filter", "0"),
            ("net/ipv4/conf/default/rp_filter", "0"),
        ] {
            std::fs::write(format!("/proc/sys/{variable}"), value)
                .map_err(|error| format!("setting {variable}: {error}"))?;
        }
        self.netlink.bring_up(LOOPBACK)?;
        for is_ipv6 in [false, true] {
            self.netlink.add_route(network(side, is_ipv6), Route::Local)?;
        }
        Ok(())
    }

    /// Addresses for its interface, and the other side's networks are behind the other host.
    fn connect(&self, wiring: Wiring, side: Way) -> Fallible<()> {
        let other = if side == Way::Download { Way::Upload } else { Way::Download };
        let netlink = &self.netlink;
        netlink.set_ethernet_address(HOST.index, ethernet_address(side))?;
        netlink.bring_up(HOST.index)?;
        let device = match (wiring.vlan, wiring.vxlan) {
            (None, None) => HOST.index,
            (None, Some(vxlan)) => self.dig(vxlan, side)?,
            (Some(id), _) => {
                netlink.add_vlan(HOST.index, VLAN, id)?;
                netlink.bring_up(VLAN.index)?;
                VLAN.index
            }
        };
        if wiring.is_router {
            // Behind NAT there is nothing to be found: only the inside knows the way.
            let [own, _] = router_link(side);
            netlink.add_address(device, Address { ip: own, prefix_bits: 24 })?;
            if side == Way::Upload {
                let [_, router] = router_link(side);
                netlink.add_route(network(other, false), Route::Via(router))?;
            }
            return Ok(());
        }
        for is_ipv6 in [false, true] {
            let prefix_bits = if is_ipv6 { 64 } else { 24 };
            netlink.add_address(device, Address { ip: link_address(side, is_ipv6), prefix_bits })?;
            netlink.add_route(network(other, is_ipv6), Route::Via(link_address(other, is_ipv6)))?;
        }
        Ok(())
    }

    /// Makes a router of the gateway's host, where this thread is: addresses, routes, forwarding, and source NAT as at home.
    fn route(&self) -> Fallible<()> {
        for (end, side) in [(OUTSIDE, Way::Download), (INSIDE, Way::Upload)] {
            let [host, router] = router_link(side);
            self.netlink.add_address(end.index, Address { ip: router, prefix_bits: 24 })?;
            self.netlink.add_route(network(side, false), Route::Via(host))?;
        }
        std::fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
        Ok(masquerade(OUTSIDE.name)?)
    }
}

impl Host {
    /// Makes its end of a tunnel, by iproute2, and tells its number.
    fn dig(&self, vxlan: Vxlan, side: Way) -> Fallible<u32> {
        let own = under_address(side);
        let other = under_address(if side == Way::Download { Way::Upload } else { Way::Download });
        self.netlink.add_address(HOST.index, Address { ip: own, prefix_bits: 24 })?;
        self.enter()?;
        let sum = if vxlan.has_sum { "udpcsum" } else { "noudpcsum" };
        let host = HOST.name;
        let line = format!(
            "ip link add {TUNNEL} type vxlan id 5 local {own} remote {other} dstport 4789 dev {host} {sum}"
        );
        command(&line).map_err(|error| format!("{NO_TUNNEL}: {error}"))?;
        command(&format!("ip link set {TUNNEL} up"))?;
        Ok(rustix::net::netdevice::name_to_index(&std::net::UdpSocket::bind("0.0.0.0:0")?, TUNNEL)?)
    }
}

/// Its address under the tunnel.
fn under_address(way: Way) -> IpAddr {
    Ipv4Addr::new(192, 168, 200, 1 + way as u8).into()
}

/// The Ethernet address of the host that sends what goes `way`.
pub fn ethernet_address(way: Way) -> [u8; 6] {
    [2, 0, 0, 0, 0, 1 + way as u8]
}

/// Its address on the wire between the two hosts.
fn link_address(way: Way, is_ipv6: bool) -> IpAddr {
    let host = 1 + way as u16;
    match is_ipv6 {
        false => Ipv4Addr::new(192, 0, 2, host as u8).into(),
        true => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host).into(),
    }
}

/// The addresses on the wire between the router and the host that sends what goes `way`: the host's, and the router's.
fn router_link(way: Way) -> [IpAddr; 2] {
    let third = if way == Way::Download { 2 } else { 3 };
    [1, 254].map(|last| Ipv4Addr::new(192, 0, third, last).into())
}

/// The address that a router with NAT has outside, and all that comes from inside it.
pub fn public_address() -> IpAddr {
    router_link(Way::Download)[1]
}

/// Its network: 198.18.0.0/15 (RFC 2544) and 2001:db8:2::/48 outside, 10.0.0.0/8 and 2001:db8:1::/48 inside.
fn network(way: Way, is_ipv6: bool) -> Address {
    let (ip, prefix_bits) = match (way, is_ipv6) {
        (Way::Download, false) => (Ipv4Addr::new(198, 18, 0, 0).into(), 15),
        (Way::Upload, false) => (Ipv4Addr::new(10, 0, 0, 0).into(), 8),
        (Way::Download, true) => (Ipv6Addr::new(0x2001, 0xdb8, 2, 0, 0, 0, 0, 0).into(), 48),
        (Way::Upload, true) => (Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 0).into(), 48),
    };
    Address { ip, prefix_bits }
}

/// The address of subscriber `number` of class `class`.
pub fn subscriber(class: u8, number: u16, is_ipv6: bool) -> IpAddr {
    let [high, low] = (number + 1).to_be_bytes();
    match is_ipv6 {
        false => Ipv4Addr::new(10, class, high, low).into(),
        true => Ipv6Addr::new(0x2001, 0xdb8, 1, u16::from(class), 0, 0, 0, number + 1).into(),
    }
}

/// The address of outside host `number`.
pub fn server(number: u16, is_ipv6: bool) -> IpAddr {
    let [high, low] = (number + 1).to_be_bytes();
    match is_ipv6 {
        false => Ipv4Addr::new(198, 18, high, low).into(),
        true => Ipv6Addr::new(0x2001, 0xdb8, 2, 0, 0, 0, 0, number + 1).into(),
    }
}

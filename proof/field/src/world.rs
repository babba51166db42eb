//! The network of a field run: the outside and inside hosts, with the gateway's host between them.

use crate::fallible::Fallible;
use fairwire_core::Duration;
use fairwire_linux::netlink::{Address, End, Route};
use fairwire_testbed::bed::{HOST, Side};
use fairwire_testbed::host::{Host, Wire};
use fairwire_testbed::nat::masquerade;
use fairwire_testbed::path::{Carried, Lane, Path, PathHost};
use fairwire_testbed::program::command;
use fairwire_testbed::traffic::{Flow, Sends};
use fairwire_wire::Way;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const VLAN: End<'static> = End { name: "vlan0", index: 110 };
const TUNNEL: &str = "vxlan0";
/// The error if the kernel cannot create a tunnel, or iproute2 is missing.
pub const NO_TUNNEL: &str = "no VXLAN tunnel can be made here";
/// The gateway's interface towards the outside.
pub const OUTSIDE: End<'static> = End { name: "g-out", index: 100 };
/// The gateway's interface towards the inside.
pub const INSIDE: End<'static> = End { name: "g-in", index: 101 };

/// The ends of the wire between two gateways in one host.
pub const BETWEEN: [End<'static>; 2] =
    [End { name: "l-near", index: 102 }, End { name: "l-far", index: 103 }];

/// The properties of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// The MTU of all interfaces, bytes.
    pub mtu: u32,
    /// The VLAN of the hosts' traffic; `None` for untagged frames.
    pub vlan: Option<u16>,
    /// The VXLAN tunnel of the hosts' traffic; `None` for plain frames.
    pub vxlan: Option<Vxlan>,
    /// Is the gateway's host a router with source NAT, instead of a wire?
    pub is_router: bool,
    /// The one-way delay of each [`Way`] between the gateway and the inside.
    pub delays: [Duration; 2],
}

/// A VXLAN tunnel (RFC 7348).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vxlan {
    /// Do the tunnel's UDP packets have a checksum?
    pub has_sum: bool,
}

impl Default for Wiring {
    fn default() -> Self {
        Wiring { mtu: 1500, vlan: None, vxlan: None, is_router: false, delays: [Duration::ZERO; 2] }
    }
}

impl Wiring {
    fn path(&self) -> Option<Path> {
        let lane = |way| Lane { others_ns: self.delays[way as usize].ns(), ..Lane::default() };
        let path = Path { to_sink: lane(Way::Download), to_source: lane(Way::Upload), ..Path::default() };
        (path != Path::default()).then_some(path)
    }
}

/// The three hosts. A host exists until this value is dropped and the host's last process has
/// ended.
#[derive(Debug)]
pub struct World {
    /// The rest of the internet.
    pub outside: Host,
    /// The host of the gateway's process. Its two interfaces have addresses only if it is a router.
    pub gateway: Host,
    /// The subscribers.
    pub inside: Host,
    path: Option<PathHost>,
}

impl World {
    /// Creates the three hosts. Leaves this thread in the gateway's namespace.
    pub fn new(wiring: Wiring) -> Fallible<World> {
        let path = wiring.path();
        let host = path.as_ref().map(|_| PathHost::new()).transpose()?;
        let mut world =
            World { outside: Host::new()?, inside: Host::new()?, path: host, gateway: Host::new()? };
        // IPv6 on the gateway's host would add packets to the hosts' traffic.
        world.gateway.set_variable("net/ipv6/conf/default/disable_ipv6", "1")?;
        for side in Way::ALL {
            prepare(world.sender(side), side)?;
            world.join(wiring, side)?;
        }
        if let (Some(host), Some(path)) = (&mut world.path, &path) {
            host.carry(path)?;
        }
        world.gateway.enter()?;
        if wiring.is_router {
            world.route()?;
        }
        Ok(world)
    }

    /// Creates the wire within the gateway's host.
    pub fn lay_between(&self) -> Fallible<()> {
        let [here, there] = BETWEEN;
        self.gateway.join(&self.gateway, Wire { here, there, mtu: Wiring::default().mtu })?;
        Ok(BETWEEN.iter().try_for_each(|end| self.gateway.bring_up(end.index))?)
    }

    /// Reconnects the gateway with the host that sends in direction `way`, after the interfaces
    /// between them were removed. The network must have the default [`Wiring`].
    pub fn rejoin(&self, way: Way) -> Fallible<()> {
        self.join(Wiring::default(), way)?;
        Ok(self.gateway.enter()?)
    }

    fn join(&self, wiring: Wiring, way: Way) -> Fallible<()> {
        let host = self.sender(way);
        let here = if way == Way::Download { OUTSIDE } else { INSIDE };
        match self.path.as_ref().filter(|_| way == Way::Upload) {
            Some(path) => {
                path.join(Side::Left, (&self.gateway, here), wiring.mtu)?;
                path.join(Side::Right, (host, HOST), wiring.mtu)?;
            }
            None => self.gateway.join(host, Wire { here, there: HOST, mtu: wiring.mtu })?,
        }
        self.gateway.bring_up(here.index)?;
        connect(host, wiring, way)
    }

    /// Makes the gateway's host, where this thread is, a router with source NAT.
    fn route(&self) -> Fallible<()> {
        for (end, side) in [(OUTSIDE, Way::Download), (INSIDE, Way::Upload)] {
            let [host, router] = router_link(side);
            self.gateway.add_address(end.index, Address { ip: router, prefix_bits: 24 })?;
            self.gateway.add_route(network(side, false), Route::Via(host))?;
        }
        self.gateway.set_variable("net/ipv4/ip_forward", "1")?;
        Ok(masquerade(OUTSIDE.name)?)
    }

    /// Ends the path to the subscribers, if any, and returns the counts of its frames.
    pub fn finish_path(&mut self) -> Fallible<Carried> {
        Ok(self.path.as_mut().map_or(Ok(Carried::default()), PathHost::finish)?)
    }

    /// The host that sends in direction `way`.
    pub fn sender(&self, way: Way) -> &Host {
        match way {
            Way::Download => &self.outside,
            Way::Upload => &self.inside,
        }
    }
}

fn prepare(host: &Host, side: Way) -> Fallible<()> {
    for (variable, value) in [
        ("net/ipv4/tcp_no_metrics_save", "1"), // runs must not learn from earlier ones
        ("net/ipv4/tcp_max_syn_backlog", "4096"),
        ("net/core/somaxconn", "4096"),
        ("net/ipv6/ip_nonlocal_bind", "1"), // IPv6 otherwise refuses to bind to an address of a local network
        ("net/ipv4/conf/all/rp_filter", "0"),
        ("net/ipv4/conf/default/rp_filter", "0"),
    ] {
        host.set_variable(variable, value)?;
    }
    for is_ipv6 in [false, true] {
        host.add_route(network(side, is_ipv6), Route::Local)?;
    }
    Ok(())
}

/// Sets the addresses of `host`, and adds routes to the networks of the opposite host.
fn connect(host: &Host, wiring: Wiring, side: Way) -> Fallible<()> {
    let other = if side == Way::Download { Way::Upload } else { Way::Download };
    host.set_ethernet_address(HOST.index, self::side(side).ethernet_address())?;
    host.bring_up(HOST.index)?;
    let device = match (wiring.vlan, wiring.vxlan) {
        (None, None) => HOST.index,
        (None, Some(vxlan)) => dig(host, vxlan, side)?,
        (Some(id), _) => {
            host.add_vlan(HOST.index, VLAN, id)?;
            host.bring_up(VLAN.index)?;
            VLAN.index
        }
    };
    if wiring.is_router {
        // With NAT, only the inside gets a route to the opposite network.
        let [own, router] = router_link(side);
        host.add_address(device, Address { ip: own, prefix_bits: 24 })?;
        if side == Way::Upload {
            host.add_route(network(other, false), Route::Via(router))?;
        }
        return Ok(());
    }
    for is_ipv6 in [false, true] {
        let prefix_bits = if is_ipv6 { 64 } else { 24 };
        host.add_address(device, Address { ip: link_address(side, is_ipv6), prefix_bits })?;
        host.add_route(network(other, is_ipv6), Route::Via(link_address(other, is_ipv6)))?;
    }
    Ok(())
}

/// Creates the tunnel's end at `host`, and returns its interface index.
fn dig(host: &Host, vxlan: Vxlan, side: Way) -> Fallible<u32> {
    let own = under_address(side);
    let other = under_address(if side == Way::Download { Way::Upload } else { Way::Download });
    host.add_address(HOST.index, Address { ip: own, prefix_bits: 24 })?;
    host.enter()?;
    let sum = if vxlan.has_sum { "udpcsum" } else { "noudpcsum" };
    let under = HOST.name;
    let line = format!(
        "ip link add {TUNNEL} type vxlan id 5 local {own} remote {other} dstport 4789 dev {under} {sum}"
    );
    command(&line).map_err(|error| format!("{NO_TUNNEL}: {error}"))?;
    let index = host.index_of(TUNNEL)?;
    host.bring_up(index)?;
    Ok(index)
}

/// The tunnel's outer address at the host that sends in direction `way`.
fn under_address(way: Way) -> IpAddr {
    Ipv4Addr::new(192, 168, 200, 1 + way as u8).into()
}

/// The side of the gateway from which packets in direction `way` come. The outside is on the left.
pub const fn side(way: Way) -> Side {
    match way {
        Way::Download => Side::Left,
        Way::Upload => Side::Right,
    }
}

/// The address of the host that sends in direction `way`, on the wire between the two hosts.
fn link_address(way: Way, is_ipv6: bool) -> IpAddr {
    let host = 1 + way as u16;
    match is_ipv6 {
        false => Ipv4Addr::new(192, 0, 2, host as u8).into(),
        true => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host).into(),
    }
}

/// The addresses of the host that sends in direction `way`, and of the router, on the wire between
/// them.
fn router_link(way: Way) -> [IpAddr; 2] {
    let third = if way == Way::Download { 2 } else { 3 };
    [1, 254].map(|last| Ipv4Addr::new(192, 0, third, last).into())
}

/// The outside address of a router with NAT, which is the source of all inside traffic.
pub fn public_address() -> IpAddr {
    router_link(Way::Download)[1]
}

/// The network whose hosts send in direction `way`. 198.18.0.0/15 is from RFC 2544.
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

/// A flow in direction `way` between outside host `number` and subscriber `number` of class 1. The
/// flow begins at time 0.
pub fn flow(group: &str, sends: Sends, way: Way, number: u16, stop_ns: u64) -> Flow {
    let (outside, inside) = (server(number, false), subscriber(1, number, false));
    let (source, destination) = if way == Way::Download { (outside, inside) } else { (inside, outside) };
    Flow {
        group: group.into(),
        sends,
        from: side(way),
        source,
        destination,
        start_ns: 0,
        stop_ns,
        receiver_behind: None,
        ecn: false,
    }
}

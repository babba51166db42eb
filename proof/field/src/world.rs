//! The network of a field run: the hosts outside and inside, and the gateway's between them.

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

/// The same, where it carries a VLAN, as the hosts use it.
const VLAN: End<'static> = End { name: "vlan0", index: 110 };
/// The same, where it carries a tunnel.
const TUNNEL: &str = "vxlan0";
/// The error if the kernel, or a missing iproute2, makes no tunnel.
pub const NO_TUNNEL: &str = "no VXLAN tunnel can be made here";
/// The gateway's interface towards the outside.
pub const OUTSIDE: End<'static> = End { name: "g-out", index: 100 };
/// The gateway's interface towards the inside.
pub const INSIDE: End<'static> = End { name: "g-in", index: 101 };

/// The two ends of a wire within the gateway's host, between two gateways.
pub const BETWEEN: [End<'static>; 2] =
    [End { name: "l-near", index: 102 }, End { name: "l-far", index: 103 }];

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
    /// How long what goes each [`Way`] takes between the gateway and the inside.
    pub delays: [Duration; 2],
}

/// A VXLAN tunnel (RFC 7348).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vxlan {
    /// Have its UDP packets a checksum?
    pub has_sum: bool,
}

impl Default for Wiring {
    fn default() -> Self {
        Wiring { mtu: 1500, vlan: None, vxlan: None, is_router: false, delays: [Duration::ZERO; 2] }
    }
}

impl Wiring {
    /// The path between the gateway and the subscribers; none where nothing takes time.
    fn path(&self) -> Option<Path> {
        let lane = |way| Lane { others_ns: self.delays[way as usize].ns(), ..Lane::default() };
        let path = Path { to_sink: lane(Way::Download), to_source: lane(Way::Upload), ..Path::default() };
        (path != Path::default()).then_some(path)
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
    /// Between the gateway and the subscribers, where frames take time there.
    path: Option<PathHost>,
}

impl World {
    /// Makes all three. This thread is at the gateway from now on.
    pub fn new(wiring: Wiring) -> Fallible<World> {
        let path = wiring.path();
        let host = path.as_ref().map(|_| PathHost::new()).transpose()?;
        let mut world =
            World { outside: Host::new()?, inside: Host::new()?, path: host, gateway: Host::new()? };
        // Nothing but the hosts speaks on the wire.
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

    /// Lays the wire within the gateway's host.
    pub fn lay_between(&self) -> Fallible<()> {
        let [here, there] = BETWEEN;
        self.gateway.join(&self.gateway, Wire { here, there, mtu: Wiring::default().mtu })?;
        Ok(BETWEEN.iter().try_for_each(|end| self.gateway.bring_up(end.index))?)
    }

    /// Joins the gateway anew with the host that sends what goes `way`, after the interfaces
    /// between them were removed. No path is there.
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

    /// Makes a router of the gateway's host, where this thread is: addresses, routes, forwarding,
    /// and source NAT as at home.
    fn route(&self) -> Fallible<()> {
        for (end, side) in [(OUTSIDE, Way::Download), (INSIDE, Way::Upload)] {
            let [host, router] = router_link(side);
            self.gateway.add_address(end.index, Address { ip: router, prefix_bits: 24 })?;
            self.gateway.add_route(network(side, false), Route::Via(host))?;
        }
        self.gateway.set_variable("net/ipv4/ip_forward", "1")?;
        Ok(masquerade(OUTSIDE.name)?)
    }

    /// Ends the path to the subscribers, if there is one, and returns what became of its frames.
    pub fn finish_path(&mut self) -> Fallible<Carried> {
        Ok(self.path.as_mut().map_or(Ok(Carried::default()), PathHost::finish)?)
    }

    /// The host that sends what goes `way`.
    pub fn sender(&self, way: Way) -> &Host {
        match way {
            Way::Download => &self.outside,
            Way::Upload => &self.inside,
        }
    }
}

/// Sets the kernel options of `host`, and makes every address of its networks its own.
fn prepare(host: &Host, side: Way) -> Fallible<()> {
    for (variable, value) in [
        ("net/ipv4/tcp_no_metrics_save", "1"), // what a run has learnt is not for the next
        ("net/ipv4/tcp_max_syn_backlog", "4096"),
        ("net/core/somaxconn", "4096"),
        ("net/ipv6/ip_nonlocal_bind", "1"), // IPv6 refuses to bind to an address of a local network otherwise
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

/// Addresses for the interface of `host`, and the other side's networks are behind the other host.
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
        // Behind NAT there is nothing to be found: only the inside knows the way.
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

/// Makes the end of a tunnel at `host`, by iproute2, and returns its number.
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

/// Its address under the tunnel.
fn under_address(way: Way) -> IpAddr {
    Ipv4Addr::new(192, 168, 200, 1 + way as u8).into()
}

/// The side of the gateway from which comes what goes `way`: the world is at its left.
pub const fn side(way: Way) -> Side {
    match way {
        Way::Download => Side::Left,
        Way::Upload => Side::Right,
    }
}

/// Its address on the wire between the two hosts.
fn link_address(way: Way, is_ipv6: bool) -> IpAddr {
    let host = 1 + way as u16;
    match is_ipv6 {
        false => Ipv4Addr::new(192, 0, 2, host as u8).into(),
        true => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host).into(),
    }
}

/// The addresses on the wire between the router and the host that sends what goes `way`: the
/// host's, and the router's.
fn router_link(way: Way) -> [IpAddr; 2] {
    let third = if way == Way::Download { 2 } else { 3 };
    [1, 254].map(|last| Ipv4Addr::new(192, 0, third, last).into())
}

/// The address that a router with NAT has outside, and all that comes from inside it.
pub fn public_address() -> IpAddr {
    router_link(Way::Download)[1]
}

/// Its network: 198.18.0.0/15 (RFC 2544) and 2001:db8:2::/48 outside, 10.0.0.0/8 and
/// 2001:db8:1::/48 inside.
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

/// A flow that goes `way` from the start on, between outside host `number` and subscriber `number`
/// of class 1.
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

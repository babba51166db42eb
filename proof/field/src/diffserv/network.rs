//! A DiffServ domain of network namespaces: customers, three gateways, receivers.
//!
//! ```text
//!   customers ── path ── ingress ── core ── egress ── receivers
//!                 50 ms      └────────────────┘ reports
//! ```

use crate::fallible::Fallible;
use fairwire_core::Duration;
use fairwire_linux::netlink::{Address, End, Route};
use fairwire_testbed::bed::{HOST, Side};
use fairwire_testbed::host::{Host, Wire};
use fairwire_testbed::path::{Carried, Path, PathHost};
use std::net::{IpAddr, Ipv4Addr};

/// The interfaces of every gateway, as named in the configurations.
const INSIDE: End<'static> = End { name: "in0", index: 101 };
const OUTSIDE: End<'static> = End { name: "out0", index: 100 };
/// The interface over which the two edges exchange reports.
const CONTROL: End<'static> = End { name: "ctl0", index: 120 };
/// The MTU of the domain. Linux then sends TCP segments of 448 bytes in packets of 500.
const MTU: u32 = 500;
/// The one-way delay between the customers and the ingress. There is no other delay.
const DELAY: Duration = Duration::from_ms(50);

/// The hosts. Each exists until this value is dropped and no process is left in it.
pub(super) struct Domain {
    pub customers: Host,
    path: PathHost,
    pub ingress: Host,
    pub core: Host,
    pub egress: Host,
    pub receivers: Host,
}

impl Domain {
    /// Creates all hosts.
    pub(super) fn new() -> Fallible<Domain> {
        let host = || -> Fallible<Host> {
            let host = Host::new()?;
            // IPv6 would add the kernel's own packets to the hosts' traffic.
            host.set_variable("net/ipv6/conf/default/disable_ipv6", "1")?;
            Ok(host)
        };
        let path = PathHost::new()?;
        let mut domain = Domain {
            customers: host()?,
            path,
            ingress: host()?,
            core: host()?,
            egress: host()?,
            receivers: host()?,
        };
        domain.lay_wires()?;
        domain.give_addresses()?;
        domain.path.carry(&Path::one_way(DELAY))?;
        Ok(domain)
    }

    fn lay_wires(&self) -> Fallible<()> {
        let Domain { customers, path, ingress, core, egress, receivers } = self;
        path.join(Side::Right, (customers, HOST), MTU)?;
        path.join(Side::Left, (ingress, INSIDE), MTU)?;
        for ((left, here), (right, there)) in [
            ((ingress, OUTSIDE), (core, INSIDE)),
            ((core, OUTSIDE), (egress, OUTSIDE)),
            ((egress, INSIDE), (receivers, HOST)),
        ] {
            left.join(right, Wire { here, there, mtu: MTU })?;
        }
        ingress.join(egress, Wire { here: CONTROL, there: CONTROL, mtu: 1500 })?;
        for (edge, last) in [(ingress, 1), (egress, 2)] {
            let ip = Ipv4Addr::new(192, 0, 2, last).into();
            edge.bring_up(CONTROL.index)?;
            edge.add_address(CONTROL.index, Address { ip, prefix_bits: 24 })?;
        }
        for gateway in [ingress, core, egress] {
            gateway.bring_up(INSIDE.index)?;
            gateway.bring_up(OUTSIDE.index)?;
        }
        Ok(())
    }

    fn give_addresses(&self) -> Fallible<()> {
        for (host, side, other) in
            [(&self.customers, Side::Right, Side::Left), (&self.receivers, Side::Left, Side::Right)]
        {
            host.set_variable("net/ipv4/tcp_no_metrics_save", "1")?;
            host.set_variable("net/ipv4/tcp_max_syn_backlog", "4096")?;
            host.add_route(network(side), Route::Local)?;
            host.set_ethernet_address(HOST.index, side.ethernet_address())?;
            host.bring_up(HOST.index)?;
            host.add_address(HOST.index, Address { ip: link(side), prefix_bits: 24 })?;
            host.add_route(network(other), Route::Via(link(other)))?;
        }
        Ok(())
    }

    pub(super) fn set_reports(&self, go: bool) -> Fallible<()> {
        let set = if go { Host::bring_up } else { Host::take_down };
        Ok(set(&self.egress, CONTROL.index)?)
    }

    pub(super) fn finish_path(&mut self) -> Fallible<Carried> {
        Ok(self.path.finish()?)
    }
}

/// The network at `side` of the domain. The customers are on the right.
fn network(side: Side) -> Address {
    match side {
        Side::Right => Address { ip: Ipv4Addr::new(10, 0, 0, 0).into(), prefix_bits: 8 },
        Side::Left => Address { ip: Ipv4Addr::new(198, 18, 0, 0).into(), prefix_bits: 15 },
    }
}

fn link(side: Side) -> IpAddr {
    Ipv4Addr::new(192, 0, 3, if side == Side::Left { 1 } else { 2 }).into()
}

//! Source NAT, as in a home router, and redirection of connections to a port.

use super::error::{During, Trouble};
use fairwire_linux::nftables::{
    Batch, Expression, Family, Hook, Nftables, Persistence, hook, interface_name, meta,
};
use fairwire_wire::headers::TCP;
use std::net::Ipv4Addr;

/// Adds a table `ip nat`, which masquerades the packets that leave this thread's network namespace
/// through the interface `outside`.
pub fn masquerade(outside: &str) -> Result<(), Trouble> {
    let hook = Hook {
        chain: "leaving",
        kind: "nat",
        number: hook::INET_POSTROUTING,
        priority: SOURCE_NAT,
        device: None,
    };
    let name = interface_name(outside);
    let rule = [Expression::Meta(meta::OUTPUT), Expression::Is(&name), Expression::Masquerade];
    let batch =
        Batch::of(Family::Ipv4, "nat").renew(Persistence::StaysOpenToAll).chain(hook).rule("leaving", &rule);
    Nftables::open().and_then(|nftables| nftables.commit(batch)).during("setting up NAT (nftables)")
}

/// Adds the IPv4 table `table`, which masquerades the packets from `source` through any interface.
/// The table is removed when the returned value is dropped or the process ends.
pub fn masquerade_source(table: &str, source: Ipv4Addr) -> Result<Nftables, Trouble> {
    let hook = Hook {
        chain: "leaving",
        kind: "nat",
        number: hook::INET_POSTROUTING,
        priority: SOURCE_NAT,
        device: None,
    };
    let address = source.octets();
    let rule = [Expression::Ipv4Source, Expression::Is(&address), Expression::Masquerade];
    committed(Batch::of(Family::Ipv4, table).renew(Persistence::Goes).chain(hook).rule("leaving", &rule))
}

/// Adds the IPv4 table `table`, which redirects each arriving TCP connection, for any address and
/// port, to `port` of this host. The table is removed as in [`masquerade_source`].
pub fn redirect_connections(table: &str, port: u16) -> Result<Nftables, Trouble> {
    let hook = Hook {
        chain: "arriving",
        kind: "nat",
        number: hook::INET_PREROUTING,
        priority: DESTINATION_NAT,
        device: None,
    };
    let rule = [
        Expression::Meta(meta::PROTOCOL),
        Expression::Is(&[TCP]),
        Expression::Port(port),
        Expression::Redirect,
    ];
    committed(Batch::of(Family::Ipv4, table).renew(Persistence::Goes).chain(hook).rule("arriving", &rule))
}

fn committed(batch: Batch) -> Result<Nftables, Trouble> {
    let made = Nftables::open().and_then(|nftables| nftables.commit(batch).map(|()| nftables));
    made.during("setting up NAT (nftables)")
}

/// `NF_IP_PRI_NAT_SRC`.
const SOURCE_NAT: i32 = 100;
/// `NF_IP_PRI_NAT_DST`.
const DESTINATION_NAT: i32 = -100;

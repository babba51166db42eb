//! Source NAT, as a home's router does it: what a test bed of routers needs.

use super::error::{During, Trouble};
use fairwire_linux::nftables::{Batch, Expression, Family, Fate, Hook, Nftables, hook, interface_name, meta};

/// Gives what this thread's network namespace sends by the interface `outside` the address of that
/// interface (`masquerade`), in a table `ip nat`.
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
    let batch = Batch::of(Family::Ipv4, "nat").renew(Fate::StaysOpenToAll).chain(hook).rule("leaving", &rule);
    Nftables::open().and_then(|nftables| nftables.commit(batch)).during("setting up NAT (nftables)")
}

/// `NF_IP_PRI_NAT_SRC`.
const SOURCE_NAT: i32 = 100;

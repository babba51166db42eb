//! The rules of a passage: the packet filter takes packets out, and traffic control gives them back.

use super::router::{Failing, OURS, Passage};
use fairwire_linux::link;
use fairwire_linux::nftables::{
    Batch, Expression as E, Family, Hook, Nftables, Persistence, hook, interface_name, meta, route,
};
use fairwire_linux::port::PortError;
use fairwire_linux::traffic_control::{Redirected, redirect};
use std::io;

/// The EtherTypes of VLAN tags (IEEE 802.1Q).
const TAGS: [[u8; 2]; 2] = [[0x81, 0], [0x88, 0xa8]];
/// The bits of [`Expression::InTag`](E::InTag) that hold the VLAN's number.
const VLAN: u32 = u32::from_ne_bytes([0x0f, 0xff, 0, 0]);
/// The type of packets whose Ethernet address is this host's (`linux/if_packet.h`).
const PACKET_HOST: &[u8] = &[0];
/// Priorities of our chains: `FIRST` precedes all others at ingress, and `LAST` follows all others
/// at forwarding and egress.
const FIRST: i32 = -450;
const LAST: i32 = 450;

/// Does a table exist whose name is `table`, or begins with `table` and `/`?
pub fn has_tables(table: &str) -> io::Result<bool> {
    Ok(!tables_of(&Nftables::open()?, table)?.is_empty())
}

/// Deletes leftover tables whose name is `table`, or begins with `table` and `/`.
pub fn remove_tables(table: &str) -> io::Result<()> {
    let nftables = Nftables::open()?;
    tables_of(&nftables, table)?
        .into_iter()
        .try_for_each(|(family, name)| nftables.commit(Batch::of(family, &name).delete()))
}

fn tables_of(nftables: &Nftables, table: &str) -> io::Result<Vec<(Family, String)>> {
    let mut found = Vec::new();
    for family in [Family::Netdev, Family::Inet] {
        let is_of = |name: &String| {
            name.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        found.extend(nftables.tables(family)?.into_iter().filter(is_of).map(|name| (family, name)));
    }
    Ok(found)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Interfaces {
    pub inside: u32,
    pub up: u32,
    pub down: u32,
}

/// Leads packets through the TAP devices until this value is dropped.
#[derive(Debug)]
pub(super) struct Diversion {
    /// Owns the tables.
    nftables: Nftables,
    passage: Passage,
    interfaces: Interfaces,
}

impl Diversion {
    pub(super) fn make(passage: Passage, interfaces: Interfaces) -> Result<Self, PortError> {
        let name = passage.inside.clone();
        let fail = |operation| move |source| PortError::System { operation, name, source };
        give_back(interfaces).map_err(fail.clone()("leading packets back by traffic control"))?;
        let nftables = Nftables::open().map_err(fail.clone()("opening a socket of the packet filter"))?;
        let mut outcome = Ok(());
        let fates: &[Persistence] = match passage.failing {
            Failing::Open => &[Persistence::Goes],
            Failing::Closed => &[Persistence::Stays, Persistence::StaysOpenToAll],
        };
        for fate in fates {
            outcome = take_out(&nftables, &passage, interfaces, *fate);
            if outcome.is_ok() {
                break;
            }
        }
        outcome.map_err(fail("leading packets here by the packet filter (nftables, Linux 5.18 or later)"))?;
        Ok(Diversion { nftables, passage, interfaces })
    }

    pub(super) fn is_whole(&self) -> bool {
        let is = |name: &str, index: u32| link::index_of(name).is_ok_and(|found| found == Some(index));
        let down = link::name_of(self.interfaces.down).ok().flatten();
        let table = &self.passage.table;
        is(&self.passage.inside, self.interfaces.inside)
            && down.is_some()
            && [Family::Netdev, Family::Inet]
                .iter()
                .all(|family| self.nftables.has_table(*family, table).unwrap_or(true))
    }
}

impl Drop for Diversion {
    fn drop(&mut self) {
        let _ = remove(&self.nftables, &self.passage.table);
    }
}

fn remove(nftables: &Nftables, table: &str) -> io::Result<()> {
    for family in [Family::Netdev, Family::Inet] {
        if nftables.has_table(family, table)? {
            nftables.commit(Batch::of(family, table).delete())?;
        }
    }
    Ok(())
}

fn take_out(
    nftables: &Nftables,
    passage: &Passage,
    interfaces: Interfaces,
    fate: Persistence,
) -> io::Result<()> {
    nftables.commit(taking(passage, interfaces, fate))?;
    nftables.commit(marking(passage, fate))
}

fn marking(passage: &Passage, fate: Persistence) -> Batch {
    let (inside, outside) = (interface_name(&passage.inside), interface_name(&passage.outside));
    let (kind, number, priority, mark) = ("filter", hook::INET_FORWARD, LAST, passage.mark());
    Batch::of(Family::Inet, &passage.table)
        .renew(fate)
        .chain(Hook { chain: "forward", kind, number, priority, device: None })
        .rule(
            "forward",
            &[
                E::Meta(meta::INPUT),
                E::Is(&outside),
                E::Meta(meta::OUTPUT),
                E::Is(&inside),
                E::Meta(meta::MARK),
                E::Bits { mask: !mark, xor: mark },
                E::SetMeta(meta::MARK),
            ],
        )
}

fn taking(passage: &Passage, interfaces: Interfaces, fate: Persistence) -> Batch {
    let (inside, outside) = (interface_name(&passage.inside), interface_name(&passage.outside));
    let device = Some(passage.inside.as_str());
    let chain = |chain, number, priority| Hook { chain, kind: "filter", number, priority, device };
    // RTN_UNICAST is a route to another host.
    let unicast = 1_u32.to_ne_bytes();
    let for_us = [E::Meta(meta::PACKET_TYPE), E::Is(PACKET_HOST), E::RouteOfDestination(route::OUTPUT)];
    let to_up = [E::Number(interfaces.up), E::Send];
    let by_route = [&for_us[..], &[E::Is(&outside)], &to_up].concat();
    // For a packet that still has its sender's socket, such as one from a local container, the
    // kernel may report the input interface as the output interface. The route's type then decides,
    // and the packet counts as untunnelled.
    let is_unicast = [E::Is(&inside), E::RouteOfDestination(route::KIND), E::Is(&unicast)];
    let by_kind = [&for_us[..], &is_unicast, &to_up].concat();
    let by_kind = Some(by_kind).filter(|_| passage.number & 3 == 0);
    let mark = passage.mark();
    let by_mark = [
        E::Meta(meta::MARK),
        E::Bits { mask: mark, xor: 0 },
        E::IsNot(&[0; 4]),
        E::Meta(meta::MARK),
        E::Bits { mask: !mark, xor: 0 },
        E::SetMeta(meta::MARK),
        E::Number(interfaces.down),
        E::Send,
    ];
    // Drops frames with two tags if the first is of VLAN 0. No host needs such frames. The kernel
    // strips the second tag only later, so the other rules would miss the IP packet.
    let of_no_vlan = [E::InTag, E::Bits { mask: VLAN, xor: 0 }, E::Is(&[0; 4]), E::Drop];
    let batch = Batch::of(Family::Netdev, &passage.table)
        .renew(fate)
        .chain(chain("upload", hook::NETDEV_INGRESS, FIRST))
        .chain(chain("download", hook::NETDEV_EGRESS, LAST))
        .rule("upload", &[E::DestinationStart, E::Is(&OURS), E::Accept]);
    let of_tags = TAGS.iter().map(|tag| [&[E::Meta(meta::TYPE), E::Is(tag)], &of_no_vlan[..]].concat());
    let rules = of_tags.chain([by_route]).chain(by_kind);
    rules.fold(batch, |batch, rule| batch.rule("upload", &rule)).rule("download", &by_mark)
}

/// Redirects the gateway's frames from the TAP devices to the inside interface. Traffic control is
/// below the packet filter, so no egress chain processes the downloads again.
fn give_back(interfaces: Interfaces) -> io::Result<()> {
    for (tap, way) in [(interfaces.up, Redirected::Leaves), (interfaces.down, Redirected::Arrives)] {
        redirect(tap, interfaces.inside, way)?;
    }
    Ok(())
}

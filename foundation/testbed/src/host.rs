//! A host: a network namespace, and the operations on it.

use super::error::{During, Trouble};
use super::namespace::{Namespace, part_sys};
use fairwire_core::Duration;
use fairwire_linux::clock;
use fairwire_linux::link::{self, About, index_of};
use fairwire_linux::netlink::{Address, End, LOOPBACK, Netlink, Pair, Route};
use fairwire_linux::traffic_control::{Impairment, impair};
use rustix::io::Errno;
use std::net::IpAddr;
use std::{io, thread};

/// A host in a separate network namespace. The namespace exists while this value exists, or a
/// process or socket is in the namespace.
#[derive(Debug)]
pub struct Host {
    namespace: Namespace,
    netlink: Netlink,
}

/// A wire between two hosts.
#[derive(Clone, Copy)]
pub struct Wire<'a> {
    /// The end at this host.
    pub here: End<'a>,
    /// The end at the other host.
    pub there: End<'a>,
    /// MTU of both ends, bytes.
    pub mtu: u32,
}

/// The counters of an interface since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Frames that arrived.
    pub received: u64,
    /// Frames that were sent.
    pub sent: u64,
}

impl Host {
    /// Creates a host with only its loopback interface, which is up. Moves this thread to the host.
    pub fn new() -> Result<Self, Trouble> {
        let namespace = Namespace::enter_new()?;
        let host = Host { namespace, netlink: Netlink::open().during("opening a netlink socket")? };
        host.bring_up(LOOPBACK)?;
        Ok(host)
    }

    pub(crate) fn namespace(&self) -> Result<Namespace, Trouble> {
        self.namespace.again()
    }

    /// Moves this thread, and its later processes and sockets, to this host.
    pub fn enter(&self) -> Result<(), Trouble> {
        self.namespace.enter()
    }

    /// Runs `make` in a new thread at this host, and returns its result. Processes that `make`
    /// starts end when `make` returns if they [die with their
    /// parent](crate::namespace::die_with_parent).
    ///
    /// # Panics
    /// If `make` panics, or the host cannot be entered.
    pub fn at<T: Send>(&self, make: impl FnOnce() -> T + Send) -> T {
        let made = thread::scope(|scope| {
            let there = || {
                self.enter().expect("who made a host may enter it");
                make()
            };
            scope.spawn(there).join()
        });
        made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Like [`at`](Host::at), but `start` and its child processes find this host's interfaces in
    /// `/sys`. Needs root.
    ///
    /// # Panics
    /// If `start` panics, or the host cannot be entered.
    pub fn started<T: Send>(&self, start: impl FnOnce() -> T + Send) -> T {
        self.at(|| {
            part_sys().expect("who made a host may mount there");
            start()
        })
    }

    /// Creates a wire to another host: a virtual Ethernet pair with both ends down.
    pub fn join(&self, other: &Host, wire: Wire<'_>) -> Result<(), Trouble> {
        let Wire { here, there, mtu } = wire;
        let pair = Pair { here, there, there_namespace: other.namespace.descriptor(), mtu };
        self.netlink.add_pair(&pair).map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::OPNOTSUPP) => Trouble::no_veth(&error),
            _ => Trouble::new("making a virtual Ethernet pair", &error),
        })
    }

    /// Connects interfaces by a bridge, which is up, forwards immediately, and has no address.
    pub fn bridge(&self, name: &str, ports: &[u32]) -> Result<(), Trouble> {
        self.netlink.add_bridge(name).during("making a bridge")?;
        let index = self.at(|| self.index_of(name))?;
        let added = ports.iter().try_for_each(|port| self.netlink.add_port(index, *port));
        added.during("joining interfaces by a bridge")?;
        self.bring_up(index)
    }

    /// Brings an interface up.
    pub fn bring_up(&self, index: u32) -> Result<(), Trouble> {
        self.netlink.bring_up(index).during("bringing an interface up")
    }

    /// Waits up to two seconds until an interface carries frames. A kernel may react to a carrier a
    /// second late. Until then, the kernel loses frames, including the first ARP request.
    pub fn wait_for_carrier(&self, index: u32) -> Result<(), Trouble> {
        let is_running = || {
            let until = clock::now() + Duration::from_ms(2000);
            while !link::about(index)?.is_running && clock::now() < until {
                clock::sleep_until(clock::now() + Duration::from_ms(5));
            }
            Ok::<(), io::Error>(())
        };
        self.at(is_running).during("waiting for the carrier of an interface")
    }

    /// Takes an interface down.
    pub fn take_down(&self, index: u32) -> Result<(), Trouble> {
        self.netlink.take_down(index).during("taking an interface down")
    }

    /// Removes an interface and the other end of its wire.
    pub fn remove(&self, index: u32) -> Result<(), Trouble> {
        self.netlink.remove(index).during("removing an interface")
    }

    /// Adds an address, usable at once: IPv6 skips the search for duplicates.
    pub fn add_address(&self, index: u32, address: Address) -> Result<(), Trouble> {
        self.netlink.add_address(index, address).during("giving an interface its address")
    }

    /// Removes an address from an interface.
    pub fn remove_address(&self, index: u32, address: Address) -> Result<(), Trouble> {
        self.netlink.remove_address(index, address).during("taking an address from an interface")
    }

    /// Renames an interface.
    pub fn rename(&self, index: u32, name: &str) -> Result<(), Trouble> {
        self.netlink.rename(index, name).during("renaming an interface")
    }

    /// Sets the Ethernet address of the neighbour `ip` of an interface. The neighbour need not
    /// exist.
    pub fn add_neighbour(&self, index: u32, ip: IpAddr, ethernet: [u8; 6]) -> Result<(), Trouble> {
        self.netlink.add_neighbour(index, ip, ethernet).during("naming a neighbour")
    }

    /// Adds the route to `network`.
    pub fn add_route(&self, network: Address, route: Route) -> Result<(), Trouble> {
        self.netlink.add_route(network, route).during("adding a route")
    }

    /// Sets the MTU of an interface, in bytes.
    pub fn set_mtu(&self, index: u32, mtu: u32) -> Result<(), Trouble> {
        self.netlink.set_mtu(index, mtu).during("changing an interface's MTU")
    }

    /// Sets the Ethernet address of an interface.
    pub fn set_ethernet_address(&self, index: u32, address: [u8; 6]) -> Result<(), Trouble> {
        self.netlink.set_ethernet_address(index, address).during("changing an interface's Ethernet address")
    }

    /// Limits an interface's super-packets to `most` segments; 1 disables them.
    pub fn set_segments(&self, index: u32, most: u32) -> Result<(), Trouble> {
        self.netlink.set_segments(index, most).during("bounding an interface's super-packets")
    }

    /// Creates an interface for the VLAN `id` on the interface `under`. The new interface is down.
    pub fn add_vlan(&self, under: u32, here: End<'_>, id: u16) -> Result<(), Trouble> {
        self.netlink.add_vlan(under, here, id).during("making a VLAN interface")
    }

    /// Delays and drops the frames that an interface sends.
    pub fn impair(&self, index: u32, impairment: &Impairment) -> Result<(), Trouble> {
        impair(&self.netlink, index, impairment).during("delaying what an interface sends (sch_netem)")
    }

    /// Sets a variable of this host's kernel, such as `net/ipv4/ip_forward`. Moves this thread to
    /// this host.
    pub fn set_variable(&self, variable: &str, value: &str) -> Result<(), Trouble> {
        self.enter()?;
        std::fs::write(format!("/proc/sys/{variable}"), value).during(&format!("setting {variable}"))
    }

    /// The number of the interface `name`. Moves this thread to this host.
    pub fn index_of(&self, name: &str) -> Result<u32, Trouble> {
        self.enter()?;
        let found = index_of(name).and_then(|index| index.ok_or(io::ErrorKind::NotFound.into()));
        found.during(&format!("looking for the interface {name}"))
    }

    /// The Ethernet address of an interface. Moves this thread to this host.
    pub fn ethernet_address(&self, index: u32) -> Result<[u8; 6], Trouble> {
        self.enter()?;
        Ok(link::about(index).during("looking at an interface")?.ethernet_address)
    }

    /// The names of all interfaces, and the kernel's state of each. Moves this thread to this host.
    pub fn interfaces(&self) -> Result<Vec<(String, About)>, Trouble> {
        self.enter()?;
        let names = fairwire_linux::interface::names().during("listing interfaces")?;
        names
            .into_iter()
            .map(|name| {
                Ok((name.clone(), link::about(self.index_of(&name)?).during("looking at an interface")?))
            })
            .collect()
    }

    /// The counts of the interface `name`. Moves this thread to this host.
    pub fn counted(&self, name: &str) -> Result<Counted, Trouble> {
        self.enter()?;
        let table = std::fs::read_to_string("/proc/thread-self/net/dev").during("reading counters")?;
        let missing =
            || Trouble::new(format!("reading the counters of {name}"), &io::ErrorKind::NotFound.into());
        counted(&table, name).ok_or_else(missing)
    }
}

/// Parses an interface's line in the kernel's table: the name, eight counts of arrivals, and eight
/// counts of departures. Both groups begin with bytes and packets.
fn counted(table: &str, name: &str) -> Option<Counted> {
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    let columns: Vec<u64> = line.split_whitespace().map_while(|column| column.parse().ok()).collect();
    Some(Counted { received: *columns.get(1)?, sent: *columns.get(9)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_counts_come_from_the_table_of_the_kernel() {
        let table = "Inter-|   Receive\n face |bytes\n eth0: 10 2 0 0 0 0 0 0 30 4 0 0 0 0 0 0\n  eth01: 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(counted(table, "eth0"), Some(Counted { received: 2, sent: 4 }));
        assert_eq!(counted(table, "eth2"), None);
    }
}

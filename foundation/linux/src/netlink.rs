//! Interfaces, addresses and routes through the kernel's routing netlink (rtnetlink(7)).

use crate::request::{CREATE, IS_UP, Link, Request, acknowledgement};
use rustix::io::{read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// A connection to the kernel that changes the interfaces of the network namespace in which it was
/// opened.
#[derive(Debug)]
pub struct Netlink(OwnedFd);

/// A virtual Ethernet pair between namespaces.
pub struct Pair<'a> {
    /// The end in this namespace.
    pub here: End<'a>,
    /// The other end.
    pub there: End<'a>,
    /// The other namespace.
    pub there_namespace: &'a OwnedFd,
    /// The MTU of both ends, in bytes.
    pub mtu: u32,
}

/// One end of a pair.
#[derive(Clone, Copy)]
pub struct End<'a> {
    /// The interface's name.
    pub name: &'a str,
    /// The interface's number in its namespace, given to avoid a lookup.
    pub index: u32,
}

/// An address and the length of its network's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address, or the first address of a network.
    pub ip: IpAddr,
    /// The number of leading bits that belong to the network.
    pub prefix_bits: u8,
}

/// The location of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Every address of the network belongs to this host.
    Local,
    /// The network is behind the host with this address.
    Via(IpAddr),
}

impl Netlink {
    /// Opens a connection in this thread's namespace.
    pub fn open() -> io::Result<Self> {
        // `None` is protocol zero, NETLINK_ROUTE.
        Ok(Netlink(socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?))
    }

    /// Creates a pair with both ends down.
    pub fn add_pair(&self, pair: &Pair<'_>) -> io::Result<()> {
        let end = |request: &mut Request, end: End<'_>| {
            request.text(libc::IFLA_IFNAME, end.name);
            request.number(libc::IFLA_MTU, pair.mtu);
        };
        let mut request = Request::new(libc::RTM_NEWLINK, CREATE);
        request.link(Link::untouched(pair.here.index));
        end(&mut request, pair.here);
        request.nested(libc::IFLA_LINKINFO, |request| {
            request.text(libc::IFLA_INFO_KIND, "veth");
            request.nested(libc::IFLA_INFO_DATA, |request| {
                request.nested(VETH_INFO_PEER, |request| {
                    request.link(Link::untouched(pair.there.index));
                    end(request, pair.there);
                    request.number(libc::IFLA_NET_NS_FD, pair.there_namespace.as_raw_fd() as u32);
                });
            });
        });
        self.execute(request)
    }

    /// Brings an interface up.
    pub fn bring_up(&self, index: u32) -> io::Result<()> {
        self.change(Link { index, flags: IS_UP, changed: IS_UP })
    }

    /// Takes an interface down.
    pub fn take_down(&self, index: u32) -> io::Result<()> {
        self.change(Link { index, flags: 0, changed: IS_UP })
    }

    /// Removes an interface. Removing one end of a pair removes both.
    pub fn remove(&self, index: u32) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_DELLINK, 0);
        request.link(Link::untouched(index));
        self.execute(request)
    }

    /// Adds an address to an interface immediately: IPv6 skips the search for duplicates.
    pub fn add_address(&self, index: u32, address: Address) -> io::Result<()> {
        self.execute(about_address(Request::new(libc::RTM_NEWADDR, CREATE), index, address))
    }

    /// Removes an address from an interface.
    pub fn remove_address(&self, index: u32, address: Address) -> io::Result<()> {
        self.execute(about_address(Request::new(libc::RTM_DELADDR, 0), index, address))
    }

    /// Adds a permanent neighbour entry to an interface: the Ethernet address of `ip`.
    pub fn add_neighbour(&self, index: u32, ip: IpAddr, ethernet: [u8; 6]) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWNEIGH, CREATE);
        // struct ndmsg: family, padding, index, state, flags, kind.
        request.raw(&[family(ip), 0, 0, 0]);
        request.raw(&index.to_ne_bytes());
        request.raw(&libc::NUD_PERMANENT.to_ne_bytes());
        request.raw(&[0; 2]);
        request.address(libc::NDA_DST, ip);
        request.attribute(libc::NDA_LLADDR, &ethernet);
        self.execute(request)
    }

    /// Adds a route to `network`.
    pub fn add_route(&self, network: Address, route: Route) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWROUTE, CREATE);
        let (table, scope, kind) = match route {
            Route::Local => (libc::RT_TABLE_LOCAL, libc::RT_SCOPE_HOST, libc::RTN_LOCAL),
            Route::Via(_) => (libc::RT_TABLE_MAIN, libc::RT_SCOPE_UNIVERSE, libc::RTN_UNICAST),
        };
        // struct rtmsg: family, lengths of destination and source, type of service, table, origin,
        // scope, kind, flags.
        request.raw(&[
            family(network.ip),
            network.prefix_bits,
            0,
            0,
            table,
            libc::RTPROT_STATIC,
            scope,
            kind,
        ]);
        request.raw(&[0; 4]);
        request.address(libc::RTA_DST, network.ip);
        match route {
            Route::Local => request.number(libc::RTA_OIF, LOOPBACK),
            Route::Via(ip) => request.address(libc::RTA_GATEWAY, ip),
        }
        self.execute(request)
    }

    /// Sets the MTU of an interface, in bytes.
    pub fn set_mtu(&self, index: u32, mtu: u32) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(index));
        request.number(libc::IFLA_MTU, mtu);
        self.execute(request)
    }

    /// Renames an interface.
    pub fn rename(&self, index: u32, name: &str) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(index));
        request.text(libc::IFLA_IFNAME, name);
        self.execute(request)
    }

    /// Sets the length of an interface's transmit queue, in packets.
    pub fn set_queue(&self, index: u32, packets: u32) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(index));
        request.number(libc::IFLA_TXQLEN, packets);
        self.execute(request)
    }

    /// Sets the Ethernet address of an interface.
    pub fn set_ethernet_address(&self, index: u32, address: [u8; 6]) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(index));
        request.attribute(libc::IFLA_ADDRESS, &address);
        self.execute(request)
    }

    /// Creates an interface for the VLAN `id` on the interface `under`. The new interface is down.
    pub fn add_vlan(&self, under: u32, here: End<'_>, id: u16) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, CREATE);
        request.link(Link::untouched(here.index));
        request.text(libc::IFLA_IFNAME, here.name);
        request.number(libc::IFLA_LINK, under);
        request.nested(libc::IFLA_LINKINFO, |request| {
            request.text(libc::IFLA_INFO_KIND, "vlan");
            request.nested(libc::IFLA_INFO_DATA, |request| {
                request.attribute(VLAN_ID, &id.to_ne_bytes());
            });
        });
        self.execute(request)
    }

    fn change(&self, link: Link) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(link);
        self.execute(request)
    }

    /// Creates a bridge that is down. Once up, it forwards immediately: it has no spanning tree, no
    /// waiting time and no multicast snooping.
    pub fn add_bridge(&self, name: &str) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, CREATE);
        request.link(Link::untouched(0));
        request.text(libc::IFLA_IFNAME, name);
        request.nested(libc::IFLA_LINKINFO, |request| {
            request.text(libc::IFLA_INFO_KIND, "bridge");
            request.nested(libc::IFLA_INFO_DATA, |request| {
                request.number(BR_FORWARD_DELAY, 0);
                request.number(BR_STP_STATE, 0);
                request.attribute(BR_MCAST_SNOOPING, &[0]);
            });
        });
        self.execute(request)
    }

    /// Makes interface `port` a port of interface `bridge`.
    pub fn add_port(&self, bridge: u32, port: u32) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(port));
        request.number(libc::IFLA_MASTER, bridge);
        self.execute(request)
    }

    /// Limits the super-packets that an interface sends to `most` segments; 1 disables
    /// super-packets.
    pub fn set_segments(&self, index: u32, most: u32) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(index));
        request.number(libc::IFLA_GSO_MAX_SEGS, most);
        self.execute(request)
    }

    /// Prevents an interface from getting an IPv6 address, so the interface sends nothing
    /// unprompted. Fails on a kernel without IPv6, where the call is not needed.
    pub fn silence(&self, index: u32) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(index));
        request.nested(libc::IFLA_AF_SPEC, |request| {
            request.nested(libc::AF_INET6 as u16, |request| {
                request.attribute(INET6_ADDR_GEN_MODE, &[ADDR_GEN_MODE_NONE]);
            });
        });
        self.execute(request)
    }

    /// Sends a request, and returns the answer that precedes the acknowledgement.
    pub(crate) fn read(&self, request: Request) -> io::Result<Vec<u8>> {
        let answer = self.answer(request)?;
        match acknowledgement(&answer) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(error) => return Err(error),
            Ok(()) => return Err(io::Error::new(io::ErrorKind::InvalidData, "the kernel returns nothing")),
        }
        acknowledgement(&self.next()?).map(|()| answer)
    }

    pub(crate) fn execute(&self, request: Request) -> io::Result<()> {
        acknowledgement(&self.answer(request)?)
    }

    pub(crate) fn answer(&self, request: Request) -> io::Result<Vec<u8>> {
        write(&self.0, &request.finish())?;
        self.next()
    }

    fn next(&self) -> io::Result<Vec<u8>> {
        let mut answer = vec![0; 32 << 10];
        let count = read(&self.0, &mut answer[..])?;
        answer.truncate(count);
        Ok(answer)
    }
}

impl From<OwnedFd> for Netlink {
    fn from(socket: OwnedFd) -> Self {
        Netlink(socket)
    }
}

impl From<Netlink> for OwnedFd {
    fn from(netlink: Netlink) -> Self {
        netlink.0
    }
}

fn about_address(mut request: Request, index: u32, address: Address) -> Request {
    // struct ifaddrmsg: family, length of the prefix, flags, scope, index.
    request.raw(&[family(address.ip), address.prefix_bits, libc::IFA_F_NODAD as u8, 0]);
    request.raw(&index.to_ne_bytes());
    request.address(libc::IFA_LOCAL, address.ip);
    request.address(libc::IFA_ADDRESS, address.ip);
    request
}

fn family(ip: IpAddr) -> u8 {
    match ip {
        IpAddr::V4(_) => libc::AF_INET as u8,
        IpAddr::V6(_) => libc::AF_INET6 as u8,
    }
}

/// The loopback interface, in every network namespace.
pub const LOOPBACK: u32 = 1;

/// `linux/if_link.h`.
const VLAN_ID: u16 = 1;
/// `linux/veth.h`.
const VETH_INFO_PEER: u16 = 1;
/// `linux/if_link.h`: attributes of a bridge, and of IPv6 on an interface.
const BR_FORWARD_DELAY: u16 = 1;
const BR_STP_STATE: u16 = 5;
const BR_MCAST_SNOOPING: u16 = 23;
const INET6_ADDR_GEN_MODE: u16 = 8;
const ADDR_GEN_MODE_NONE: u8 = 1;

//! Interfaces, addresses and routes through the kernel's routing netlink (rtnetlink(7)): the requests that a lab needs.

use super::error::{During, Trouble};
use rustix::io::{Errno, read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// A way to change the interfaces of the network namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink(OwnedFd);

/// A virtual Ethernet pair: one end here, the other in another namespace.
pub struct Pair<'a> {
    /// The end in this namespace.
    pub here: End<'a>,
    /// The other end.
    pub there: End<'a>,
    /// Where that is.
    pub there_namespace: &'a OwnedFd,
    /// Of both ends, bytes.
    pub mtu: u32,
}

/// One end of a pair.
#[derive(Clone, Copy)]
pub struct End<'a> {
    /// The interface's name.
    pub name: &'a str,
    /// The interface's number in its namespace, so that nobody has to look it up.
    pub index: u32,
}

/// An address and the length of its network's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address, or the first of a network.
    pub ip: IpAddr,
    /// Leading bits that are the network's.
    pub prefix_bits: u8,
}

/// Where a network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Every address of it is this host's own.
    Local,
    /// Behind the host with this address.
    Via(IpAddr),
}

impl Netlink {
    /// Opens one in the namespace of this thread.
    pub fn open() -> Result<Self, Trouble> {
        // The number of the routing protocol, NETLINK_ROUTE, is zero, and so is "none".
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None);
        socket.map(Netlink).during("opening a netlink socket")
    }

    /// As [`open`](Netlink::open), for others than labs.
    pub fn open_plain() -> io::Result<Self> {
        Ok(Netlink(socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?))
    }

    /// Where requests go and answers come from.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.0
    }

    /// Makes a pair, both ends down.
    pub fn add_pair(&self, pair: &Pair<'_>) -> Result<(), Trouble> {
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
        self.ask(request).map_err(no_veth)
    }

    /// Brings an interface up.
    pub fn bring_up(&self, index: u32) -> Result<(), Trouble> {
        self.change(Link { index, flags: IS_UP, changed: IS_UP }).during("bringing an interface up")
    }

    /// Takes an interface down.
    pub fn take_down(&self, index: u32) -> Result<(), Trouble> {
        self.change(Link { index, flags: 0, changed: IS_UP }).during("taking an interface down")
    }

    /// Removes an interface, and with it the other end of its pair.
    pub fn remove(&self, index: u32) -> Result<(), Trouble> {
        let mut request = Request::new(libc::RTM_DELLINK, 0);
        request.link(Link::untouched(index));
        self.ask(request).during("removing an interface")
    }

    /// Gives an interface an address, at once: IPv6 does not look for another that has it.
    pub fn add_address(&self, index: u32, address: Address) -> Result<(), Trouble> {
        let mut request = Request::new(libc::RTM_NEWADDR, CREATE);
        // struct ifaddrmsg: family, length of the prefix, flags, scope, index.
        request.raw(&[family(address.ip), address.prefix_bits, libc::IFA_F_NODAD as u8, 0]);
        request.raw(&index.to_ne_bytes());
        request.address(libc::IFA_LOCAL, address.ip);
        request.address(libc::IFA_ADDRESS, address.ip);
        self.ask(request).during("giving an interface its address")
    }

    /// Tells this host where `network` is.
    pub fn add_route(&self, network: Address, route: Route) -> Result<(), Trouble> {
        let mut request = Request::new(libc::RTM_NEWROUTE, CREATE);
        let (table, scope, kind) = match route {
            Route::Local => (libc::RT_TABLE_LOCAL, libc::RT_SCOPE_HOST, libc::RTN_LOCAL),
            Route::Via(_) => (libc::RT_TABLE_MAIN, libc::RT_SCOPE_UNIVERSE, libc::RTN_UNICAST),
        };
        // struct rtmsg: family, lengths of destination and source, type of service, table, origin, scope, kind, flags.
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
        self.ask(request).during("adding a route")
    }

    /// Gives an interface an MTU, in bytes.
    pub fn set_mtu(&self, index: u32, mtu: u32) -> Result<(), Trouble> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(index));
        request.number(libc::IFLA_MTU, mtu);
        self.ask(request).during("changing an interface's MTU")
    }

    /// Gives an interface room for this many packets that wait to be sent.
    pub(crate) fn set_queue(&self, index: u32, packets: u32) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(index));
        request.number(libc::IFLA_TXQLEN, packets);
        self.ask(request)
    }

    /// Gives an interface an Ethernet address.
    pub fn set_ethernet_address(&self, index: u32, address: [u8; 6]) -> Result<(), Trouble> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(Link::untouched(index));
        request.attribute(libc::IFLA_ADDRESS, &address);
        self.ask(request).during("changing an interface's Ethernet address")
    }

    /// Makes an interface of the VLAN `id` over interface `under`, down.
    pub fn add_vlan(&self, under: u32, here: End<'_>, id: u16) -> Result<(), Trouble> {
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
        self.ask(request).during("making a VLAN interface")
    }

    fn change(&self, link: Link) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(link);
        self.ask(request)
    }

    /// Sends a request and waits for its acknowledgement.
    pub(crate) fn ask(&self, request: Request) -> io::Result<()> {
        write(&self.0, &request.finish())?;
        let mut answer = [0; 4096];
        let count = read(&self.0, &mut answer[..])?;
        acknowledgement(&answer[..count])
    }
}

/// The kernel does not know the kind of interface.
fn no_veth(error: io::Error) -> Trouble {
    match Errno::from_io_error(&error) {
        Some(Errno::OPNOTSUPP) => Trouble::no_veth(&error),
        _ => Trouble::new("making a virtual Ethernet pair", &error),
    }
}

/// An acknowledgement is an error message with the number zero: struct nlmsgerr begins with the negative error number.
fn acknowledgement(answer: &[u8]) -> io::Result<()> {
    let kind = answer.get(4..6).map(|b| u16::from_ne_bytes([b[0], b[1]]));
    let error =
        answer.get(HEADER_BYTES..).and_then(|rest| rest.first_chunk()).map(|b| i32::from_ne_bytes(*b));
    match (kind.map(i32::from), error) {
        (Some(libc::NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(libc::NLMSG_ERROR), Some(error)) => Err(io::Error::from_raw_os_error(-error)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the kernel's answer is no acknowledgement")),
    }
}

fn family(ip: IpAddr) -> u8 {
    match ip {
        IpAddr::V4(_) => libc::AF_INET as u8,
        IpAddr::V6(_) => libc::AF_INET6 as u8,
    }
}

/// The loopback interface, in every network namespace.
pub const LOOPBACK: u32 = 1;

/// `linux/if_link.h`: the attribute with the number of a VLAN.
const VLAN_ID: u16 = 1;
/// `linux/veth.h`: the attribute in which the other end is described.
const VETH_INFO_PEER: u16 = 1;
pub(crate) const CREATE: i32 = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
/// Bytes of struct nlmsghdr.
pub(crate) const HEADER_BYTES: usize = 16;

pub(crate) const IS_UP: u32 = libc::IFF_UP as u32;

/// What struct ifinfomsg says of an interface.
pub(crate) struct Link {
    pub index: u32,
    pub flags: u32,
    /// Which flags are to be changed.
    pub changed: u32,
}

impl Link {
    pub(crate) fn untouched(index: u32) -> Self {
        Link { index, flags: 0, changed: 0 }
    }
}

/// A netlink request under construction: a header, a fixed part, and attributes in attributes, all aligned to four bytes.
pub(crate) struct Request(Vec<u8>);

impl Request {
    pub(crate) fn new(kind: u16, flags: i32) -> Self {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        Request(bytes)
    }

    /// Bytes of a fixed part.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// struct ifinfomsg: family and type (any), index, flags, and which flags change.
    pub(crate) fn link(&mut self, link: Link) {
        self.raw(&[0; 4]);
        self.raw(&link.index.to_ne_bytes());
        self.raw(&link.flags.to_ne_bytes());
        self.raw(&link.changed.to_ne_bytes());
    }

    pub(crate) fn number(&mut self, kind: u16, value: u32) {
        self.attribute(kind, &value.to_ne_bytes());
    }

    /// As netfilter wants its numbers: the highest byte first.
    pub(crate) fn number_be(&mut self, kind: u16, value: u32) {
        self.attribute(kind, &value.to_be_bytes());
    }

    /// With the zero at its end that the kernel wants.
    pub(crate) fn text(&mut self, kind: u16, text: &str) {
        self.nested(kind, |request| {
            request.raw(text.as_bytes());
            request.raw(&[0]);
        });
    }

    fn address(&mut self, kind: u16, ip: IpAddr) {
        match ip {
            IpAddr::V4(ip) => self.attribute(kind, &ip.octets()),
            IpAddr::V6(ip) => self.attribute(kind, &ip.octets()),
        }
    }

    pub(crate) fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.nested(kind, |request| request.raw(value));
    }

    pub(crate) fn nested(&mut self, kind: u16, inside: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.raw(&[0; 2]);
        self.raw(&kind.to_ne_bytes());
        inside(self);
        let len = (self.0.len() - start) as u16;
        self.0[start..start + 2].copy_from_slice(&len.to_ne_bytes());
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let len = self.0.len() as u32;
        self.0[..4].copy_from_slice(&len.to_ne_bytes());
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_aligned_and_count_their_own_length() {
        let mut request = Request::new(16, 0);
        request.nested(18, |request| request.text(1, "veth"));
        let bytes = request.finish();
        assert_eq!(bytes.len(), 16 + 4 + 12);
        let u16_at = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        assert_eq!((u16_at(0), u16_at(4)), (32, 16)); // whole message, and its kind
        assert_eq!((u16_at(16), u16_at(18)), (16, 18)); // outer attribute, padding of the inner one included
        assert_eq!((u16_at(20), u16_at(22)), (9, 1)); // inner attribute, padding not included
        assert_eq!(&bytes[24..], b"veth\0\0\0\0");
    }

    #[test]
    fn an_answer_is_read_as_done_as_an_error_or_as_nonsense() {
        let answer = |kind: i32, error: i32| {
            let mut bytes = vec![0; HEADER_BYTES];
            bytes[4..6].copy_from_slice(&(kind as u16).to_ne_bytes());
            bytes.extend(error.to_ne_bytes());
            acknowledgement(&bytes)
        };
        assert!(answer(libc::NLMSG_ERROR, 0).is_ok());
        assert_eq!(answer(libc::NLMSG_ERROR, -libc::EPERM).unwrap_err().raw_os_error(), Some(libc::EPERM));
        assert!(answer(libc::NLMSG_DONE, 0).is_err());
        assert!(acknowledgement(&[]).is_err());
    }
}

//! The kernel's bridge between the two interfaces, for the time in which the gateway does not forward.

use super::error::ServiceError;
use crate::lab::netlink::{CREATE, HEADER_BYTES, IS_UP, Link, Netlink, Request};
use rustix::io::{read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use std::io;

/// What the kernel says of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    /// Its number.
    pub index: u32,
    /// The longest packet that it takes, without the Ethernet header.
    pub mtu: u32,
    /// The number of the bridge or bond that it is a port of.
    pub master: Option<u32>,
    /// Is it up?
    pub is_up: bool,
}

/// Two interfaces joined by a bridge of ours.
#[derive(Debug)]
pub(super) struct Bridge {
    index: u32,
    pub name: String,
}

/// The number of the interface `name`; `None` where there is none.
pub(super) fn index_of(name: &str) -> io::Result<Option<u32>> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    Ok(netdevice::name_to_index(&socket, name).ok())
}

/// What the kernel says of the interface `index`.
pub(super) fn about(index: u32) -> io::Result<About> {
    let netlink = Netlink::open_plain()?;
    let mut request = Request::new(libc::RTM_GETLINK, 0);
    request.link(Link::untouched(index));
    write(netlink.descriptor(), &request.finish())?;
    let mut answer = vec![0; 32 << 10];
    let count = read(netlink.descriptor(), &mut answer[..])?;
    parse(&answer[..count])
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the kernel tells nothing of it"))
}

/// The name of the bridge at which the interface `index` would be: one gateway, one bridge.
fn name_for(inside: u32) -> String {
    format!("{}{inside}", crate::config::environment::BRIDGE_PREFIX)
}

impl Bridge {
    /// Joins `inside` and `outside`. It forwards at once: no spanning tree, no waiting, no learning of groups, and no address of its own.
    /// Where it cannot be completed, nothing is left.
    pub fn make(inside: &str, outside: &str) -> Result<Self, ServiceError> {
        let find = |name: &str| {
            let found =
                index_of(name).map_err(|error| ServiceError::system("looking for interfaces", error))?;
            found.ok_or_else(|| {
                ServiceError::system(
                    format!("looking for `{name}`"),
                    io::Error::from(io::ErrorKind::NotFound),
                )
            })
        };
        let (inside, outside) = (find(inside)?, find(outside)?);
        let fail = |what: &'static str| move |error: io::Error| ServiceError::system(what, error);
        let netlink = Netlink::open_plain().map_err(fail("opening a netlink socket"))?;
        let name = name_for(inside);
        netlink.ask(new_bridge(&name)).map_err(fail("making a bridge"))?;
        let index = find(&name)?;
        let bridge = Bridge { index, name };
        // Refused by a kernel without IPv6, where there is no need for it.
        let _ = netlink.ask(silent(index));
        let joined = [inside, outside]
            .into_iter()
            .try_for_each(|port| netlink.ask(enslave(port, index)))
            .and_then(|()| netlink.ask(up(index)));
        match joined {
            Ok(()) => Ok(bridge),
            Err(error) => {
                let _ = bridge.remove();
                Err(fail("joining interfaces by a bridge")(error))
            }
        }
    }

    /// The bridge of ours that a guard left behind that was killed.
    pub fn left_behind(inside: u32) -> io::Result<Option<Self>> {
        let name = name_for(inside);
        Ok(index_of(&name)?.map(|index| Bridge { index, name }))
    }

    /// Removes it: the interfaces are what they were.
    pub fn remove(&self) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_DELLINK, 0);
        request.link(Link::untouched(self.index));
        Netlink::open_plain()?.ask(request)
    }
}

/// Numbers from `linux/if_link.h`.
const BR_FORWARD_DELAY: u16 = 1;
const BR_STP_STATE: u16 = 5;
const BR_MCAST_SNOOPING: u16 = 23;
const INET6_ADDR_GEN_MODE: u16 = 8;
const ADDR_GEN_MODE_NONE: u8 = 1;

fn new_bridge(name: &str) -> Request {
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
    request
}

/// No IPv6 address of its own: nothing is to be heard of the bridge on the link.
fn silent(index: u32) -> Request {
    let mut request = Request::new(libc::RTM_NEWLINK, 0);
    request.link(Link::untouched(index));
    request.nested(libc::IFLA_AF_SPEC, |request| {
        request.nested(libc::AF_INET6 as u16, |request| {
            request.attribute(INET6_ADDR_GEN_MODE, &[ADDR_GEN_MODE_NONE]);
        });
    });
    request
}

fn enslave(port: u32, bridge: u32) -> Request {
    let mut request = Request::new(libc::RTM_NEWLINK, 0);
    request.link(Link::untouched(port));
    request.number(libc::IFLA_MASTER, bridge);
    request
}

fn up(index: u32) -> Request {
    let mut request = Request::new(libc::RTM_NEWLINK, 0);
    request.link(Link { index, flags: IS_UP, changed: IS_UP });
    request
}

/// Bytes of struct ifinfomsg.
const LINK_BYTES: usize = 16;

/// An RTM_NEWLINK message: struct nlmsghdr, struct ifinfomsg, attributes.
fn parse(message: &[u8]) -> Option<About> {
    let u32_at = |at: usize| Some(u32::from_ne_bytes(*message.get(at..)?.first_chunk()?));
    let u16_at = |at: usize| Some(u16::from_ne_bytes(*message.get(at..)?.first_chunk()?));
    if u16_at(4)? != libc::RTM_NEWLINK {
        return None;
    }
    let end = (u32_at(0)? as usize).min(message.len());
    let mut found = About {
        index: u32_at(HEADER_BYTES + 4)?,
        is_up: u32_at(HEADER_BYTES + 8)? & IS_UP != 0,
        ..About::default()
    };
    let mut at = HEADER_BYTES + LINK_BYTES;
    while at + 4 <= end {
        let (len, kind) = (usize::from(u16_at(at)?), u16_at(at + 2)?);
        match kind {
            libc::IFLA_MTU => found.mtu = u32_at(at + 4)?,
            libc::IFLA_MASTER => found.master = u32_at(at + 4),
            _ => {}
        }
        at += len.max(4).next_multiple_of(4);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_of_the_loopback() {
        let Ok(Some(index)) = index_of("lo") else { panic!("every network namespace has `lo`") };
        let told = about(index).expect("it is there");
        assert_eq!((told.index, told.master), (index, None));
        assert!(told.mtu >= 1500, "{told:?}");
        assert_eq!(index_of("no-such-if").ok(), Some(None));
    }

    #[test]
    fn no_bytes_make_the_reader_of_answers_fail() {
        for len in 0..80 {
            let mut bytes = vec![0xff; len];
            assert_eq!(parse(&bytes), None);
            if len > 20 {
                bytes[4..6].copy_from_slice(&libc::RTM_NEWLINK.to_ne_bytes());
                parse(&bytes);
            }
        }
    }
}

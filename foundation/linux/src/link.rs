//! Reads the state of an interface from the kernel (rtnetlink(7)).

use crate::netlink::Netlink;
use crate::request::{HEADER_BYTES, IS_UP, Link, Request, first_message, type_of};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use std::io;
use std::os::fd::OwnedFd;

/// The state of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its number.
    pub index: u32,
    /// The longest packet accepted, without the Ethernet header, in bytes.
    pub mtu: u32,
    /// The number of the bridge or bond to which the interface belongs.
    pub master: Option<u32>,
    /// Is it up?
    pub is_up: bool,
    /// Is the interface up, with a carrier?
    pub is_running: bool,
    /// Is the interface the machine's loopback?
    pub is_loopback: bool,
    /// Do the interface's frames start with an Ethernet header?
    pub is_ethernet: bool,
    /// The interface's Ethernet address; zeros if it has none.
    pub ethernet_address: [u8; 6],
}

fn any_socket() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?)
}

/// The number of the interface `name` of this network namespace; `None` if it does not exist.
pub fn index_of(name: &str) -> io::Result<Option<u32>> {
    Ok(netdevice::name_to_index(&any_socket()?, name).ok())
}

/// The name of the interface `index`; `None` if it does not exist.
pub fn name_of(index: u32) -> io::Result<Option<String>> {
    Ok(netdevice::index_to_name(&any_socket()?, index).ok())
}

/// The state of the interface `index`.
pub fn about(index: u32) -> io::Result<About> {
    let mut request = Request::new(libc::RTM_GETLINK, 0);
    request.link(Link::untouched(index));
    parse(&Netlink::open()?.answer(request)?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the kernel reports nothing about it"))
}

/// A kernel notification about an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Its current state.
    Is(About),
    /// The interface with this number was removed.
    Gone(u32),
}

/// A non-blocking socket on which the kernel reports every interface change in this network
/// namespace.
pub fn listen() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
    rustix::net::bind(&socket, &rustix::net::netlink::SocketAddrNetlink::new(0, libc::RTMGRP_LINK as u32))?;
    Ok(socket)
}

/// The interface changes that `bytes` report. Messages about other objects are skipped.
pub fn news(mut bytes: &[u8]) -> Vec<News> {
    let mut news = Vec::new();
    while let Some((message, rest)) = first_message(bytes) {
        bytes = rest;
        if message.len() < HEADER_BYTES + LINK_BYTES {
            continue;
        }
        // A bridge reports its ports in messages of another family, which are skipped.
        let is_plain = i32::from(message[HEADER_BYTES]) == libc::AF_UNSPEC;
        match (type_of(message), message[HEADER_BYTES + 4..].first_chunk()) {
            (libc::RTM_NEWLINK, _) if is_plain => news.extend(parse(message).map(News::Is)),
            (libc::RTM_DELLINK, Some(index)) if is_plain => news.push(News::Gone(u32::from_ne_bytes(*index))),
            _ => {}
        }
    }
    news
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
    let (kind, flags) = (u16_at(HEADER_BYTES + 2)?, u32_at(HEADER_BYTES + 8)?);
    let mut found = About {
        index: u32_at(HEADER_BYTES + 4)?,
        is_up: flags & IS_UP != 0,
        is_running: flags & IS_UP != 0 && flags & libc::IFF_RUNNING as u32 != 0,
        is_loopback: flags & libc::IFF_LOOPBACK as u32 != 0,
        is_ethernet: kind == libc::ARPHRD_ETHER,
        ..About::default()
    };
    let mut at = HEADER_BYTES + LINK_BYTES;
    while at + 4 <= end {
        let (len, kind) = (usize::from(u16_at(at)?), u16_at(at + 2)?);
        match kind {
            libc::IFLA_MTU => found.mtu = u32_at(at + 4)?,
            libc::IFLA_MASTER => found.master = u32_at(at + 4),
            libc::IFLA_ADDRESS if found.is_ethernet => {
                found.ethernet_address = *message.get(at + 4..)?.first_chunk()?;
            }
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
    fn the_kernel_reports_the_loopback() {
        let Ok(Some(index)) = index_of("lo") else { panic!("every network namespace has `lo`") };
        let reported = about(index).expect("it is there");
        assert_eq!((reported.index, reported.master), (index, None));
        assert!(reported.mtu >= 1500 && reported.is_loopback && !reported.is_ethernet, "{reported:?}");
        assert_eq!(name_of(index).ok().flatten().as_deref(), Some("lo"));
        assert_eq!(index_of("no-such-if").ok(), Some(None));
    }

    #[test]
    fn changes_are_read_one_by_one_and_those_of_bridge_ports_are_skipped() {
        let message = |kind: u16, family: u8, index: u32, flags: i32| {
            let mut bytes = 32_u32.to_ne_bytes().to_vec();
            bytes.extend(kind.to_ne_bytes());
            bytes.extend([0; 10]);
            bytes.extend([family, 0, 1, 0]);
            bytes.extend(index.to_ne_bytes());
            bytes.extend((flags as u32).to_ne_bytes());
            bytes.extend([0; 4]);
            bytes
        };
        let up = libc::IFF_UP;
        let bytes = [
            message(libc::RTM_NEWLINK, 0, 7, up),
            message(libc::RTM_DELLINK, libc::AF_BRIDGE as u8, 7, 0),
            message(libc::RTM_NEWLINK, 0, 7, up | libc::IFF_RUNNING),
            message(libc::RTM_DELLINK, 0, 9, 0),
        ]
        .concat();
        let about =
            |is_running| About { index: 7, is_up: true, is_running, is_ethernet: true, ..About::default() };
        assert_eq!(news(&bytes), [News::Is(about(false)), News::Is(about(true)), News::Gone(9)]);
    }

    #[test]
    fn the_reader_of_answers_survives_any_bytes() {
        for len in 0..80 {
            let mut bytes = vec![0xff; len];
            assert_eq!(parse(&bytes), None);
            if len > 20 {
                bytes[4..6].copy_from_slice(&libc::RTM_NEWLINK.to_ne_bytes());
                parse(&bytes);
                bytes[..4].copy_from_slice(&(len as u32).to_ne_bytes());
                news(&bytes);
            }
        }
    }
}

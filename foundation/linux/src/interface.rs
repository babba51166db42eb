//! Reads and sets properties of an interface by its name (netdevice(7)).
#![allow(
    unsafe_code,
    reason = "the kernel's structures are read and written; each block says why it is sound"
)]

use crate::port::PortError;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::ffi::{c_char, c_ulong};
use std::io;
use std::mem::MaybeUninit;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// The names of the interfaces of this network namespace, in the kernel's order.
pub fn names() -> io::Result<Vec<String>> {
    // /sys/class/net would show the namespace in which /sys was mounted.
    let bytes = std::fs::read("/proc/thread-self/net/dev")?;
    // A name need not be UTF-8.
    let text = String::from_utf8_lossy(&bytes);
    let names = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    Ok(names.map(|(name, _)| name.trim().to_owned()).collect())
}

/// The MTU in bytes of the interface `name` of this network namespace.
pub fn mtu(name: &str) -> Result<u32, PortError> {
    let gone = || PortError::Gone { name: name.to_owned() };
    let system = |source| PortError::System { operation: "reading the MTU", name: name.to_owned(), source };
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
        .map_err(|error| system(error.into()))?;
    let mut request = request(name).ok_or_else(gone)?;
    match control(socket.as_fd(), libc::SIOCGIFMTU as c_ulong, &mut request) {
        // SAFETY: the kernel has written an integer into the union, for which every bit pattern is
        // valid.
        Ok(()) => Ok(unsafe { request.ifr_ifru.ifru_mtu } as u32),
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Err(gone()),
        Err(error) => Err(system(error)),
    }
}

/// The first IPv4 address of the interface `name`; `None` if it has none.
pub fn ipv4_address(name: &str) -> io::Result<Option<Ipv4Addr>> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    let mut request = request(name).ok_or(io::ErrorKind::InvalidInput)?;
    match control(socket.as_fd(), libc::SIOCGIFADDR as c_ulong, &mut request) {
        Ok(()) => {
            // SAFETY: the kernel has written a `sockaddr` into the union. Every bit pattern is a
            // valid `sockaddr`.
            let address = unsafe { request.ifr_ifru.ifru_addr };
            // In struct sockaddr_in, a two-byte port precedes the address.
            let octets = [2, 3, 4, 5].map(|at| address.sa_data[at] as u8);
            Ok(Some(Ipv4Addr::from(octets)))
        }
        Err(error) if error.raw_os_error() == Some(libc::EADDRNOTAVAIL) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn request(name: &str) -> Option<libc::ifreq> {
    // SAFETY: `ifreq` is a C structure of characters and a union of integers, for which all zeros
    // are valid.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    let is_long = name.is_empty() || name.len() >= request.ifr_name.len() || name.contains(['\0', '/']);
    for (place, octet) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = c_char::from_ne_bytes([octet]);
    }
    (!is_long).then_some(request)
}

pub(crate) fn with_flags(mut request: libc::ifreq, flags: i16) -> libc::ifreq {
    request.ifr_ifru.ifru_flags = flags;
    request
}

pub(crate) fn with_mtu(mut request: libc::ifreq, mtu: u32) -> libc::ifreq {
    request.ifr_ifru.ifru_mtu = mtu.cast_signed();
    request
}

/// Runs a kernel operation that only reads or writes an `ifreq`.
pub(crate) fn control(
    descriptor: BorrowedFd<'_>,
    operation: c_ulong,
    request: &mut libc::ifreq,
) -> io::Result<()> {
    // SAFETY: the operations that this crate uses (`TUNSETIFF`, `TUNGETIFF`, `SIOCGIFMTU`,
    // `SIOCGIFADDR`, `SIOCSIFMTU`, `SIOCSIFFLAGS`) read or write one `ifreq`, which outlives the
    // call.
    let outcome = unsafe { libc::ioctl(descriptor.as_raw_fd(), operation as _, std::ptr::from_mut(request)) };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mtu_of_an_interface_is_known_and_a_missing_one_is_named() {
        assert_eq!(mtu("lo").expect("it is there"), 65_536);
        assert!(matches!(ipv4_address("lo"), Ok(None) | Ok(Some(Ipv4Addr::LOCALHOST))));
        for name in ["no-such-one", "", "a-name-of-sixteen"] {
            assert!(matches!(mtu(name), Err(PortError::Gone { name: ref gone }) if gone == name), "{name}");
        }
    }
}

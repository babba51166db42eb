//! Packet sockets and their options.

use crate::port::PortError;
use crate::receive::enlarge_buffer;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use std::ffi::c_int;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Room for the frames of about 10 ms at 10 Gbit/s. 10 ms is a long time for a thread to wait for a
/// processor.
const SOCKET_BUFFER_BYTES: usize = 16 << 20;

/// A packet socket on the interface `name` of this network namespace, ready for
/// [`AfPacket::from_socket`](super::AfPacket::from_socket).
pub fn open_socket(name: &str) -> Result<OwnedFd, PortError> {
    let fail = |operation| move |error: io::Error| system(operation, name, error);
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    // Without a protocol, nothing is received before the bind.
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)
        .map_err(|error| fail("opening a packet socket")(error.into()))?;
    let index =
        netdevice::name_to_index(&socket, name).map_err(|_| PortError::Gone { name: name.to_owned() })?;
    for (option, operation) in [
        (libc::PACKET_VNET_HDR, "enabling virtio-net headers"),
        (libc::PACKET_IGNORE_OUTGOING, "ignoring what we send"),
        (libc::PACKET_AUXDATA, "enabling VLAN tags"),
    ] {
        set_option(socket.as_fd(), option, &1_i32).map_err(fail(operation))?;
    }
    enlarge_buffer(&socket, SOCKET_BUFFER_BYTES);
    bind(socket.as_fd(), index).map_err(fail("binding"))?;
    set_option(socket.as_fd(), libc::PACKET_ADD_MEMBERSHIP, &promiscuous(index))
        .map_err(fail("listening promiscuously"))?;
    Ok(socket)
}

fn promiscuous(index: u32) -> libc::packet_mreq {
    libc::packet_mreq {
        mr_ifindex: index.cast_signed(),
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    }
}

pub(super) fn set_option<T: Copy + 'static>(
    socket: BorrowedFd<'_>,
    option: c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the pointer and the length describe `value`, which outlives the call; the kernel only
    // reads it.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Frames dropped since the last call; 0 if unknown. Each call resets the kernel's counter.
pub(super) fn take_overflows(socket: BorrowedFd<'_>) -> u32 {
    let mut stats = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut len = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: the pointer and the length describe `stats`, which outlives the call; the kernel
    // writes integers into it.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut stats).cast(),
            &mut len,
        )
    };
    if outcome == 0 { stats.tp_drops } else { 0 }
}

fn bind(socket: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    let address = link_address(index.cast_signed());
    // SAFETY: the pointer and the length describe `address`, which outlives the call; the kernel
    // only reads it.
    let outcome = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// True until the interface is removed. The kernel then sets the index to -1.
pub(super) fn is_bound(socket: BorrowedFd<'_>) -> bool {
    let mut address = link_address(0);
    let mut len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the pointer and the length describe `address`, which outlives the call; the kernel
    // writes integers into it.
    let outcome = unsafe { libc::getsockname(socket.as_raw_fd(), (&raw mut address).cast(), &mut len) };
    outcome == 0 && address.sll_ifindex > 0
}

fn link_address(index: c_int) -> libc::sockaddr_ll {
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    }
}

pub(super) fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

pub(super) fn system(operation: &'static str, name: &str, source: io::Error) -> PortError {
    PortError::System { operation, name: name.to_owned(), source }
}

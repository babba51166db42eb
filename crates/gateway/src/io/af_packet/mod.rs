//! A port on a network interface: an `AF_PACKET` socket with a virtio-net header before each frame (packet(7)).
//!
//! Frames are fetched in batches by `recvmmsg`, not through a mapped ring. A ring slot must be as long as the longest
//! super-packet, 64 KiB, so a ring that rides out a burst pins megabytes per interface, has to be made anew when the MTU
//! changes, and (version 3) delays frames by its block timer. The socket queue holds frames at their own size, wakes us
//! at once, and survives an interface that goes down and comes back.

mod send;

use super::{Port, PortError, PortHealth, Refused, Take};
use fairwire_wire::vnet::{self, VnetHeader};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with, sockopt};
use send::send_all;
use std::ffi::c_int;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A port on a network interface.
#[derive(Debug)]
pub struct AfPacket {
    socket: OwnedFd,
    name: String,
    batch: Box<[u8]>,
    health: PortHealth,
    /// Did the interface go down, and has nothing come since?
    is_down: bool,
    is_gone: bool,
}

/// Frames fetched by one system call.
const BATCH: usize = 32;
/// The longest IP packet, an Ethernet header, and two VLAN tags, rounded up to whole cache lines.
const LONGEST_FRAME: usize = 65_536 + 64;
/// Room for a VLAN tag that has to be put back.
const HEADROOM: usize = 4;
const SLOT: usize = HEADROOM + vnet::LEN + LONGEST_FRAME;
/// What may wait in the kernel until we fetch it: at 10 Gbit/s about 10 ms, a long wait for a processor.
const SOCKET_BUFFER_BYTES: usize = 16 << 20;

impl AfPacket {
    /// Opens a port on the interface `name` of this network namespace.
    pub fn open(name: &str) -> Result<Self, PortError> {
        Ok(Self::from_socket(open_socket(name)?, name))
    }

    /// A port on a socket that [`open_socket`] made, perhaps in another process and namespace.
    pub fn from_socket(socket: OwnedFd, name: &str) -> Self {
        AfPacket {
            socket,
            name: name.to_owned(),
            batch: vec![0; BATCH * SLOT].into(),
            health: PortHealth::default(),
            is_down: false,
            is_gone: false,
        }
    }

    fn gone(&self) -> PortError {
        PortError::Gone { name: self.name.clone() }
    }
}

impl Port for AfPacket {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        if self.is_gone {
            return Err(self.gone());
        }
        let mut heads = [Received::default(); BATCH];
        let count = match receive_batch(self.socket.as_fd(), &mut self.batch, &mut heads) {
            Ok(count) => count,
            Err(error) => return self.judge(error),
        };
        self.is_down = false;
        for (slot, head) in self.batch.chunks_exact_mut(SLOT).zip(&heads[..count]) {
            if head.is_truncated {
                self.health.truncated += 1;
            } else if let Some((frame, vnet)) = unpack(slot, head) {
                take(frame, &vnet);
            }
        }
        Ok(())
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.transmit_all(&[frame]) == Refused::NONE
    }

    fn transmit_all(&mut self, frames: &[&[u8]]) -> Refused {
        send_all(self.socket.as_fd(), frames, &mut |error| {
            self.is_gone |= matches!(error, Errno::NXIO | Errno::NODEV);
        })
    }

    fn health(&mut self) -> PortHealth {
        self.health.overflows += u64::from(take_overflows(self.socket.as_fd()));
        self.health
    }
}

impl AfPacket {
    /// Is this error part of life?
    fn judge(&mut self, error: Errno) -> Result<(), PortError> {
        match error {
            Errno::NETDOWN => {
                self.health.outages += 1;
                self.is_down = true;
                Ok(())
            }
            // An interface that goes down may come back. When it is removed instead, only its number tells.
            Errno::AGAIN if self.is_down && !is_bound(self.socket.as_fd()) => Err(self.gone()),
            Errno::AGAIN | Errno::INTR => Ok(()),
            Errno::NXIO | Errno::NODEV => Err(self.gone()),
            other => Err(system("receiving", &self.name, other.into())),
        }
    }
}

impl AsFd for AfPacket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A packet socket on the interface `name` of this network namespace, ready for [`AfPacket::from_socket`].
pub fn open_socket(name: &str) -> Result<OwnedFd, PortError> {
    let fail = |operation| move |error: io::Error| system(operation, name, error);
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    // Protocol none: nothing is received before the socket is bound to its one interface.
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)
        .map_err(|error| fail("opening a packet socket")(error.into()))?;
    let index =
        netdevice::name_to_index(&socket, name).map_err(|_| PortError::Gone { name: name.to_owned() })?;
    for (option, operation) in [
        (libc::PACKET_VNET_HDR, "asking for virtio-net headers"),
        (libc::PACKET_IGNORE_OUTGOING, "ignoring what we send"),
        (libc::PACKET_AUXDATA, "asking for VLAN tags"),
    ] {
        set_option(socket.as_fd(), option, &1_i32).map_err(fail(operation))?;
    }
    enlarge_buffer(&socket);
    bind(socket.as_fd(), index).map_err(fail("binding"))?;
    set_option(socket.as_fd(), libc::PACKET_ADD_MEMBERSHIP, &promiscuous(index))
        .map_err(fail("listening promiscuously"))?;
    Ok(socket)
}

/// As root past the administrator's limit; else up to it. A smaller buffer works too, and its overflows are counted.
fn enlarge_buffer(socket: &OwnedFd) {
    if sockopt::set_socket_recv_buffer_size_force(socket, SOCKET_BUFFER_BYTES).is_err() {
        let _ = sockopt::set_socket_recv_buffer_size(socket, SOCKET_BUFFER_BYTES);
    }
}

fn system(operation: &'static str, name: &str, source: io::Error) -> PortError {
    PortError::System { operation, name: name.to_owned(), source }
}

/// What came beside a frame.
#[derive(Clone, Copy, Debug, Default)]
struct Received {
    bytes: usize,
    is_truncated: bool,
    vlan: Option<Tag>,
}

/// A VLAN tag that the kernel took out of the frame.
#[derive(Clone, Copy, Debug)]
struct Tag {
    protocol: u16,
    control: u16,
}

/// The frame in `slot`, whole again, with what the kernel says of it.
fn unpack<'a>(slot: &'a mut [u8], head: &Received) -> Option<(&'a [u8], VnetHeader)> {
    let end = HEADROOM + head.bytes;
    let mut vnet = VnetHeader::read(&slot[HEADROOM..end])?;
    let start = HEADROOM + vnet::LEN;
    let Some(tag) = head.vlan.filter(|_| end - start >= ADDRESSES) else {
        return Some((&slot[start..end], vnet));
    };
    // The addresses move forward by a tag's length, over the virtio-net header that has been read.
    let tagged = start - TAG_BYTES;
    slot.copy_within(start..start + ADDRESSES, tagged);
    let [a, b] = tag.protocol.to_be_bytes();
    let [c, d] = tag.control.to_be_bytes();
    slot[tagged + ADDRESSES..start + ADDRESSES].copy_from_slice(&[a, b, c, d]);
    vnet.csum_start = vnet.csum_start.saturating_add(TAG_BYTES as u16);
    Some((&slot[tagged..end], vnet))
}

/// Bytes of the two Ethernet addresses.
const ADDRESSES: usize = 12;
const TAG_BYTES: usize = 4;

/// Room for one `PACKET_AUXDATA` message, aligned as control messages are.
type Control = [u64; 6];
const _: () =
    assert!(size_of::<libc::cmsghdr>() + size_of::<libc::tpacket_auxdata>() <= size_of::<Control>());

/// Fetches up to [`BATCH`] frames into the slots of `batch`, without waiting.
fn receive_batch(
    socket: BorrowedFd<'_>,
    batch: &mut [u8],
    heads: &mut [Received; BATCH],
) -> Result<usize, Errno> {
    let mut controls: [Control; BATCH] = [[0; 6]; BATCH];
    let mut vectors = [const { MaybeUninit::<libc::iovec>::uninit() }; BATCH];
    // SAFETY: `mmsghdr` is a C structure of integers and pointers, for which all zeros are a valid value.
    let mut messages: [libc::mmsghdr; BATCH] = unsafe { MaybeUninit::zeroed().assume_init() };
    let slots = batch.chunks_exact_mut(SLOT);
    for (((message, slot), vector), control) in
        messages.iter_mut().zip(slots).zip(&mut vectors).zip(&mut controls)
    {
        let place = &mut slot[HEADROOM..];
        let vector = vector.write(libc::iovec { iov_base: place.as_mut_ptr().cast(), iov_len: place.len() });
        message.msg_hdr.msg_iov = vector;
        message.msg_hdr.msg_iovlen = 1;
        message.msg_hdr.msg_control = control.as_mut_ptr().cast();
        message.msg_hdr.msg_controllen = size_of::<Control>() as _;
    }
    // SAFETY: each message points to one vector over its own slot of `batch` and to its own control buffer, with their
    // true lengths; all of them outlive the call, and nothing else refers to them during it.
    let count = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr(),
            BATCH as _,
            libc::MSG_DONTWAIT as _,
            std::ptr::null_mut(),
        )
    };
    if count < 0 {
        return Err(last_error());
    }
    for (head, message) in heads.iter_mut().zip(&messages[..count as usize]) {
        *head = Received {
            bytes: message.msg_len as usize,
            is_truncated: message.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
            // SAFETY: the kernel has just filled this message's control buffer, which is alive, and set its length.
            vlan: unsafe { vlan_tag(&message.msg_hdr) },
        };
    }
    Ok(count as usize)
}

/// The tag in the control messages of a received message.
///
/// # Safety
/// The control buffer that `message` points to is alive, and holds what the kernel wrote, as long as `message` says.
unsafe fn vlan_tag(message: &libc::msghdr) -> Option<Tag> {
    // SAFETY: the macro gives null or a header inside the control buffer, of which the caller vouches.
    let header = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    // SAFETY: this is arithmetic on a length.
    let whole = unsafe { libc::CMSG_LEN(size_of::<libc::tpacket_auxdata>() as u32) } as usize;
    let is_auxdata = (header.cmsg_level, header.cmsg_type) == (libc::SOL_PACKET, libc::PACKET_AUXDATA);
    if !is_auxdata || (header.cmsg_len as usize) < whole {
        return None;
    }
    // SAFETY: the header says that a whole `tpacket_auxdata` follows it in the buffer; it may be unaligned.
    let aux = unsafe { libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>().read_unaligned() };
    let is_set = |flag| aux.tp_status & flag != 0;
    let protocol =
        if is_set(libc::TP_STATUS_VLAN_TPID_VALID) { aux.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
    is_set(libc::TP_STATUS_VLAN_VALID).then_some(Tag { protocol, control: aux.tp_vlan_tci })
}

fn promiscuous(index: u32) -> libc::packet_mreq {
    libc::packet_mreq {
        mr_ifindex: index as c_int,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    }
}

fn set_option<T: Copy + 'static>(socket: BorrowedFd<'_>, option: c_int, value: &T) -> io::Result<()> {
    // SAFETY: the pointer and the length describe `value`, which outlives the call; the kernel only reads it.
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

/// Frames dropped since the last call: the kernel's counter starts again when it is read.
fn take_overflows(socket: BorrowedFd<'_>) -> u32 {
    let mut stats = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut len = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: the pointer and the length describe `stats`, which outlives the call; the kernel writes integers into it.
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
    let address = link_address(index as c_int);
    // SAFETY: the pointer and the length describe `address`, which outlives the call; the kernel only reads it.
    let outcome = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Does the interface that `socket` was bound to still exist? The kernel sets the index to -1 when it goes.
fn is_bound(socket: BorrowedFd<'_>) -> bool {
    let mut address = link_address(0);
    let mut len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the pointer and the length describe `address`, which outlives the call; the kernel writes integers into it.
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

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(frame: &[u8], vnet: VnetHeader) -> (Vec<u8>, Received) {
        let mut slot = vec![0; SLOT];
        vnet.write(&mut slot[HEADROOM..]).unwrap();
        let start = HEADROOM + vnet::LEN;
        slot[start..start + frame.len()].copy_from_slice(frame);
        (slot, Received { bytes: vnet::LEN + frame.len(), ..Received::default() })
    }

    #[test]
    fn a_frame_without_a_tag_comes_as_it_is() {
        let (mut slot, head) = slot(b"addresses-12type", VnetHeader::PLAIN);
        let (frame, vnet) = unpack(&mut slot, &head).unwrap();
        assert_eq!((frame, vnet), (&b"addresses-12type"[..], VnetHeader::PLAIN));
    }

    #[test]
    fn a_tag_that_the_kernel_took_out_is_put_back_and_offsets_follow() {
        let vnet =
            VnetHeader { csum_start: 34, csum_offset: 16, flags: vnet::NEEDS_CSUM, ..VnetHeader::PLAIN };
        let (mut slot, head) = slot(b"addresses-12type", vnet);
        let tag = Tag { protocol: 0x8100, control: 0x2007 };
        let (frame, vnet) = unpack(&mut slot, &Received { vlan: Some(tag), ..head }).unwrap();
        assert_eq!(frame, b"addresses-12\x81\x00\x20\x07type");
        assert_eq!((vnet.csum_start, vnet.csum_offset), (38, 16));
    }

    #[test]
    fn a_message_without_a_whole_header_is_no_frame() {
        let mut slot = vec![0; SLOT];
        assert!(unpack(&mut slot, &Received { bytes: 9, ..Received::default() }).is_none());
    }
}

//! Frames of any length from the socket's queue.

use super::socket::last_error;
use crate::port::{PortHealth, Take};
use fairwire_wire::vnet::{self, VnetHeader};
use rustix::io::Errno;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};

#[derive(Debug)]
pub(super) struct Queue(Box<[u8]>);

pub(super) const BATCH: usize = crate::port::TAKEN_AT_ONCE;
/// The longest IP packet with an Ethernet header and two VLAN tags, rounded up to full cache lines.
const MAX_FRAME: usize = 65_536 + 64;
/// Space for reinserting a VLAN tag.
pub(super) const HEADROOM: usize = 4;
const SLOT: usize = HEADROOM + vnet::LEN + MAX_FRAME;

impl Queue {
    /// Allocates the buffers.
    pub(super) fn new() -> Self {
        Queue(vec![0; BATCH * SLOT].into())
    }

    /// Passes up to `max` available frames, at most [`BATCH`], to `take`, and returns their number.
    pub(super) fn take(
        &mut self,
        socket: BorrowedFd<'_>,
        max: usize,
        health: &mut PortHealth,
        take: &mut Take<'_>,
    ) -> Result<usize, Errno> {
        let mut heads = [Received::default(); BATCH];
        let count = receive_batch(socket, &mut self.0, &mut heads, max)?;
        for (slot, head) in self.0.chunks_exact_mut(SLOT).zip(&heads[..count]) {
            if head.is_truncated {
                health.truncated += 1;
            } else if let Some((frame, vnet)) = unpack(&mut slot[..HEADROOM + head.bytes], head.vlan) {
                take(frame, &vnet);
            }
        }
        Ok(count)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Received {
    bytes: usize,
    is_truncated: bool,
    vlan: Option<Tag>,
}

/// A VLAN tag that the kernel removed from the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag {
    pub protocol: u16,
    pub control: u16,
}

/// The frame in `slot`, with a removed tag reinserted. `slot` starts with [`HEADROOM`] spare bytes.
pub(super) fn unpack(slot: &mut [u8], vlan: Option<Tag>) -> Option<(&[u8], VnetHeader)> {
    let mut vnet = VnetHeader::read(slot.get(HEADROOM..)?)?;
    let (start, end) = (HEADROOM + vnet::LEN, slot.len());
    let Some(tag) = vlan.filter(|_| end - start >= ADDRESSES) else {
        return Some((&slot[start..], vnet));
    };
    // Moves the Ethernet addresses towards the start of the slot, over the virtio-net header, which
    // has been read.
    let tagged = start - TAG_BYTES;
    slot.copy_within(start..start + ADDRESSES, tagged);
    let [a, b] = tag.protocol.to_be_bytes();
    let [c, d] = tag.control.to_be_bytes();
    slot[tagged + ADDRESSES..start + ADDRESSES].copy_from_slice(&[a, b, c, d]);
    vnet.csum_start = vnet.csum_start.saturating_add(TAG_BYTES as u16);
    Some((&slot[tagged..end], vnet))
}

const ADDRESSES: usize = 12;
const TAG_BYTES: usize = 4;

/// A buffer for one `PACKET_AUXDATA` message, aligned for control messages.
type Control = [u64; 6];
const _: () =
    assert!(size_of::<libc::cmsghdr>() + size_of::<libc::tpacket_auxdata>() <= size_of::<Control>());

fn receive_batch(
    socket: BorrowedFd<'_>,
    batch: &mut [u8],
    heads: &mut [Received; BATCH],
    max: usize,
) -> Result<usize, Errno> {
    let mut controls: [Control; BATCH] = [[0; 6]; BATCH];
    let mut vectors = [const { MaybeUninit::<libc::iovec>::uninit() }; BATCH];
    // SAFETY: `mmsghdr` is a C structure of integers and pointers, for which all zeros are valid.
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
    // SAFETY: each message points to one vector over its slot of `batch` and to its control buffer,
    // with their true lengths. All outlive the call, and nothing else refers to them meanwhile.
    let count = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr(),
            max.min(BATCH) as _,
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
            // SAFETY: the kernel has just filled this message's control buffer, which is alive, and
            // has set its length.
            vlan: unsafe { vlan_tag(&message.msg_hdr) },
        };
    }
    Ok(count as usize)
}

/// The tag in the control messages of a received message.
///
/// # Safety
/// The control buffer that `message` points to is alive, and contains the kernel's data up to the
/// length in `message`.
unsafe fn vlan_tag(message: &libc::msghdr) -> Option<Tag> {
    // SAFETY: the caller guarantees the control buffer. The macro returns null or a header inside
    // the buffer.
    let header = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    // SAFETY: this is arithmetic on a length.
    let whole = unsafe { libc::CMSG_LEN(size_of::<libc::tpacket_auxdata>() as u32) } as usize;
    let is_auxdata = (header.cmsg_level, header.cmsg_type) == (libc::SOL_PACKET, libc::PACKET_AUXDATA);
    if !is_auxdata || (header.cmsg_len as usize) < whole {
        return None;
    }
    // SAFETY: according to the header, a complete `tpacket_auxdata` follows the header in the
    // buffer; it may be unaligned.
    let aux = unsafe { libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>().read_unaligned() };
    let is_set = |flag| aux.tp_status & flag != 0;
    let protocol =
        if is_set(libc::TP_STATUS_VLAN_TPID_VALID) { aux.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
    is_set(libc::TP_STATUS_VLAN_VALID).then_some(Tag { protocol, control: aux.tp_vlan_tci })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(frame: &[u8], vnet: VnetHeader) -> Vec<u8> {
        let mut slot = vec![0; HEADROOM + vnet::LEN + frame.len()];
        vnet.write(&mut slot[HEADROOM..]).unwrap();
        let start = HEADROOM + vnet::LEN;
        slot[start..].copy_from_slice(frame);
        slot
    }

    #[test]
    fn an_untagged_frame_is_unchanged() {
        let mut slot = slot(b"addresses-12type", VnetHeader::PLAIN);
        let (frame, vnet) = unpack(&mut slot, None).unwrap();
        assert_eq!((frame, vnet), (&b"addresses-12type"[..], VnetHeader::PLAIN));
    }

    #[test]
    fn a_tag_that_the_kernel_removed_is_restored_and_offsets_follow() {
        let vnet =
            VnetHeader { csum_start: 34, csum_offset: 16, flags: vnet::NEEDS_CSUM, ..VnetHeader::PLAIN };
        let mut slot = slot(b"addresses-12type", vnet);
        let tag = Tag { protocol: 0x8100, control: 0x2007 };
        let (frame, vnet) = unpack(&mut slot, Some(tag)).unwrap();
        assert_eq!(frame, b"addresses-12\x81\x00\x20\x07type");
        assert_eq!((vnet.csum_start, vnet.csum_offset), (38, 16));
    }

    #[test]
    fn a_message_with_a_truncated_header_is_no_frame() {
        assert!(unpack(&mut [0; HEADROOM + vnet::LEN - 1], None).is_none());
        assert!(unpack(&mut [0; HEADROOM - 1], None).is_none());
    }
}

//! A receive ring: frames that the kernel copies directly into our memory (packet(7), TPACKET_V2).

use super::queue::{HEADROOM, Tag};
use super::socket::set_option;
use fairwire_wire::vnet;
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// A mapped ring.
#[derive(Debug)]
pub(super) struct Ring {
    memory: NonNull<u8>,
    next: usize,
}

// SAFETY: the mapping belongs only to the ring and may be used from any thread, by one thread at a
// time.
unsafe impl Send for Ring {}

pub(super) enum Slot<'a> {
    /// A complete frame, after [`HEADROOM`] and a virtio-net header.
    Whole { bytes: &'a mut [u8], vlan: Option<Tag> },
    /// A frame too long for its slot, and therefore in the socket's queue.
    Queued,
    /// A frame for which neither its slot nor the socket's queue had room.
    Lost,
}

/// The kernel's headers and a frame of up to 1900 bytes. The size is not a power of two, so slots
/// do not compete for cache lines.
const SLOT_BYTES: usize = 2048 - 64;
/// The kernel allocates a block in one piece.
const BLOCK_BYTES: usize = 128 << 10;
const BLOCKS: usize = 64;
const SLOTS_PER_BLOCK: usize = BLOCK_BYTES / SLOT_BYTES;
/// Slots for 8 ms at 500 000 frames/s. That is a long time for a thread to wait for a processor.
const SLOTS: usize = SLOTS_PER_BLOCK * BLOCKS;
const BYTES: usize = BLOCK_BYTES * BLOCKS;
const BEFORE: usize = HEADROOM + vnet::LEN;
const _: () = assert!(SLOT_BYTES.is_multiple_of(libc::TPACKET_ALIGNMENT));

impl Ring {
    /// Adds a ring to `socket`, which has [`PACKET_VNET_HDR`](libc::PACKET_VNET_HDR).
    pub(super) fn new(socket: BorrowedFd<'_>) -> io::Result<Self> {
        // Any positive value makes the kernel queue long frames. Only the socket's buffer bounds
        // them.
        set_option(socket, libc::PACKET_COPY_THRESH, &1_i32)?;
        set_option(socket, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as c_int))?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: BLOCKS as u32,
            tp_frame_size: SLOT_BYTES as u32,
            tp_frame_nr: SLOTS as u32,
        };
        set_option(socket, libc::PACKET_RX_RING, &request)?;
        Self::map(socket, 0)
    }

    pub(super) fn map(socket: BorrowedFd<'_>, place: u32) -> io::Result<Self> {
        let next = place as usize;
        if next >= SLOTS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: a new mapping at an address that the kernel chooses touches no memory in use.
        let memory = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), BYTES, access, libc::MAP_SHARED, socket.as_raw_fd(), 0)
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Ring { memory, next })
    }

    pub(super) fn place(&self) -> u32 {
        self.next as u32
    }

    /// Passes the next frame to `take`, then returns its slot to the kernel.
    pub(super) fn take_next<T>(&mut self, take: impl FnOnce(Slot<'_>) -> T) -> Option<T> {
        let place = (self.next / SLOTS_PER_BLOCK) * BLOCK_BYTES + (self.next % SLOTS_PER_BLOCK) * SLOT_BYTES;
        // SAFETY: `next` is below `SLOTS`, so the slot is completely inside the mapping.
        let slot = unsafe { self.memory.add(place) };
        // SAFETY: the slot is aligned to 16 bytes and starts with its status. This process and the
        // kernel access the status only as a unit. The mapping lives as long as `self`.
        let status = unsafe { AtomicU32::from_ptr(slot.cast().as_ptr()) };
        let flags = status.load(Ordering::Acquire);
        if flags & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the status makes the slot ours until the status is written again below.
        // References into the slot end with `take`.
        let outcome = take(unsafe { read(slot, flags) });
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % SLOTS;
        Some(outcome)
    }
}

/// The contents of a filled slot.
///
/// # Safety
/// `slot` points to [`SLOT_BYTES`] mapped bytes, which belong to this process for `'a` and start
/// with the kernel's header.
unsafe fn read<'a>(slot: NonNull<u8>, flags: u32) -> Slot<'a> {
    // SAFETY: the caller guarantees the header, which consists of integers.
    let header = unsafe { slot.cast::<libc::tpacket2_hdr>().as_ref() };
    if flags & libc::TP_STATUS_COPY != 0 {
        return Slot::Queued;
    }
    if header.tp_snaplen < header.tp_len {
        return Slot::Lost;
    }
    let (start, len) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
    let is_inside = start >= size_of::<libc::tpacket2_hdr>() + BEFORE && start + len <= SLOT_BYTES;
    if !is_inside {
        return Slot::Lost;
    }
    let is_set = |flag| flags & flag != 0;
    let protocol =
        if is_set(libc::TP_STATUS_VLAN_TPID_VALID) { header.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
    let vlan = is_set(libc::TP_STATUS_VLAN_VALID).then_some(Tag { protocol, control: header.tp_vlan_tci });
    // SAFETY: the checks above place the range inside the slot and after the header, and nothing
    // else refers to the range.
    let bytes = unsafe { std::slice::from_raw_parts_mut(slot.add(start - BEFORE).as_ptr(), BEFORE + len) };
    Slot::Whole { bytes, vlan }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is the mapping from `new`, and nothing borrowed from it outlives the ring.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), BYTES) };
    }
}

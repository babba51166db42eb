//! The types of the C interface.

use core::ffi::{c_char, c_void};

/// The version of this interface, for fw_build. Programs must be recompiled for a new version.
pub const FW_ABI_VERSION: u32 = 1;

/// The maximum number of packets in a batch.
pub const FW_BATCH: u32 = 256;

/// A packet was dropped: it belongs to the caller again.
pub const FW_DROP: u32 = 1;
/// A packet was marked CE and stays in the queue.
pub const FW_MARK: u32 = 2;

/// The buffer was full and the arrival was refused.
pub const FW_CAUSE_OVERFLOW: u32 = 0;
/// The buffer was full and this waiting packet made room for another.
pub const FW_CAUSE_PUSH_OUT: u32 = 1;
/// A random early decision, before the buffer was full.
pub const FW_CAUSE_EARLY: u32 = 2;
/// An early decision that was certain, as when an average is above its upper threshold.
pub const FW_CAUSE_FORCED: u32 = 3;
/// The flow has no tokens left.
pub const FW_CAUSE_NO_TOKENS: u32 = 4;
/// The packet does not fit even into an empty buffer.
pub const FW_CAUSE_OVERSIZE: u32 = 5;
/// A later packet makes the acknowledgement in this waiting packet redundant.
pub const FW_CAUSE_SUPERSEDED: u32 = 6;

/// A packet. Its bytes stay with the caller. Set unused fields to zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct fw_packet {
    /// The caller's value, returned unchanged.
    pub cookie: u64,
    /// The flow: see fw_flow_hash.
    pub flow: u64,
    /// The time of the enqueue, in nanoseconds, written by the library.
    pub arrived: u64,
    /// Bytes on the wire, from 1 to UINT32_MAX.
    pub len: u64,
    /// The class; 0 if there is none.
    pub class_id: u32,
    /// The ECN codepoint: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE. A mark makes it 3.
    pub ecn: u8,
    /// The differentiated-services codepoint, 0 to 63.
    pub dscp: u8,
    /// Drop precedence: 0 green, 1 yellow, 2 red.
    pub color: u8,
    /// Zero.
    pub reserved: u8,
}

/// A drop or a mark of a packet during a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct fw_event {
    /// The packet.
    pub packet: fw_packet,
    /// FW_DROP or FW_MARK.
    pub kind: u32,
    /// Why: FW_CAUSE_…
    pub cause: u32,
}

/// A list into which calls write drops and marks. The queue's callback must not touch the list.
#[repr(C)]
#[derive(Debug)]
pub struct fw_events {
    /// The caller's array.
    pub list: *mut fw_event,
    /// Its length.
    pub room: u32,
    /// The number of events that the latest call wrote, from the beginning of the array.
    pub count: u32,
    /// The number of drops without room in the array. The next call with a list writes them first.
    /// Marks without room are lost.
    pub kept: u32,
}

/// The link, the buffer and the seed of a queue.
#[repr(C)]
#[derive(Debug)]
pub struct fw_site {
    /// The rate of the link, in bit/s, above 0.
    pub rate_bps: u64,
    /// The size of the buffer, unless the parameters set it: "780 packets", "64 KiB" or "100 ms".
    pub buffer: *const c_char,
    /// The seed of the law's random numbers.
    pub seed: u64,
    /// The size of a typical packet on the wire, such as 1514.
    pub packet_bytes: u32,
    /// Zero.
    pub reserved: u32,
}

/// A backlog.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct fw_backlog_size {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A gauge of a law, for dashboards.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fw_gauge {
    /// The names of the component and of the gauge, such as "class 7/backlog", cut to fit.
    pub name: [c_char; 64],
    /// The unit of the gauge, such as "packets", "B" or "1".
    pub unit: [c_char; 16],
    /// Its value.
    pub value: f64,
}

/// The callback for a drop or mark. It runs inside the call that causes the event.
pub type fw_on_event = Option<unsafe extern "C" fn(user: *mut c_void, event: *const fw_event)>;

/// A 5-tuple. Addresses are in network byte order, ports in host byte order.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct fw_tuple {
    /// 4 or 6.
    pub version: u8,
    /// The IP protocol, such as 6 for TCP and 17 for UDP.
    pub protocol: u8,
    /// The sender's port; both ports are 0 if the packet has none.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The sender's address; an IPv4 address is in the first four bytes.
    pub source: [u8; 16],
    /// The receiver's address; an IPv4 address is in the first four bytes.
    pub destination: [u8; 16],
}

const _: () = assert!(size_of::<fw_packet>() == 40 && size_of::<fw_event>() == 48);

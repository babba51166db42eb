//! A discipline written in C.
#![allow(unsafe_code, reason = "the functions of the table are called, by the rules of the header")]
#![allow(clippy::missing_safety_doc, reason = "their safety is what the head of fairwire.h says of all")]

use crate::queue::{inner, is_right, outer};
use crate::types::{FW_ABI_VERSION, fw_packet};
use core::ffi::c_void;
use fairwire_core::{Backlog, Cause, Control, Discipline, Packet, Probe, Room, Signals, Time};

/// The receiver of drops and marks from a discipline in C, valid during one call.
pub struct fw_signals<'a>(&'a mut dyn Signals);

/// A discipline written in C. Only `free` may be null.
///
/// Each packet enters once, and leaves once: by `dequeue`, `drain` or fw_dropped. The discipline
/// must not change the packet's `cookie` and `arrived`. One thread at a time calls the functions,
/// and `now` never decreases.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fw_discipline {
    /// FW_ABI_VERSION.
    pub abi: u32,
    /// Zero.
    pub reserved: u32,
    /// The first argument of the functions.
    pub state: *mut c_void,
    /// Handles an arrival. If `is_full` is not 0, the backlog must not grow: drop this packet or
    /// others.
    pub enqueue: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            packet: *const fw_packet,
            is_full: i32,
            now: u64,
            signals: *mut fw_signals<'_>,
        ),
    >,
    /// Writes the packet that leaves next and returns 1, or returns 0 if no packet may leave.
    pub dequeue: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            packet: *mut fw_packet,
            now: u64,
            signals: *mut fw_signals<'_>,
        ) -> i32,
    >,
    /// Writes the earliest time at which a dequeue is useful and returns 1, or returns 0 when
    /// empty.
    pub ready_at: Option<unsafe extern "C" fn(state: *mut c_void, at: *mut u64) -> i32>,
    /// Writes the backlog.
    pub backlog: Option<unsafe extern "C" fn(state: *mut c_void, packets: *mut u32, bytes: *mut u64)>,
    /// Removes any one waiting packet, without reporting a drop. Writes the packet and returns 1,
    /// or returns 0 when empty.
    pub drain: Option<unsafe extern "C" fn(state: *mut c_void, packet: *mut fw_packet) -> i32>,
    /// Frees the state; may be null.
    pub free: Option<unsafe extern "C" fn(state: *mut c_void)>,
}

/// Reports a dropped packet, which has left the discipline. An unknown cause counts as
/// FW_CAUSE_EARLY. With a null pointer, nothing happens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_dropped(signals: *mut fw_signals<'_>, packet: *const fw_packet, cause: u32) {
    // SAFETY: as guaranteed by the caller.
    if let (Some(signals), Some(packet)) = unsafe { (signals.as_mut(), packet.as_ref()) } {
        given_back(packet).into_iter().for_each(|packet| signals.0.dropped(packet, cause_of(cause)));
    }
}

/// Reports a marked packet, which stays in the discipline. Set its `ecn` to 3 first. With a null
/// pointer, nothing happens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_marked(signals: *mut fw_signals<'_>, packet: *const fw_packet, cause: u32) {
    // SAFETY: as guaranteed by the caller.
    if let (Some(signals), Some(packet)) = unsafe { (signals.as_mut(), packet.as_ref()) } {
        given_back(packet).iter().for_each(|packet| signals.0.marked(packet, cause_of(cause)));
    }
}

fn cause_of(cause: u32) -> Cause {
    Cause::ALL.get(cause as usize).copied().unwrap_or(Cause::Early)
}

fn given_back(packet: &fw_packet) -> Option<Packet> {
    let frame = u32::try_from(packet.cookie).ok().filter(|_| is_right(packet))?;
    Some(inner(packet, frame, Time::from_ns(packet.arrived)))
}

/// A discipline written in C, as a [`Discipline`].
#[derive(Debug)]
pub struct Own {
    table: fw_discipline,
}

// SAFETY: the header requires that the functions can be called from any thread, one at a time.
unsafe impl Send for Own {}

const CHECKED: &str = "checked when it was made";

impl Own {
    /// The discipline of `table`. `None` if a function other than `free` is missing or the version
    /// differs.
    ///
    /// # Safety
    /// The functions keep the table's documented contract.
    pub unsafe fn new(table: fw_discipline) -> Option<Self> {
        let fw_discipline { enqueue, dequeue, ready_at, backlog, drain, .. } = table;
        let is_whole = enqueue.is_some() && dequeue.is_some() && ready_at.is_some() && backlog.is_some();
        (is_whole && drain.is_some() && table.abi == FW_ABI_VERSION).then(|| Own { table })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(free) = self.table.free {
            // SAFETY: the table's contract allows this call, which is the last.
            unsafe { free(self.table.state) };
        }
    }
}

impl Control for Own {
    fn inside(&mut self, _: Option<u32>, _: &mut dyn FnMut(&mut dyn Discipline)) {}
}

impl Discipline for Own {
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        let outer = outer(&packet, packet.frame.into());
        let is_full = i32::from(room == Room::Full);
        let mut signals = fw_signals(signals);
        let enqueue = self.table.enqueue.expect(CHECKED);
        // SAFETY: the contract of the table allows this call, and the pointers are valid during it.
        unsafe { enqueue(self.table.state, &outer, is_full, now.ns(), (&raw mut signals).cast()) };
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        let mut packet = fw_packet::default();
        let mut signals = fw_signals(signals);
        let dequeue = self.table.dequeue.expect(CHECKED);
        // SAFETY: as above.
        let has = unsafe { dequeue(self.table.state, &raw mut packet, now.ns(), (&raw mut signals).cast()) };
        (has == 1).then(|| given_back(&packet).expect("a packet comes back as it was given"))
    }

    fn ready_at(&self) -> Option<Time> {
        let mut at = 0;
        let ready_at = self.table.ready_at.expect(CHECKED);
        // SAFETY: as above.
        (unsafe { ready_at(self.table.state, &raw mut at) } == 1).then(|| Time::from_ns(at))
    }

    fn backlog(&self) -> Backlog {
        let mut waiting = Backlog::default();
        let backlog = self.table.backlog.expect(CHECKED);
        // SAFETY: as above.
        unsafe { backlog(self.table.state, &raw mut waiting.packets, &raw mut waiting.bytes) };
        waiting
    }

    fn inspect(&self, _: &mut dyn Probe) {}

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        let drain = self.table.drain.expect(CHECKED);
        let mut packet = fw_packet::default();
        // SAFETY: as above.
        while unsafe { drain(self.table.state, &raw mut packet) } == 1 {
            given_back(&packet).into_iter().for_each(&mut *take);
        }
    }
}

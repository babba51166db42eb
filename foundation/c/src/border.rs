//! The functions that C calls.
#![allow(unsafe_code, reason = "pointers of the caller's are read and written, by the rules of the header")]
#![allow(clippy::missing_safety_doc, reason = "their safety is what the head of fairwire.h says of all")]

use crate::code::*;
use crate::hash;
use crate::own::{Own, fw_discipline};
use crate::queue::{Queue, Refused, utf8};
use crate::types::*;
use core::cell::{Cell, UnsafeCell};
use core::ffi::{CStr, c_char, c_void};
use core::mem::MaybeUninit;
use core::slice;
use fairwire_laws::named::ALL;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A queue. Only its address is known.
pub struct fw_queue {
    /// Is a call inside, or did one end with a fault?
    state: Cell<State>,
    last: Cell<i32>,
    inside: UnsafeCell<Queue>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Free,
    Busy,
    Broken,
}

/// The version of the interface of this library: FW_ABI_VERSION of its header.
#[unsafe(no_mangle)]
pub extern "C" fn fw_abi_version() -> u32 {
    FW_ABI_VERSION
}

/// The version of this library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn fw_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// What a code means, in a sentence. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn fw_text(code: i32) -> *const c_char {
    text(code).as_ptr()
}

/// Writes the name of the law with this number, from 0, with its zero. Beside these, any scheduler
/// and dropper make a name, such as "drr+faba".
///
/// Returns 1, or 0 after the last. Errors: FW_ERROR_NULL; FW_ERROR_ROOM if it has no room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_law(number: u32, name: *mut c_char, room: usize) -> i32 {
    guarded(|| {
        let Some(entry) = ALL.get(number as usize) else { return Ok(0) };
        if name.is_null() {
            return Err(FW_ERROR_NULL);
        }
        // SAFETY: `room` bytes are at `name`.
        match unsafe { write_text(entry.name, name, room) } {
            true => Ok(1),
            false => Err(FW_ERROR_ROOM),
        }
    })
}

/// Builds a queue with the law called `name` for `site`.
///
/// `abi` is FW_ABI_VERSION. `parameters` are keys and values in TOML, as a scenario file has them
/// under the name of the law; null or empty for the defaults. The queue goes to `*queue`, which is
/// null after an error. `message` gets the text of an error, of at most `room` bytes with its zero,
/// or nothing if it is null.
///
/// Errors: FW_ERROR_NULL, FW_ERROR_ABI, FW_ERROR_NAME, FW_ERROR_TEXT, FW_ERROR_PARAMETER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_build(
    abi: u32,
    name: *const c_char,
    parameters: *const c_char,
    site: *const fw_site,
    queue: *mut *mut fw_queue,
    message: *mut c_char,
    room: usize,
) -> i32 {
    let build = || {
        if abi != FW_ABI_VERSION {
            return Err((
                FW_ERROR_ABI,
                format!("the header has version {abi}, the library {FW_ABI_VERSION}"),
            ));
        }
        let null = |what: &str| (FW_ERROR_NULL, format!("`{what}` is null"));
        // SAFETY: the caller's texts end with a zero, and `site` points to one.
        let (name, parameters, site) = unsafe { (text_at(name), text_at(parameters), site.as_ref()) };
        let (name, site) = (name.ok_or_else(|| null("name"))?, site.ok_or_else(|| null("site"))?);
        // SAFETY: as above.
        let buffer = unsafe { text_at(site.buffer) }.ok_or_else(|| null("site->buffer"))?;
        let (name, buffer) = (utf8(name, "name")?, utf8(buffer, "buffer")?);
        Queue::build(name, utf8(parameters.unwrap_or(c""), "text of parameters")?, site, buffer)
    };
    // SAFETY: `queue` and `message` are the caller's.
    unsafe { built(build, queue, message, room) }
}

/// Builds a queue with a discipline that is written in C. At most `capacity` packets may wait in it,
/// from 1 to 16777216.
///
/// Errors: FW_ERROR_NULL, FW_ERROR_ABI, FW_ERROR_PARAMETER. `discipline->free` is called by fw_free,
/// and not after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_build_own(
    abi: u32,
    discipline: *const fw_discipline,
    capacity: u32,
    queue: *mut *mut fw_queue,
) -> i32 {
    let build = || {
        if abi != FW_ABI_VERSION {
            return Err((FW_ERROR_ABI, String::new()));
        }
        // SAFETY: it points to a table.
        let table = unsafe { discipline.as_ref() }.ok_or((FW_ERROR_NULL, String::new()))?;
        if !(1..=fairwire_laws::site::MAX_SLOTS).contains(&capacity) {
            return Err((FW_ERROR_PARAMETER, String::new()));
        }
        // SAFETY: the caller says that its functions keep the contract of the header.
        let own = unsafe { Own::new(*table) }.ok_or((FW_ERROR_NULL, String::new()))?;
        Ok(Queue::new(Box::new(own), capacity as usize + 1))
    };
    // SAFETY: `queue` is the caller's.
    unsafe { built(build, queue, core::ptr::null_mut(), 0) }
}

/// Frees a queue. Packets that wait are forgotten: drain it first where a cookie owns something.
/// Null is allowed, and after a fault it is still right to call this. From a callback of the queue
/// it does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_free(queue: *mut fw_queue) {
    // SAFETY: null, or from a function that builds one.
    if unsafe { queue.as_ref() }.is_none_or(|queue| queue.state.get() == State::Busy) {
        return;
    }
    // SAFETY: as above, and no call is inside.
    let queue = unsafe { Box::from_raw(queue) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(queue)));
}

/// The code that the latest call for this queue returned that was an error; FW_OK if none did.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_last_error(queue: *const fw_queue) -> i32 {
    // SAFETY: null, or from a function that builds one.
    unsafe { queue.as_ref() }.map_or(FW_ERROR_NULL, |queue| queue.last.get())
}

/// Sets the callback for drops and marks, which then are not listed; null for none.
///
/// Errors: FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_set_callback(
    queue: *mut fw_queue,
    function: fw_on_event,
    user: *mut c_void,
) -> i32 {
    // SAFETY: the queue is the caller's.
    unsafe {
        call(queue, |queue| {
            queue.on_event(function, user);
            Ok(FW_OK)
        })
    }
}

/// Enqueues a packet at `now`, in nanoseconds. It may be dropped at once, or others for it: `events`
/// says so. With neither a list (null is allowed) nor a callback drops are forgotten.
///
/// Returns 1. Errors: FW_ERROR_NULL, FW_ERROR_TIME, FW_ERROR_PACKET, FW_ERROR_EVENTS,
/// FW_ERROR_BUSY, FW_ERROR_FAULT; the packet stays with the caller then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_enqueue(
    queue: *mut fw_queue,
    packet: *const fw_packet,
    now: u64,
    events: *mut fw_events,
) -> i32 {
    // SAFETY: null, or the caller's list.
    let events = unsafe { list_at(events) };
    let enqueue = |queue: &mut Queue| {
        // SAFETY: null, or the caller's packet.
        let packet = unsafe { packet.as_ref() }.ok_or(FW_ERROR_NULL)?;
        queue.enqueue(packet, now, events).map(|()| 1)
    };
    // SAFETY: the queue is the caller's.
    unsafe { call(queue, enqueue) }
}

/// Enqueues `count` packets, at most FW_BATCH, in their order and all at `now`.
///
/// Returns how many were taken: fewer than `count` where one cannot be, which stays with the caller
/// together with those after it. An error is that of the first: as fw_enqueue, and FW_ERROR_BATCH.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_enqueue_batch(
    queue: *mut fw_queue,
    packets: *const fw_packet,
    count: u32,
    now: u64,
    events: *mut fw_events,
) -> i32 {
    // SAFETY: null, or the caller's list.
    let events = unsafe { list_at(events) };
    let enqueue = |queue: &mut Queue| {
        if count > FW_BATCH {
            return Err(FW_ERROR_BATCH);
        }
        if packets.is_null() && count > 0 {
            return Err(FW_ERROR_NULL);
        }
        let packets = match count {
            0 => &[],
            // SAFETY: `count` packets are at `packets`.
            _ => unsafe { slice::from_raw_parts(packets, count as usize) },
        };
        queue.enqueue_all(packets, now, events).map(count_of)
    };
    // SAFETY: the queue is the caller's.
    unsafe { call(queue, enqueue) }
}

/// Dequeues the packet that leaves next at `now` into `*packet`. Call it whenever the link becomes
/// free, also when nothing waits: some laws learn in this way that the link is idle.
///
/// Returns 1, or 0 if no packet may leave now: fw_ready_at says when one may. Errors: FW_ERROR_NULL,
/// FW_ERROR_TIME, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_dequeue(
    queue: *mut fw_queue,
    now: u64,
    packet: *mut fw_packet,
    events: *mut fw_events,
) -> i32 {
    // SAFETY: null, or the caller's list.
    let events = unsafe { list_at(events) };
    let dequeue = |queue: &mut Queue| {
        // SAFETY: null, or there is room for one packet.
        let place = unsafe { packet.cast::<MaybeUninit<fw_packet>>().as_mut() }.ok_or(FW_ERROR_NULL)?;
        queue.dequeue(place, now, events).map(i32::from)
    };
    // SAFETY: the queue is the caller's.
    unsafe { call(queue, dequeue) }
}

/// Dequeues up to `room` packets, at most FW_BATCH, all at `now`, in the order in which they leave.
///
/// Returns how many. Errors: as fw_dequeue, and FW_ERROR_BATCH.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_dequeue_batch(
    queue: *mut fw_queue,
    now: u64,
    packets: *mut fw_packet,
    room: u32,
    events: *mut fw_events,
) -> i32 {
    // SAFETY: null, or the caller's list.
    let events = unsafe { list_at(events) };
    let dequeue = |queue: &mut Queue| {
        if room > FW_BATCH {
            return Err(FW_ERROR_BATCH);
        }
        // SAFETY: there is room for `room` packets.
        let out = unsafe { room_at(packets, room as usize) }?;
        queue.dequeue_all(out, now, events).map(count_of)
    };
    // SAFETY: the queue is the caller's.
    unsafe { call(queue, dequeue) }
}

/// The earliest time at which a dequeue is useful without another packet, into `*at`.
///
/// Returns 1, or 0 if nothing waits, with UINT64_MAX. Errors: FW_ERROR_NULL, FW_ERROR_BUSY,
/// FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_ready_at(queue: *mut fw_queue, at: *mut u64) -> i32 {
    let ready = |queue: &mut Queue| {
        // SAFETY: there is room for one number.
        let [place] = unsafe { room_at(at, 1) }? else { return Err(FW_ERROR_NULL) };
        let ready = queue.ready_at();
        place.write(ready.unwrap_or(u64::MAX));
        Ok(ready.is_some().into())
    };
    // SAFETY: the queue is the caller's.
    unsafe { call(queue, ready) }
}

/// What waits, into `*backlog`. Errors: FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_backlog(queue: *mut fw_queue, backlog: *mut fw_backlog_size) -> i32 {
    let waiting = |queue: &mut Queue| {
        // SAFETY: there is room for one.
        let [place] = unsafe { room_at(backlog, 1) }? else { return Err(FW_ERROR_NULL) };
        place.write(queue.backlog());
        Ok(FW_OK)
    };
    // SAFETY: the queue is the caller's.
    unsafe { call(queue, waiting) }
}

/// Writes up to `room` gauges of the law, which may be more; null with a room of 0 only counts them.
///
/// Returns how many there are. Errors: FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_inspect(queue: *mut fw_queue, gauges: *mut fw_gauge, room: u32) -> i32 {
    // SAFETY: there is room for `room` gauges.
    let inspect = |queue: &mut Queue| Ok(count_of(queue.inspect(unsafe { room_at(gauges, room as usize) }?)));
    // SAFETY: the queue is the caller's.
    unsafe { call(queue, inspect) }
}

/// Hands back every packet that waits, and the drops that were kept, into `packets`. No law is
/// consulted. The queue is empty afterwards and remains usable.
///
/// Returns how many. Errors: FW_ERROR_ROOM if there are more than `room`, and nothing happens;
/// FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_drain(queue: *mut fw_queue, packets: *mut fw_packet, room: u32) -> i32 {
    // SAFETY: there is room for `room` packets.
    let drain = |queue: &mut Queue| queue.drain(unsafe { room_at(packets, room as usize) }?).map(count_of);
    // SAFETY: the queue is the caller's.
    unsafe { call(queue, drain) }
}

/// Sets the weight of a class, from 10^-6 to 10^6, and writes the one before it into `*before`,
/// unless that is null. The class must have had a weight among the parameters.
///
/// Errors: FW_ERROR_WEIGHT, FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_set_weight(
    queue: *mut fw_queue,
    class_id: u32,
    weight: f64,
    before: *mut f64,
) -> i32 {
    let set = |queue: &mut Queue| {
        let old = queue.set_weight(class_id, weight)?;
        if !before.is_null() {
            // SAFETY: there is room for one number.
            unsafe { before.write(old) };
        }
        Ok(FW_OK)
    };
    // SAFETY: the queue is the caller's.
    unsafe { call(queue, set) }
}

/// The flow of a 5-tuple into `*flow`, as a hash under 16 secret bytes at `key`: no sender can aim
/// for another's. Draw them from the system's random source.
///
/// Errors: FW_ERROR_NULL; FW_ERROR_PACKET where the version is neither 4 nor 6.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_flow_hash(key: *const u8, tuple: *const fw_tuple, flow: *mut u64) -> i32 {
    guarded(|| {
        // SAFETY: 16 bytes are at `key`, a tuple at `tuple`, and room for one number at `flow`.
        let (key, tuple, flow) = unsafe { (key_at(key)?, tuple.as_ref(), room_at(flow, 1)?) };
        let hash = hash::of_tuple(key, tuple.ok_or(FW_ERROR_NULL)?).ok_or(FW_ERROR_PACKET)?;
        flow[0].write(hash);
        Ok(FW_OK)
    })
}

/// Writes what the headers of an Ethernet frame of `len` bytes say into `*packet`: the flow, which is
/// that of fw_flow_hash, len, ecn and dscp. All else in it is zero. Any bytes are a frame: of one
/// that makes no sense the flow is that of its addresses.
///
/// Errors: FW_ERROR_NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_flow_hash_frame(
    key: *const u8,
    frame: *const u8,
    len: usize,
    packet: *mut fw_packet,
) -> i32 {
    guarded(|| {
        if frame.is_null() || isize::try_from(len).is_err() {
            return Err(FW_ERROR_NULL);
        }
        // SAFETY: 16 bytes are at `key`, `len` at `frame`, and room for one packet at `packet`.
        let (key, frame, packet) =
            unsafe { (key_at(key)?, slice::from_raw_parts(frame, len), room_at(packet, 1)?) };
        packet[0].write(hash::of_frame(key, frame));
        Ok(FW_OK)
    })
}

/// What `made` makes for the queue at `queue`, unless a call is inside or a fault was.
///
/// # Safety
/// `queue` is null, or from a function that builds one and not freed.
#[inline]
unsafe fn call(queue: *const fw_queue, made: impl FnOnce(&mut Queue) -> Result<i32, i32>) -> i32 {
    // SAFETY: as the caller says.
    let Some(queue) = (unsafe { queue.as_ref() }) else { return FW_ERROR_NULL };
    let code = match queue.state.replace(State::Busy) {
        State::Busy => FW_ERROR_BUSY,
        State::Broken => {
            queue.state.set(State::Broken);
            FW_ERROR_FAULT
        }
        State::Free => {
            // SAFETY: no other call is inside, which the state says, and no other thread, by the header.
            let inside = unsafe { &mut *queue.inside.get() };
            let code = guarded(|| made(inside));
            queue.state.set(if code == FW_ERROR_FAULT { State::Broken } else { State::Free });
            code
        }
    };
    if code < 0 {
        queue.last.set(code);
    }
    code
}

/// A count, as it is returned.
fn count_of(all: usize) -> i32 {
    i32::try_from(all).unwrap_or(i32::MAX)
}

/// The code of what is made; no panic leaves it.
#[inline]
fn guarded(made: impl FnOnce() -> Result<i32, i32>) -> i32 {
    catch_unwind(AssertUnwindSafe(made)).unwrap_or(Err(FW_ERROR_FAULT)).unwrap_or_else(|code| code)
}

/// Writes a queue that is built to `queue`, or the text of an error to `message`.
///
/// # Safety
/// Each is null, or has room for that.
unsafe fn built(
    build: impl FnOnce() -> Result<Queue, Refused>,
    queue: *mut *mut fw_queue,
    message: *mut c_char,
    room: usize,
) -> i32 {
    let mut said = String::new();
    let code = guarded(|| {
        // SAFETY: there is room for a pointer.
        let place = unsafe { room_at(queue, 1) }?;
        place[0].write(core::ptr::null_mut());
        let inside = build().map_err(|(code, text)| {
            said = text;
            code
        })?;
        let (state, last) = (Cell::new(State::Free), Cell::new(FW_OK));
        place[0].write(Box::into_raw(Box::new(fw_queue { state, last, inside: UnsafeCell::new(inside) })));
        Ok(FW_OK)
    });
    if code < 0 && said.is_empty() {
        said = text(code).to_string_lossy().into_owned();
    }
    // SAFETY: `room` bytes are at `message`, or it is null.
    unsafe { write_text(&said, message, room) };
    code
}

/// Writes a text and its zero, cut where it does not fit. Does it fit?
///
/// # Safety
/// `at` is null, or `room` bytes are there.
unsafe fn write_text(text: &str, at: *mut c_char, room: usize) -> bool {
    if at.is_null() || room == 0 {
        return false;
    }
    let fits = text.floor_char_boundary(room - 1);
    // SAFETY: at most `room` - 1 bytes, and the zero.
    unsafe {
        at.copy_from_nonoverlapping(text.as_ptr().cast(), fits);
        at.add(fits).write(0);
    }
    fits == text.len()
}

/// # Safety
/// `text` is null, or ends with a zero.
unsafe fn text_at<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: as the caller says.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// The caller's list, empty: an error leaves it so.
///
/// # Safety
/// `events` is null, or a list that no other call has.
#[inline]
unsafe fn list_at<'a>(events: *mut fw_events) -> Option<&'a mut fw_events> {
    // SAFETY: as the caller says.
    let mut list = unsafe { events.as_mut() };
    if let Some(list) = &mut list {
        list.count = 0;
    }
    list
}

/// # Safety
/// `key` is null, or 16 bytes are there.
unsafe fn key_at(key: *const u8) -> Result<[u8; 16], i32> {
    // SAFETY: as the caller says; bytes have no alignment.
    unsafe { key.cast::<[u8; 16]>().as_ref() }.copied().ok_or(FW_ERROR_NULL)
}

/// # Safety
/// `at` is null, or there is room for `room` values.
#[inline]
unsafe fn room_at<'a, T>(at: *mut T, room: usize) -> Result<&'a mut [MaybeUninit<T>], i32> {
    match (at.is_null(), room) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(FW_ERROR_NULL),
        // SAFETY: as the caller says; what is there may be uninitialised.
        (false, _) => Ok(unsafe { slice::from_raw_parts_mut(at.cast(), room) }),
    }
}

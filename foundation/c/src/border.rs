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

/// A queue, opaque to callers.
pub struct fw_queue {
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

/// Returns the version of this library's interface: FW_ABI_VERSION in the library's header.
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

/// The meaning of a code. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn fw_text(code: i32) -> *const c_char {
    text(code).as_ptr()
}

/// Writes the name of law `number`, counted from 0, with its terminating zero. Combined names such
/// as "drr+faba" are also valid, but have no number.
///
/// Returns 1, or 0 after the last law. Errors: FW_ERROR_NULL; FW_ERROR_ROOM if the name does not
/// fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_law(number: u32, name: *mut c_char, room: usize) -> i32 {
    guarded(|| {
        let Some(entry) = ALL.get(number as usize) else { return Ok(0) };
        if name.is_null() {
            return Err(FW_ERROR_NULL);
        }
        // SAFETY: `name` has room for `room` bytes.
        match unsafe { write_text(entry.name, name, room) } {
            true => Ok(1),
            false => Err(FW_ERROR_ROOM),
        }
    })
}

/// Builds a queue with the law called `name` for `site`.
///
/// `abi` is FW_ABI_VERSION. `parameters` is TOML text, as under the law's name in a scenario file;
/// null or empty means the defaults. `*queue` receives the queue, or null after an error. If
/// `message` is not null, it receives the text of an error: at most `room` bytes, including the
/// terminating zero.
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
        // SAFETY: the caller's texts end with a zero, and `site` points to a site.
        let (name, parameters, site) = unsafe { (text_at(name), text_at(parameters), site.as_ref()) };
        let (name, site) = (name.ok_or_else(|| null("name"))?, site.ok_or_else(|| null("site"))?);
        // SAFETY: as above.
        let buffer = unsafe { text_at(site.buffer) }.ok_or_else(|| null("site->buffer"))?;
        let (name, buffer) = (utf8(name, "name")?, utf8(buffer, "buffer")?);
        Queue::build(name, utf8(parameters.unwrap_or(c""), "text of parameters")?, site, buffer)
    };
    // SAFETY: `queue` and `message` belong to the caller.
    unsafe { built(build, queue, message, room) }
}

/// Builds a queue with a discipline written in C. `capacity`, from 1 to 16777216, is the maximum
/// number of waiting packets.
///
/// Errors: FW_ERROR_NULL, FW_ERROR_ABI, FW_ERROR_PARAMETER. If there is no error, fw_free will call
/// `discipline->free`.
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
        // SAFETY: `discipline` is null, or points to a table.
        let table = unsafe { discipline.as_ref() }.ok_or((FW_ERROR_NULL, String::new()))?;
        if !(1..=fairwire_laws::site::MAX_SLOTS).contains(&capacity) {
            return Err((FW_ERROR_PARAMETER, String::new()));
        }
        // SAFETY: the caller guarantees that the table's functions keep the contract of the header.
        let own = unsafe { Own::new(*table) }.ok_or((FW_ERROR_NULL, String::new()))?;
        Ok(Queue::new(Box::new(own), capacity as usize + 1))
    };
    // SAFETY: `queue` belongs to the caller.
    unsafe { built(build, queue, core::ptr::null_mut(), 0) }
}

/// Frees a queue, which may be null or broken by a fault. A call from a callback of the queue does
/// nothing.
///
/// Waiting packets are lost: call fw_drain first if their cookies own something.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_free(queue: *mut fw_queue) {
    // SAFETY: `queue` is null, or was built by a function here.
    if unsafe { queue.as_ref() }.is_none_or(|queue| queue.state.get() == State::Busy) {
        return;
    }
    // SAFETY: as above, and no call is in progress.
    let queue = unsafe { Box::from_raw(queue) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(queue)));
}

/// The latest error code that a call for this queue returned; FW_OK if none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_last_error(queue: *const fw_queue) -> i32 {
    // SAFETY: `queue` is null, or was built by a function here.
    unsafe { queue.as_ref() }.map_or(FW_ERROR_NULL, |queue| queue.last.get())
}

/// Sets the callback that receives drops and marks. With a callback, event lists stay empty. A null
/// `function` removes the callback.
///
/// Errors: FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_set_callback(
    queue: *mut fw_queue,
    function: fw_on_event,
    user: *mut c_void,
) -> i32 {
    // SAFETY: the queue belongs to the caller.
    unsafe {
        call(queue, |queue| {
            queue.on_event(function, user);
            Ok(FW_OK)
        })
    }
}

/// Enqueues a packet at `now`, in nanoseconds. `events` lists the drops, of this packet or others,
/// and the marks; it may be null. With neither a list nor a callback, drops are forgotten.
///
/// Returns 1. Errors: FW_ERROR_NULL, FW_ERROR_TIME, FW_ERROR_PACKET, FW_ERROR_EVENTS,
/// FW_ERROR_BUSY, FW_ERROR_FAULT; the packet then stays with the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_enqueue(
    queue: *mut fw_queue,
    packet: *const fw_packet,
    now: u64,
    events: *mut fw_events,
) -> i32 {
    // SAFETY: `events` is null, or points to the caller's list.
    let events = unsafe { list_at(events) };
    let enqueue = |queue: &mut Queue| {
        // SAFETY: `packet` is null, or points to the caller's packet.
        let packet = unsafe { packet.as_ref() }.ok_or(FW_ERROR_NULL)?;
        queue.enqueue(packet, now, events).map(|()| 1)
    };
    // SAFETY: the queue belongs to the caller.
    unsafe { call(queue, enqueue) }
}

/// Enqueues `count` packets, at most FW_BATCH, in order and all at `now`.
///
/// Returns the number of enqueued packets. The first packet that cannot be enqueued, and all
/// packets after it, stay with the caller. Errors: FW_ERROR_BATCH, and those of fw_enqueue for the
/// first packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_enqueue_batch(
    queue: *mut fw_queue,
    packets: *const fw_packet,
    count: u32,
    now: u64,
    events: *mut fw_events,
) -> i32 {
    // SAFETY: `events` is null, or points to the caller's list.
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
            // SAFETY: `packets` points to `count` packets.
            _ => unsafe { slice::from_raw_parts(packets, count as usize) },
        };
        queue.enqueue_all(packets, now, events).map(count_of)
    };
    // SAFETY: the queue belongs to the caller.
    unsafe { call(queue, enqueue) }
}

/// Dequeues the next packet at `now` into `*packet`. Call this whenever the link becomes free, even
/// if no packet waits: some laws must know when the link is idle.
///
/// Returns 1, or 0 if no packet may leave yet: see fw_ready_at. Errors: FW_ERROR_NULL,
/// FW_ERROR_TIME, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_dequeue(
    queue: *mut fw_queue,
    now: u64,
    packet: *mut fw_packet,
    events: *mut fw_events,
) -> i32 {
    // SAFETY: `events` is null, or points to the caller's list.
    let events = unsafe { list_at(events) };
    let dequeue = |queue: &mut Queue| {
        // SAFETY: `packet` is null, or has room for one packet.
        let place = unsafe { packet.cast::<MaybeUninit<fw_packet>>().as_mut() }.ok_or(FW_ERROR_NULL)?;
        queue.dequeue(place, now, events).map(i32::from)
    };
    // SAFETY: the queue belongs to the caller.
    unsafe { call(queue, dequeue) }
}

/// Dequeues up to `room` packets, at most FW_BATCH, all at `now`.
///
/// Returns the number of packets. Errors: as fw_dequeue, and FW_ERROR_BATCH.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_dequeue_batch(
    queue: *mut fw_queue,
    now: u64,
    packets: *mut fw_packet,
    room: u32,
    events: *mut fw_events,
) -> i32 {
    // SAFETY: `events` is null, or points to the caller's list.
    let events = unsafe { list_at(events) };
    let dequeue = |queue: &mut Queue| {
        if room > FW_BATCH {
            return Err(FW_ERROR_BATCH);
        }
        // SAFETY: `packets` has room for `room` packets.
        let out = unsafe { room_at(packets, room as usize) }?;
        queue.dequeue_all(out, now, events).map(count_of)
    };
    // SAFETY: the queue belongs to the caller.
    unsafe { call(queue, dequeue) }
}

/// Writes to `*at` the earliest time at which a dequeue is useful if no other packet arrives.
///
/// Returns 1. If no packet waits, returns 0 and writes UINT64_MAX. Errors: FW_ERROR_NULL,
/// FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_ready_at(queue: *mut fw_queue, at: *mut u64) -> i32 {
    let ready = |queue: &mut Queue| {
        // SAFETY: `at` is null, or has room for one number.
        let [place] = unsafe { room_at(at, 1) }? else { return Err(FW_ERROR_NULL) };
        let ready = queue.ready_at();
        place.write(ready.unwrap_or(u64::MAX));
        Ok(ready.is_some().into())
    };
    // SAFETY: the queue belongs to the caller.
    unsafe { call(queue, ready) }
}

/// Writes the backlog to `*backlog`. Errors: FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_backlog(queue: *mut fw_queue, backlog: *mut fw_backlog_size) -> i32 {
    let waiting = |queue: &mut Queue| {
        // SAFETY: `backlog` is null, or has room for one backlog.
        let [place] = unsafe { room_at(backlog, 1) }? else { return Err(FW_ERROR_NULL) };
        place.write(queue.backlog());
        Ok(FW_OK)
    };
    // SAFETY: the queue belongs to the caller.
    unsafe { call(queue, waiting) }
}

/// Writes up to `room` gauges of the law; `gauges` may be null if `room` is 0.
///
/// Returns the law's number of gauges, which may exceed `room`. Errors: FW_ERROR_NULL,
/// FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_inspect(queue: *mut fw_queue, gauges: *mut fw_gauge, room: u32) -> i32 {
    // SAFETY: `gauges` has room for `room` gauges.
    let inspect = |queue: &mut Queue| Ok(count_of(queue.inspect(unsafe { room_at(gauges, room as usize) }?)));
    // SAFETY: the queue belongs to the caller.
    unsafe { call(queue, inspect) }
}

/// Empties the queue into `packets` without consulting the law. Also writes the drops that the
/// library kept because a list was full. The queue remains usable.
///
/// Returns the number of packets. Errors: FW_ERROR_ROOM, without any effect, if there are more than
/// `room` packets; FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_drain(queue: *mut fw_queue, packets: *mut fw_packet, room: u32) -> i32 {
    // SAFETY: `packets` has room for `room` packets.
    let drain = |queue: &mut Queue| queue.drain(unsafe { room_at(packets, room as usize) }?).map(count_of);
    // SAFETY: the queue belongs to the caller.
    unsafe { call(queue, drain) }
}

/// Sets the weight, 10^-6 to 10^6, of a class that has a weight in the parameters. Writes the
/// previous weight to `*before` unless `before` is null.
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
            // SAFETY: `before` is not null, so it has room for one number.
            unsafe { before.write(old) };
        }
        Ok(FW_OK)
    };
    // SAFETY: the queue belongs to the caller.
    unsafe { call(queue, set) }
}

/// Writes the flow of a 5-tuple to `*flow`: a hash keyed with the 16 bytes at `key`. A random and
/// secret key prevents a sender from aiming at another's flow.
///
/// Errors: FW_ERROR_NULL; FW_ERROR_PACKET if the version is neither 4 nor 6.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fw_flow_hash(key: *const u8, tuple: *const fw_tuple, flow: *mut u64) -> i32 {
    guarded(|| {
        // SAFETY: `key` points to 16 bytes, `tuple` to a tuple, and `flow` to room for one number.
        let (key, tuple, flow) = unsafe { (key_at(key)?, tuple.as_ref(), room_at(flow, 1)?) };
        let hash = hash::of_tuple(key, tuple.ok_or(FW_ERROR_NULL)?).ok_or(FW_ERROR_PACKET)?;
        flow[0].write(hash);
        Ok(FW_OK)
    })
}

/// Reads the headers of an Ethernet frame of `len` bytes. Sets `flow`, `len`, `ecn` and `dscp` of
/// `*packet`; all other fields become zero.
///
/// The flow is the hash that fw_flow_hash computes. If the headers are unreadable, the flow is a
/// hash of the Ethernet addresses and type.
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
        // SAFETY: `key` points to 16 bytes, `frame` to `len` bytes, and `packet` to room for one
        // packet.
        let (key, frame, packet) =
            unsafe { (key_at(key)?, slice::from_raw_parts(frame, len), room_at(packet, 1)?) };
        packet[0].write(hash::of_frame(key, frame));
        Ok(FW_OK)
    })
}

/// # Safety
/// `queue` is null, or was built by a function here and not freed.
#[inline]
unsafe fn call(queue: *const fw_queue, made: impl FnOnce(&mut Queue) -> Result<i32, i32>) -> i32 {
    // SAFETY: as guaranteed by the caller.
    let Some(queue) = (unsafe { queue.as_ref() }) else { return FW_ERROR_NULL };
    let code = match queue.state.replace(State::Busy) {
        State::Busy => FW_ERROR_BUSY,
        State::Broken => {
            queue.state.set(State::Broken);
            FW_ERROR_FAULT
        }
        State::Free => {
            // SAFETY: `state` rules out a nested call, and the header rules out a call from another
            // thread.
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

fn count_of(all: usize) -> i32 {
    i32::try_from(all).unwrap_or(i32::MAX)
}

#[inline]
fn guarded(made: impl FnOnce() -> Result<i32, i32>) -> i32 {
    catch_unwind(AssertUnwindSafe(made)).unwrap_or(Err(FW_ERROR_FAULT)).unwrap_or_else(|code| code)
}

/// Writes a built queue to `queue`, or the text of an error to `message`.
///
/// # Safety
/// `queue` is null, or has room for a pointer. `message` is null, or has room for `room` bytes.
unsafe fn built(
    build: impl FnOnce() -> Result<Queue, Refused>,
    queue: *mut *mut fw_queue,
    message: *mut c_char,
    room: usize,
) -> i32 {
    let mut said = String::new();
    let code = guarded(|| {
        // SAFETY: `queue` is null, or has room for a pointer.
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
    // SAFETY: `message` is null, or has room for `room` bytes.
    unsafe { write_text(&said, message, room) };
    code
}

/// Writes `text` and a zero to `at`, cut to fit. Returns whether all of the text fits.
///
/// # Safety
/// `at` is null, or has room for `room` bytes.
unsafe fn write_text(text: &str, at: *mut c_char, room: usize) -> bool {
    if at.is_null() || room == 0 {
        return false;
    }
    let fits = text.floor_char_boundary(room - 1);
    // SAFETY: this writes at most `room` - 1 bytes and the zero.
    unsafe {
        at.copy_from_nonoverlapping(text.as_ptr().cast(), fits);
        at.add(fits).write(0);
    }
    fits == text.len()
}

/// # Safety
/// `text` is null, or ends with a zero.
unsafe fn text_at<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: as guaranteed by the caller.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// Empties and returns the list. Otherwise, old events would remain after an error.
///
/// # Safety
/// `events` is null, or a list that no other call uses.
#[inline]
unsafe fn list_at<'a>(events: *mut fw_events) -> Option<&'a mut fw_events> {
    // SAFETY: as guaranteed by the caller.
    let mut list = unsafe { events.as_mut() };
    if let Some(list) = &mut list {
        list.count = 0;
    }
    list
}

/// # Safety
/// `key` is null, or points to 16 bytes.
unsafe fn key_at(key: *const u8) -> Result<[u8; 16], i32> {
    // SAFETY: as guaranteed by the caller; bytes need no alignment.
    unsafe { key.cast::<[u8; 16]>().as_ref() }.copied().ok_or(FW_ERROR_NULL)
}

/// # Safety
/// `at` is null, or has room for `room` values.
#[inline]
unsafe fn room_at<'a, T>(at: *mut T, room: usize) -> Result<&'a mut [MaybeUninit<T>], i32> {
    match (at.is_null(), room) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(FW_ERROR_NULL),
        // SAFETY: as guaranteed by the caller; the values may be uninitialised.
        (false, _) => Ok(unsafe { slice::from_raw_parts_mut(at.cast(), room) }),
    }
}

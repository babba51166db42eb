//! Drops and marks on their way to the caller.
#![allow(unsafe_code, reason = "the caller's list is written, and its callback invoked")]

use crate::code::{FW_ERROR_EVENTS, FW_ERROR_PACKET};
use crate::cookies::Cookies;
use crate::queue::{inner, is_right, outer};
use crate::types::{FW_DROP, FW_MARK, fw_event, fw_events, fw_on_event, fw_packet};
use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use fairwire_core::{Cause, Packet, Signals, Time};
use std::collections::VecDeque;

/// The caller's callback, with what it is given.
#[derive(Clone, Copy)]
pub(crate) struct Callback {
    pub(crate) function: fw_on_event,
    pub(crate) user: *mut c_void,
}

/// Where drops and marks go: to the callback if there is one, or else into the list of the call.
/// Without either they are forgotten.
pub(crate) struct Sink {
    pub(crate) cookies: Cookies,
    /// Drops that had no room in the list of their call.
    pub(crate) kept: VecDeque<fw_event>,
    pub(crate) callback: Callback,
    /// That of the call that is inside, which is the only one to read it.
    list: Option<NonNull<fw_events>>,
}

impl Sink {
    /// For at most `capacity` packets at any time.
    pub(crate) fn new(capacity: usize) -> Self {
        Sink {
            cookies: Cookies::new(capacity),
            kept: VecDeque::with_capacity(capacity),
            callback: Callback { function: None, user: null_mut() },
            list: None,
        }
    }

    /// Begins a call, whose list is empty: drops that are kept come first.
    #[inline(always)]
    pub(crate) fn begin(&mut self, list: Option<&mut fw_events>) {
        self.list = list.filter(|_| self.callback.function.is_none()).map(NonNull::from);
        if !self.kept.is_empty() {
            self.write_kept();
        }
    }

    #[cold]
    fn write_kept(&mut self) {
        // SAFETY: the list of this call, which the call has borrowed.
        let Some(list) = self.list.map(|mut list| unsafe { list.as_mut() }) else { return };
        while let Some(event) = self.kept.front()
            && write(list, event)
        {
            self.kept.pop_front();
        }
    }

    /// A packet of the caller's, with a frame for its cookie. A drop that is kept has given its frame
    /// back and still counts, so that neither list grows beyond its bound.
    #[inline(always)]
    pub(crate) fn framed(&mut self, packet: &fw_packet, now: Time) -> Result<Packet, i32> {
        if !is_right(packet) {
            return Err(FW_ERROR_PACKET);
        }
        if self.kept.len() >= self.cookies.room() {
            return Err(FW_ERROR_EVENTS);
        }
        let frame = self.cookies.put(packet.cookie).ok_or(FW_ERROR_EVENTS)?;
        Ok(inner(packet, frame, now))
    }

    /// Ends a call: says how many had no room.
    #[inline(always)]
    pub(crate) fn end(&mut self) {
        if let Some(mut list) = self.list.take() {
            // SAFETY: as above.
            unsafe { list.as_mut() }.kept = self.kept.len() as u32;
        }
    }

    fn send(&mut self, event: fw_event) {
        if let Some(function) = self.callback.function {
            // SAFETY: the header requires a function that takes these and returns; `user` is what
            // came with it.
            unsafe { function(self.callback.user, &event) };
            return;
        }
        // SAFETY: as above.
        let Some(list) = self.list.map(|mut list| unsafe { list.as_mut() }) else { return };
        let is_written = self.kept.is_empty() && write(list, &event);
        // There is room: each had a cookie, and the two together are bounded (see `framed`).
        if !is_written && event.kind == FW_DROP && self.kept.len() < self.kept.capacity() {
            self.kept.push_back(event);
        }
    }
}

/// Writes an event where the list has room.
fn write(list: &mut fw_events, event: &fw_event) -> bool {
    let has_room = list.count < list.room && !list.list.is_null();
    if has_room {
        // SAFETY: the header requires `room` events at `list`, and this is one of them.
        unsafe { list.list.add(list.count as usize).write(*event) };
        list.count += 1;
    }
    has_room
}

impl Signals for Sink {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        let cookie = self.cookies.take(packet.frame);
        self.send(fw_event { packet: outer(&packet, cookie), kind: FW_DROP, cause: cause as u32 });
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        let cookie = self.cookies.peek(packet.frame);
        self.send(fw_event { packet: outer(packet, cookie), kind: FW_MARK, cause: cause as u32 });
    }
}

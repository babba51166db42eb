//! Drops and marks on their way to the caller.
#![allow(unsafe_code, reason = "the caller's list is written, and its callback invoked")]

use crate::code::{FW_ERROR_EVENTS, FW_ERROR_PACKET};
use crate::cookies::Cookies;
use crate::queue::{inner, is_right, outer};
use crate::types::{FW_DROP, FW_MARK, fw_event, fw_events, fw_on_event, fw_packet};
use core::ffi::c_void;
use fairwire_core::{Cause, Packet, Signals, Time};
use std::collections::VecDeque;

/// The caller's callback, with what it is given.
#[derive(Clone, Copy)]
pub(crate) struct Callback {
    pub(crate) function: fw_on_event,
    pub(crate) user: *mut c_void,
}

/// Where the drops and marks of one call go: to the callback if there is one, or else into the list.
/// Without either they are forgotten.
pub(crate) struct Sink<'a> {
    pub(crate) cookies: &'a mut Cookies,
    /// Drops that had no room in the list of their call.
    kept: &'a mut VecDeque<fw_event>,
    callback: Callback,
    list: Option<&'a mut fw_events>,
}

impl<'a> Sink<'a> {
    /// Writes what is kept into the list first, which is empty.
    #[inline]
    pub(crate) fn new(
        cookies: &'a mut Cookies,
        kept: &'a mut VecDeque<fw_event>,
        callback: Callback,
        list: Option<&'a mut fw_events>,
    ) -> Self {
        let is_listed = callback.function.is_none();
        let mut sink = Sink { cookies, kept, callback, list: list.filter(|_| is_listed) };
        if let Some(list) = &mut sink.list {
            while let Some(event) = sink.kept.front()
                && write(list, event)
            {
                sink.kept.pop_front();
            }
        }
        sink
    }

    /// A packet of the caller's, with a frame for its cookie. A drop that is kept has given its frame
    /// back and still counts, so that neither list grows beyond its bound.
    #[inline(always)]
    pub(crate) fn framed(&mut self, packet: &fw_packet, now: Time) -> Result<Packet, i32> {
        if !is_right(packet) {
            return Err(FW_ERROR_PACKET);
        }
        if self.cookies.used() + self.kept.len() >= self.cookies.capacity() {
            return Err(FW_ERROR_EVENTS);
        }
        let frame = self.cookies.put(packet.cookie).ok_or(FW_ERROR_EVENTS)?;
        Ok(inner(packet, frame, now))
    }

    /// Says how many had no room.
    #[inline]
    pub(crate) fn finish(self) {
        if let Some(list) = self.list {
            list.kept = self.kept.len() as u32;
        }
    }

    fn send(&mut self, event: fw_event) {
        if let Some(function) = self.callback.function {
            // SAFETY: the header requires a function that takes these and returns; `user` is what
            // came with it.
            unsafe { function(self.callback.user, &event) };
            return;
        }
        let Some(list) = &mut self.list else { return };
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

impl Signals for Sink<'_> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        let cookie = self.cookies.take(packet.frame);
        self.send(fw_event { packet: outer(&packet, cookie), kind: FW_DROP, cause: cause as u32 });
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        let cookie = self.cookies.peek(packet.frame);
        self.send(fw_event { packet: outer(packet, cookie), kind: FW_MARK, cause: cause as u32 });
    }
}

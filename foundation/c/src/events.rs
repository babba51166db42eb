//! Delivers drops and marks to the caller.
#![allow(unsafe_code, reason = "the caller's list is written, and its callback invoked")]

use crate::cookies::Cookies;
use crate::queue::outer;
use crate::types::{FW_DROP, FW_MARK, fw_event, fw_events, fw_on_event};
use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use fairwire_core::{Cause, Packet, Signals};
use std::collections::VecDeque;

#[derive(Clone, Copy)]
pub(crate) struct Callback {
    pub(crate) function: fw_on_event,
    pub(crate) user: *mut c_void,
}

/// Delivers drops and marks to the callback or, without a callback, to the caller's list. With
/// neither, drops and marks are forgotten.
pub(crate) struct Sink {
    pub(crate) cookies: Cookies,
    /// Drops that did not fit into the caller's list. The `cookie` of a kept drop is its frame,
    /// which stays occupied until the drop is delivered. So there are never more kept drops than
    /// frames.
    pub(crate) kept: VecDeque<fw_event>,
    pub(crate) callback: Callback,
    list: Option<NonNull<fw_events>>,
}

impl Sink {
    pub(crate) fn new(capacity: usize) -> Self {
        Sink {
            cookies: Cookies::new(capacity),
            kept: VecDeque::with_capacity(capacity),
            callback: Callback { function: None, user: null_mut() },
            list: None,
        }
    }

    #[inline(always)]
    pub(crate) fn begin(&mut self, list: Option<&mut fw_events>) {
        if let Some(list) = list
            && self.callback.function.is_none()
        {
            if !self.kept.is_empty() {
                self.write_kept(list);
            }
            self.list = Some(NonNull::from(list));
        }
    }

    #[cold]
    fn write_kept(&mut self, list: &mut fw_events) {
        while has_room(list)
            && let Some(event) = self.next_kept()
        {
            write(list, &event);
        }
    }

    #[inline(always)]
    pub(crate) fn end(&mut self) {
        if let Some(mut list) = self.list {
            // SAFETY: this call has borrowed `list`.
            unsafe { list.as_mut() }.kept = self.kept.len() as u32;
            self.list = None;
        }
    }

    pub(crate) fn next_kept(&mut self) -> Option<fw_event> {
        let mut event = self.kept.pop_front()?;
        event.packet.cookie = self.cookies.take(event.packet.cookie as u32);
        Some(event)
    }

    /// Returns false if the list has no room.
    fn send(&mut self, event: &fw_event) -> bool {
        if let Some(function) = self.callback.function {
            // SAFETY: the function takes these arguments and returns normally, as the header
            // requires. `user` came with the function.
            unsafe { function(self.callback.user, event) };
            return true;
        }
        // SAFETY: as above.
        self.list.is_none_or(|mut list| self.kept.is_empty() && write(unsafe { list.as_mut() }, event))
    }
}

fn has_room(list: &fw_events) -> bool {
    list.count < list.room && !list.list.is_null()
}

fn write(list: &mut fw_events, event: &fw_event) -> bool {
    let has_room = has_room(list);
    if has_room {
        // SAFETY: the header requires room for `room` events at `list`, and `count` is below
        // `room`.
        unsafe { list.list.add(list.count as usize).write(*event) };
        list.count += 1;
    }
    has_room
}

impl Signals for Sink {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        let cookie = self.cookies.peek(packet.frame);
        let mut event = fw_event { packet: outer(&packet, cookie), kind: FW_DROP, cause: cause as u32 };
        // `kept` fills up only if a discipline written in C drops more packets than entered.
        if self.send(&event) || self.kept.len() == self.kept.capacity() {
            self.cookies.take(packet.frame);
        } else {
            event.packet.cookie = packet.frame.into();
            self.kept.push_back(event);
        }
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        let cookie = self.cookies.peek(packet.frame);
        self.send(&fw_event { packet: outer(packet, cookie), kind: FW_MARK, cause: cause as u32 });
    }
}

//! Sending many frames with one system call.

use super::socket::last_error;
use crate::io::{MOST_FRAMES_AT_ONCE, Refused};
use fairwire_wire::vnet;
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What goes before a frame to which nothing is left to be done.
static PLAIN: [u8; vnet::LEN] = [0; vnet::LEN];

/// Sends `frames` in order; `fault` is told each error.
pub(super) fn send_all(socket: BorrowedFd<'_>, frames: &[&[u8]], fault: &mut dyn FnMut(Errno)) -> Refused {
    let frames = &frames[..frames.len().min(MOST_FRAMES_AT_ONCE)];
    let mut vectors = [const { MaybeUninit::<[libc::iovec; 2]>::uninit() }; MOST_FRAMES_AT_ONCE];
    let mut messages = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; MOST_FRAMES_AT_ONCE];
    for ((message, vector), frame) in messages.iter_mut().zip(&mut vectors).zip(frames) {
        // The kernel only reads what these point to, though their type says otherwise.
        let vector = vector.write([
            libc::iovec { iov_base: PLAIN.as_ptr().cast_mut().cast(), iov_len: vnet::LEN },
            libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() },
        ]);
        // SAFETY: `mmsghdr` is a C structure of integers and pointers, for which all zeros are a valid value.
        let message = message.write(unsafe { MaybeUninit::zeroed().assume_init() });
        message.msg_hdr.msg_iov = vector.as_mut_ptr();
        message.msg_hdr.msg_iovlen = vector.len() as _;
    }
    let mut refused = Refused::NONE;
    let mut from = 0;
    while from < frames.len() {
        // SAFETY: the messages from `from` up to the number of frames have been written above; each points to its own pair
        // of vectors, and these to bytes with their true lengths. All outlive the call, and the kernel writes only into the
        // messages' lengths, to which nothing else refers.
        let sent = unsafe {
            let first = messages.as_mut_ptr().add(from).cast();
            libc::sendmmsg(socket.as_raw_fd(), first, (frames.len() - from) as _, libc::MSG_DONTWAIT as _)
        };
        if sent >= 0 {
            from += sent as usize;
            continue;
        }
        // An error is told only of a first message, so that is the one it belongs to.
        match last_error() {
            Errno::INTR => {}
            error => {
                refused.add(from);
                fault(error);
                from += 1;
            }
        }
    }
    refused
}

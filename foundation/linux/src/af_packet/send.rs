//! Sends many frames with one system call.

use super::socket::last_error;
use crate::gather::{Gathered, Heads, Message};
use crate::port::{MAX_FRAMES_AT_ONCE, Outgoing, Refused};
use libc::mmsghdr;
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Sends `frames` in order, joined where possible.
pub(super) fn send_all(
    socket: BorrowedFd<'_>,
    frames: &[Outgoing<'_>],
    fault: &mut dyn FnMut(Errno),
) -> Refused {
    let mut heads = Heads::new();
    let gathered = Gathered::new(&frames[..frames.len().min(MAX_FRAMES_AT_ONCE)], &mut heads);
    let mut messages = [Message::default(); MAX_FRAMES_AT_ONCE];
    let mut headers = [const { MaybeUninit::<mmsghdr>::uninit() }; MAX_FRAMES_AT_ONCE];
    let count = gathered.messages().len();
    for (((message, pieces), place), header) in gathered.messages().zip(&mut messages).zip(&mut headers) {
        *place = *message;
        // SAFETY: `mmsghdr` is a C structure of integers and pointers, for which all zeros are
        // valid.
        let header = header.write(unsafe { MaybeUninit::zeroed().assume_init() });
        // An `IoSlice` is an `iovec` in memory. The kernel only reads it, although the pointer is
        // mutable.
        header.msg_hdr.msg_iov = pieces.as_ptr().cast_mut().cast();
        header.msg_hdr.msg_iovlen = pieces.len() as _;
    }
    let mut refused = Refused::NONE;
    let mut from = 0;
    while from < count {
        // SAFETY: the headers up to `count` are written above. Each header points to its pieces in
        // `gathered`, and each piece to its bytes, with correct lengths. All outlive the call. The
        // kernel writes only the headers' lengths, to which nothing else refers.
        let sent = unsafe {
            let first = headers.as_mut_ptr().add(from).cast();
            libc::sendmmsg(socket.as_raw_fd(), first, (count - from) as _, libc::MSG_DONTWAIT as _)
        };
        if sent >= 0 {
            from += sent as usize;
            continue;
        }
        // The call fails only if the kernel refuses message `from`.
        match last_error() {
            Errno::INTR => {}
            error => {
                messages[from].refuse(error, &mut refused);
                fault(error);
                from += 1;
            }
        }
    }
    refused
}

//! Sending many frames with one system call.

use super::socket::last_error;
use crate::io::{MOST_FRAMES_AT_ONCE, Outgoing, Refused};
use fairwire_wire::join::{Joint, MOST_HEADER_BYTES};
use fairwire_wire::vnet;
use libc::mmsghdr;
use rustix::io::Errno;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What goes before a frame to which nothing is left to be done.
static PLAIN: [u8; vnet::LEN] = [0; vnet::LEN];

/// The headers of a super-packet, its virtio-net header before them.
type Head = [u8; vnet::LEN + MOST_HEADER_BYTES];
/// Of each frame its bytes, and something before it.
const MOST_VECTORS: usize = 2 * MOST_FRAMES_AT_ONCE;
/// Super-packets have two frames at least.
const MOST_HEADS: usize = MOST_FRAMES_AT_ONCE / 2;

/// Frames that go into one message: those from `from` up to `to`.
#[derive(Clone, Copy, Default)]
struct Message {
    from: usize,
    to: usize,
    vectors: usize,
}

/// Sends `frames` in order, those that go together as one; `fault` is told each error.
pub(super) fn send_all(
    socket: BorrowedFd<'_>,
    frames: &[Outgoing<'_>],
    fault: &mut dyn FnMut(Errno),
) -> Refused {
    let frames = &frames[..frames.len().min(MOST_FRAMES_AT_ONCE)];
    let mut heads: [MaybeUninit<Head>; MOST_HEADS] = [const { MaybeUninit::uninit() }; MOST_HEADS];
    let mut free_heads = heads.iter_mut();
    let mut vectors = [IoSlice::new(&[]); MOST_VECTORS];
    let mut messages = [Message::default(); MOST_FRAMES_AT_ONCE];
    let (mut count, mut used, mut from) = (0, 0, 0);
    while from < frames.len() {
        let start = used;
        let to = match together(&frames[from..]) {
            Some((joint, number)) if let Some(head) = free_heads.next().and_then(|head| write(&joint, head)) => {
                push(&mut vectors, &mut used, head);
                for frame in &frames[from..from + number] {
                    let payload = frame.seam.map_or(0, |seam| seam.payload());
                    push(&mut vectors, &mut used, &frame.bytes[payload..]);
                }
                from + number
            }
            _ => {
                push(&mut vectors, &mut used, &PLAIN);
                push(&mut vectors, &mut used, frames[from].bytes);
                from + 1
            }
        };
        messages[count] = Message { from, to, vectors: used - start };
        count += 1;
        from = to;
    }
    send(socket, &messages[..count], &vectors[..used], fault)
}

/// The super-packet that `frames` begin with, and of how many it is made; `None` when the first goes alone.
fn together<'a>(frames: &[Outgoing<'a>]) -> Option<(Joint<'a>, usize)> {
    let (first, rest) = frames.split_first()?;
    let mut joint = Joint::new(first.bytes, first.seam?);
    let more = rest.iter().take_while(|next| next.seam.is_some_and(|seam| joint.add(next.bytes, seam))).count();
    (more > 0).then_some((joint, more + 1))
}

fn write<'a>(joint: &Joint<'_>, head: &'a mut MaybeUninit<Head>) -> Option<&'a [u8]> {
    let head = head.write([0; vnet::LEN + MOST_HEADER_BYTES]);
    let (len, vnet) = joint.write(&mut head[vnet::LEN..])?;
    vnet.write(head)?;
    Some(&head[..vnet::LEN + len])
}

fn push<'a>(vectors: &mut [IoSlice<'a>; MOST_VECTORS], used: &mut usize, bytes: &'a [u8]) {
    vectors[*used] = IoSlice::new(bytes);
    *used += 1;
}

/// Sends `messages`, whose `vectors` lie one after another.
fn send(
    socket: BorrowedFd<'_>,
    messages: &[Message],
    vectors: &[IoSlice<'_>],
    fault: &mut dyn FnMut(Errno),
) -> Refused {
    let mut headers = [const { MaybeUninit::<mmsghdr>::uninit() }; MOST_FRAMES_AT_ONCE];
    let mut rest = vectors;
    for (header, message) in headers.iter_mut().zip(messages) {
        let (mine, others) = rest.split_at(message.vectors);
        rest = others;
        // SAFETY: `mmsghdr` is a C structure of integers and pointers, for which all zeros are a valid value.
        let header = header.write(unsafe { MaybeUninit::zeroed().assume_init() });
        // The same in memory as an `iovec`, which the kernel only reads here, though its type says otherwise.
        header.msg_hdr.msg_iov = mine.as_ptr().cast_mut().cast();
        header.msg_hdr.msg_iovlen = mine.len() as _;
    }
    let mut refused = Refused::NONE;
    let mut from = 0;
    while from < messages.len() {
        // SAFETY: the headers up to the number of messages have been written above; each points to its own vectors, and these
        // to bytes with their true lengths. All outlive the call, and the kernel writes only into the headers' lengths,
        // to which nothing else refers.
        let sent = unsafe {
            let first = headers.as_mut_ptr().add(from).cast();
            libc::sendmmsg(socket.as_raw_fd(), first, (messages.len() - from) as _, libc::MSG_DONTWAIT as _)
        };
        if sent >= 0 {
            from += sent as usize;
            continue;
        }
        // An error is told only of a first message, so that is the one it belongs to.
        match last_error() {
            Errno::INTR => {}
            error => {
                (messages[from].from..messages[from].to).for_each(|place| refused.add(place));
                fault(error);
                from += 1;
            }
        }
    }
    refused
}

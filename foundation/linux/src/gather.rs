//! Assembles messages for the kernel: frames and super-packets.

use crate::port::{MAX_FRAMES_AT_ONCE, Outgoing, Refused};
use fairwire_wire::join::{Joint, MAX_HEADER_BYTES};
use fairwire_wire::vnet;
use rustix::io::Errno;
use std::io::IoSlice;

static PLAIN: [u8; vnet::LEN] = [0; vnet::LEN];

/// Buffers for each super-packet's headers, including its virtio-net header. A super-packet has at
/// least two frames, so `MAX_FRAMES_AT_ONCE / 2` suffice.
pub(super) struct Heads([[u8; vnet::LEN + MAX_HEADER_BYTES]; MAX_FRAMES_AT_ONCE / 2]);

impl Heads {
    pub(super) const fn new() -> Self {
        Heads([[0; vnet::LEN + MAX_HEADER_BYTES]; MAX_FRAMES_AT_ONCE / 2])
    }
}

/// Each frame takes two vectors: its bytes, and a header before them.
const MAX_VECTORS: usize = 2 * MAX_FRAMES_AT_ONCE;

pub(super) struct Gathered<'a> {
    vectors: [IoSlice<'a>; MAX_VECTORS],
    used: usize,
    messages: [Message; MAX_FRAMES_AT_ONCE],
    count: usize,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Message {
    from: usize,
    to: usize,
    first_vector: usize,
    last_vector: usize,
}

impl Message {
    pub(super) fn refuse(&self, error: Errno, refused: &mut Refused) {
        let add = if error == Errno::MSGSIZE { Refused::add_too_long } else { Refused::add };
        (self.from..self.to).for_each(|place| add(refused, place));
    }
}

impl<'a> Gathered<'a> {
    pub(super) fn new(frames: &[Outgoing<'a>], heads: &'a mut Heads) -> Self {
        let mut gathered = Gathered {
            vectors: [IoSlice::new(&[]); MAX_VECTORS],
            used: 0,
            messages: [Message::default(); MAX_FRAMES_AT_ONCE],
            count: 0,
        };
        let mut heads = heads.0.iter_mut();
        let mut from = 0;
        while from < frames.len() {
            let first_vector = gathered.used;
            let to = from + gathered.add(&frames[from..], &mut heads);
            gathered.messages[gathered.count] =
                Message { from, to, first_vector, last_vector: gathered.used };
            gathered.count += 1;
            from = to;
        }
        gathered
    }

    pub(super) fn messages(&self) -> impl ExactSizeIterator<Item = (&Message, &[IoSlice<'a>])> {
        let pieces = |message: &Message| &self.vectors[message.first_vector..message.last_vector];
        self.messages[..self.count].iter().map(move |message| (message, pieces(message)))
    }

    /// Adds one message from the start of `frames`, and returns the number of its frames.
    fn add(
        &mut self,
        frames: &[Outgoing<'a>],
        heads: &mut std::slice::IterMut<'a, [u8; vnet::LEN + MAX_HEADER_BYTES]>,
    ) -> usize {
        if let Some((joint, number)) = together(frames)
            && let Some(head) = heads.next().and_then(|head| write(&joint, head))
        {
            self.push(head);
            for frame in &frames[..number] {
                self.push(&frame.bytes[frame.offsets.map_or(0, |offsets| offsets.payload())..]);
            }
            return number;
        }
        self.push(&PLAIN);
        self.push(frames[0].bytes);
        1
    }

    fn push(&mut self, bytes: &'a [u8]) {
        self.vectors[self.used] = IoSlice::new(bytes);
        self.used += 1;
    }
}

/// The super-packet at the start of `frames`, and its number of frames. `None` if the first frame
/// is sent separately.
fn together<'a>(frames: &[Outgoing<'a>]) -> Option<(Joint<'a>, usize)> {
    let (first, rest) = frames.split_first()?;
    let mut joint = Joint::new(first.bytes, first.offsets?);
    let more = rest
        .iter()
        .take_while(|next| next.offsets.is_some_and(|offsets| joint.add(next.bytes, offsets)))
        .count();
    (more > 0).then_some((joint, more + 1))
}

fn write<'a>(joint: &Joint<'_>, head: &'a mut [u8]) -> Option<&'a [u8]> {
    let (len, vnet) = joint.write(head.get_mut(vnet::LEN..)?)?;
    vnet.write(head)?;
    head.get(..vnet::LEN + len)
}

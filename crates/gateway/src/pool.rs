//! The frames that are inside the gateway: a fixed number of buffers, all taken at construction.

use crate::io::LinkKind;
use fairwire_core::Ecn;
use fairwire_wire::join::Seam;

/// A bounded store of frames, each named by a small number: [`Packet::frame`](fairwire_core::Packet::frame).
#[derive(Debug)]
pub struct FramePool {
    bytes: Box<[u8]>,
    frame_bytes: usize,
    notes: Box<[Note]>,
    free: Vec<u32>,
}

/// What the gateway remembers of a frame beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Bytes of the frame.
    pub len: u32,
    /// The account of its flow.
    pub account: u32,
    /// The ECN field that it came with.
    pub ecn: Ecn,
    /// How it begins.
    pub kind: LinkKind,
    /// Its seam, when it is a part of a super-packet.
    pub seam: Option<Seam>,
}

/// How large a pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSize {
    /// Frames that may be inside at once.
    pub frames: u32,
    /// Bytes of the longest frame, Ethernet header included.
    pub frame_bytes: u32,
}

impl PoolSize {
    /// Room for `frames` frames of at most `frame_bytes`, and for somewhat longer ones, since the MTU of an interface may change
    /// while the gateway runs. What is longer still is counted as too long.
    pub fn with_room(frames: u32, frame_bytes: u32) -> Self {
        PoolSize { frames, frame_bytes: Self::room(frame_bytes) }
    }

    /// Bytes that a frame of at most `frame_bytes` is given.
    pub fn room(frame_bytes: u32) -> u32 {
        frame_bytes.min(LONGEST_FRAME_BYTES).next_multiple_of(64).max(LEAST_ROOM_BYTES)
    }
}

/// The longest IP packet, which the loopback interface takes, with an Ethernet header and two VLAN tags.
const LONGEST_FRAME_BYTES: u32 = 65_536 + 14 + 2 * 4;
/// Up to an MTU of 2026 bytes nothing has to be made anew: 1500 and what tunnels and "baby jumbo" frames add to it.
const LEAST_ROOM_BYTES: u32 = 2048;

/// Why a frame was not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// Every buffer is in use.
    Exhausted,
    /// It is longer than a buffer.
    TooLong,
}

impl FramePool {
    /// An empty pool.
    pub fn new(size: PoolSize) -> Self {
        FramePool {
            bytes: vec![0; size.frames as usize * size.frame_bytes as usize].into(),
            frame_bytes: size.frame_bytes as usize,
            notes: vec![Note::default(); size.frames as usize].into(),
            free: (0..size.frames).rev().collect(),
        }
    }

    /// Frames inside.
    pub fn in_use(&self) -> usize {
        self.notes.len() - self.free.len()
    }

    /// Frames that fit.
    pub fn capacity(&self) -> usize {
        self.notes.len()
    }

    /// How large it is.
    pub fn size(&self) -> PoolSize {
        PoolSize { frames: self.notes.len() as u32, frame_bytes: self.frame_bytes as u32 }
    }

    /// Would all that is inside of `other` fit this pool, which is empty?
    pub fn holds(&self, other: &FramePool) -> bool {
        other.in_use() <= self.capacity()
            && (self.frame_bytes >= other.frame_bytes
                || other.ids_in_use().all(|id| other.note(id).len as usize <= self.frame_bytes))
    }

    /// Copies all that is inside of `other` into this pool, which [`holds`](FramePool::holds) it, and writes the new name of each frame
    /// to the place of its old one in `names`. `other` is of no use after that.
    pub fn take_all(&mut self, other: &FramePool, names: &mut Vec<u32>) {
        const FREE: u32 = u32::MAX;
        names.clear();
        names.resize(other.capacity(), 0);
        other.free.iter().for_each(|id| names[*id as usize] = FREE);
        for (id, name) in (0..).zip(names.iter_mut()).filter(|(_, name)| **name != FREE) {
            *name = self.put(other.bytes(id), other.note(id)).expect("it was seen to fit");
        }
    }

    fn ids_in_use(&self) -> impl Iterator<Item = u32> {
        let mut is_free = vec![false; self.notes.len()];
        self.free.iter().for_each(|id| is_free[*id as usize] = true);
        (0..self.notes.len() as u32).filter(move |id| !is_free[*id as usize])
    }

    /// What is remembered of frame `id`, to be changed.
    pub fn note_mut(&mut self, id: u32) -> &mut Note {
        &mut self.notes[id as usize]
    }

    /// Copies `frame` in and names it.
    pub fn put(&mut self, frame: &[u8], note: Note) -> Result<u32, NoRoom> {
        if frame.len() > self.frame_bytes {
            return Err(NoRoom::TooLong);
        }
        let id = self.free.pop().ok_or(NoRoom::Exhausted)?;
        self.notes[id as usize] = Note { len: frame.len() as u32, ..note };
        self.bytes_mut(id).copy_from_slice(frame);
        Ok(id)
    }

    /// The bytes of frame `id`.
    pub fn bytes(&self, id: u32) -> &[u8] {
        let start = id as usize * self.frame_bytes;
        &self.bytes[start..start + self.notes[id as usize].len as usize]
    }

    /// The bytes of frame `id`, to be rewritten.
    pub fn bytes_mut(&mut self, id: u32) -> &mut [u8] {
        let start = id as usize * self.frame_bytes;
        &mut self.bytes[start..start + self.notes[id as usize].len as usize]
    }

    /// What is remembered of frame `id`.
    pub fn note(&self, id: u32) -> Note {
        self.notes[id as usize]
    }

    /// Gives the buffer of frame `id` back.
    pub fn release(&mut self, id: u32) {
        assert!(self.free.len() < self.notes.len(), "a frame was given back twice");
        self.free.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> FramePool {
        FramePool::new(PoolSize { frames: 2, frame_bytes: 4 })
    }

    #[test]
    fn a_full_pool_refuses_until_a_frame_is_given_back() {
        let mut pool = pool();
        let first = pool.put(b"one", Note::default()).unwrap();
        let second = pool.put(b"two!", Note::default()).unwrap();
        assert_eq!(pool.put(b"3", Note::default()), Err(NoRoom::Exhausted));
        assert_eq!((pool.bytes(first), pool.bytes(second)), (&b"one"[..], &b"two!"[..]));
        pool.release(first);
        assert_eq!(pool.in_use(), 1);
        assert!(pool.put(b"3", Note::default()).is_ok());
    }

    #[test]
    fn a_pool_has_room_for_frames_of_a_somewhat_larger_mtu() {
        for (mtu, frame_bytes) in [(1280, 2048), (1500, 2048), (2026, 2048), (2027, 2112), (9000, 9024)] {
            assert_eq!(PoolSize::with_room(8, mtu + 22), PoolSize { frames: 8, frame_bytes }, "{mtu}");
        }
        assert!(PoolSize::room(65_535 + 22) >= 65_535 + 22);
        assert_eq!(PoolSize::room(u32::MAX), PoolSize::room(65_558));
    }

    #[test]
    fn a_frame_that_is_too_long_takes_no_buffer() {
        let mut pool = pool();
        assert_eq!(pool.put(b"12345", Note::default()), Err(NoRoom::TooLong));
        assert_eq!(pool.in_use(), 0);
    }
}

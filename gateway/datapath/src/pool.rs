//! The frames inside the gateway. All buffers are allocated at construction.
//!
//! Short frames have separate buffers, an eighth as long as those for an MTU of 1500 bytes. With
//! one size for all, each burst of acknowledgements would touch new pages, and a busy gateway would
//! grow for minutes.

use fairwire_core::Ecn;
use fairwire_linux::port::LinkKind;
use fairwire_wire::join::TcpOffsets;
use std::ops::Range;

/// A bounded store of frames, each named by a small number:
/// [`Packet::frame`](fairwire_core::Packet::frame).
#[derive(Debug)]
pub struct FramePool {
    size: PoolSize,
    in_use: u32,
    /// Buffers for frames of any length, named from 0 up.
    long: Cells,
    /// Buffers for frames of at most [`SHORT_BYTES`], named from `size.frames` up.
    short: Cells,
}

/// A frame's metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameNote {
    /// The frame's length in bytes.
    pub len: u32,
    /// The account of the frame's flow.
    pub account: u32,
    /// The class number.
    pub class: u32,
    /// The ECN field on arrival.
    pub ecn: Ecn,
    /// The type of the first header.
    pub kind: LinkKind,
    /// The header offsets, if the frame was split from a super-packet.
    pub offsets: Option<TcpOffsets>,
    /// The ticket of a timed round trip that begins with the frame's departure; 0 if not timed.
    pub(crate) ticket: u32,
}

/// The size of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSize {
    /// The maximum number of frames inside.
    pub frames: u32,
    /// Bytes of the longest frame, Ethernet header included.
    pub frame_bytes: u32,
}

impl PoolSize {
    /// Room for `frames` frames of at most `frame_bytes`. Slightly longer frames also fit, because
    /// an interface's MTU may change at run time.
    pub fn with_room(frames: u32, frame_bytes: u32) -> Self {
        PoolSize { frames, frame_bytes: Self::room(frame_bytes) }
    }

    /// The number of frame names (highest name plus 1).
    pub fn names(&self) -> usize {
        (self.frames + self.short_frames()) as usize
    }

    /// The memory of all buffers in bytes, once all have been used.
    pub fn bytes(&self) -> u64 {
        let of = |frames: u32, bytes: u32| u64::from(frames) * u64::from(bytes);
        of(self.frames, self.frame_bytes) + of(self.short_frames(), SHORT_BYTES)
    }

    /// One short buffer per frame, because all frames may be short.
    fn short_frames(&self) -> u32 {
        if self.frame_bytes > SHORT_BYTES { self.frames } else { 0 }
    }

    /// The buffer size for frames of at most `frame_bytes`.
    pub fn room(frame_bytes: u32) -> u32 {
        frame_bytes.min(MAX_FRAME_BYTES).next_multiple_of(64).max(MIN_ROOM_BYTES)
    }
}

/// The longest IP packet, as on the loopback interface, with an Ethernet header and two VLAN tags.
const MAX_FRAME_BYTES: u32 = 65_536 + 14 + 2 * 4;
/// The smallest buffer. It serves an MTU of up to 2026 bytes without reallocation: 1500 bytes plus
/// tunnel headers or "baby jumbo" extensions.
const MIN_ROOM_BYTES: u32 = 2048;

/// The longest short frame. A frame of a telephone call has 214 bytes.
const SHORT_BYTES: u32 = 256;

/// The reason why a frame did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// Every buffer is in use.
    Exhausted,
    /// The frame is longer than a buffer.
    TooLong,
}

impl FramePool {
    /// An empty pool.
    pub fn new(size: PoolSize) -> Self {
        FramePool {
            size,
            in_use: 0,
            long: Cells::new(size.frames, size.frame_bytes),
            short: Cells::new(size.short_frames(), SHORT_BYTES),
        }
    }

    /// Frames in the pool.
    pub fn in_use(&self) -> usize {
        self.in_use as usize
    }

    /// The most frames.
    pub fn capacity(&self) -> usize {
        self.size.frames as usize
    }

    /// Its size.
    pub fn size(&self) -> PoolSize {
        self.size
    }

    /// Would all frames of `other` fit this empty pool?
    pub fn holds(&self, other: &FramePool) -> bool {
        other.in_use() <= self.capacity()
            && (self.size.frame_bytes >= other.size.frame_bytes
                || other.ids_in_use().all(|id| other.note(id).len <= self.size.frame_bytes))
    }

    /// Copies all frames of `other` into this pool, which must [hold](FramePool::holds) them. Frame
    /// n of `other` is named `names[n]` here. Do not use `other` afterwards.
    pub(crate) fn take_all(&mut self, other: &FramePool, names: &mut Vec<u32>) {
        names.clear();
        names.resize(other.size.names(), VACANT);
        for id in other.ids_in_use() {
            names[id as usize] = self.put(other.bytes(id), other.note(id)).expect("it was seen to fit");
        }
    }

    fn ids_in_use(&self) -> impl Iterator<Item = u32> {
        self.long.in_use().chain(self.short.in_use().map(|at| at + self.size.frames))
    }

    pub(crate) fn note_mut(&mut self, id: u32) -> &mut FrameNote {
        let (cells, at) = self.cells_mut(id);
        &mut cells.notes[at as usize]
    }

    /// Copies `frame` in and returns its name.
    pub fn put(&mut self, frame: &[u8], note: FrameNote) -> Result<u32, NoRoom> {
        let len = frame.len() as u64;
        if len > u64::from(self.size.frame_bytes) {
            return Err(NoRoom::TooLong);
        }
        if self.in_use == self.size.frames {
            return Err(NoRoom::Exhausted);
        }
        self.in_use += 1;
        if len <= u64::from(SHORT_BYTES) && self.size.short_frames() > 0 {
            Ok(self.short.put(frame, note) + self.size.frames)
        } else {
            Ok(self.long.put(frame, note))
        }
    }

    /// The bytes of frame `id`.
    pub fn bytes(&self, id: u32) -> &[u8] {
        let (cells, at) = self.cells(id);
        &cells.bytes[cells.range(at)]
    }

    /// The bytes of frame `id`, mutable.
    pub fn bytes_mut(&mut self, id: u32) -> &mut [u8] {
        let (cells, at) = self.cells_mut(id);
        let range = cells.range(at);
        &mut cells.bytes[range]
    }

    /// The metadata of frame `id`.
    pub fn note(&self, id: u32) -> FrameNote {
        let (cells, at) = self.cells(id);
        cells.notes[at as usize]
    }

    /// Releases the buffer of frame `id`.
    pub fn release(&mut self, id: u32) {
        let (cells, at) = self.cells_mut(id);
        cells.release(at);
        self.in_use -= 1;
    }

    #[inline]
    fn cells(&self, id: u32) -> (&Cells, u32) {
        match id.checked_sub(self.size.frames) {
            Some(at) => (&self.short, at),
            None => (&self.long, id),
        }
    }

    #[inline]
    fn cells_mut(&mut self, id: u32) -> (&mut Cells, u32) {
        match id.checked_sub(self.size.frames) {
            Some(at) => (&mut self.short, at),
            None => (&mut self.long, id),
        }
    }
}

/// Buffers of one length. Unused buffers are never written, so on most systems they take no memory.
#[derive(Debug)]
struct Cells {
    bytes: Box<[u8]>,
    cell_bytes: usize,
    /// Notes of the buffers used so far. A buffer without a frame has the length [`VACANT`].
    notes: Vec<FrameNote>,
    /// Free buffers. The buffer released last is used first, so that few buffers are ever touched.
    free: Vec<u32>,
}

const VACANT: u32 = u32::MAX;

impl Cells {
    fn new(count: u32, cell_bytes: u32) -> Self {
        let (count, cell_bytes) = (count as usize, cell_bytes as usize);
        Cells {
            bytes: vec![0; count * cell_bytes].into(), // zeros, which the system provides without writing
            cell_bytes,
            notes: Vec::with_capacity(count),
            free: Vec::with_capacity(count),
        }
    }

    /// Copies `frame` into a free slot, which must be long enough.
    fn put(&mut self, frame: &[u8], note: FrameNote) -> u32 {
        let note = FrameNote { len: frame.len() as u32, ..note };
        let at = match self.free.pop() {
            Some(at) => {
                self.notes[at as usize] = note;
                at
            }
            None => {
                self.notes.push(note);
                self.notes.len() as u32 - 1
            }
        };
        let range = self.range(at);
        self.bytes[range].copy_from_slice(frame);
        at
    }

    #[inline]
    fn range(&self, at: u32) -> Range<usize> {
        let start = at as usize * self.cell_bytes;
        start..start + self.notes[at as usize].len as usize
    }

    fn release(&mut self, at: u32) {
        let len = std::mem::replace(&mut self.notes[at as usize].len, VACANT);
        assert!(len != VACANT, "a frame was given back twice");
        self.free.push(at);
    }

    fn in_use(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.notes).filter(|(_, note)| note.len != VACANT).map(|(at, _)| at)
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
        let first = pool.put(b"one", FrameNote::default()).unwrap();
        let second = pool.put(b"two!", FrameNote::default()).unwrap();
        assert_eq!(pool.put(b"3", FrameNote::default()), Err(NoRoom::Exhausted));
        assert_eq!((pool.bytes(first), pool.bytes(second)), (&b"one"[..], &b"two!"[..]));
        pool.release(first);
        assert_eq!(pool.in_use(), 1);
        assert!(pool.put(b"3", FrameNote::default()).is_ok());
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
        assert_eq!(pool.put(b"12345", FrameNote::default()), Err(NoRoom::TooLong));
        assert_eq!(pool.in_use(), 0);
    }

    #[test]
    fn short_frames_use_short_buffers_and_both_sizes_count_against_the_bound() {
        let mut pool = FramePool::new(PoolSize { frames: 3, frame_bytes: 2048 });
        let (ack, long) = ([1; 66], [2; 1514]);
        let ids = [&ack[..], &long, &ack].map(|frame| pool.put(frame, FrameNote::default()).unwrap());
        assert_eq!((pool.long.notes.len(), pool.short.notes.len()), (1, 2));
        for frame in [&ack[..], &long] {
            assert_eq!(pool.put(frame, FrameNote::default()), Err(NoRoom::Exhausted));
        }
        assert_eq!(
            (pool.bytes(ids[0]), pool.bytes(ids[1]), pool.bytes(ids[2])),
            (&ack[..], &long[..], &ack[..])
        );
        assert!(ids.iter().all(|id| (*id as usize) < pool.size().names()));
        pool.release(ids[1]);
        let last = pool.put(&[3; 257], FrameNote::default()).unwrap();
        assert_eq!((last, pool.long.notes.len(), pool.in_use()), (ids[1], 1, 3));
    }

    #[test]
    fn bursts_of_short_frames_touch_little_memory_of_a_full_pool() {
        let mut pool = FramePool::new(PoolSize { frames: 4096, frame_bytes: 2048 });
        let mut put = |len: usize| pool.put(&vec![0; len], FrameNote::default()).unwrap();
        for _ in 0..826 {
            put(1514);
        }
        let acks: Vec<u32> = (0..200).map(|_| put(66)).collect();
        assert_eq!((pool.long.notes.len() * 2048).div_ceil(4096), 413);
        assert_eq!((pool.short.notes.len() * 256).div_ceil(4096), 13);
        acks.into_iter().for_each(|id| pool.release(id));
        assert_eq!(pool.in_use(), 826);
    }

    #[test]
    fn frames_move_to_another_pool_unchanged_under_new_names() {
        let mut small = FramePool::new(PoolSize { frames: 4, frame_bytes: 2048 });
        let frames = [vec![1; 66], vec![2; 1514], vec![3; 256], vec![4; 2048]];
        let ids: Vec<u32> =
            frames.iter().map(|frame| small.put(frame, FrameNote::default()).unwrap()).collect();
        small.release(ids[1]);
        for (frame_bytes, fits) in [(2047, false), (2048, true), (9024, true)] {
            let mut other = FramePool::new(PoolSize { frames: 3, frame_bytes });
            assert_eq!(other.holds(&small), fits, "{frame_bytes}");
            if fits {
                let mut names = Vec::new();
                other.take_all(&small, &mut names);
                assert_eq!((names.len(), other.in_use()), (small.size().names(), 3));
                for n in [0, 2, 3] {
                    assert_eq!(other.bytes(names[ids[n] as usize]), frames[n]);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "a frame was given back twice")]
    fn a_frame_is_released_once() {
        let mut pool = pool();
        let id = pool.put(b"one", FrameNote::default()).unwrap();
        pool.put(b"two", FrameNote::default()).unwrap();
        pool.release(id);
        pool.release(id);
    }
}

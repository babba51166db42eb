//! The wheel of a calendar queue: buckets of equal width for the near future.

use crate::event::Event;
use crate::ties::Ties;
use fairwire_core::Time;
use std::cmp::Ordering;

/// A waiting event. The derived order, by time and then by number, is for the heap of distant
/// events. Buckets are sorted by [`order`](Entry::order), which applies the tie rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) time: Time,
    pub(crate) number: u32,
    /// The position in the order of insertion, modulo 2^32. It decides between events with the same
    /// time and number.
    pub(crate) serial: u32,
    pub(crate) event: Event,
}

impl Entry {
    #[inline]
    pub(crate) fn order(&self, other: &Entry, ties: &Ties) -> Ordering {
        self.time.cmp(&other.time).then_with(|| {
            if self.number == other.number {
                // The sign of the difference is right even if serials wrap, for events within 2^31
                // of each other.
                self.serial.wrapping_sub(other.serial).cast_signed().cmp(&0)
            } else if ties.goes_first(self.time, self.number, other.number) {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        })
    }
}

/// The buckets from number `head` on; bucket `b` holds the times with `time >> shift == b`.
///
/// A bucket's events are stored in chunks. In a linked list of single events, each event would cost
/// a cache miss.
#[derive(Debug)]
pub(crate) struct Wheel {
    pub(crate) shift: u32,
    pub(crate) head: u64,
    pub(crate) len: usize,
    buckets: Box<[Bucket]>,
    occupied: Box<[u64]>, // one bit per bucket
    chunks: Vec<Chunk>,
    free: u32, // the first free chunk, or NONE
}

/// A bucket is 2^`shift` ns wide. The number of buckets is a power of two, and at least 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) shift: u32,
    pub(crate) buckets: usize,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    chunk: u32, // the chunk being filled, or NONE
    len: u32,   // of that chunk
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Chunk {
    entries: [Entry; ROOM],
    next: u32, // a full chunk, or NONE; also the link of the free list
}

/// Events per chunk: ten events of 24 B and a link of 4 B fit in four cache lines.
const ROOM: usize = 10;
const _: () = assert!(size_of::<Chunk>() == 256);

const NONE: u32 = u32::MAX;
const EMPTY: Bucket = Bucket { chunk: NONE, len: 0 };

impl Wheel {
    pub(crate) fn new(layout: Layout, now: Time) -> Self {
        let Layout { shift, buckets } = layout;
        Wheel {
            shift,
            head: now.ns() >> shift,
            len: 0,
            buckets: vec![EMPTY; buckets].into(),
            occupied: vec![0; buckets / 64].into(),
            chunks: Vec::new(),
            free: NONE,
        }
    }

    #[inline]
    pub(crate) fn buckets(&self) -> usize {
        self.buckets.len()
    }

    #[inline]
    pub(crate) fn bucket(&self, time: Time) -> u64 {
        time.ns() >> self.shift
    }

    #[inline]
    pub(crate) fn start_of(&self, bucket: u64) -> Time {
        Time::from_ns(bucket << self.shift)
    }

    /// The slot of `bucket`. No two buckets share a slot, because the wheel covers as many
    /// successive buckets as it has slots.
    #[inline]
    fn slot(&self, bucket: u64) -> usize {
        bucket as usize & (self.buckets.len() - 1)
    }

    #[inline]
    pub(crate) fn add(&mut self, bucket: u64, entry: Entry) {
        let slot = self.slot(bucket);
        let Bucket { mut chunk, mut len } = self.buckets[slot];
        if chunk == NONE || len as usize == ROOM {
            chunk = self.another(chunk, entry);
            len = 0;
            self.occupied[slot / 64] |= 1 << (slot % 64);
        }
        self.chunks[chunk as usize].entries[len as usize] = entry;
        self.buckets[slot] = Bucket { chunk, len: len + 1 };
        self.len += 1;
    }

    fn another(&mut self, next: u32, entry: Entry) -> u32 {
        match self.free {
            NONE => {
                self.chunks.push(Chunk { entries: [entry; ROOM], next });
                (self.chunks.len() - 1) as u32
            }
            free => {
                self.free = std::mem::replace(&mut self.chunks[free as usize].next, next);
                free
            }
        }
    }

    pub(crate) fn first_occupied(&self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let start = self.slot(self.head);
        let words = self.occupied.len();
        let mut word = self.occupied[start / 64] & (!0 << (start % 64));
        // The bits from `start` on are searched first. The bits before `start` in the same word are
        // searched last, because they are the furthest ahead.
        for step in 0..=words {
            if word != 0 {
                let slot = (start / 64 + step) % words * 64 + word.trailing_zeros() as usize;
                let ahead = slot.wrapping_sub(start) & (self.buckets.len() - 1);
                return Some(self.head + ahead as u64);
            }
            word = self.occupied[(start / 64 + step + 1) % words];
        }
        unreachable!("{} events in a wheel without an occupied bucket", self.len)
    }

    pub(crate) fn drain(&mut self, bucket: u64, into: &mut Vec<Entry>) {
        if bucket - self.head >= self.buckets.len() as u64 {
            return; // beyond the last bucket
        }
        let slot = self.slot(bucket);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let Bucket { mut chunk, len } = std::mem::replace(&mut self.buckets[slot], EMPTY);
        let mut len = len as usize;
        while chunk != NONE {
            let Chunk { entries, next } = &mut self.chunks[chunk as usize];
            into.extend_from_slice(&entries[..len]);
            self.len -= len;
            len = ROOM;
            (self.free, chunk) = (chunk, std::mem::replace(next, self.free));
        }
    }

    pub(crate) fn lay_out(&mut self, layout: Layout, now: Time, into: &mut Vec<Entry>) {
        while let Some(bucket) = self.first_occupied() {
            self.drain(bucket, into);
            self.head = bucket;
        }
        let mut chunks = std::mem::take(&mut self.chunks);
        chunks.clear();
        *self = Wheel { chunks, ..Wheel::new(layout, now) };
    }
}

//! The caller's cookies: a packet of the core has 32 bits for its frame, and a cookie has 64.

/// Cookies by frame, in memory that was taken at construction.
pub(crate) struct Cookies {
    /// The cookie of a frame in use, or the next free frame.
    all: Vec<u64>,
    capacity: usize,
    free: u64,
    used: usize,
}

const NONE: u64 = u64::MAX;

impl Cookies {
    pub(crate) fn new(capacity: usize) -> Self {
        Cookies { all: Vec::with_capacity(capacity), capacity, free: NONE, used: 0 }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// The frame of this cookie; `None` where all are in use.
    #[inline]
    pub(crate) fn put(&mut self, cookie: u64) -> Option<u32> {
        let frame = self.free;
        if let Some(place) = self.all.get_mut(frame as usize) {
            self.free = std::mem::replace(place, cookie);
        } else if self.all.len() < self.capacity {
            self.all.push(cookie);
            self.used += 1;
            return Some(self.all.len() as u32 - 1);
        } else {
            return None;
        }
        self.used += 1;
        Some(frame as u32)
    }

    /// The cookie of a frame, which is free from then on; 0 where there is no such frame, which only
    /// a discipline in C can name.
    #[inline]
    pub(crate) fn take(&mut self, frame: u32) -> u64 {
        let Some(place) = self.all.get_mut(frame as usize) else { return 0 };
        self.used = self.used.saturating_sub(1);
        std::mem::replace(place, std::mem::replace(&mut self.free, frame.into()))
    }

    /// The cookie of a frame, which stays in use.
    pub(crate) fn peek(&self, frame: u32) -> u64 {
        self.all.get(frame as usize).copied().unwrap_or(0)
    }
}

//! The caller's cookies: a packet of the core has 32 bits for its frame, and a cookie has 64.

/// Cookies by frame, in memory allocated at construction.
pub(crate) struct Cookies {
    /// The cookie of each frame in use.
    all: Box<[u64]>,
    /// The free frames, from `used` on, each minus its own index here. Zeros are then all frames in
    /// order, and take no memory until they are written.
    free: Box<[u32]>,
    used: usize,
}

impl Cookies {
    pub(crate) fn new(capacity: usize) -> Self {
        Cookies { all: vec![0; capacity].into(), free: vec![0; capacity].into(), used: 0 }
    }

    /// The number of cookies that can still be put.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.free.len() - self.used
    }

    /// The frame of this cookie; `None` if all are in use.
    #[inline]
    pub(crate) fn put(&mut self, cookie: u64) -> Option<u32> {
        let frame = self.free.get(self.used)?.wrapping_add(self.used as u32);
        *self.all.get_mut(frame as usize)? = cookie;
        self.used += 1;
        Some(frame)
    }

    /// The cookie of a frame, which becomes free; 0 if the frame does not exist, which only a
    /// discipline in C can name.
    #[inline]
    pub(crate) fn take(&mut self, frame: u32) -> u64 {
        let Some(&cookie) = self.all.get(frame as usize) else { return 0 };
        let used = self.used.saturating_sub(1);
        if let Some(place) = self.free.get_mut(used) {
            *place = frame.wrapping_sub(used as u32);
        }
        self.used = used;
        cookie
    }

    /// The cookie of a frame, which stays in use.
    pub(crate) fn peek(&self, frame: u32) -> u64 {
        self.all.get(frame as usize).copied().unwrap_or(0)
    }
}

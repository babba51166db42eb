//! The caller's cookies: a packet of the core has 32 bits for its frame, and a cookie has 64.

/// Cookies by frame, in memory that was taken at construction.
pub(crate) struct Cookies {
    /// The cookie of each frame in use.
    all: Box<[u64]>,
    /// The free frames, from `used` on, each less its own place here: zeros, which take no memory
    /// until they are touched, are every frame in order.
    free: Box<[u32]>,
    used: usize,
}

impl Cookies {
    pub(crate) fn new(capacity: usize) -> Self {
        Cookies { all: vec![0; capacity].into(), free: vec![0; capacity].into(), used: 0 }
    }

    /// How many more can be put.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.free.len() - self.used
    }

    /// The frame of this cookie; `None` where all are in use.
    #[inline]
    pub(crate) fn put(&mut self, cookie: u64) -> Option<u32> {
        let frame = self.free.get(self.used)?.wrapping_add(self.used as u32);
        *self.all.get_mut(frame as usize)? = cookie;
        self.used += 1;
        Some(frame)
    }

    /// The cookie of a frame, which is free from then on; 0 where there is no such frame, which only
    /// a discipline in C can name.
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

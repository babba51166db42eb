//! A table of the caller's 64-bit cookies. The 32-bit `frame` of a packet is an index into this
//! table.

pub(crate) struct Cookies {
    /// The entry of a frame in use is the frame's cookie. The entry of a free frame is the distance
    /// to the next free frame, minus one. So a new table consists of zeros, which take no memory
    /// until they are touched.
    all: Box<[u64]>,
    /// The first free frame, or a number beyond the last frame if all are in use.
    free: u32,
}

impl Cookies {
    pub(crate) fn new(capacity: usize) -> Self {
        Cookies { all: vec![0; capacity].into(), free: 0 }
    }

    #[inline]
    pub(crate) fn put(&mut self, cookie: u64) -> Option<u32> {
        let frame = self.free;
        let place = self.all.get_mut(frame as usize)?;
        self.free = (*place as u32).wrapping_add(frame).wrapping_add(1);
        *place = cookie;
        Some(frame)
    }

    /// Frees `frame` and returns its cookie. Returns 0 for an unknown frame, which only a
    /// discipline in C can pass.
    #[inline]
    pub(crate) fn take(&mut self, frame: u32) -> u64 {
        let Some(place) = self.all.get_mut(frame as usize) else { return 0 };
        let cookie = *place;
        *place = self.free.wrapping_sub(frame).wrapping_sub(1).into();
        self.free = frame;
        cookie
    }

    pub(crate) fn peek(&self, frame: u32) -> u64 {
        self.all.get(frame as usize).copied().unwrap_or(0)
    }
}

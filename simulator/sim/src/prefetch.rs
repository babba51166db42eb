//! Prefetching of memory before it is needed.
//!
//! An ordinary load would not help. The processor retires instructions in order, so a load that
//! misses the cache eventually delays all later instructions. A prefetch retires at once.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::ops::Range;

pub(crate) const LINE: usize = 64;

/// Prefetches cache lines of a value; line 0 holds the value's start.
#[inline(always)]
pub(crate) fn lines<T>(of: &T, which: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    for line in which {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let at = std::ptr::from_ref(of).cast::<i8>().wrapping_add(line * LINE);
        // SAFETY: `_mm_prefetch` requires SSE, which is part of x86-64. A prefetch reads and writes
        // nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (of, which);
}

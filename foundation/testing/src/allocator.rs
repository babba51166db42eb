//! An allocator that counts allocations.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The system's allocator, with a count of allocations and of the bytes in use.
///
/// The counts are for the entire process. A test with this allocator must therefore be the only one
/// in its file, and use one thread:
///
/// ```
/// use fairwire_testing::CountingAllocator;
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator::new();
///
/// fn main() {
///     let before = ALLOCATOR.allocations();
///     let sum: u32 = (0..1000).sum();
///     assert_eq!(ALLOCATOR.allocations(), before);
///     let boxed = Box::new(sum);
///     assert_eq!(ALLOCATOR.allocations(), before + 1, "{boxed}");
///     let live = ALLOCATOR.live_bytes();
///     drop(boxed);
///     assert_eq!(ALLOCATOR.live_bytes(), live - 4);
/// }
/// ```
#[derive(Debug)]
pub struct CountingAllocator {
    allocations: AtomicU64,
    live: AtomicU64,
}

impl CountingAllocator {
    /// An allocator with all counts at zero.
    pub const fn new() -> Self {
        CountingAllocator { allocations: AtomicU64::new(0), live: AtomicU64::new(0) }
    }

    /// The number of allocations so far, including those that grow a block.
    pub fn allocations(&self) -> u64 {
        self.allocations.load(Relaxed)
    }

    /// Bytes allocated and not yet freed.
    pub fn live_bytes(&self) -> u64 {
        self.live.load(Relaxed)
    }

    fn count(&self, bytes: usize) {
        self.allocations.fetch_add(1, Relaxed);
        self.live.fetch_add(bytes as u64, Relaxed);
    }

    fn given_back(&self, bytes: usize) {
        self.live.fetch_sub(bytes as u64, Relaxed);
    }
}

impl Default for CountingAllocator {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: every call reaches the system's allocator with unchanged arguments, so the system's
// guarantees hold. Counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.count(size);
        self.given_back(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`; `old` came from `System`
        // through this allocator.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        self.given_back(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`; `old` came from `System`
        // through this allocator.
        unsafe { System.dealloc(old, layout) }
    }
}

//! An allocator that counts.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The system's allocator, with a count of how often memory was asked for.
///
/// It counts for the whole process, so the test that uses it must be alone in its file and in one thread:
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
/// }
/// ```
#[derive(Debug)]
pub struct CountingAllocator {
    allocations: AtomicU64,
}

impl CountingAllocator {
    /// An allocator that has not been asked yet.
    pub const fn new() -> Self {
        CountingAllocator { allocations: AtomicU64::new(0) }
    }

    /// How often memory was asked for so far, growth of what there was included.
    pub fn allocations(&self) -> u64 {
        self.allocations.load(Relaxed)
    }

    fn count(&self) {
        self.allocations.fetch_add(1, Relaxed);
    }
}

impl Default for CountingAllocator {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: every call goes to the system's allocator with the arguments unchanged, so its guarantees are ours; the count
// beside it neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.count();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.count();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`; `old` came from `System` by this allocator.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`; `old` came from `System` by this allocator.
        unsafe { System.dealloc(old, layout) }
    }
}

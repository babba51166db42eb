//! The simulator's allocator. It uses the system's allocator for small pieces, and huge pages for
//! large ones.
//!
//! A run of a million flows touches hundreds of megabytes at random. With 4 KiB pages, most of
//! these accesses also miss the TLB, and the kernel clears each page separately.
//!
//! Large pieces come directly from the kernel. When a large piece grows, the kernel remaps its
//! pages. So no data is copied, and nothing is cleared twice.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::alloc::{GlobalAlloc, Layout, System};

#[derive(Debug)]
pub(crate) struct HugePages;

/// The minimum size of a piece from the kernel. Smaller pieces do not fill a huge page.
const LARGE: usize = HUGE;

/// The size of a huge page on x86-64 and most other machines with 4 KiB pages.
const HUGE: usize = 2 << 20;

#[inline]
fn is_large(layout: Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= LARGE && layout.align() <= HUGE
}

// SAFETY: only the layout decides whether a piece is `System`'s or the kernel's, so each piece is
// freed by its allocator. The kernel's pieces are initially zero and start at multiples of `HUGE`.
// Every accepted alignment divides `HUGE`.
unsafe impl GlobalAlloc for HugePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return kernel::take(layout.size());
        }
        // SAFETY: the caller upholds the contract of `alloc`, which is the same for `System`.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return kernel::take(layout.size());
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that this is a valid layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (is_large(layout), is_large(wanted)) {
            // SAFETY: as above.
            (false, false) => unsafe { System.realloc(piece, layout, size) },
            // SAFETY: the piece was allocated with this size.
            (true, true) => unsafe { kernel::resize(piece, layout.size(), size) },
            // SAFETY: both pieces are at least as long as the copy, and do not overlap.
            _ => unsafe {
                let other = self.alloc(wanted);
                if !other.is_null() {
                    std::ptr::copy_nonoverlapping(piece, other, layout.size().min(size));
                    self.dealloc(piece, layout);
                }
                other
            },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if is_large(layout) {
            // SAFETY: the piece was allocated with this size.
            unsafe { kernel::give_back(piece, layout.size()) };
        } else {
            // SAFETY: as above.
            unsafe { System.dealloc(piece, layout) }
        }
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use super::HUGE;
    use libc::{MADV_HUGEPAGE, MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, MREMAP_FIXED, MREMAP_MAYMOVE};
    use libc::{PROT_READ, PROT_WRITE, c_void, madvise, mmap, mremap, munmap};
    use std::ptr;

    /// `size` rounded up to complete huge pages, for a `size` of at most `isize::MAX`.
    fn whole(size: usize) -> usize {
        size.next_multiple_of(HUGE)
    }

    /// A zeroed piece of `size` bytes; null if there is no memory.
    #[cold]
    pub(super) fn take(size: usize) -> *mut u8 {
        let Some(piece) = mapped(whole(size)) else { return ptr::null_mut() };
        // SAFETY: the range was just mapped. A kernel without huge pages only returns an error.
        unsafe { madvise(piece, whole(size), MADV_HUGEPAGE) };
        piece.cast()
    }

    fn mapped(size: usize) -> Option<*mut c_void> {
        let most = size.checked_add(HUGE)?;
        // SAFETY: an anonymous mapping at an address that the kernel chooses touches no existing
        // memory.
        let start = unsafe {
            mmap(ptr::null_mut(), most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        };
        if start == MAP_FAILED {
            return None;
        }
        let before = start.align_offset(HUGE);
        // SAFETY: both ranges are ends of the new mapping, and no other code knows of them.
        unsafe {
            if before > 0 {
                munmap(start, before);
            }
            munmap(start.byte_add(before + size), HUGE - before);
            Some(start.byte_add(before))
        }
    }

    /// Resizes the piece to `size` bytes, and returns its address, which may be new. If there is no
    /// memory, returns null and leaves the piece unchanged.
    ///
    /// # Safety
    /// The piece was allocated, or last resized, with `old` bytes, and is no longer used at its old
    /// address.
    #[cold]
    pub(super) unsafe fn resize(piece: *mut u8, old: usize, size: usize) -> *mut u8 {
        let (old, size) = (whole(old), whole(size));
        // SAFETY: by the contract, the range is a mapping of ours.
        let in_place = unsafe { mremap(piece.cast(), old, size, 0) };
        if in_place != MAP_FAILED {
            return piece;
        }
        let Some(other) = mapped(size) else { return ptr::null_mut() };
        // SAFETY: by the contract, the range at `piece` is a mapping of ours. The range at `other`
        // was just mapped, and the moved pages replace it.
        let moved = unsafe { mremap(piece.cast(), old, size, MREMAP_MAYMOVE | MREMAP_FIXED, other) };
        if moved == MAP_FAILED {
            // SAFETY: no other code knows of this range.
            unsafe { munmap(other, size) };
            return ptr::null_mut();
        }
        moved.cast()
    }

    /// Unmaps a piece.
    ///
    /// # Safety
    /// The piece was allocated, or last resized, with `size` bytes, and is no longer used.
    #[cold]
    pub(super) unsafe fn give_back(piece: *mut u8, size: usize) {
        // SAFETY: by the contract, the range is a mapping of ours.
        unsafe { munmap(piece.cast(), whole(size)) };
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    /// Never called: no piece is large on this platform.
    pub(super) fn take(_: usize) -> *mut u8 {
        std::ptr::null_mut()
    }

    pub(super) unsafe fn resize(_: *mut u8, _: usize, _: usize) -> *mut u8 {
        std::ptr::null_mut()
    }

    pub(super) unsafe fn give_back(_: *mut u8, _: usize) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 64).expect("a small power of two")
    }

    #[test]
    fn a_large_piece_begins_with_a_huge_page_and_is_all_zero() {
        for size in [LARGE, LARGE + 1, 3 * LARGE - 5] {
            // SAFETY: the piece is used within its size, and freed with its layout.
            unsafe {
                let piece = HugePages.alloc_zeroed(layout(size));
                assert_eq!(piece as usize % HUGE, 0);
                assert!(std::slice::from_raw_parts(piece, size).iter().all(|&byte| byte == 0));
                piece.write_bytes(0xa5, size);
                HugePages.dealloc(piece, layout(size));
            }
        }
    }

    #[test]
    fn a_piece_keeps_its_contents_when_it_grows_and_shrinks() {
        const MIB: usize = 1 << 20;
        let sizes = [100, MIB, 3 * MIB, 3 * MIB + 1, 40 * MIB, 5 * MIB, 2 * MIB, 17 * MIB, 2 * MIB - 1, 7];
        // SAFETY: the piece is used within its size, and freed with its layout. After each resize,
        // only bytes that were written before are read.
        unsafe {
            let mut piece = HugePages.alloc(layout(sizes[0]));
            let byte = |at: usize| (at / 4096 * 7 + at) as u8;
            let fill = |piece: *mut u8, size| (0..size).for_each(|at| piece.add(at).write(byte(at)));
            fill(piece, sizes[0]);
            for step in sizes.windows(2) {
                piece = HugePages.realloc(piece, layout(step[0]), step[1]);
                assert!((0..step[0].min(step[1])).all(|at| piece.add(at).read() == byte(at)), "{step:?}");
                fill(piece, step[1]);
            }
            HugePages.dealloc(piece, layout(sizes[sizes.len() - 1]));
        }
    }

    #[test]
    fn more_memory_than_available_is_refused() {
        let most =
            Layout::from_size_align(isize::MAX as usize - 63, 64).expect("within what a layout may be");
        // SAFETY: the only allocated piece has `LARGE` bytes, and is freed with its layout.
        unsafe {
            assert!(HugePages.alloc(most).is_null());
            let piece = HugePages.alloc(layout(LARGE));
            assert!(HugePages.realloc(piece, layout(LARGE), most.size()).is_null());
            HugePages.dealloc(piece, layout(LARGE));
        }
    }
}

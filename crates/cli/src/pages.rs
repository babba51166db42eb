//! Where the simulator's memory comes from: the system's allocator, with large pieces in huge pages.
//!
//! A run of a million flows touches hundreds of megabytes at random. In pages of 4 KiB most of those touches miss the processor's
//! table of pages as well, and the kernel clears each page by itself. Where the kernel gives huge pages to those who ask (its default
//! in most distributions), this asks.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator. Pieces of [`LARGE`] bytes and more are to lie in huge pages.
#[derive(Debug)]
pub struct HugePages;

/// Smaller pieces are left alone: of two huge pages (2 MiB on x86-64) at least one may lie within so much.
const LARGE: usize = 4 << 20;

/// The size of an ordinary page, or a multiple of it, on every machine that this runs on.
const PAGE: usize = 64 << 10;

// SAFETY: every piece is `System`'s, given back to `System` with the layout that it was asked for with. Advice changes neither
// contents nor addresses.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `alloc`, which is `System`'s.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.realloc(piece, layout, size) }, size)
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(piece, layout) }
    }
}

/// `piece`, of `size` bytes, for which huge pages are asked where it is large.
#[inline]
fn advised(piece: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !piece.is_null() {
        advise(piece, size);
    }
    piece
}

#[cold]
#[cfg(target_os = "linux")]
fn advise(piece: *mut u8, size: usize) {
    let within = piece.align_offset(PAGE);
    let whole = (size - within) / PAGE * PAGE;
    // SAFETY: the range lies within a piece that is allocated and ours to give out. Where the kernel knows no huge pages it
    // says so, and nothing is lost.
    unsafe { libc::madvise(piece.add(within).cast(), whole, libc::MADV_HUGEPAGE) };
}

#[cold]
#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}

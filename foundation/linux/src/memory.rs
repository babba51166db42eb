//! The memory of a process that runs for months.
#![allow(unsafe_code, reason = "each block says why it is sound")]

/// Disables huge pages for this process. A gateway's pools are large and mostly untouched; with
/// small pages, untouched memory costs nothing.
pub fn use_small_pages() {
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Makes the allocator map each piece of at least 128 KiB separately, and unmap the piece when it
/// is freed. By default, glibc raises this limit when such a piece is freed. It then keeps freed
/// large pieces that lie between small ones.
pub fn keep_apart() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call changes a setting of the allocator, under the allocator's lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// Returns the free memory between small allocations to the system. The call takes milliseconds, in
/// which other threads wait for memory.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call touches only free memory, and holds the allocator's locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

//! The memory of a process that runs for months.
#![allow(unsafe_code, reason = "each block says why it is sound")]

/// Disables huge pages for this process. A gateway's pools are large and mostly untouched; in small
/// pages, untouched memory costs nothing. A kernel without this option uses its own rules.
pub fn use_small_pages() {
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Takes pieces of at least 128 KiB from the kernel individually, and returns each when freed. By
/// default, after the first was freed, glibc's allocator places them between small pieces, and
/// keeps the free ones.
pub fn keep_apart() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it changes a setting of the allocator, under the allocator's lock. An allocator that
    // refuses is unchanged.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// Returns the free memory between small pieces to the system. It takes milliseconds, in which
/// other threads wait for memory.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches only free memory, and holds the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

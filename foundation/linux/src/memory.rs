//! The memory of a process that runs for months.
#![allow(unsafe_code, reason = "each block says why it is sound")]

/// Disables huge pages for this process. A gateway's pools are large and mostly untouched; with
/// small pages, untouched memory costs nothing.
pub fn use_small_pages() {
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Lets the allocator take each piece of at least 128 KiB separately from the kernel, and return it
/// when it is freed. By default, glibc stops this once one such piece has been freed: it places
/// further large pieces between small ones, and keeps their memory when they are freed.
pub fn keep_apart() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call changes a setting of the allocator, under the allocator's lock. An allocator
    // that refuses is unchanged.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// Returns the free memory between small pieces to the system. The call takes milliseconds, in
/// which other threads wait for memory.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call touches only free memory, and holds the allocator's locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

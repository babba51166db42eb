//! The memory of a process that runs for months.
#![allow(unsafe_code, reason = "each block says why it is sound")]

/// Turns huge pages off for this process. The pools of a gateway are large and mostly never touched:
/// in small pages they cost nothing until they are. A kernel without this option gives memory by its
/// own rules.
pub fn use_small_pages() {
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// From now on takes pieces of 128 KiB and more from the kernel one by one, and returns each when
/// it is freed. By default, glibc's allocator places them between the small pieces after the first
/// was freed, and keeps the free ones.
pub fn keep_apart() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it changes a setting of the allocator, under the allocator's lock. An allocator that
    // refuses is unchanged.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// Returns the free memory among the small pieces to the system. It takes milliseconds, in which
/// other threads wait for memory.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches free memory only, and holds the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

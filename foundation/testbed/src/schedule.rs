//! The times that threads run, or wait for a processor.

use fairwire_core::Duration;
use std::path::Path;

/// The total time that a thread was ready, but had no processor; zero if the kernel does not report
/// this time. `task` is the thread's folder, such as `/proc/thread-self`.
pub fn waited(task: &Path) -> Duration {
    number(task, 1)
}

/// Like [`waited`], but the time that the thread ran.
pub fn ran(task: &Path) -> Duration {
    number(task, 0)
}

/// The number with index `at` in the thread's `schedstat`. Indices 0 and 1 are nanoseconds
/// (Documentation/scheduler/sched-stats.rst).
fn number(task: &Path, at: usize) -> Duration {
    let text = std::fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    Duration::from_ns(text.split_whitespace().nth(at).and_then(|word| word.parse().ok()).unwrap_or(0))
}

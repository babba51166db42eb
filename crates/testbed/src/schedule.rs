//! How long threads wait for a processor.

use fairwire_core::Duration;
use std::path::Path;

/// How long the thread of the folder `task`, such as `/proc/thread-self`, was ready to run and no
/// processor was free for it, since it began. Zero where the kernel does not report it.
pub fn waited(task: &Path) -> Duration {
    let text = std::fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    // The second number, in nanoseconds (Documentation/scheduler/sched-stats.rst).
    Duration::from_ns(text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0))
}

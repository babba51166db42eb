//! The one clock of the live path: monotonic, shared by all processes and network namespaces of the machine.

use fairwire_core::Time;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds on the monotonic clock, which begins when the machine does.
pub fn now() -> Time {
    let time = clock_gettime(ClockId::Monotonic);
    Time::from_ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The processor time of this thread. Beside [`now`] it tells what a thread did from what other threads kept it from doing.
pub fn thread() -> Time {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Time::from_ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Nanoseconds since 1970, as the machine's calendar has it: for files that people read, never to measure.
pub fn calendar() -> Time {
    let time = clock_gettime(ClockId::Realtime);
    Time::from_ns(time.tv_sec.max(0) as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Sleeps until `time`; returns at once when it has passed.
pub fn sleep_until(time: Time) {
    // A signal wakes early: its handler has run, and the rest of the sleep follows.
    while now() < time && clock_nanosleep_absolute(ClockId::Monotonic, &timespec(time.ns())).is_err() {}
}

/// `ns` nanoseconds as the kernel takes them.
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ }
}

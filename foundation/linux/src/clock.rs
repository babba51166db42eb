//! The only clock of the live path: monotonic, and shared by all processes and network namespaces
//! of the machine.

use fairwire_core::Time;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::num::NonZeroU64;

/// Nanoseconds since the machine's start, on the monotonic clock.
pub fn now() -> Time {
    read(ClockId::Monotonic)
}

/// Like [`now`], but includes suspended time. The kernel reports the start of a process on this
/// clock.
pub fn boot() -> Time {
    read(ClockId::Boottime)
}

/// The CPU time of this thread.
pub fn thread() -> Time {
    read(ClockId::ThreadCPUTime)
}

/// The CPU time of this process, over all threads.
pub fn process() -> Time {
    read(ClockId::ProcessCPUTime)
}

/// Nanoseconds since 1970: for files that people read, never for measurements.
pub fn calendar() -> Time {
    read(ClockId::Realtime)
}

fn read(clock: ClockId) -> Time {
    let time = clock_gettime(clock);
    Time::from_ns(time.tv_sec.max(0) as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Sleeps until `time`; returns at once if it has passed.
pub fn sleep_until(time: Time) {
    // A signal ends the sleep early.
    while now() < time && clock_nanosleep_absolute(ClockId::Monotonic, &timespec(time.ns())).is_err() {}
}

/// Makes this thread's wake-ups precise. By default, the kernel may delay them by up to 50 us,
/// which would affect a link of 100 Mbit/s.
pub fn wake_precisely() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1)); // if refused, wake-ups are slightly late
}

/// `ns` nanoseconds in the kernel's format.
pub fn timespec(ns: u64) -> Timespec {
    let tv_nsec = (ns % 1_000_000_000).try_into().expect("below 10^9");
    Timespec { tv_sec: (ns / 1_000_000_000).cast_signed(), tv_nsec }
}

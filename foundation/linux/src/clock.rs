//! The one clock of the live path: monotonic, shared by all processes and network namespaces of the
//! machine.

use fairwire_core::Time;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::num::NonZeroU64;

/// Nanoseconds on the monotonic clock, which begins when the machine does.
pub fn now() -> Time {
    read(ClockId::Monotonic)
}

/// The same with the time in which the machine slept: by this one the kernel says when a process
/// began.
pub fn boot() -> Time {
    read(ClockId::Boottime)
}

/// The processor time of this thread. Compared with [`now`] it separates its own work from delays
/// by other threads.
pub fn thread() -> Time {
    read(ClockId::ThreadCPUTime)
}

/// The processor time of this process, all its threads together.
pub fn process() -> Time {
    read(ClockId::ProcessCPUTime)
}

/// Nanoseconds since 1970, as the machine's calendar has it: for files that people read, never to
/// measure.
pub fn calendar() -> Time {
    read(ClockId::Realtime)
}

fn read(clock: ClockId) -> Time {
    let time = clock_gettime(clock);
    Time::from_ns(time.tv_sec.max(0) as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Sleeps until `time`; returns at once when it has passed.
pub fn sleep_until(time: Time) {
    // A signal wakes early: its handler has run, and the rest of the sleep follows.
    while now() < time && clock_nanosleep_absolute(ClockId::Monotonic, &timespec(time.ns())).is_err() {}
}

/// Wakes this thread precisely. By default the kernel may do so up to 50 us late to save power, which
/// a link of 100 Mbit/s would feel.
pub fn wake_precisely() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1)); // refused, it is a little late
}

/// `ns` nanoseconds as the kernel takes them.
pub fn timespec(ns: u64) -> Timespec {
    let tv_nsec = (ns % 1_000_000_000).try_into().expect("below 10^9");
    Timespec { tv_sec: (ns / 1_000_000_000).cast_signed(), tv_nsec }
}

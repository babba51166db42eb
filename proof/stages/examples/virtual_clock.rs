//! A virtual clock for User Mode Linux, put in front of its C library by `LD_PRELOAD`.
//!
//! The guest's clock does not move while the guest works, and jumps to the next timer when it
//! idles. A run is then exact to the resolution of the guest's clock (256 ns). It does not depend
//! on the load of the host, and takes no longer than the work in it. Kernels built with
//! `CONFIG_UML_TIME_TRAVEL_SUPPORT` can do this by themselves; Debian's is not.
//!
//! User Mode Linux reads the time by `clock_gettime`, sets its one timer by `timer_settime`, and
//! idles in `sigsuspend` until that timer's SIGALRM. These are replaced. Until the guest creates a
//! file called [`STARTS`] they pass everything on, because a booting kernel waits in loops for real
//! time to pass.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use libc::{c_char, c_int, c_long, c_uint, itimerspec, sigset_t, timer_t, timespec};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The name of the file whose creation starts the virtual clock;
/// `fairwire_experiment::linux::guest` says the same.
const STARTS: &[u8] = b"/virtual-clock-starts";
/// The guest counts its clock in steps of this many nanoseconds (TIMER_MULTIPLIER). A timer that
/// rings between two steps would find its time not yet come.
const STEP_NS: u64 = 256;

static IS_VIRTUAL: AtomicBool = AtomicBool::new(false);
/// The virtual clock.
static NOW_NS: AtomicU64 = AtomicU64::new(0);
/// When the timer rings; 0 while it is not set.
static RINGS_NS: AtomicU64 = AtomicU64::new(0);
/// The guest's one timer, known from the last time that it was set.
static TIMER: AtomicU64 = AtomicU64::new(0);

type TimerSettime = unsafe extern "C" fn(timer_t, c_int, *const itimerspec, *mut itimerspec) -> c_int;
type TimerGettime = unsafe extern "C" fn(timer_t, *mut itimerspec) -> c_int;
type Sigsuspend = unsafe extern "C" fn(*const sigset_t) -> c_int;
type Ptrace = unsafe extern "C" fn(c_uint, libc::pid_t, *mut c_void, *mut c_void) -> c_long;
type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;

/// Returns the time: the virtual one of the monotonic clock once it has started.
///
/// # Safety
/// As clock_gettime(2): `time` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut timespec) -> c_int {
    if clock == libc::CLOCK_MONOTONIC && IS_VIRTUAL.load(Relaxed) {
        // SAFETY: the caller promises that `time` can be written.
        unsafe { *time = time_of(NOW_NS.load(Relaxed)) };
        return 0;
    }
    // SAFETY: passed on as it came.
    unsafe { libc::syscall(libc::SYS_clock_gettime, c_long::from(clock), time) as c_int }
}

/// Sets the guest's timer; by the virtual clock once that has started.
///
/// # Safety
/// As timer_settime(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_settime(
    timer: timer_t,
    flags: c_int,
    value: *const itimerspec,
    before: *mut itimerspec,
) -> c_int {
    if !IS_VIRTUAL.load(Relaxed) {
        TIMER.store(timer as u64, Relaxed);
        // SAFETY: the next definition is the C library's, which has this type; arguments are passed
        // on as they came.
        return unsafe { next::<TimerSettime>(c"timer_settime")(timer, flags, value, before) };
    }
    // SAFETY: the caller promises that `value` can be read.
    let wait = ns_of(unsafe { (*value).it_value });
    RINGS_NS.store(if wait == 0 { 0 } else { NOW_NS.load(Relaxed) + wait }, Relaxed);
    0
}

/// Returns whether the timer is set, which is all that the idle loop reads.
///
/// # Safety
/// As timer_gettime(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_gettime(timer: timer_t, value: *mut itimerspec) -> c_int {
    if !IS_VIRTUAL.load(Relaxed) {
        // SAFETY: as in `timer_settime`.
        return unsafe { next::<TimerGettime>(c"timer_gettime")(timer, value) };
    }
    let is_set = RINGS_NS.load(Relaxed) != 0;
    // SAFETY: the caller promises that `value` can be written.
    unsafe { *value = itimerspec { it_interval: time_of(0), it_value: time_of(u64::from(is_set)) } };
    0
}

/// The guest idles: the virtual clock jumps to the timer, and its signal is there at once.
///
/// # Safety
/// As sigsuspend(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigsuspend(mask: *const sigset_t) -> c_int {
    if IS_VIRTUAL.load(Relaxed) && RINGS_NS.load(Relaxed) != 0 {
        let rings = RINGS_NS.swap(0, Relaxed).next_multiple_of(STEP_NS);
        NOW_NS.fetch_max(rings, Relaxed);
        // SAFETY: the signal is blocked here and handled by the guest inside the `sigsuspend`
        // below.
        unsafe { libc::raise(libc::SIGALRM) };
    }
    // SAFETY: as in `timer_settime`.
    unsafe { next::<Sigsuspend>(c"sigsuspend")(mask) }
}

/// Opens a file of the host for the guest. That of the name [`STARTS`] starts the virtual clock.
///
/// # Safety
/// As open(2). It takes its third argument whether it is there or not: the C calling conventions of
/// the machines that User Mode Linux runs on pass it in a register.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: the caller promises a string.
    if unsafe { CStr::from_ptr(path) }.to_bytes().ends_with(STARTS) && !IS_VIRTUAL.load(Relaxed) {
        start();
    }
    // SAFETY: as in `timer_settime`.
    unsafe { next::<Open>(c"open64")(path, flags, mode) }
}

/// A processor's extended state, as a set of registers.
const NT_X86_XSTATE: usize = 0x202;
/// Room for all of it: with AMX it is 11 KiB. No place on a stack: the guest's are short. Its
/// kernel has one thread.
static STATE: [AtomicU64; 4096] = [const { AtomicU64::new(0) }; 4096];
/// The C library's `ptrace`, once it was looked for: it is called with each system call of the
/// guest.
static PTRACE: AtomicUsize = AtomicUsize::new(0);

/// Sets registers of a process of the guest, also on processors with more state than User Mode
/// Linux has room for.
///
/// It keeps 2696 bytes of extended state. The state of a processor with AMX is longer, and the
/// host's kernel takes it whole or not at all, so that the guest's first process would die of it.
/// What is beyond the guest's part is given back as it is.
///
/// # Safety
/// As ptrace(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptrace(
    request: c_uint,
    process: libc::pid_t,
    address: *mut c_void,
    data: *mut c_void,
) -> c_long {
    // SAFETY: the next definition is the C library's, which has this type; arguments are passed on
    // as they came.
    let (next, done) = unsafe {
        let next = c_library_ptrace();
        (next, next(request, process, address, data))
    };
    if done == 0 || request != libc::PTRACE_SETREGSET || address as usize != NT_X86_XSTATE {
        return done;
    }
    let mut all = libc::iovec { iov_base: STATE.as_ptr().cast_mut().cast(), iov_len: size_of_val(&STATE) };
    // SAFETY: the kernel writes no more than `all` has room for, and makes it as short as what it
    // wrote; atomics may be written so, and no other code does. The caller promises that `data` is
    // such a vector too, whose bytes can be read; they do not overlap with ours.
    unsafe {
        if next(libc::PTRACE_GETREGSET, process, address, (&raw mut all).cast()) != 0 {
            return done;
        }
        let given = &*data.cast::<libc::iovec>();
        let bytes = given.iov_len.min(all.iov_len);
        std::ptr::copy_nonoverlapping(given.iov_base.cast::<u8>(), all.iov_base.cast::<u8>(), bytes);
        next(request, process, address, (&raw mut all).cast())
    }
}

/// # Safety
/// As [`next`]: the type is that of ptrace(2).
unsafe fn c_library_ptrace() -> Ptrace {
    let known = PTRACE.load(Relaxed);
    if known == 0 {
        // SAFETY: that is its type.
        let found = unsafe { next::<Ptrace>(c"ptrace") };
        PTRACE.store(found as usize, Relaxed);
        return found;
    }
    // SAFETY: it was such a function when it was stored.
    unsafe { std::mem::transmute::<usize, Ptrace>(known) }
}

/// From here on the clock is virtual. The real timer is disarmed, and the virtual one rings soon in
/// its place.
fn start() {
    let mut time = time_of(0);
    let off = itimerspec { it_interval: time, it_value: time };
    // SAFETY: the timer is the guest's own, and both values live until the calls return.
    unsafe {
        clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        timer_settime(TIMER.load(Relaxed) as timer_t, 0, &off, std::ptr::null_mut());
    }
    let now = ns_of(time).next_multiple_of(STEP_NS);
    NOW_NS.store(now, Relaxed);
    RINGS_NS.store(now + STEP_NS, Relaxed);
    IS_VIRTUAL.store(true, Relaxed);
}

/// The definition that would have been used without this one.
///
/// # Safety
/// `F` must be the function's type.
unsafe fn next<F: Copy>(name: &CStr) -> F {
    // SAFETY: `name` is a string.
    let found: *mut c_void = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    assert!(!found.is_null() && size_of::<F>() == size_of::<*mut c_void>());
    // SAFETY: the caller promises that `F` is the type of the function that was found.
    unsafe { std::mem::transmute_copy(&found) }
}

fn ns_of(time: timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn time_of(ns: u64) -> timespec {
    timespec { tv_sec: (ns / 1_000_000_000).cast_signed(), tv_nsec: (ns % 1_000_000_000).cast_signed() }
}

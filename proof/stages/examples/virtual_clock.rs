//! A virtual clock for User Mode Linux. `LD_PRELOAD` places it before the C library.
//!
//! The guest's clock does not advance while the guest works, and jumps to the next timer when the
//! guest idles. So a run is exact to the resolution of the guest's clock (256 ns), independent of
//! the host's load, and takes no longer than its work. Kernels built with
//! `CONFIG_UML_TIME_TRAVEL_SUPPORT` can do the same, but Debian's is built without it.
//!
//! User Mode Linux reads the time with `clock_gettime`, sets its only timer with `timer_settime`,
//! and idles in `sigsuspend` until that timer's SIGALRM. This library replaces these functions. A
//! booting kernel waits in loops for real time, so calls are passed on until the guest creates a
//! file called [`STARTS`].
#![allow(unsafe_code, reason = "each block says why it is sound")]

use libc::{c_char, c_int, c_long, c_uint, itimerspec, sigset_t, timer_t, timespec};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The name of the file whose creation starts the virtual clock, as in
/// `fairwire_stages::linux::guest`.
const STARTS: &[u8] = b"/virtual-clock-starts";
/// The step of the guest's clock, in nanoseconds (TIMER_MULTIPLIER). Timers expire only at such
/// steps, since the guest's clock would otherwise still show an earlier time.
const STEP_NS: u64 = 256;

static IS_VIRTUAL: AtomicBool = AtomicBool::new(false);
static NOW_NS: AtomicU64 = AtomicU64::new(0);
/// When the timer expires; 0 while it is not set.
static RINGS_NS: AtomicU64 = AtomicU64::new(0);
/// The guest's only timer, as given to `timer_settime` before the virtual clock started.
static TIMER: AtomicU64 = AtomicU64::new(0);

type TimerSettime = unsafe extern "C" fn(timer_t, c_int, *const itimerspec, *mut itimerspec) -> c_int;
type TimerGettime = unsafe extern "C" fn(timer_t, *mut itimerspec) -> c_int;
type Sigsuspend = unsafe extern "C" fn(*const sigset_t) -> c_int;
type Ptrace = unsafe extern "C" fn(c_uint, libc::pid_t, *mut c_void, *mut c_void) -> c_long;
type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;

/// Returns the time. The monotonic clock is virtual after [`STARTS`] was created.
///
/// # Safety
/// As for clock_gettime(2): `time` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut timespec) -> c_int {
    if clock == libc::CLOCK_MONOTONIC && IS_VIRTUAL.load(Relaxed) {
        // SAFETY: the caller guarantees that `time` is writable.
        unsafe { *time = time_of(NOW_NS.load(Relaxed)) };
        return 0;
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { libc::syscall(libc::SYS_clock_gettime, c_long::from(clock), time) as c_int }
}

/// Sets the guest's timer. Once the virtual clock has started, the timer runs on it.
///
/// # Safety
/// As for timer_settime(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_settime(
    timer: timer_t,
    flags: c_int,
    value: *const itimerspec,
    before: *mut itimerspec,
) -> c_int {
    if !IS_VIRTUAL.load(Relaxed) {
        TIMER.store(timer as u64, Relaxed);
        // SAFETY: the next definition is the C library's, which has this type; the arguments are
        // passed on unchanged.
        return unsafe { next::<TimerSettime>(c"timer_settime")(timer, flags, value, before) };
    }
    // SAFETY: the caller guarantees that `value` is readable.
    let wait = ns_of(unsafe { (*value).it_value });
    RINGS_NS.store(if wait == 0 { 0 } else { NOW_NS.load(Relaxed) + wait }, Relaxed);
    0
}

/// Writes 1 ns if the timer is set, and otherwise 0. The idle loop needs no more.
///
/// # Safety
/// As for timer_gettime(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_gettime(timer: timer_t, value: *mut itimerspec) -> c_int {
    if !IS_VIRTUAL.load(Relaxed) {
        // SAFETY: as in `timer_settime`.
        return unsafe { next::<TimerGettime>(c"timer_gettime")(timer, value) };
    }
    let is_set = RINGS_NS.load(Relaxed) != 0;
    // SAFETY: the caller guarantees that `value` is writable.
    unsafe { *value = itimerspec { it_interval: time_of(0), it_value: time_of(u64::from(is_set)) } };
    0
}

/// Idles. If the timer is set, the virtual clock jumps to the timer's expiry, and SIGALRM arrives
/// at once.
///
/// # Safety
/// As for sigsuspend(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigsuspend(mask: *const sigset_t) -> c_int {
    if IS_VIRTUAL.load(Relaxed) && RINGS_NS.load(Relaxed) != 0 {
        let rings = RINGS_NS.swap(0, Relaxed).next_multiple_of(STEP_NS);
        NOW_NS.fetch_max(rings, Relaxed);
        // SAFETY: the signal is blocked here, and the guest handles it inside the `sigsuspend`
        // below.
        unsafe { libc::raise(libc::SIGALRM) };
    }
    // SAFETY: as in `timer_settime`.
    unsafe { next::<Sigsuspend>(c"sigsuspend")(mask) }
}

/// Opens a host file for the guest. Opening a file called [`STARTS`] starts the virtual clock.
///
/// # Safety
/// As for open(2). The third argument may be absent, since the C calling conventions of User Mode
/// Linux's machines pass it in a register.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: the caller guarantees a C string.
    if unsafe { CStr::from_ptr(path) }.to_bytes().ends_with(STARTS) && !IS_VIRTUAL.load(Relaxed) {
        start();
    }
    // SAFETY: as in `timer_settime`.
    unsafe { next::<Open>(c"open64")(path, flags, mode) }
}

const NT_X86_XSTATE: usize = 0x202;
/// A buffer for the processor's extended state: 11 KiB with AMX, too much for the guest's stacks.
/// One buffer is enough, since the guest's kernel has one thread.
static STATE: [AtomicU64; 4096] = [const { AtomicU64::new(0) }; 4096];
/// The C library's `ptrace`, cached since each system call of the guest calls it.
static PTRACE: AtomicUsize = AtomicUsize::new(0);

/// Sets registers of a guest's process, even if the processor has more state than User Mode Linux
/// can store.
///
/// User Mode Linux stores 2696 bytes of extended state. With AMX the state is longer, and the
/// host's kernel accepts only the complete state, so the guest's first process would die. This
/// function adds the rest of the current state.
///
/// # Safety
/// As for ptrace(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptrace(
    request: c_uint,
    process: libc::pid_t,
    address: *mut c_void,
    data: *mut c_void,
) -> c_long {
    // SAFETY: the next definition is the C library's, which has this type; the arguments are passed
    // on unchanged.
    let (next, done) = unsafe {
        let next = c_library_ptrace();
        (next, next(request, process, address, data))
    };
    if done == 0 || request != libc::PTRACE_SETREGSET || address as usize != NT_X86_XSTATE {
        return done;
    }
    let mut all = libc::iovec { iov_base: STATE.as_ptr().cast_mut().cast(), iov_len: size_of_val(&STATE) };
    // SAFETY: the kernel writes at most the length of `all`, and shortens it to what it wrote.
    // Atomics permit such writes, and no other code writes them. The caller guarantees that `data`
    // is a vector with readable bytes, which do not overlap ours.
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
/// As for [`next`], with the type of ptrace(2).
unsafe fn c_library_ptrace() -> Ptrace {
    let known = PTRACE.load(Relaxed);
    if known == 0 {
        // SAFETY: `Ptrace` is the type of the C library's `ptrace`.
        let found = unsafe { next::<Ptrace>(c"ptrace") };
        PTRACE.store(found as usize, Relaxed);
        return found;
    }
    // SAFETY: the stored value was a `Ptrace`.
    unsafe { std::mem::transmute::<usize, Ptrace>(known) }
}

/// Makes the clock virtual. Disarms the real timer, and lets the virtual timer expire soon instead.
fn start() {
    let mut time = time_of(0);
    let off = itimerspec { it_interval: time, it_value: time };
    // SAFETY: the timer is the guest's, and both values live until the calls return.
    unsafe {
        clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        timer_settime(TIMER.load(Relaxed) as timer_t, 0, &off, std::ptr::null_mut());
    }
    let now = ns_of(time).next_multiple_of(STEP_NS);
    NOW_NS.store(now, Relaxed);
    RINGS_NS.store(now + STEP_NS, Relaxed);
    IS_VIRTUAL.store(true, Relaxed);
}

/// The next definition of the function `name`, which the definition here hides.
///
/// # Safety
/// `F` must be the function's type.
unsafe fn next<F: Copy>(name: &CStr) -> F {
    // SAFETY: `name` is a string.
    let found: *mut c_void = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    assert!(!found.is_null() && size_of::<F>() == size_of::<*mut c_void>());
    // SAFETY: the caller guarantees that `F` is the function's type.
    unsafe { std::mem::transmute_copy(&found) }
}

fn ns_of(time: timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn time_of(ns: u64) -> timespec {
    timespec { tv_sec: (ns / 1_000_000_000).cast_signed(), tv_nsec: (ns % 1_000_000_000).cast_signed() }
}

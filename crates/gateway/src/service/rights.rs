//! What the process may do once its ports are open: two capabilities, no more by execution, and a list of system calls.

use super::error::ServiceError;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};

/// What the gateway keeps: packet sockets on interfaces, and their settings.
pub(super) const GATEWAY: CapabilitySet = CapabilitySet::NET_ADMIN.union(CapabilitySet::NET_RAW);
/// What the guard keeps: making a bridge.
pub(super) const GUARD: CapabilitySet = CapabilitySet::NET_ADMIN;

/// Gives up every capability of this thread but `kept`, in all five sets, and the way to get others by executing a program. Threads started
/// from now on have no more; there must be none yet.
///
/// The bounding set can be cut only by a process with CAP_SETPCAP. One without it has nothing to gain from the bounding set either,
/// since it executes nothing that gives capabilities.
pub(super) fn keep_only(kept: CapabilitySet) -> Result<(), ServiceError> {
    let fail = |what: &'static str| {
        move |error: rustix::io::Errno| ServiceError::system(format!("giving up rights ({what})"), error)
    };
    set_no_new_privs(true).map_err(fail("no new privileges"))?;
    for capability in CapabilitySet::all().iter().filter(|capability| !kept.contains(*capability)) {
        match remove_capability_from_bounding_set(capability) {
            // Not known to this kernel, or not allowed.
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::PERM) => {}
            Err(error) => return Err(fail("bounding set")(error)),
        }
    }
    clear_ambient_capability_set().map_err(fail("ambient set"))?;
    let permitted = capabilities(None).map_err(fail("reading"))?.permitted & kept;
    let sets = CapabilitySets { effective: permitted, permitted, inheritable: permitted };
    set_capabilities(None, sets).map_err(fail("effective, permitted and inheritable sets"))?;
    for capability in permitted.iter() {
        configure_capability_in_ambient_set(capability, true).map_err(fail("ambient set"))?;
    }
    Ok(())
}

/// Allows this process, in all of its threads, the system calls that it needs from now on, and no others.
///
/// What is not on the list fails with EPERM and the process lives on. To kill it would take the link down for a C library that does an
/// old thing by a new call; to refuse is as good a wall, since nothing that is refused is done.
pub(super) fn filter_system_calls() -> Result<(), ServiceError> {
    let fail = |error: &dyn std::fmt::Display| ServiceError::System {
        operation: "filtering system calls (`--no-seccomp` goes without)".into(),
        source: std::io::Error::other(error.to_string()),
    };
    let arch = std::env::consts::ARCH.try_into().map_err(|error: seccompiler::BackendError| fail(&error))?;
    let rules = [FRAMES, TIME, FILES, SOCKETS, MEMORY, THREADS, OLD].concat();
    let rules = rules.into_iter().map(|call| (call, Vec::new())).collect();
    let (allow, refuse) = (SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32));
    let filter = SeccompFilter::new(rules, refuse, allow, arch).map_err(|error| fail(&error))?;
    let program: BpfProgram = filter.try_into().map_err(|error: seccompiler::BackendError| fail(&error))?;
    apply_filter_all_threads(&program).map_err(|error| fail(&error))
}

/// Frames in and out, and waiting for them.
const FRAMES: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_ppoll,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
];

/// Clocks and sleep.
const TIME: &[libc::c_long] = &[
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_restart_syscall,
];

/// The configuration is read again, a capture is written, and what is left behind is removed.
const FILES: &[libc::c_long] = &[
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_lseek,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_unlinkat,
    libc::SYS_linkat, // a capture is linked to its name when it is whole
    libc::SYS_pipe2,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_ioctl,
];

/// Interfaces are opened again, and clients of the control socket and of metrics are let in.
const SOCKETS: &[libc::c_long] = &[
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
];

/// Memory, of which a reload takes some.
const MEMORY: &[libc::c_long] = &[
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_getrandom,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_prlimit64,
    libc::SYS_getrusage,
];

/// Threads, signals, and the end. No program is executed any more, and no other process is traced or changed.
const THREADS: &[libc::c_long] = &[
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_futex,
    libc::SYS_prctl,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_tgkill,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Calls that only old architectures have.
#[cfg(target_arch = "x86_64")]
const OLD: &[libc::c_long] = &[
    libc::SYS_poll,
    libc::SYS_epoll_wait,
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_unlink,
    libc::SYS_pipe,
    libc::SYS_dup2,
    libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[libc::c_long] = &[];

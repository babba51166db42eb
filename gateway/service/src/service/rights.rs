//! The rights that the process keeps once its ports are open: two capabilities, an unprivileged
//! user, some folders, and a list of system calls. The process cannot gain more rights.

use super::error::ServiceError;
use crate::config::user::User;
use fairwire_linux::priority;
use landlock::{ABI, Access, AccessFs, AccessNet, RulesetAttr, RulesetCreatedAttr, path_beneath_rules};
use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
    set_keep_capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter_all_threads,
};
use std::path::PathBuf;

/// The gateway's capabilities, for packet sockets and the settings of interfaces.
pub(super) const GATEWAY: CapabilitySet = CapabilitySet::NET_ADMIN.union(CapabilitySet::NET_RAW);
/// The guard's capability: creating a bridge.
pub(super) const GUARD: CapabilitySet = CapabilitySet::NET_ADMIN;

/// Gives up every capability of this thread except `kept`, in all five sets, and becomes `user`, if
/// given. Later threads inherit these rights, so no other thread may exist yet.
///
/// Without CAP_SETPCAP, a process cannot reduce its bounding set. That set does no harm, since the
/// process executes nothing that grants capabilities.
pub(super) fn keep_only(kept: CapabilitySet, user: Option<&User>) -> Result<(), ServiceError> {
    set_no_new_privs(true).map_err(fail("no new privileges"))?;
    // A thread that has a real-time priority keeps it, as do the threads that it starts.
    priority::forbid()
        .map_err(|error| ServiceError::system("giving up rights (real-time priority)", error))?;
    for capability in CapabilitySet::all().iter().filter(|capability| !kept.contains(*capability)) {
        match remove_capability_from_bounding_set(capability) {
            // INVAL: the kernel does not know the capability. PERM: this process may not change its
            // bounding set.
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::PERM) => {}
            Err(error) => return Err(fail("bounding set")(error)),
        }
    }
    clear_ambient_capability_set().map_err(fail("ambient set"))?;
    user.map_or(Ok(()), become_user)?;
    let permitted = capabilities(None).map_err(fail("reading"))?.permitted & kept;
    let sets = CapabilitySets { effective: permitted, permitted, inheritable: permitted };
    set_capabilities(None, sets).map_err(fail("effective, permitted and inheritable sets"))?;
    for capability in permitted.iter() {
        configure_capability_in_ambient_set(capability, true).map_err(fail("ambient set"))?;
    }
    Ok(())
}

fn fail(what: &'static str) -> impl Fn(rustix::io::Errno) -> ServiceError {
    move |error| ServiceError::system(format!("giving up rights ({what})"), error)
}

/// May this process become another user? Root in a container often may not.
pub(super) fn may_become_user() -> Result<bool, ServiceError> {
    let effective = capabilities(None).map_err(fail("reading"))?.effective;
    Ok(effective.contains(CapabilitySet::SETUID.union(CapabilitySet::SETGID)))
}

/// Does `user` exist in this user namespace (user_namespaces(7))? Some containers have only root.
pub(super) fn is_mapped(user: &User) -> bool {
    let has = |file: &str, id: u32| {
        // In a kernel without user namespaces, the file is missing, and every ID is valid.
        std::fs::read_to_string(file).map_or(true, |map| is_in_map(&map, id))
    };
    has("/proc/self/uid_map", user.uid) && has("/proc/self/gid_map", user.gid)
}

/// Is `id` in this map, whose lines have three numbers: first ID inside, first ID outside, count?
fn is_in_map(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().flat_map(str::parse).collect();
        matches!(numbers[..], [first, _, count] if (first..first.saturating_add(count)).contains(&u64::from(id)))
    })
}

/// Becomes `user`, without supplementary groups. Capabilities leave the effective set until
/// `keep_only` restores them.
fn become_user(user: &User) -> Result<(), ServiceError> {
    // Without this call, the kernel drops all capabilities when the user ID changes from 0.
    set_keep_capabilities(true).map_err(fail("keeping capabilities"))?;
    set_thread_groups(&[]).map_err(fail("groups"))?;
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    set_thread_res_gid(gid, gid, gid).map_err(fail("group"))?;
    set_thread_res_uid(uid, uid, uid).map_err(fail("user"))?;
    set_keep_capabilities(false).map_err(fail("keeping capabilities"))
}

#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    /// Folders and files to read.
    pub read: Vec<PathBuf>,
    /// Folders in which files are created and removed.
    pub write: Vec<PathBuf>,
    pub devices: Vec<PathBuf>,
}

/// Confines this thread, and those that it starts, to these files, and forbids TCP bind and connect
/// (landlock(7)). Open files and received descriptors remain usable. Returns false if the kernel
/// has no Landlock.
pub(super) fn confine(files: &Files) -> Result<bool, ServiceError> {
    let fail = |error: landlock::RulesetError| {
        ServiceError::system("giving up files (Landlock)", std::io::Error::other(error))
    };
    let all = AccessFs::from_all(ABI::V5);
    let write = AccessFs::MakeReg | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::RemoveFile;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    // A missing path is left out.
    let status = landlock::Ruleset::default()
        .handle_access(all)
        .and_then(|rules| rules.handle_access(AccessNet::from_all(ABI::V5)))
        .and_then(landlock::Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(&files.read, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&files.write, read | write)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&files.devices, device)))
        .and_then(|rules| rules.restrict_self())
        .map_err(fail)?;
    Ok(status.ruleset != landlock::RulesetStatus::NotEnforced)
}

/// Restricts all threads of this process to the system calls that it still needs.
///
/// Other calls fail with EPERM. This is as safe as killing the process, since the refused call does
/// nothing. A kill would take the link down when a C library starts to use a newer call.
pub(super) fn filter_system_calls() -> Result<(), ServiceError> {
    let fail = |error: &dyn std::fmt::Display| ServiceError::System {
        operation: "filtering system calls (`--no-seccomp` goes without)".into(),
        source: std::io::Error::other(error.to_string()),
    };
    let program = program().map_err(|error| fail(&error))?;
    apply_filter_all_threads(&program).map_err(|error| fail(&error))
}

fn program() -> Result<BpfProgram, BackendError> {
    // A call without rules is allowed with any arguments.
    let calls = [FRAMES, TIME, FILES, SOCKETS, MEMORY, THREADS, OLD].concat();
    let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> =
        calls.into_iter().map(|call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, KINDS.iter().map(|kind| kind.rule()).collect::<Result<_, _>>()?);
    // Control threads give up the real-time priority that they inherit.
    let ordinary = SeccompRule::new(vec![equal(1, libc::SCHED_OTHER as u64)?])?;
    rules.insert(libc::SYS_sched_setscheduler, vec![ordinary]);
    let of_ioctl = |request: &u64| SeccompRule::new(vec![equal(1, *request)?]);
    rules.insert(libc::SYS_ioctl, REQUESTS.iter().map(of_ioctl).collect::<Result<_, _>>()?);
    let (allow, refuse) = (SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32));
    SeccompFilter::new(rules, refuse, allow, std::env::consts::ARCH.try_into()?)?.try_into()
}

fn equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// A group of allowed sockets: its family, and its type (without flags) or protocol if these are
/// restricted.
struct SocketKind {
    family: i32,
    kind: Option<i32>,
    protocol: Option<i32>,
}

/// Allowed sockets. TCP is not needed, since listening sockets are already bound.
const KINDS: [SocketKind; 5] = [
    SocketKind { family: libc::AF_PACKET, kind: None, protocol: None },
    SocketKind { family: libc::AF_NETLINK, kind: None, protocol: Some(libc::NETLINK_ROUTE) },
    // The tables of router mode are rebuilt when an interface returns.
    SocketKind { family: libc::AF_NETLINK, kind: None, protocol: Some(libc::NETLINK_NETFILTER) },
    SocketKind { family: libc::AF_INET, kind: Some(libc::SOCK_DGRAM), protocol: None },
    SocketKind { family: libc::AF_UNIX, kind: None, protocol: None },
];

impl SocketKind {
    fn rule(&self) -> Result<SeccompRule, BackendError> {
        const TYPE: u64 = 0xf; // the higher bits are flags (`SOCK_TYPE_MASK` of Linux)
        let family = equal(0, self.family as u64);
        let kind = self.kind.map(|kind| {
            SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(TYPE), kind as u64)
        });
        let protocol = self.protocol.map(|protocol| equal(2, protocol as u64));
        SeccompRule::new([Some(family), kind, protocol].into_iter().flatten().collect::<Result<_, _>>()?)
    }
}

#[allow(clippy::unnecessary_cast, reason = "their type is another with musl")]
const REQUESTS: [u64; 11] = [
    libc::SIOCGIFINDEX as u64,
    libc::SIOCGIFNAME as u64,
    libc::SIOCGIFFLAGS as u64,
    libc::SIOCSIFFLAGS as u64,
    libc::SIOCGIFMTU as u64,
    libc::SIOCSIFMTU as u64,
    libc::TUNSETIFF as u64,
    libc::TUNGETIFF as u64,
    libc::TUNSETOFFLOAD as u64,
    libc::FIONBIO as u64,
    libc::FIOCLEX as u64,
];

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

const TIME: &[libc::c_long] = &[
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_restart_syscall,
];

/// System calls for reading the configuration again, writing captures, and removing left-over
/// files.
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
    libc::SYS_linkat, // a complete capture is linked to its name
    libc::SYS_pipe2,
    libc::SYS_dup,
    libc::SYS_dup3,
];

/// System calls for reopening and locking interfaces, and for accepting clients of the control
/// socket and of metrics.
const SOCKETS: &[libc::c_long] = &[
    libc::SYS_socketpair,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_connect,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
];

/// System calls for memory, which a reload allocates.
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

/// System calls for threads and signals. None of them executes a program, or traces or changes
/// another process.
const THREADS: &[libc::c_long] = &[
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_futex,
    libc::SYS_prctl,
    // Control threads yield to the datapath thread.
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

/// Calls of x86-64 that newer architectures lack.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketType, netlink, socket};
    use std::io::ErrorKind::PermissionDenied;

    fn apart<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
        std::thread::spawn(test).join().expect("it does not panic")
    }

    #[test]
    fn a_user_map_contains_the_ids_of_its_ranges() {
        let (all, root, two) =
            ("         0          0 4294967295\n", "0 1000 1\n", "0 1000 1\n1 100000 65536\n");
        let of = |map: &str| [0, 1, 65_534, 65_537].map(|id| is_in_map(map, id));
        assert_eq!(of(all), [true; 4]);
        assert_eq!(of(root), [true, false, false, false]);
        assert_eq!(of(two), [true, true, true, false]);
        assert!(!is_in_map("what is this", 0));
    }

    #[test]
    fn unneeded_sockets_and_requests_are_refused() {
        let (allowed, refused) = apart(|| {
            set_no_new_privs(true).expect("any process may");
            seccompiler::apply_filter(&program().expect("it is well made")).expect("this kernel filters");
            let (stream, datagram) = (SocketType::STREAM, SocketType::DGRAM);
            let open = |family, kind, protocol| socket(family, kind, protocol).map(drop);
            let allowed = [
                open(AddressFamily::UNIX, stream, None),
                open(AddressFamily::INET, datagram, None),
                open(AddressFamily::NETLINK, SocketType::RAW, None),
                fairwire_linux::link::index_of("lo").map(drop).map_err(|_| rustix::io::Errno::PERM),
            ];
            let refused = [
                open(AddressFamily::INET, stream, None),
                open(AddressFamily::INET6, datagram, None),
                open(AddressFamily::NETLINK, SocketType::RAW, Some(netlink::AUDIT)),
                open(AddressFamily::VSOCK, stream, None),
                rustix::io::ioctl_fionread(std::io::stdin()).map(drop),
            ];
            (allowed, refused)
        });
        assert_eq!(allowed, [Ok(()); 4]);
        assert_eq!(refused, [Err(rustix::io::Errno::PERM); 5]);
    }

    #[test]
    fn files_outside_its_folders_are_out_of_reach_and_open_ones_stay_open() {
        let [read, write, other] = [0, 1, 2].map(|_| tempfile::tempdir().expect("a folder"));
        let inside = |folder: &tempfile::TempDir| folder.path().join("file");
        let paths = [&read, &write, &other].map(inside);
        paths.iter().for_each(|path| std::fs::write(path, "text").expect("it is ours"));
        let files =
            Files { read: vec![read.path().into()], write: vec![write.path().into()], devices: Vec::new() };
        let seen = apart(move || {
            let open = std::fs::File::open(&paths[2]).expect("not confined yet");
            set_no_new_privs(true).expect("any process may");
            if !confine(&files).expect("the rules are well made") {
                return None;
            }
            let text = std::io::read_to_string(open).ok();
            let reads =
                paths.each_ref().map(|path| std::fs::read(path).map(drop).map_err(|error| error.kind()));
            let removes =
                paths.each_ref().map(|path| std::fs::remove_file(path).map_err(|error| error.kind()));
            Some((text, reads, removes))
        });
        let Some((text, reads, removes)) = seen else {
            return fairwire_testing::skipped(format_args!("Landlock: this kernel has none"));
        };
        assert_eq!(text.as_deref(), Some("text"));
        assert_eq!(reads, [Ok(()), Ok(()), Err(PermissionDenied)]);
        assert_eq!(removes, [Err(PermissionDenied), Ok(()), Err(PermissionDenied)]);
    }
}

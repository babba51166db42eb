//! Unnamed network namespaces, and processes that end with their parent.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use super::error::{During, Trouble};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Signal, getgid, getuid, set_parent_process_death_signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::{File, write};
use std::os::fd::{AsFd, OwnedFd};

/// A network namespace, alive at least as long as this value.
#[derive(Debug)]
pub struct Namespace(OwnedFd);

impl Namespace {
    /// Moves this thread into a new, empty network namespace.
    ///
    /// If the kernel refuses, this process first becomes root in a new user namespace. The process
    /// must then have only one thread.
    pub fn enter_new() -> Result<Self, Trouble> {
        if let Err(plain) = unshare(UnshareFlags::NEWNET) {
            become_root_of_a_user_namespace().map_err(|trouble| trouble.after(&plain.into()))?;
            // Any failure here is a lack of rights: "no space" means that user.max_net_namespaces
            // is 0.
            unshare(UnshareFlags::NEWNET)
                .during("making a network namespace")
                .map_err(Trouble::for_want_of_rights)?;
        }
        Self::own()
    }

    /// The namespace of this thread.
    pub fn own() -> Result<Self, Trouble> {
        let this = File::open("/proc/thread-self/ns/net").during("opening a network namespace")?;
        Ok(Namespace(this.into()))
    }

    pub(crate) fn again(&self) -> Result<Self, Trouble> {
        Ok(Namespace(self.0.try_clone().during("opening a network namespace")?))
    }

    /// Moves this thread, with its later children, into this namespace.
    pub fn enter(&self) -> Result<(), Trouble> {
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(self.0.as_fd(), kind).during("entering a network namespace")
    }

    /// The descriptor that identifies the namespace.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.0
    }
}

/// Makes the kernel kill this process when the thread that started it ends.
pub fn die_with_parent() -> Result<(), Trouble> {
    set_parent_process_death_signal(Some(Signal::KILL)).during("requesting to end with the parent")
}

/// Makes this process root of a user namespace, unless it may already create namespaces. The
/// process must have only one thread.
pub(crate) fn gain_rights() -> Result<(), Trouble> {
    let Err(plain) = unshare(UnshareFlags::NEWNS) else { return Ok(()) };
    become_root_of_a_user_namespace().map_err(|trouble| trouble.after(&plain.into()))?;
    // Clears the signal that `become_root_of_a_user_namespace` has set: this process need not end
    // with its parent.
    set_parent_process_death_signal(None).during("living on without the parent")
}

/// Puts this thread's later children into a process namespace, and this thread into a mount
/// namespace. When the first child ends, the kernel kills all other descendants. The mounts
/// disappear with the last process. After this call, this thread cannot start other threads.
///
/// If the kernel refuses, first creates a user namespace. The process must then have only one
/// thread.
pub fn part_processes() -> Result<(), Trouble> {
    let flags = UnshareFlags::NEWPID | UnshareFlags::NEWNS;
    if let Err(plain) = unshare(flags) {
        become_root_of_a_user_namespace().map_err(|trouble| trouble.after(&plain.into()))?;
        unshare(flags).during("making a process namespace").map_err(Trouble::for_want_of_rights)?;
    }
    Ok(())
}

/// Puts this thread into a mount namespace whose `/sys` shows the interfaces of the thread's
/// network namespace, as programs expect.
pub fn part_sys() -> Result<(), Trouble> {
    unshare(UnshareFlags::NEWNS).during("making a mount namespace")?;
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .during("keeping mounts to ourselves")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("sysfs", "/sys", "sysfs", flags, None).during("mounting /sys")
}

fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: no caller passes a flag that unshares the file descriptor table.
    unsafe { unshare_unsafe(flags) }
}

/// Reports every failure as a lack of rights, although the kernel may say "no space"
/// (user.max_user_namespaces is 0) or "invalid" (several threads, or no kernel support).
fn become_root_of_a_user_namespace() -> Result<(), Trouble> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let mapped = unshare(UnshareFlags::NEWUSER)
        .during("making a user namespace")
        .and_then(|()| write("/proc/self/setgroups", "deny").during("fixing the groups of a user namespace"))
        .and_then(|()| {
            write("/proc/self/uid_map", format!("0 {user} 1")).during("mapping the user of a user namespace")
        })
        .and_then(|()| {
            write("/proc/self/gid_map", format!("0 {group} 1"))
                .during("mapping the group of a user namespace")
        });
    mapped.map_err(Trouble::for_want_of_rights)?;
    die_with_parent() // the kernel forgets this when a process gains rights
}

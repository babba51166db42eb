//! Gives forwarding threads priority over ordinary threads. Forwarding in the kernel has such
//! priority.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::io;

/// The lowest real-time priority (sched(7)).
const LOWEST: i32 = 1;

/// Runs this thread, and the threads that it starts later, before ordinary threads: `SCHED_RR` with
/// the lowest priority (sched(7)).
///
/// # Errors
/// If the process has neither CAP_SYS_NICE nor an `RLIMIT_RTPRIO` above 0 (getrlimit(2)); or if
/// `threads` busy threads would leave no processor to other programs.
pub fn raise(threads: usize) -> io::Result<()> {
    let processors = std::thread::available_parallelism()?.get();
    if processors <= threads {
        return Err(io::Error::other(format!(
            "forwarding has {threads} threads, and the machine {processors} processors"
        )));
    }
    set(libc::SCHED_RR, LOWEST)
}

/// Makes [`raise`] fail in this process from now on, unless the process has CAP_SYS_NICE.
///
/// # Errors
/// If the kernel refuses.
pub fn forbid() -> io::Result<()> {
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    Ok(rustix::process::setrlimit(rustix::process::Resource::Rtprio, none)?)
}

/// Undoes [`raise`] for this thread. The kernel always permits this.
pub fn lower() {
    let _ = set(libc::SCHED_OTHER, 0);
}

fn set(policy: i32, sched_priority: i32) -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority };
    // Makes the system call directly, because musl's `sched_setscheduler` always fails.
    //
    // SAFETY: the kernel only reads `parameter`, which outlives the call.
    let outcome = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameter) };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// The scheduling policy: field 41 of `stat` (proc_pid_stat(5)).
    fn policy() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, after_name) = stat.rsplit_once(')').unwrap();
        after_name.split_whitespace().nth(41 - 3).unwrap().parse().unwrap()
    }

    #[test]
    fn a_raised_thread_and_the_threads_that_it_starts_have_the_real_time_policy_until_they_are_lowered() {
        let policies = thread::spawn(|| {
            let before = policy();
            raise(1)?;
            let [raised, inherited] = [policy(), thread::spawn(policy).join().unwrap()];
            lower();
            io::Result::Ok([before, raised, inherited, policy()])
        });
        match policies.join().unwrap() {
            Ok(policies) => assert_eq!(policies, [0, libc::SCHED_RR, libc::SCHED_RR, libc::SCHED_OTHER]),
            Err(error) => eprintln!("SKIPPED: real-time priorities: {error}"),
        }
    }
}

//! The loop that drives a datapath on real ports: wait for a frame or for the next instant at which
//! something is due.

use crate::datapath::{Datapath, Wire};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortError, wait};
use std::os::fd::AsFd;

/// A thread that sleeps until an instant wakes up to this much late, more so in a virtual machine.
const WAKES_LATE: Duration = Duration::from_us(60);

/// What a watcher answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Go on, and call again at this time or soon after.
    CallAt(Time),
    /// End.
    Stop,
}

/// Drives `datapath` between the ports of `wire` until `watch` returns [`Next::Stop`]. `watch` is
/// called first of all, and again at the times that it names.
///
/// The thread sleeps when nothing has arrived and nothing is due for longer than falling asleep
/// takes.
pub fn run<P: Port + AsFd>(
    datapath: &mut Datapath,
    wire: &mut Wire<P>,
    watch: &mut dyn FnMut(Time, &mut Datapath) -> Next,
) -> Result<(), PortError> {
    drive(datapath, wire, Duration::ZERO, &mut |now, datapath, _| watch(now, datapath))
}

/// The same for links that are emulated: what was due is done [at its own time](Datapath::catch_up),
/// however late the thread is. Before a port has something [to send](Port::due) the thread is awake,
/// and waits without sleep.
pub fn emulate<P: Port + AsFd>(
    datapath: &mut Datapath,
    wire: &mut Wire<P>,
    watch: &mut dyn FnMut(Time, &mut Datapath, &mut Wire<P>) -> Next,
) -> Result<(), PortError> {
    drive(datapath, wire, WAKES_LATE, watch)
}

/// Drives the datapath with a thread that wakes `early`: exactly, unless that is zero.
fn drive<P: Port + AsFd>(
    datapath: &mut Datapath,
    wire: &mut Wire<P>,
    early: Duration,
    watch: &mut dyn FnMut(Time, &mut Datapath, &mut Wire<P>) -> Next,
) -> Result<(), PortError> {
    clock::wake_precisely();
    let mut call_at = Time::ZERO;
    loop {
        let now = clock::now();
        if !early.is_zero() {
            datapath.catch_up(wire, now);
        }
        let arrived = datapath.step(wire, now)?;
        if now >= call_at {
            // On a port that is never waited for, nothing else would notice.
            wire.left.check()?;
            wire.right.check()?;
            match watch(now, datapath, wire) {
                Next::CallAt(time) => call_at = time,
                Next::Stop => return Ok(()),
            }
        }
        if arrived > 0 {
            continue; // more may be there already
        }
        let (forward, backward) = (datapath.forward.next_wakeup(), datapath.backward.next_wakeup());
        let due = [wire.right.due(forward), wire.left.due(backward)];
        let due = due.into_iter().flatten().fold(call_at, Time::min);
        wait([&mut wire.left, &mut wire.right], due.since(clock::now() + early))?;
    }
}

//! The loop that drives a datapath on real ports: wait for a frame or for the next instant at which
//! something is due.

use crate::datapath::{Datapath, Wire};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortError, TAKEN_AT_ONCE, sleep, wait};
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
/// takes. While packets wait it also sleeps until `coalesce` has gone by since it woke, unless a link
/// would idle. Then it does at once what came and what was due meanwhile. The rate holds where a
/// link may make up for as much lost time.
pub fn run<P: Port + AsFd>(
    datapath: &mut Datapath,
    wire: &mut Wire<P>,
    coalesce: Duration,
    watch: &mut dyn FnMut(Time, &mut Datapath) -> Next,
) -> Result<(), PortError> {
    let pace = Pace { early: Duration::ZERO, coalesce };
    drive(datapath, wire, pace, &mut |now, datapath, _| watch(now, datapath))
}

/// The same for links that are emulated: what was due is done [at its own time](Datapath::catch_up),
/// however late the thread is. Before a port has something [to send](Port::due) the thread is awake,
/// and waits without sleep.
pub fn emulate<P: Port + AsFd>(
    datapath: &mut Datapath,
    wire: &mut Wire<P>,
    watch: &mut dyn FnMut(Time, &mut Datapath, &mut Wire<P>) -> Next,
) -> Result<(), PortError> {
    drive(datapath, wire, Pace { early: WAKES_LATE, coalesce: Duration::ZERO }, watch)
}

/// When the thread wakes.
struct Pace {
    /// Before something is due, and then what was due is done at its own time; or zero.
    early: Duration,
    /// While packets wait: not again before this.
    coalesce: Duration,
}

fn drive<P: Port + AsFd>(
    datapath: &mut Datapath,
    wire: &mut Wire<P>,
    Pace { early, coalesce }: Pace,
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
        let rest = coalesce.min(datapath.backlog_lasts());
        if !rest.is_zero() && arrived < TAKEN_AT_ONCE {
            // After a full batch more may be there, so it looks again first.
            sleep((now + rest).min(call_at).since(clock::now()));
        } else if arrived > 0 {
            continue; // more may be there already
        }
        let (forward, backward) = (datapath.forward.next_wakeup(), datapath.backward.next_wakeup());
        let due = [wire.right.due(forward), wire.left.due(backward)];
        let due = due.into_iter().flatten().fold(call_at, Time::min);
        wait([&mut wire.left, &mut wire.right], due.since(clock::now() + early))?;
    }
}

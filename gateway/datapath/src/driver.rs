//! Drives a datapath on real ports: waits for a frame or the next event.

use crate::datapath::{Datapath, Wire};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortError, TAKEN_AT_ONCE, sleep, wait};
use std::os::fd::AsFd;

/// The assumed maximum lateness of a timer. In a virtual machine, the delay may be longer.
const WAKES_LATE: Duration = Duration::from_us(60);

/// A watcher's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Continue, and call `watch` again at this time or soon after.
    CallAt(Time),
    /// End.
    Stop,
}

/// Drives `datapath` between the ports of `wire` until `watch` returns [`Next::Stop`]. `watch` is
/// called first, and again at the times that it returns.
///
/// The thread sleeps when nothing arrived, unless the next event is too near. While packets wait,
/// the thread also sleeps for `coalesce`, or for less if a link would become idle. It then handles
/// all arrivals and events of that time at once. The link keeps its rate if its catch-up covers
/// `coalesce`.
pub fn run<P: Port + AsFd>(
    datapath: &mut Datapath,
    wire: &mut Wire<P>,
    coalesce: Duration,
    watch: &mut dyn FnMut(Time, &mut Datapath) -> Next,
) -> Result<(), PortError> {
    let pace = Pace { early: Duration::ZERO, coalesce };
    drive(datapath, wire, pace, &mut |now, datapath, _| watch(now, datapath))
}

/// Drives `datapath` like [`run`], but for emulated links: each event happens [at its own
/// time](Datapath::catch_up), however late the thread is. The thread wakes early and polls until a
/// port has something [to send](Port::due).
pub fn emulate<P: Port + AsFd>(
    datapath: &mut Datapath,
    wire: &mut Wire<P>,
    watch: &mut dyn FnMut(Time, &mut Datapath, &mut Wire<P>) -> Next,
) -> Result<(), PortError> {
    drive(datapath, wire, Pace { early: WAKES_LATE, coalesce: Duration::ZERO }, watch)
}

struct Pace {
    /// The time before an event at which the thread wakes, if each event is handled at its own
    /// time; otherwise zero.
    early: Duration,
    /// The minimum time between wake-ups while packets wait.
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
            // A busy thread never waits for a port, so it notices a failed port only here.
            wire.left.check()?;
            wire.right.check()?;
            match watch(now, datapath, wire) {
                Next::CallAt(time) => call_at = time,
                Next::Stop => return Ok(()),
            }
        }
        let rest = coalesce.min(datapath.backlog_lasts());
        if !rest.is_zero() && arrived < TAKEN_AT_ONCE {
            // A full batch skips this sleep, because more frames may be ready.
            sleep((now + rest).min(call_at).since(clock::now()));
        } else if arrived > 0 {
            continue; // more frames may be ready
        }
        let (forward, backward) = (datapath.forward.next_wakeup(), datapath.backward.next_wakeup());
        let due = [wire.right.due(forward), wire.left.due(backward)];
        let due = due.into_iter().flatten().fold(call_at, Time::min);
        wait([&mut wire.left, &mut wire.right], due.since(clock::now() + early))?;
    }
}

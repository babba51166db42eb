//! The loop that drives a datapath on real ports: wait for a frame or for the next instant at which
//! something is due.

use crate::datapath::{Datapath, Wire};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortError};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::num::NonZeroU64;
use std::os::fd::AsFd;

/// About the time that it takes to fall asleep and wake up again.
const MIN_SLEEP: Duration = Duration::from_us(5);

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
    wake_precisely();
    let mut call_at = Time::ZERO;
    loop {
        let now = clock::now();
        let arrived = datapath.step(wire, now)?;
        if now >= call_at {
            // On a port that is never waited for, nothing else would notice.
            wire.left.check()?;
            wire.right.check()?;
            match watch(now, datapath) {
                Next::CallAt(time) => call_at = time,
                Next::Stop => return Ok(()),
            }
        }
        if arrived > 0 {
            continue; // more may be there already
        }
        let due = datapath.next_wakeup().map_or(call_at, |due| due.min(call_at));
        let idle = due.since(clock::now());
        if idle > MIN_SLEEP {
            wait(wire, idle)?;
        }
    }
}

/// By default the kernel may wake a thread up to 50 µs late to save power, which a rate of 100
/// Mbit/s would feel.
fn wake_precisely() {
    // Without it timers are a little late, and the transmitter makes up for that: nothing to
    // report.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

fn wait<P: Port + AsFd>(wire: &mut Wire<P>, timeout: Duration) -> Result<(), PortError> {
    let mut ports = [PollFd::new(&wire.left, PollFlags::IN), PollFd::new(&wire.right, PollFlags::IN)];
    let outcome = poll(&mut ports, Some(&clock::timespec(timeout.ns())));
    let [left, right] = ports.map(|port| port.revents().contains(PollFlags::ERR));
    match outcome {
        Ok(0) => Ok(()),
        Ok(_) => {
            let left = if left { wire.left.check() } else { Ok(()) };
            left.and_then(|()| if right { wire.right.check() } else { Ok(()) })
        }
        // A signal is no trouble: the watcher is called soon, and says whether to stop.
        Err(Errno::INTR) => Ok(()),
        Err(error) => Err(PortError::System {
            operation: "waiting",
            name: "left or right".to_owned(),
            source: error.into(),
        }),
    }
}

//! Carries frames between two ports.

use super::lane::Held;
use super::{Carried, FaultCounts, Path};
use crate::schedule::waited;
use crate::side::Side;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::{MAX_FRAMES_AT_ONCE, Outgoing, Port, PortError};
use fairwire_wire::split::{MAX_FRAME_BYTES, split};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often the end of the run is looked for.
const TICK: Duration = Duration::from_ms(20);
/// To fall asleep and wake up again takes about as long.
const MIN_SLEEP: Duration = Duration::from_us(5);

/// Two ports and the frames under way between them.
#[derive(Debug)]
pub(super) struct Carrier<P> {
    /// By side.
    ports: [P; 2],
    /// By the side to which they lead.
    lanes: [Held; 2],
    carried: Carried,
    scratch: Box<[u8]>,
}

impl<P: Port + AsFd> Carrier<P> {
    /// Between `ports`, from left to right.
    pub(super) fn new(ports: [P; 2], path: &Path) -> Self {
        let lanes = [Side::Left, Side::Right].map(|side| Held::new(path, side));
        Carrier { ports, lanes, carried: Carried::default(), scratch: vec![0; MAX_FRAME_BYTES].into() }
    }

    /// Until `is_over`. A run begins at `begins_ns` of the monotonic clock, once that is known.
    pub(super) fn run(&mut self, is_over: &AtomicBool, begins_ns: &AtomicU64) -> Result<Carried, PortError> {
        // By default the kernel wakes a thread up to 50 us late, to save power.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        while !is_over.load(Ordering::Relaxed) {
            let begins = Some(begins_ns.load(Ordering::Relaxed)).filter(|ns| *ns > 0).map(Time::from_ns);
            self.lanes.iter_mut().for_each(|lane| lane.begins = begins);
            let mut arrived = 0;
            for side in Side::BOTH {
                arrived += self.take(side)?;
                self.give(side.other());
            }
            if arrived == 0 {
                self.wait()?;
            }
        }
        let missed: u64 =
            self.ports.iter_mut().map(|port| port.health()).map(|it| it.overflows + it.truncated).sum();
        let sum = |of: fn(&Held) -> u64| self.lanes.iter().map(of).sum();
        Ok(Carried {
            faults: self.lanes.iter().fold(FaultCounts::default(), |all, lane| all.plus(&lane.counts)),
            overflowed: sum(|lane| lane.overflowed),
            failed: self.carried.failed + missed,
            processor_ns: clock::thread().ns(),
            waited_ns: waited("/proc/thread-self".as_ref()).ns(),
            ..self.carried.clone()
        })
    }

    /// Takes the frames that have arrived at `side`, and returns their number.
    fn take(&mut self, side: Side) -> Result<u64, PortError> {
        let lane = &mut self.lanes[side.other() as usize];
        let (scratch, failed) = (&mut self.scratch, &mut self.carried.failed);
        let mut arrived = 0;
        self.ports[side as usize].receive(&mut |frame, vnet| {
            arrived += 1;
            // Later than it came, so that no frame is early.
            let now = clock::now();
            let outcome = split(frame, vnet, scratch, &mut |packet| lane.push(packet, now));
            *failed += u64::from(outcome.is_err());
        })?;
        Ok(arrived)
    }

    /// Sends what is due at `side`.
    fn give(&mut self, side: Side) {
        let (lane, now) = (&mut self.lanes[side as usize], clock::now());
        loop {
            let due: Vec<Box<[u8]>> = std::iter::from_fn(|| lane.pop(now)).take(MAX_FRAMES_AT_ONCE).collect();
            if due.is_empty() {
                return;
            }
            let frames: Vec<Outgoing<'_>> = due.iter().map(|bytes| Outgoing::of(bytes)).collect();
            let refused = u64::from(self.ports[side as usize].transmit_all(&frames).count());
            self.carried.failed += refused;
            self.carried.passed += frames.len() as u64 - refused;
        }
    }

    /// Sleeps until a frame arrives or one is due.
    fn wait(&mut self) -> Result<(), PortError> {
        let now = clock::now();
        let tick = now + TICK;
        let due = self.lanes.iter().filter_map(Held::next_due).fold(tick, Time::min);
        let idle = due.since(now);
        if idle <= MIN_SLEEP {
            return Ok(());
        }
        let mut waits = self.ports.each_ref().map(|port| PollFd::new(port, PollFlags::IN));
        match poll(&mut waits, Some(&clock::timespec(idle.ns()))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                let name = "left or right".to_owned();
                return Err(PortError::System { operation: "waiting", name, source: error.into() });
            }
        }
        let faulty = waits.map(|wait| wait.revents().contains(PollFlags::ERR));
        let mut ports = self.ports.iter_mut().zip(faulty);
        ports.try_for_each(|(port, is_faulty)| if is_faulty { port.check() } else { Ok(()) })
    }
}

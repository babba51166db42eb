//! Carries frames between two ports.

use super::lane::Held;
use super::plan::{Carried, FaultCounts, Path};
use super::wired::WiredPort;
use crate::schedule::waited;
use crate::side::Side;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::{Outgoing, Port, PortError, PortHealth, wait};
use fairwire_wire::split::{MAX_FRAME_BYTES, split};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The interval at which the end of the run is checked.
const TICK: Duration = Duration::from_ms(20);

#[derive(Debug)]
pub(super) struct Carrier<P> {
    /// The ports, by side. A port also holds the frames that travel to its side.
    ports: [WiredPort<P>; 2],
    malformed: u64,
    scratch: Box<[u8]>,
}

impl<P: Port + AsFd> Carrier<P> {
    pub(super) fn new([left, right]: [P; 2], path: &Path) -> Self {
        let wired = |port, side| WiredPort::of(port, Held::new(path, side));
        let ports = [wired(left, Side::Left), wired(right, Side::Right)];
        Carrier { ports, malformed: 0, scratch: vec![0; MAX_FRAME_BYTES].into() }
    }

    /// Carries frames until `is_over`. `begins_ns` is the start of the path's run on the monotonic
    /// clock; zero until known.
    pub(super) fn run(&mut self, is_over: &AtomicBool, begins_ns: &AtomicU64) -> Result<Carried, PortError> {
        clock::wake_precisely();
        while !is_over.load(Ordering::Relaxed) {
            let begins = Some(begins_ns.load(Ordering::Relaxed)).filter(|ns| *ns > 0).map(Time::from_ns);
            begins.into_iter().for_each(|at| self.ports.iter_mut().for_each(|port| port.held.begin(at)));
            if self.pass_from(Side::Left)? + self.pass_from(Side::Right)? == 0 {
                let now = clock::now();
                let due = self.ports.iter().filter_map(|port| port.due(None)).fold(now + TICK, Time::min);
                wait(self.ports.each_mut(), due.since(now))?;
            }
        }
        let missed = |it: PortHealth| it.overflows + it.truncated;
        let missed: u64 = self.ports.iter_mut().map(|port| missed(port.health())).sum();
        let sum = |of: fn(&WiredPort<P>) -> u64| self.ports.iter().map(of).sum::<u64>();
        Ok(Carried {
            passed: sum(|port| port.came_out - port.refused),
            faults: self.ports.iter().fold(FaultCounts::default(), |all, port| all.plus(&port.held.counts)),
            overflowed: sum(|port| port.held.overflowed),
            failed: self.malformed + sum(|port| port.refused) + missed,
            processor_ns: clock::thread().ns(),
            waited_ns: waited("/proc/thread-self".as_ref()).ns(),
        })
    }

    fn pass_from(&mut self, side: Side) -> Result<u64, PortError> {
        let Carrier { ports: [left, right], malformed, scratch } = self;
        let (from, to) = match side {
            Side::Left => (left, right),
            Side::Right => (right, left),
        };
        let mut arrived = 0;
        from.receive(&mut |frame, vnet| {
            arrived += 1;
            // `now` is later than the frame's arrival, so no frame leaves early.
            let now = clock::now();
            let mut carry = |packet: &[u8]| to.carry(&Outgoing::of(packet), now);
            *malformed += u64::from(split(frame, vnet, scratch, &mut carry).is_err());
        })?;
        to.send_due(clock::now());
        Ok(arrived)
    }
}

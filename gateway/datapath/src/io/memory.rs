//! A port in memory, driven by a virtual clock: for tests, and for comparison with the simulator.

use crate::datapath::{Datapath, Wire};
use fairwire_core::Time;
use fairwire_linux::port::{LinkKind, Outgoing, Port, PortError, PortHealth, Refused, Take};
use fairwire_wire::vnet::VnetHeader;
use std::collections::VecDeque;

/// A port that delivers scripted arrivals and keeps departures.
#[derive(Debug, Default)]
pub struct MemoryPort {
    now: Time,
    arrivals: VecDeque<Arrival>,
    sent: Vec<Departure>,
    refuses: bool,
    longest: Option<usize>,
    kind: LinkKind,
}

/// A scripted arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its time.
    pub at: Time,
    /// The bytes from the Ethernet header on.
    pub frame: Vec<u8>,
    /// The header that the kernel would prepend.
    pub vnet: VnetHeader,
}

/// A frame that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Its time.
    pub at: Time,
    /// Its bytes.
    pub frame: Vec<u8>,
}

impl MemoryPort {
    /// A port with future `arrivals`.
    ///
    /// # Panics
    /// If `arrivals` are not in order of time.
    pub fn new(arrivals: Vec<Arrival>) -> Self {
        assert!(arrivals.is_sorted_by_key(|arrival| arrival.at), "arrivals are in order of time");
        MemoryPort { arrivals: arrivals.into(), ..MemoryPort::default() }
    }

    /// A port that refuses to send, like an interface that is down.
    pub fn down() -> Self {
        MemoryPort { refuses: true, ..MemoryPort::default() }
    }

    /// Makes the port refuse frames longer than `bytes`.
    #[must_use]
    pub fn of_longest(self, bytes: usize) -> Self {
        MemoryPort { longest: Some(bytes), ..self }
    }

    /// Sets the port's type of link.
    #[must_use]
    pub fn of_kind(self, kind: LinkKind) -> Self {
        MemoryPort { kind, ..self }
    }

    /// The departures, in order.
    pub fn sent(&self) -> &[Departure] {
        &self.sent
    }

    fn next_arrival(&self) -> Option<Time> {
        self.arrivals.front().map(|arrival| arrival.at)
    }
}

impl Port for MemoryPort {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        while self.next_arrival().is_some_and(|at| at <= self.now) {
            let Some(arrival) = self.arrivals.pop_front() else { break };
            take(&arrival.frame, &arrival.vnet);
        }
        Ok(())
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        if !self.refuses {
            self.sent.push(Departure { at: self.now, frame: frame.to_vec() });
        }
        !self.refuses
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        let mut refused = Refused::NONE;
        for (place, frame) in frames.iter().enumerate() {
            if self.longest.is_some_and(|longest| frame.bytes.len() > longest) {
                refused.add_too_long(place);
            } else if !self.transmit(frame.bytes) {
                refused.add(place);
            }
        }
        refused
    }

    fn link_kind(&self) -> LinkKind {
        self.kind
    }

    fn health(&mut self) -> PortHealth {
        PortHealth::default()
    }
}

/// Runs `datapath` on virtual time until no event is left or `until` is reached. Returns the time
/// reached.
pub fn run(datapath: &mut Datapath, wire: &mut Wire<MemoryPort>, until: Time) -> Time {
    let mut now = Time::ZERO;
    while let Some(next) = next_event(datapath, wire).filter(|next| *next <= until) {
        now = now.max(next);
        (wire.left.now, wire.right.now) = (now, now);
        datapath.step(wire, now).expect("memory does not fail");
    }
    now
}

fn next_event(datapath: &Datapath, wire: &Wire<MemoryPort>) -> Option<Time> {
    let events = [datapath.next_wakeup(), wire.left.next_arrival(), wire.right.next_arrival()];
    events.into_iter().flatten().min()
}

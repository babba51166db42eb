//! Loads: what opens TCP connections and gives them data.
//!
//! A load is a state machine. It is told that its time has come, or that a connection has delivered all that it was given, and answers
//! with [`Step`]s. It knows nothing of packets.

pub(crate) mod bursts;
pub(crate) mod sequence;
mod step;
pub(crate) mod telnet;
pub(crate) mod transfers;
pub(crate) mod web;

pub(crate) use step::{Cause, ENDLESS, Step};

use super::datagram::gap_problem;
use fairwire_core::{Rng, Time};
use step::Segments;

/// What one user of TCP does. A user may have several connections.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// Files, each over a connection of its own.
    Transfers(transfers::Transfers),
    /// Bursts with pauses between.
    Bursts(bursts::Bursts),
    /// Keystrokes.
    Telnet(telnet::Telnet),
    /// One endless transfer after the other, each for a while.
    Sequence(sequence::Sequence),
    /// Pages of objects.
    Web(Box<web::Web>),
}

/// How a load asks for rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// It offers what it offers whatever becomes of it.
    Offered,
    /// It asks for so much, and for more only once it has that.
    Asked,
    /// It takes what it gets.
    Endless,
}

/// A load at work.
#[derive(Debug)]
pub(crate) enum Machine {
    Transfers(transfers::Machine),
    Bursts(bursts::Machine),
    Telnet(telnet::Machine),
    Sequence(sequence::Machine),
    Web(Box<web::Machine>),
}

impl Load {
    /// What is wrong with it, if anything. [`run`](crate::run) refuses it then.
    pub fn problem(&self) -> Option<String> {
        match self {
            Load::Transfers(plan) => plan.problem(),
            Load::Bursts(plan) => plan.burst.problem().or(plan.idle.problem()).map(str::to_owned),
            Load::Telnet(plan) => gap_problem(plan.mean_gap),
            Load::Sequence(plan) => gap_problem(plan.lasts),
            Load::Web(plan) => plan.problem(),
        }
    }

    /// How many connections it may have at once.
    pub fn connections(&self) -> u16 {
        match self {
            Load::Transfers(transfers) => transfers.arrivals.connections(),
            Load::Web(web) => web.connections,
            Load::Bursts(_) | Load::Telnet(_) | Load::Sequence(_) => 1,
        }
    }

    /// What a record calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Load::Transfers(_) => "transfers",
            Load::Bursts(_) => "bursts",
            Load::Telnet(_) => "telnet",
            Load::Sequence(_) => "sequence",
            Load::Web(_) => "web",
        }
    }

    /// How it asks for rate.
    pub(crate) fn demand(&self) -> Demand {
        match self {
            Load::Transfers(transfers) if transfers.arrivals.is_open_loop() => Demand::Offered,
            Load::Telnet(_) => Demand::Offered,
            Load::Transfers(_) | Load::Bursts(_) | Load::Web(_) => Demand::Asked,
            Load::Sequence(_) => Demand::Endless,
        }
    }
}

impl Machine {
    /// # Panics
    /// When `load` has a [`problem`](Load::problem).
    pub(crate) fn new(load: &Load, segment_bytes: u32) -> Self {
        if let Some(problem) = load.problem() {
            panic!("{problem}");
        }
        let segments = Segments { payload_bytes: segment_bytes };
        match load {
            Load::Transfers(plan) => Machine::Transfers(transfers::Machine::new(plan, segments)),
            Load::Bursts(plan) => Machine::Bursts(bursts::Machine::new(plan)),
            Load::Telnet(plan) => Machine::Telnet(telnet::Machine::new(plan)),
            Load::Sequence(plan) => Machine::Sequence(sequence::Machine::new(plan)),
            Load::Web(plan) => Machine::Web(Box::new(web::Machine::new(plan, segments))),
        }
    }

    /// Segments of transfers that wait for a connection.
    pub(crate) fn waiting(&self) -> u64 {
        match self {
            Machine::Transfers(machine) => machine.waiting(),
            Machine::Bursts(_) | Machine::Telnet(_) | Machine::Sequence(_) | Machine::Web(_) => 0,
        }
    }

    /// What is to be done at `now`, in this order.
    pub(crate) fn react(&mut self, cause: Cause, now: Time, rng: &mut Rng, steps: &mut Vec<Step>) {
        match self {
            Machine::Transfers(machine) => machine.react(cause, now, rng, steps),
            Machine::Bursts(machine) => machine.react(cause, now, rng, steps),
            Machine::Telnet(machine) => machine.react(cause, now, rng, steps),
            Machine::Sequence(machine) => machine.react(now, steps),
            Machine::Web(machine) => machine.react(cause, now, rng, steps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Duration, Seed};
    use std::collections::BTreeMap;

    /// Connections that deliver a segment per millisecond each, and tell what was asked of them.
    pub(super) struct Ideal {
        machine: Machine,
        rng: Rng,
        busy: BTreeMap<Time, u16>,
        due: Option<Time>,
        pub(super) told: Vec<(Time, Step)>,
    }

    impl Ideal {
        pub(super) fn new(load: &Load) -> Self {
            let machine = Machine::new(load, 1000);
            let rng = Seed(1).stream("load");
            Ideal { machine, rng, busy: BTreeMap::new(), due: Some(Time::ZERO), told: Vec::new() }
        }

        /// Up to `end`: ties are broken by making times differ by a nanosecond.
        pub(super) fn run(load: &Load, end: Time) -> Vec<(Time, Step)> {
            let mut ideal = Ideal::new(load);
            loop {
                let finish = ideal.busy.first_key_value().map(|(at, _)| *at);
                let now = ideal.due.into_iter().chain(finish).min().unwrap_or(Time::MAX);
                if now > end {
                    return ideal.told;
                }
                if ideal.due == Some(now) {
                    ideal.due = None;
                    ideal.ask(Cause::Due, now);
                } else if let Some((_, place)) = ideal.busy.pop_first() {
                    ideal.ask(Cause::Finished(place), now);
                }
            }
        }

        fn ask(&mut self, cause: Cause, now: Time) {
            let mut steps = Vec::new();
            self.machine.react(cause, now, &mut self.rng, &mut steps);
            for step in steps {
                self.told.push((now, step));
                match step {
                    Step::WakeAt(at) => {
                        assert!(at >= now);
                        self.due = Some(at);
                    }
                    Step::Open { place, segments, .. } => {
                        self.busy.retain(|_, busy| *busy != place);
                        self.send(place, segments, now);
                    }
                    Step::Write { place, segments, .. } => self.send(place, segments, now),
                    Step::PageSince(at) => assert!(at < now),
                }
            }
        }

        fn send(&mut self, place: u16, segments: u64, now: Time) {
            if segments == ENDLESS {
                return;
            }
            let mut at = now + Duration::from_ms(1) * segments;
            while self.busy.contains_key(&at) {
                at += Duration::from_ns(1);
            }
            self.busy.insert(at, place);
        }
    }
}

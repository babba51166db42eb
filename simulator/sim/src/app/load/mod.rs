//! Loads, which open TCP connections and give them data.
//!
//! A load is a state machine. It is invoked with a [`Cause`], and returns [`Step`]s.

pub(crate) mod bursts;
pub(crate) mod outside;
pub(crate) mod sequence;
mod step;
pub(crate) mod streaming;
pub(crate) mod telnet;
pub(crate) mod transfers;
pub(crate) mod web;

pub use step::{Cause, Demand, ENDLESS, Segments, Step};

use fairwire_core::{Rng, Time};
use fairwire_metrics::{Kind, Lasted};

macro_rules! loads {
    ($($(#[$doc:meta])* $kind:ident($plan:ty, $machine:ty) = $module:ident: $name:literal;)+) => {
        /// The behaviour of one user of TCP. A user may have several connections.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Load {
            $($(#[$doc])* $kind($plan),)+
            /// An external load.
            Outside(outside::OutsideLoad),
        }

        impl Load {
            /// The problem of this load, if any. [`run`](crate::run) refuses a load with a problem.
            pub fn problem(&self) -> Option<String> {
                match self {
                    $(Load::$kind(plan) => plan.problem(),)+
                    Load::Outside(plan) => plan.problem(),
                }
            }

            /// The maximum number of simultaneous connections.
            pub fn connections(&self) -> u16 {
                match self {
                    $(Load::$kind(plan) => plan.connections(),)+
                    Load::Outside(plan) => plan.connections(),
                }
            }

            pub(crate) fn demand(&self) -> Demand {
                match self {
                    $(Load::$kind(plan) => plan.demand(),)+
                    Load::Outside(plan) => plan.demand(),
                }
            }

            pub(crate) fn kind(&self) -> &'static str {
                match self {
                    $(Load::$kind(_) => $name,)+
                    Load::Outside(plan) => plan.name(),
                }
            }
        }

        #[derive(Debug)]
        pub(crate) enum Machine {
            $($kind($machine),)+
            Outside(outside::Machine),
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
                    $(Load::$kind(plan) => Machine::$kind($module::Machine::new(plan, segments).into()),)+
                    Load::Outside(plan) => Machine::Outside(outside::Machine::new(plan, segments)),
                }
            }

            pub(crate) fn waiting(&self) -> u64 {
                match self {
                    $(Machine::$kind(machine) => machine.waiting(),)+
                    Machine::Outside(machine) => machine.waiting(),
                }
            }

            pub(crate) fn react(&mut self, cause: Cause, now: Time, rng: &mut Rng, steps: &mut Vec<Step>) {
                match self {
                    $(Machine::$kind(machine) => machine.react(cause, now, rng, steps),)+
                    Machine::Outside(machine) => machine.react(cause, now, rng, steps),
                }
            }
        }
    };
}

loads! {
    /// Files, each over a separate connection.
    Transfers(transfers::Transfers, transfers::Machine) = transfers: "transfers";
    /// Bursts separated by pauses.
    Bursts(bursts::Bursts, bursts::Machine) = bursts: "bursts";
    /// Keystrokes.
    Telnet(telnet::Telnet, telnet::Machine) = telnet: "telnet";
    /// Endless transfers in succession, each for a limited time.
    Sequence(sequence::Sequence, sequence::Machine) = sequence: "sequence";
    /// Pages of objects.
    Web(Box<web::Web>, Box<web::Machine>) = web: "web";
    /// Video in chunks.
    Streaming(Box<streaming::Streaming>, Box<streaming::Machine>) = streaming: "streaming";
}

impl Load {
    /// The types of lasting events that the load times. Results have a record of each type, even
    /// without an event.
    pub(crate) fn lasting(&self) -> impl Iterator<Item = Kind> {
        let kinds = match self {
            Load::Streaming(_) => streaming::KINDS,
            _ => &[],
        };
        kinds.iter().copied().filter(|kind| kind.is_lasting())
    }
}

impl Machine {
    /// The timed events that end by `end` but are not reported yet. Events in progress count as
    /// ended at `end`.
    pub(crate) fn under_way(&self, end: Time) -> Vec<Lasted> {
        match self {
            Machine::Streaming(machine) => machine.under_way(end),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Duration, Seed};
    use std::collections::BTreeMap;

    /// A load over ideal connections, each of which delivers a segment per millisecond. Logs the
    /// load's steps.
    pub(super) struct Ideal {
        pub(super) machine: Machine,
        rng: Rng,
        busy: BTreeMap<Time, u16>,
        due: Option<Time>,
        pub(super) steps: Vec<(Time, Step)>,
    }

    impl Ideal {
        pub(super) fn new(load: &Load) -> Self {
            let machine = Machine::new(load, 1000);
            let rng = Seed(1).stream("load");
            Ideal { machine, rng, busy: BTreeMap::new(), due: Some(Time::ZERO), steps: Vec::new() }
        }

        /// The steps of `load`. Coinciding deliveries are moved a nanosecond apart.
        pub(super) fn run(load: &Load, end: Time) -> Vec<(Time, Step)> {
            let mut ideal = Ideal::new(load);
            ideal.run_to(end);
            ideal.steps
        }

        pub(super) fn run_to(&mut self, end: Time) {
            loop {
                let finish = self.busy.first_key_value().map(|(at, _)| *at);
                let now = self.due.into_iter().chain(finish).min().unwrap_or(Time::MAX);
                if now > end {
                    return;
                }
                if self.due == Some(now) {
                    self.due = None;
                    self.react(Cause::Due, now);
                } else if let Some((_, place)) = self.busy.pop_first() {
                    self.react(Cause::Finished(place), now);
                }
            }
        }

        fn react(&mut self, cause: Cause, now: Time) {
            let mut steps = Vec::new();
            self.machine.react(cause, now, &mut self.rng, &mut steps);
            for step in steps {
                self.steps.push((now, step));
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
                    Step::Lasted(lasted) => assert!(lasted.since < lasted.until && lasted.until <= now),
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

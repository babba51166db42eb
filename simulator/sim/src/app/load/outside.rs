//! External loads.

use super::step::{Cause, Demand, Segments, Step};
use core::fmt::{self, Debug};
use fairwire_core::{Rng, Time};
use std::sync::Arc;

/// A running user of TCP: a state machine that knows nothing about packets.
pub trait TcpUser: Debug + Send {
    /// Handles `cause` at `now`. Pushes actions to `steps`, in order. Connections are numbered from
    /// 0, below the `connections` given to [`OutsideLoad::new`].
    fn react(&mut self, cause: Cause, now: Time, rng: &mut Rng, steps: &mut Vec<Step>);

    /// Segments in transfers that wait for a connection; part of the offered load.
    fn waiting(&self) -> u64 {
        0
    }
}

/// An external user of TCP, with its constants.
#[derive(Clone)]
pub struct OutsideLoad {
    name: &'static str,
    connections: u16,
    demand: Demand,
    starting: Arc<Starting>,
}

type Starting = dyn Fn(Segments) -> Box<dyn TcpUser> + Send + Sync;

impl OutsideLoad {
    /// A load named `name` in records, with at most `connections` at once. `starting` creates each
    /// user, given the conversion from bytes to segments.
    pub fn new<U: TcpUser + 'static>(
        name: &'static str,
        connections: u16,
        demand: Demand,
        starting: impl Fn(Segments) -> U + Send + Sync + 'static,
    ) -> Self {
        OutsideLoad {
            name,
            connections,
            demand,
            starting: Arc::new(move |segments| Box::new(starting(segments))),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn problem(&self) -> Option<String> {
        (self.connections == 0).then(|| "a user of TCP needs a connection at least".to_owned())
    }

    pub(super) fn connections(&self) -> u16 {
        self.connections
    }

    pub(super) fn demand(&self) -> Demand {
        self.demand
    }
}

impl Debug for OutsideLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// External constants cannot be compared, so a load equals only its clones.
impl PartialEq for OutsideLoad {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.starting, &other.starting)
    }
}

#[derive(Debug)]
pub(crate) struct Machine(Box<dyn TcpUser>);

impl Machine {
    pub(crate) fn new(plan: &OutsideLoad, segments: Segments) -> Self {
        Machine((plan.starting)(segments))
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.0.waiting()
    }

    pub(crate) fn react(&mut self, cause: Cause, now: Time, rng: &mut Rng, steps: &mut Vec<Step>) {
        self.0.react(cause, now, rng, steps);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Load;
    use super::super::tests::Ideal;
    use super::*;
    use fairwire_core::Duration;

    #[derive(Debug)]
    struct Again {
        segments: Segments,
    }

    impl TcpUser for Again {
        fn react(&mut self, _: Cause, now: Time, _: &mut Rng, steps: &mut Vec<Step>) {
            steps.push(Step::Open { place: 0, segments: self.segments.of(3000.0), timed_from: Some(now) });
        }
    }

    #[test]
    fn an_outside_load_is_invoked_as_a_built_in_one() {
        let load = OutsideLoad::new("again", 1, Demand::Requested, |segments| Again { segments });
        let load = Load::Outside(load);
        assert_eq!((load.kind(), load.connections(), load.demand()), ("again", 1, Demand::Requested));
        let steps = Ideal::run(&load, Time::ZERO + Duration::from_ms(7));
        // A transfer of three segments takes 3 ms.
        let opened: Vec<u64> = steps.iter().map(|(at, _)| at.ns() / 1_000_000).collect();
        assert_eq!(opened, [0, 3, 6]);
    }

    #[test]
    fn an_outside_load_without_connections_is_refused() {
        let load = OutsideLoad::new("none", 0, Demand::Requested, |segments| Again { segments });
        assert!(Load::Outside(load).problem().is_some());
    }
}

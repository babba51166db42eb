//! Both directions through the gateway, between two ports: a bump in the wire.

use crate::direction::{Direction, DirectionPlan};
use crate::io::{Port, PortError};
use fairwire_core::Time;

/// Both directions.
pub struct Datapath {
    /// From the left port to the right.
    pub forward: Direction,
    /// From the right port to the left.
    pub backward: Direction,
}

/// What the two directions are made of.
pub struct DatapathPlan {
    /// From the left port to the right.
    pub forward: DirectionPlan,
    /// From the right port to the left.
    pub backward: DirectionPlan,
}

/// The two ports that a gateway stands between.
#[derive(Debug)]
pub struct Wire<P> {
    /// Towards the senders.
    pub left: P,
    /// Towards the receivers.
    pub right: P,
}

impl Datapath {
    /// An empty datapath that begins at `start`.
    pub fn new(plan: DatapathPlan, start: Time) -> Self {
        Datapath {
            forward: Direction::new(plan.forward, start),
            backward: Direction::new(plan.backward, start),
        }
    }

    /// The same without records of the links, which only laboratories read: they cost time with each packet.
    #[must_use]
    pub fn without_meters(self) -> Self {
        let Datapath { forward, backward } = self;
        Datapath { forward: forward.without_meter(), backward: backward.without_meter() }
    }

    /// Does everything that is due at `now`, takes in what has arrived, and sends on what that makes due. Tells how many
    /// frames had arrived: after none, it pays to wait.
    pub fn step<P: Port>(&mut self, wire: &mut Wire<P>, now: Time) -> Result<usize, PortError> {
        let kind = wire.left.link_kind();
        let mut arrived = 0;
        self.advance(wire, now);
        wire.left.receive(&mut |frame, vnet| {
            arrived += 1;
            self.forward.receive(frame, vnet, kind, now);
        })?;
        wire.right.receive(&mut |frame, vnet| {
            arrived += 1;
            self.backward.receive(frame, vnet, kind, now);
        })?;
        self.advance(wire, now);
        Ok(arrived)
    }

    /// When [`step`](Datapath::step) has something to do without an arrival; `None` for never.
    pub fn next_wakeup(&self) -> Option<Time> {
        [self.forward.next_wakeup(), self.backward.next_wakeup()].into_iter().flatten().min()
    }

    /// Forgets what was measured, as at the end of a warm-up.
    pub fn restart_measuring(&mut self, now: Time) {
        self.forward.restart_measuring(now);
        self.backward.restart_measuring(now);
    }

    fn advance<P: Port>(&mut self, wire: &mut Wire<P>, now: Time) {
        self.forward.advance(now, &mut wire.right);
        self.backward.advance(now, &mut wire.left);
    }
}

//! Both directions through the gateway, between two ports.

use crate::direction::{Direction, DirectionPlan};
use crate::loops::{Echoes, Side};
use crate::trips::Trips;
use fairwire_core::{Duration, Time};
use fairwire_linux::port::{Late, LinkKind, Outgoing, Port, PortError, PortHealth, Refused, Take};
use fairwire_wire::Way;
use fairwire_wire::vnet::VnetHeader;

/// Both directions.
pub struct Datapath {
    /// The direction from the left port to the right.
    pub forward: Direction,
    /// The direction from the right port to the left.
    pub backward: Direction,
    /// Round trips and retransmissions; the forward direction is the download.
    pub trips: Trips,
    echoes: Echoes,
}

/// The plans of both directions.
pub struct DatapathPlan {
    /// The direction from the left port to the right.
    pub forward: DirectionPlan,
    /// The direction from the right port to the left.
    pub backward: DirectionPlan,
}

/// The two ports of a gateway.
#[derive(Debug)]
pub struct Wire<P> {
    /// Towards the senders.
    pub left: P,
    /// Towards the receivers.
    pub right: P,
}

impl Datapath {
    /// An empty datapath.
    pub fn new(plan: DatapathPlan) -> Self {
        Datapath {
            trips: Trips::new(plan.forward.classes.max(plan.backward.classes)),
            forward: Direction::new(plan.forward),
            backward: Direction::new(plan.backward),
            echoes: Echoes::default(),
        }
    }

    /// Handles all events due at `now`, takes in arrivals and forwards frames that become due.
    /// Returns the number of arrivals; at zero, the caller should wait.
    pub fn step<P: Port>(&mut self, wire: &mut Wire<P>, now: Time) -> Result<usize, PortError> {
        let kind = wire.left.link_kind();
        let mut arrived = 0;
        self.advance(wire, now);
        let Datapath { forward, backward, trips, echoes } = self;
        let mut take = |direction: &mut Direction, way, side, frame: &[u8], vnet: &VnetHeader| {
            arrived += 1;
            match kind.has_ethernet() && echoes.comes_back(side, frame, now) {
                true => direction.cut(frame, kind, now),
                false => direction.receive(frame, vnet, kind, now, &mut trips.of(way)),
            }
        };
        wire.left.receive(&mut |frame, vnet| take(forward, Way::Download, Side::Left, frame, vnet))?;
        wire.right.receive(&mut |frame, vnet| take(backward, Way::Upload, Side::Right, frame, vnet))?;
        self.advance(wire, now);
        wire.left.send_due(now);
        wire.right.send_due(now);
        Ok(arrived)
    }

    /// Handles all events due before `now`, each at its due time, as if the caller had never been
    /// late.
    pub fn catch_up<P: Port>(&mut self, wire: &mut Wire<P>, now: Time) {
        while let Some(due) = self.next_wakeup().filter(|due| *due < now) {
            self.advance(wire, due);
        }
    }

    pub(crate) fn backlog_lasts(&self) -> Duration {
        let lasts = [&self.forward, &self.backward].map(Direction::backlog_lasts);
        lasts.into_iter().flatten().min().unwrap_or(Duration::ZERO)
    }

    /// The next time at which [`step`](Datapath::step) is due without an arrival; `None` for never.
    pub(crate) fn next_wakeup(&self) -> Option<Time> {
        [self.forward.next_wakeup(), self.backward.next_wakeup()].into_iter().flatten().min()
    }

    fn advance<P: Port>(&mut self, wire: &mut Wire<P>, now: Time) {
        wire.left.leaves_at(now);
        wire.right.leaves_at(now);
        let Datapath { forward, backward, trips, echoes } = self;
        let port = &mut RecordingPort { port: &mut wire.right, side: Side::Right, echoes, now };
        forward.advance(now, port, &mut trips.of(Way::Download));
        let port = &mut RecordingPort { port: &mut wire.left, side: Side::Left, echoes, now };
        backward.advance(now, port, &mut trips.of(Way::Upload));
    }
}

struct RecordingPort<'a, P> {
    port: &'a mut P,
    side: Side,
    echoes: &'a mut Echoes,
    now: Time,
}

impl<P: Port> RecordingPort<'_, P> {
    /// Records a departing frame, to detect loops. A frame without an Ethernet header is in no
    /// loop.
    #[inline]
    fn leaves(&mut self, frame: &[u8]) {
        if self.link_kind().has_ethernet() {
            self.echoes.leaves(self.side, frame, self.now);
        }
    }
}

impl<P: Port> Port for RecordingPort<'_, P> {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        self.port.receive(take)
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.leaves(frame);
        self.port.transmit(frame)
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        frames.iter().for_each(|frame| self.leaves(frame.bytes));
        self.port.transmit_all(frames)
    }

    fn link_kind(&self) -> LinkKind {
        self.port.link_kind()
    }

    fn take_late(&mut self) -> Late {
        self.port.take_late()
    }

    fn health(&mut self) -> PortHealth {
        self.port.health()
    }
}

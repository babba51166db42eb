//! A flow with external endpoints.

use super::protocol::{Outside, Protocol};
use super::record::{Flow, Sink};
use super::stage::{Outlet, Stage};
use crate::endpoint::Packet;
use crate::ends::{FlowEnd, Took};
use crate::event::{Event, Events};
use crate::frames::{Frame, Payload};
use crate::line::Line;
use crate::route::Target;
use fairwire_core::{Ecn, Time};
use fairwire_metrics::Lasted;

impl Flow {
    pub(crate) fn took(&self) -> Option<Took> {
        let Protocol::Outside(outside) = &self.protocol else { return None };
        outside.ends.took()
    }

    pub(crate) fn lasted(&self, end: Time) -> Vec<Lasted> {
        match &self.protocol {
            Protocol::Outside(outside) => outside.ends.lasted(end),
            _ => Vec::new(),
        }
    }

    /// Schedules the arrival of the packet in `slot` at the second end, at `at` and with codepoint
    /// `ecn`.
    #[inline(never)] // separate from TCP's deliveries
    pub(crate) fn hand_over(&self, slot: u32, ecn: Ecn, at: Time, stage: &mut Stage<'_, impl Events>) {
        stage.frames.at_mut(slot).ecn = ecn;
        stage.events.push_at_host(at, Event::Packet(slot), stage.index, self.sink.home[0]);
    }

    pub(crate) fn on_packet(
        &mut self,
        frame: Frame,
        payload: Option<Payload>,
        stage: &mut Stage<'_, impl Events>,
    ) {
        let side = if frame.is_ack() { FlowEnd::First } else { FlowEnd::Second };
        let packet = Packet { bytes: frame.datagram_bytes(), ecn: frame.ecn, payload };
        self.outside().ends.take(side, packet, stage.now);
        self.poll(side, stage);
        self.keep_timeout(stage);
    }

    #[inline(never)] // separate from TCP's timers
    pub(super) fn on_timeout(&mut self, stage: &mut Stage<'_, impl Events>) -> bool {
        let mut was_due = false;
        for side in [FlowEnd::First, FlowEnd::Second] {
            if self.outside().ends.is_due(side, stage.now) {
                was_due = true;
                self.poll(side, stage);
            }
        }
        self.keep_timeout(stage);
        was_due
    }

    /// Forwards a packet from the second end: `frame` in `slot`, which left a link at `at`.
    #[inline(never)] // separate from acknowledgements
    pub(crate) fn go_on_back(
        &mut self,
        frame: Frame,
        slot: u32,
        at: Time,
        stage: &mut Stage<'_, impl Events>,
    ) {
        let Flow { sink, protocol, .. } = self;
        let Protocol::Outside(outside) = protocol else { unreachable!("its ends are TCP's") };
        go_on_back(frame, slot, at, (sink, &mut outside.down), stage);
    }

    fn outside(&mut self) -> &mut Outside {
        let Protocol::Outside(outside) = &mut self.protocol else {
            unreachable!("the ends of this flow are not of another crate")
        };
        outside
    }

    fn poll(&mut self, side: FlowEnd, stage: &mut Stage<'_, impl Events>) {
        let Flow { sink, source, protocol, .. } = self;
        let Protocol::Outside(outside) = protocol else { unreachable!("its ends are TCP's") };
        let Outside { bytes: counted, ends, up, down } = &mut **outside;
        let now = stage.now;
        match side {
            FlowEnd::First => ends.poll(side, now, |Packet { bytes, ecn, payload }| {
                let frame = Frame::packet(stage.index, bytes, ecn, false, stage.group.forward);
                let slot = Outlet { way: source, stage }.launch(frame, bytes);
                stage.frames.keep_payload(slot, payload);
                counted.sent += u64::from(bytes);
            }),
            FlowEnd::Second => ends.poll(side, now, |Packet { bytes, ecn, payload }| {
                let mut frame = Frame::packet(stage.index, bytes, ecn, true, stage.group.back);
                if let Some(edges) = stage.edges {
                    frame.tag = edges.of_receiver(stage.index);
                }
                let slot = stage.frames.store(frame);
                stage.frames.stamp(slot, now);
                stage.frames.keep_payload(slot, payload);
                let leaves = up.start(bytes, now, &stage.group.pace) + sink.access_delay;
                go_on_back(frame, slot, leaves, (sink, down), stage);
            }),
        }
    }

    fn keep_timeout(&mut self, stage: &mut Stage<'_, impl Events>) {
        let due = self.outside().ends.next_timeout();
        if due < self.source.wakes_at {
            self.wake_at(due, stage.index, stage.events);
        }
    }
}

/// Forwards `frame`, kept in `slot`, which entered a return leg at `at`. The leg leads to a queue
/// or, over `down`, to the first end.
fn go_on_back(
    frame: Frame,
    slot: u32,
    at: Time,
    (sink, down): (&Sink, &mut Line),
    stage: &mut Stage<'_, impl Events>,
) {
    let (leg, bytes) = (&stage.legs[frame.leg as usize], frame.datagram_bytes());
    let there = at + stage.group.takes(leg, frame.is_data(), bytes);
    *stage.frames.at_mut(slot) = frame;
    match leg.to {
        Target::Queue(_) => {
            // Beyond the first leg, all packets of a leg have one identity, so they stay in order
            // even at the same instant.
            let is_first = frame.leg == stage.group.back;
            let identity = if is_first { !frame.identity() } else { frame.leg };
            stage.events.push_at_link(there, Event::Arrival(slot), identity, leg.lane);
        }
        Target::End => {
            let home = down.start(bytes, there, &stage.group.pace) + sink.access_delay;
            stage.events.push_at_host(home, Event::Packet(slot), !stage.index, sink.home[1]);
        }
    }
}

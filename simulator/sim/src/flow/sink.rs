//! The receiving end of a flow in operation, and the return path.

use super::record::Flow;
use super::stage::Stage;
use crate::event::{Event, Events, Lane};
use crate::frames::Frame;
use crate::route::Target;
use fairwire_core::Time;
use fairwire_tcp::Ack;

pub(crate) struct Delivery {
    pub(crate) at: Time,
    /// The number of packets that this delivery puts in order at the receiver.
    pub(crate) packets: u64,
    pub(crate) datagram_bytes: u64,
    /// The acknowledgement, without the receiver's blocks.
    pub(crate) ack: Option<Ack>,
}

impl Flow {
    /// Delivers `frame`, which reaches the access link at `at`. The result's `at` is the time at
    /// which the packet has crossed that link.
    #[inline(always)]
    pub(crate) fn on_delivery(
        &mut self,
        frame: Frame,
        at: Time,
        stage: &mut Stage<'_, impl Events>,
    ) -> Delivery {
        let group = stage.group;
        let bytes = group.wire_bytes(frame);
        let sink = &mut self.sink;
        sink.queued = sink.down.queued(at, &group.pace) as u8;
        let sent = sink.down.start(bytes, at, &group.pace);
        let at = sent + sink.access_delay;
        if self.is_stale(frame, group) {
            return Delivery { at, packets: 0, datagram_bytes: 0, ack: None };
        }
        if !group.is_acknowledged() {
            return Delivery { at, packets: 1, datagram_bytes: bytes.into(), ack: None };
        }
        self.answer_late(at, stage);
        let before = self.receiver.delivered();
        let ack = self.receiver.take_in(frame.segment(), at);
        let packets = self.receiver.delivered() - before;
        if ack.is_none() {
            self.keep_timer(stage);
        }
        Delivery { at, packets, datagram_bytes: 0, ack }
    }

    #[inline(always)]
    pub(crate) fn answer(&mut self, ack: Ack, slot: u32, at: Time, stage: &mut Stage<'_, impl Events>) {
        let (leg, connection) = (stage.group.back, self.connection(stage.group));
        let mut frame = stage.frames.answer(slot, stage.index, connection, ack, leg);
        if self.receiver.has_blocks() {
            frame.set_blocks(stage.frames.add_blocks(slot, self.receiver.blocks()));
        }
        if let Some(edges) = stage.edges {
            frame.tag = edges.of_receiver(stage.index);
            *stage.frames.at_mut(slot) = frame;
        }
        self.go_on(frame, slot, at + stage.group.ack_on_access + self.sink.access_delay, stage);
    }

    /// Sends the delayed acknowledgement, if it is due by `at`. Deliveries are computed before
    /// their time, so the acknowledgement may be due between the previous delivery and the delivery
    /// at `at`.
    #[inline(always)]
    pub(super) fn answer_late(&mut self, at: Time, stage: &mut Stage<'_, impl Events>) {
        if let Some(due) = self.receiver.deadline().filter(|due| *due <= at) {
            self.answer_since(due, stage);
        }
    }

    #[inline(never)]
    fn answer_since(&mut self, due: Time, stage: &mut Stage<'_, impl Events>) {
        let Some(ack) = self.receiver.on_timeout(due) else { return };
        let connection = self.connection(stage.group);
        let slot = stage.frames.store_answer(stage.index, connection, ack, stage.group.back);
        if let Some(edges) = stage.edges {
            stage.frames.at_mut(slot).tag = edges.of_receiver(stage.index);
        }
        let leaves = due + stage.group.ack_on_access + self.sink.access_delay;
        self.go_on(stage.frames.at(slot), slot, leaves, stage);
    }

    /// Forwards `frame`, kept in `slot`, which entered its leg at `at`. The leg leads to a queue
    /// or, for an acknowledgement, to the sender. The caller delivers data at the end of its path.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, frame: Frame, slot: u32, at: Time, stage: &mut Stage<'_, impl Events>) {
        let leg = &stage.legs[frame.leg as usize];
        let there = at + stage.group.takes(leg, frame.is_data(), frame.datagram_bytes());
        // Beyond the first leg, all packets of a leg have one identity, so they stay in order even
        // at the same instant.
        let is_first = frame.leg == stage.group.back;
        let identity = if is_first { frame.identity() } else { frame.leg };
        match leg.to {
            Target::Queue(_) => {
                *stage.frames.at_mut(slot) = frame;
                stage.events.push_at_link(there, Event::Arrival(slot), identity, leg.lane);
            }
            Target::End => {
                debug_assert!(frame.is_ack(), "data is delivered");
                let home = there + stage.group.ack_on_access + self.sink.access_delay;
                let waited = if is_first { usize::from(self.sink.queued) } else { 0 };
                let lane = self.sink.home.get(waited).copied().unwrap_or(Lane::NONE);
                stage.events.push_at_host(home, Event::Ack(slot), identity, lane);
            }
        }
    }
}

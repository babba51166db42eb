//! A flow: its source, its sink, and its own links at either end.

use crate::event::{Event, EventQueue, Lane};
use crate::frames::{Frame, Frames};
use crate::line::{Line, Pace};
use crate::observe::Window;
use crate::plan::{GroupPlan, Source};
use crate::route::{self, Leg, Sizes, Target};
use fairwire_core::{Duration, FlowHash, Packet, Rng, Time, Transmitter};
use fairwire_tcp::{Ack, Config, Output, Receiver, Segment, Sender};
use std::sync::Arc;

/// What the flows of a group have in common.
pub(crate) struct Group {
    pub(crate) plan: GroupPlan,
    tcp: Option<Arc<Config>>,
    /// Of data packets, on the wire.
    data_bytes: u32,
    /// Of acknowledgements, and of the packet that opens a connection.
    ack_bytes: u32,
    pace: Pace,
    ack_on_access: Duration,
    /// The first leg there, and the first one back.
    forward: u32,
    back: u32,
}

/// One flow.
pub(crate) struct Flow {
    pub(crate) hash: FlowHash,
    pub(crate) counts: Counts,
    way: Way,
    endpoint: Endpoint,
    wakes_at: Time, // the one pending wake that counts; MAX when there is none
}

/// What became of a flow's packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
}

/// The flow's own links: never congested by others, so a packet's time on them is computed when it is sent.
struct Way {
    index: u32,
    group: u32,
    lanes: Lanes,
    up: Line,
    down: Line,
    access_delay: Duration,
}

/// The lanes of a flow's events: shared with flows of the same delays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    /// Its packets' arrivals at the first queue.
    pub(crate) out: Lane,
    /// Its acknowledgements' arrivals at the sender.
    pub(crate) home: Lane,
    /// Its own timers.
    pub(crate) wake: Lane,
}

#[expect(
    clippy::large_enum_variant,
    reason = "nearly all flows are TCP, and a box is another cache miss for each packet"
)]
enum Endpoint {
    Tcp(Tcp),
    Cbr(Box<Cbr>),
}

struct Tcp {
    has_started: bool,
    sender: Sender,
    receiver: Receiver,
}

struct Cbr {
    pace: Transmitter,
    dither: f64,
    rng: Rng,
    sent: u64,
}

/// What a flow's actions fall upon.
pub(crate) struct Stage<'a> {
    pub(crate) group: &'a Group,
    pub(crate) legs: &'a [Leg],
    pub(crate) frames: &'a mut Frames,
    pub(crate) events: &'a mut EventQueue,
    pub(crate) now: Time,
}

/// A packet at its sink.
pub(crate) struct Delivery {
    /// When it gets there.
    pub(crate) at: Time,
    /// How many packets are in order and new by it.
    pub(crate) packets: u64,
    /// Its acknowledgement.
    pub(crate) ack: Option<Ack>,
}

impl Group {
    pub(crate) fn new(plan: GroupPlan, legs: &mut Vec<Leg>, events: &mut EventQueue) -> Self {
        let (data_bytes, ack_bytes) = match &plan.source {
            Source::Bulk { tcp } => (tcp.segment_bytes + tcp.header_bytes, tcp.header_bytes),
            Source::Cbr { packet_bytes, header_bytes, dither, .. } => {
                assert!((0.0..=1.0).contains(dither), "a dither of {dither} is not from 0 to 1");
                assert!(
                    header_bytes <= packet_bytes,
                    "{header_bytes} of {packet_bytes} bytes cannot be headers"
                );
                (*packet_bytes, 0)
            }
        };
        let sizes = Sizes { data: data_bytes, ack: ack_bytes };
        Group {
            pace: Pace::new(plan.access_rate, data_bytes),
            ack_on_access: plan.access_rate.time_to_send(ack_bytes.into()),
            tcp: match &plan.source {
                Source::Bulk { tcp } => Some(Arc::new(tcp.clone())),
                Source::Cbr { .. } => None,
            },
            data_bytes,
            ack_bytes,
            forward: route::lay(&plan.forward, sizes, legs, events),
            back: route::lay(&plan.back, sizes, legs, events),
            plan,
        }
    }

    /// Do acknowledgements come back?
    pub(crate) fn is_acknowledged(&self) -> bool {
        matches!(self.plan.source, Source::Bulk { .. })
    }

    /// Bytes on the wire of its packets with data.
    pub(crate) fn data_bytes(&self) -> u32 {
        self.data_bytes
    }

    /// Bytes on the wire of the packet that `frame` is.
    #[inline]
    pub(crate) fn wire_bytes(&self, frame: Frame) -> u32 {
        if frame.is_data() { self.data_bytes } else { self.ack_bytes }
    }
}

impl Flow {
    pub(crate) fn new(
        place: Place,
        group: &Group,
        access_delay: Duration,
        rng: impl FnOnce() -> Rng,
    ) -> Self {
        let Place { index, group: number, hash, lanes } = place;
        let endpoint = match (&group.tcp, &group.plan.source) {
            (Some(tcp), _) => Endpoint::Tcp(Tcp {
                has_started: false,
                sender: Sender::new(tcp),
                receiver: Receiver::new(tcp),
            }),
            (None, Source::Cbr { rate, dither, .. }) => {
                let pace = Transmitter::new(*rate);
                Endpoint::Cbr(Box::new(Cbr { pace, dither: *dither, rng: rng(), sent: 0 }))
            }
            (None, Source::Bulk { .. }) => unreachable!("a group of TCP flows has their constants"),
        };
        let (up, down) = (Line::default(), Line::default());
        let way = Way { index, group: number, lanes, up, down, access_delay };
        Flow { hash, counts: Counts::default(), way, endpoint, wakes_at: Time::MAX }
    }

    /// Its group.
    #[inline]
    pub(crate) fn group(&self) -> u32 {
        self.way.group
    }

    /// What its sender thinks of the network, where it does.
    pub(crate) fn window(&self) -> Option<Window> {
        let Endpoint::Tcp(Tcp { sender, .. }) = &self.endpoint else { return None };
        Some(Window { cwnd: sender.window(), ssthresh: sender.threshold(), srtt: sender.rtt().smoothed() })
    }

    /// What a queue is told of the packet that `frame`, kept in `slot`, is.
    #[inline]
    pub(crate) fn packet(&self, frame: Frame, slot: u32, group: &Group, now: Time) -> Packet {
        let len = group.wire_bytes(frame);
        // Acknowledgements are a flow of their own to whoever tells flows apart by their five-tuple.
        let flow = if frame.is_ack() { FlowHash(!self.hash.0) } else { self.hash };
        let (class, dscp, ecn) = (group.plan.class, group.plan.dscp, frame.ecn);
        Packet { class, dscp, ecn, ..Packet::new(slot, len, flow, now) }
    }

    /// A wake came up. One that was replaced by an earlier one means nothing.
    pub(crate) fn on_wake(&mut self, stage: &mut Stage<'_>) {
        if self.wakes_at != stage.now {
            return;
        }
        self.wakes_at = Time::MAX;
        match &mut self.endpoint {
            Endpoint::Tcp(tcp) => {
                let mut outlet = Outlet { way: &mut self.way, counts: &mut self.counts, stage };
                let now = outlet.stage.now;
                if !std::mem::replace(&mut tcp.has_started, true) {
                    tcp.sender.start(now, &mut outlet);
                } else if tcp.sender.deadline().is_some_and(|due| due <= now) {
                    tcp.sender.on_timeout(now, &mut outlet);
                } // else the timer was put off since, or stopped
                self.answer_late(now, stage);
                self.keep_timer(stage.events);
            }
            Endpoint::Cbr(cbr) => {
                let mut outlet = Outlet { way: &mut self.way, counts: &mut self.counts, stage };
                let next = cbr.emit(&mut outlet);
                self.wake_at(next, stage.events);
            }
        }
    }

    /// An acknowledgement reached the sender.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: Ack, stage: &mut Stage<'_>) {
        let Endpoint::Tcp(tcp) = &mut self.endpoint else { unreachable!("only TCP is acknowledged") };
        let now = stage.now;
        tcp.sender.on_ack(ack, now, &mut Outlet { way: &mut self.way, counts: &mut self.counts, stage });
        self.keep_timer(stage.events);
    }

    /// A packet that got to the end of its way will have crossed the access link at the time returned, which is computed now:
    /// nothing but this flow's own packets can touch its sink, and they come in order.
    #[inline]
    pub(crate) fn on_delivery(&mut self, frame: Frame, at: Time, stage: &mut Stage<'_>) -> Delivery {
        let group = stage.group;
        let sent = self.way.down.start(group.wire_bytes(frame), at, &group.pace);
        let at = sent + self.way.access_delay;
        self.answer_late(at, stage);
        match &mut self.endpoint {
            Endpoint::Cbr(_) => Delivery { at, packets: 1, ack: None },
            Endpoint::Tcp(tcp) => {
                let before = tcp.receiver.delivered();
                let ack = tcp.receiver.on_segment(frame.segment(), at);
                let packets = tcp.receiver.delivered() - before;
                if ack.is_none() {
                    self.keep_timer(stage.events);
                }
                Delivery { at, packets, ack }
            }
        }
    }

    /// Sends `ack` back from the sink at `at`, in the frame kept in `slot`.
    #[inline]
    pub(crate) fn answer(&mut self, ack: Ack, slot: u32, at: Time, stage: &mut Stage<'_>) {
        let leg = stage.group.back;
        stage.frames.answer(slot, self.way.index, ack, leg);
        self.go_on(slot, at + stage.group.ack_on_access + self.way.access_delay, leg, stage);
    }

    /// Sends the acknowledgement that was delayed, where it is due by `at`. Deliveries are worked out before their time, so it may be
    /// due between the one before and the one at `at`.
    #[inline]
    fn answer_late(&mut self, at: Time, stage: &mut Stage<'_>) {
        let Endpoint::Tcp(tcp) = &mut self.endpoint else { return };
        let Some(due) = tcp.receiver.deadline().filter(|due| *due <= at) else { return };
        let Some(ack) = tcp.receiver.on_timeout(due) else { return };
        let slot = stage.frames.store_answer(self.way.index, ack, stage.group.back);
        let leaves = due + stage.group.ack_on_access + self.way.access_delay;
        self.go_on(slot, leaves, stage.group.back, stage);
    }

    /// Puts the frame kept in `slot` on `leg`, which it enters at `at`.
    #[inline]
    pub(crate) fn go_on(&mut self, slot: u32, at: Time, leg: u32, stage: &mut Stage<'_>) -> Option<Time> {
        let frame = stage.frames.at(slot);
        let Leg { to, lane, .. } = &stage.legs[leg as usize];
        let there = at + stage.legs[leg as usize].takes(frame.is_data());
        match to {
            Target::Queue(_) => stage.events.push(there, Event::Arrival(slot), *lane),
            Target::End if frame.is_ack() => {
                let home = there + stage.group.ack_on_access + self.way.access_delay;
                stage.events.push(home, Event::Ack(slot), self.way.lanes.home);
            }
            Target::End => return Some(there),
        }
        None
    }

    /// Makes sure that a wake is pending no later than either end's deadline. Put off, a deadline costs nothing here.
    #[inline]
    fn keep_timer(&mut self, events: &mut EventQueue) {
        let Endpoint::Tcp(tcp) = &self.endpoint else { return };
        let due = tcp.sender.deadline().unwrap_or(Time::MAX);
        let due = due.min(tcp.receiver.deadline().unwrap_or(Time::MAX));
        if due < self.wakes_at {
            self.wake_at(due, events);
        }
    }

    /// Schedules a wake, in place of the one that may be pending.
    pub(crate) fn wake_at(&mut self, at: Time, events: &mut EventQueue) {
        self.wakes_at = at;
        events.push(at, Event::Wake(self.way.index), self.way.lanes.wake);
    }
}

/// Where a flow stands among all.
pub(crate) struct Place {
    pub(crate) index: u32,
    pub(crate) group: u32,
    pub(crate) hash: FlowHash,
    pub(crate) lanes: Lanes,
}

struct Outlet<'a, 'b> {
    way: &'a mut Way,
    counts: &'a mut Counts,
    stage: &'a mut Stage<'b>,
}

impl Output for Outlet<'_, '_> {
    #[inline]
    fn send(&mut self, segment: Segment) {
        let Stage { group, legs, frames, events, now } = self.stage;
        let bytes = if segment.is_syn { group.ack_bytes } else { group.data_bytes };
        let slot = frames.store(Frame::carrying(self.way.index, segment, group.forward));
        frames.stamp(slot, *now);
        let leg = &legs[group.forward as usize];
        let there =
            self.way.up.start(bytes, *now, &group.pace) + self.way.access_delay + leg.takes(!segment.is_syn);
        let event = match leg.to {
            Target::Queue(_) => Event::Arrival(slot),
            Target::End => Event::Sink(slot),
        };
        events.push(there, event, self.way.lanes.out);
        self.counts.sent += 1;
    }
}

impl Cbr {
    /// Sends one packet now and tells when the next is due. The gaps come from an even schedule that carries its remainder, so
    /// the mean rate is exact; dither stretches or shrinks each by itself and does not disturb the schedule.
    fn emit(&mut self, outlet: &mut Outlet<'_, '_>) -> Time {
        outlet.send(Segment::data(self.sent));
        self.sent += 1;
        let before = self.pace.free_at();
        let gap = self.pace.start(outlet.stage.group.data_bytes, before).since(before);
        if self.dither == 0.0 {
            return outlet.stage.now + gap;
        }
        let factor = 1.0 + self.dither * (2.0 * self.rng.uniform() - 1.0);
        outlet.stage.now + Duration::from_secs_f64(gap.secs() * factor)
    }
}

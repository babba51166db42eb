//! A flow: its source, its sink, and its own links into and out of the bottleneck.

use crate::event::{Event, EventQueue};
use crate::frames::{Frame, Frames};
use crate::plan::{Access, FlowPlan, Source};
use fairwire_core::{Duration, FlowHash, Packet, Rate, Rng, Time, Transmitter};
use fairwire_tcp::{Ack, Output, Receiver, Segment, Sender};
use std::sync::Arc;

/// One flow.
pub(crate) struct Flow {
    pub(crate) hash: FlowHash,
    class: u32,
    dscp: u8,
    way: Way,
    endpoint: Endpoint,
    wakes_at: Time, // the one pending wake that counts; MAX when there is none
}

/// The flow's own links: never congested by others, so a packet's time on them is computed when it is sent.
struct Way {
    index: u32,
    data_bytes: u32,
    syn_bytes: u32,
    up: Transmitter,
    down: Transmitter,
    access_delay: Duration,
    ack_takes: Duration,
}

enum Endpoint {
    Tcp(Box<Tcp>),
    Cbr(Cbr),
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
    pub(crate) frames: &'a mut Frames,
    pub(crate) events: &'a mut EventQueue,
    pub(crate) now: Time,
    pub(crate) sent: &'a mut u64,
}

/// The way back of acknowledgements: the same hops at the same rates, free of other traffic.
pub(crate) struct Return {
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
}

impl Flow {
    pub(crate) fn new(index: u32, plan: &FlowPlan, hash: FlowHash, back: &Return, rng: Rng) -> Self {
        let (endpoint, data_bytes, ack_bytes) = match &plan.source {
            Source::Bulk { tcp } => {
                let tcp = Arc::new(tcp.clone());
                let ends =
                    Tcp { has_started: false, sender: Sender::new(&tcp), receiver: Receiver::new(&tcp) };
                (Endpoint::Tcp(Box::new(ends)), tcp.segment_bytes + tcp.header_bytes, tcp.header_bytes)
            }
            Source::Cbr { rate, packet_bytes, header_bytes, dither } => {
                assert!((0.0..=1.0).contains(dither), "a dither of {dither} is not from 0 to 1");
                assert!(
                    header_bytes <= packet_bytes,
                    "{header_bytes} of {packet_bytes} bytes cannot be headers"
                );
                let pace = Transmitter::new(*rate);
                (Endpoint::Cbr(Cbr { pace, dither: *dither, rng, sent: 0 }), *packet_bytes, 0)
            }
        };
        Flow {
            hash,
            class: plan.class,
            dscp: plan.dscp,
            way: Way {
                index,
                data_bytes,
                syn_bytes: ack_bytes,
                up: Transmitter::new(plan.access.rate),
                down: Transmitter::new(plan.access.rate),
                access_delay: plan.access.delay,
                ack_takes: ack_takes(plan.access, back, ack_bytes),
            },
            endpoint,
            wakes_at: Time::MAX,
        }
    }

    /// Schedules the start.
    pub(crate) fn begin(&mut self, at: Time, events: &mut EventQueue) {
        self.wake_at(at, events);
    }

    /// What the bottleneck is told of the packet that `frame`, kept in `slot`, is.
    #[inline]
    pub(crate) fn packet(&self, frame: Frame, slot: u32, now: Time) -> Packet {
        let len = self.wire_bytes(frame);
        Packet { class: self.class, dscp: self.dscp, ..Packet::new(slot, len, self.hash, now) }
    }

    /// Bytes on the wire of the packet that `frame` is.
    #[inline]
    pub(crate) fn wire_bytes(&self, frame: Frame) -> u32 {
        if frame.segment().is_syn { self.way.syn_bytes } else { self.way.data_bytes }
    }

    /// A wake came up. One that was replaced by an earlier one means nothing.
    pub(crate) fn on_wake(&mut self, stage: &mut Stage<'_>) {
        if self.wakes_at != stage.now {
            return;
        }
        self.wakes_at = Time::MAX;
        match &mut self.endpoint {
            Endpoint::Tcp(tcp) => {
                let mut outlet = Outlet { way: &mut self.way, stage };
                let now = outlet.stage.now;
                if !std::mem::replace(&mut tcp.has_started, true) {
                    tcp.sender.start(now, &mut outlet);
                } else if tcp.sender.deadline().is_some_and(|due| due <= now) {
                    tcp.sender.on_timeout(now, &mut outlet);
                } // else the timer was put off since, or stopped
                self.keep_timer(stage.events);
            }
            Endpoint::Cbr(cbr) => {
                let next = cbr.emit(&mut self.way, stage);
                self.wake_at(next, stage.events);
            }
        }
    }

    /// An acknowledgement reached the sender.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: Ack, stage: &mut Stage<'_>) {
        let Endpoint::Tcp(tcp) = &mut self.endpoint else { unreachable!("only TCP is acknowledged") };
        let now = stage.now;
        tcp.sender.on_ack(ack, now, &mut Outlet { way: &mut self.way, stage });
        self.keep_timer(stage.events);
    }

    /// A packet that left the bottleneck will have reached its sink at the time returned, which is computed now: nothing but
    /// this flow's own packets can touch its sink, and they come in order. Also says how many packets the sink then has anew.
    #[inline]
    pub(crate) fn on_delivery(&mut self, frame: Frame, leaves_link: Time) -> Delivery {
        let bytes = self.wire_bytes(frame);
        let at = self.way.down.start(bytes, leaves_link) + self.way.access_delay;
        match &mut self.endpoint {
            Endpoint::Cbr(_) => Delivery { at, packets: 1, ack: None },
            Endpoint::Tcp(tcp) => {
                let before = tcp.receiver.delivered();
                let ack = tcp.receiver.on_segment(frame.segment(), at);
                let packets = tcp.receiver.delivered() - before;
                Delivery { at, packets, ack: ack.map(|ack| (at + self.way.ack_takes, ack)) }
            }
        }
    }

    /// Makes sure that a wake is pending no later than the sender's deadline. Put off, a deadline costs nothing here.
    #[inline]
    fn keep_timer(&mut self, events: &mut EventQueue) {
        let Endpoint::Tcp(tcp) = &self.endpoint else { return };
        if let Some(due) = tcp.sender.deadline()
            && due < self.wakes_at
        {
            self.wake_at(due, events);
        }
    }

    fn wake_at(&mut self, at: Time, events: &mut EventQueue) {
        self.wakes_at = at;
        events.push(at, Event::Wake(self.way.index));
    }
}

/// A packet at its sink.
pub(crate) struct Delivery {
    /// When it gets there.
    pub(crate) at: Time,
    /// How many packets are in order and new by it.
    pub(crate) packets: u64,
    /// When its acknowledgement reaches the sender, and what it says.
    pub(crate) ack: Option<(Time, Ack)>,
}

fn ack_takes(access: Access, back: &Return, bytes: u32) -> Duration {
    let bytes = u64::from(bytes);
    let on_access = access.rate.time_to_send(bytes) + access.delay;
    on_access + back.rate.time_to_send(bytes) + back.delay + on_access
}

impl Way {
    #[inline]
    fn send(&mut self, segment: Segment, stage: &mut Stage<'_>) {
        let bytes = if segment.is_syn { self.syn_bytes } else { self.data_bytes };
        let frame = stage.frames.store(Frame::carrying(self.index, segment));
        let arrives = self.up.start(bytes, stage.now) + self.access_delay;
        stage.events.push(arrives, Event::Arrival(frame));
        *stage.sent += 1;
    }
}

struct Outlet<'a, 'b> {
    way: &'a mut Way,
    stage: &'a mut Stage<'b>,
}

impl Output for Outlet<'_, '_> {
    #[inline]
    fn send(&mut self, segment: Segment) {
        self.way.send(segment, self.stage);
    }
}

impl Cbr {
    /// Sends one packet now and tells when the next is due. The gaps come from an even schedule that carries its remainder, so
    /// the mean rate is exact; dither stretches or shrinks each by itself and does not disturb the schedule.
    fn emit(&mut self, way: &mut Way, stage: &mut Stage<'_>) -> Time {
        way.send(Segment::data(self.sent), stage);
        self.sent += 1;
        let before = self.pace.free_at();
        let gap = self.pace.start(way.data_bytes, before).since(before);
        if self.dither == 0.0 {
            return stage.now + gap;
        }
        let factor = 1.0 + self.dither * (2.0 * self.rng.uniform() - 1.0);
        stage.now + Duration::from_secs_f64(gap.secs() * factor)
    }
}

//! A flow: its source, its sink, and its own links at either end.

use crate::app::datagram::{self, Emission, Generator, cbr};
use crate::event::{Event, EventQueue, Lane};
use crate::frames::{Frame, Frames};
use crate::line::{Line, Pace};
use crate::observe::Window;
use crate::plan::{GroupPlan, Source};
use crate::route::{self, Leg, Sizes, Target};
use fairwire_core::{Duration, FlowHash, Packet, Rng, Time, rng};
use fairwire_tcp::{Ack, Config, Output, Receiver, Segment, Sender};
use std::sync::Arc;

/// What the flows of a group have in common.
pub(crate) struct Group {
    pub(crate) plan: GroupPlan,
    tcp: Option<Arc<Config>>,
    salt: u64,
    /// Has each packet a size of its own?
    sizes_vary: bool,
    /// Of data packets, on the wire; where sizes vary, what most of them have.
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
    hash: FlowHash,
    pub(crate) counts: Counts,
    way: Way,
    endpoint: Endpoint,
    session: u32,   // that it belongs to, or NO_SESSION
    wakes_at: Time, // the one pending wake that counts; MAX when there is none
}

/// The flow is nobody's connection: it runs by itself.
pub(crate) const NO_SESSION: u32 = u32::MAX;

/// What became of a flow's packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) datagram_bytes: Bytes,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
}

/// Bytes of datagrams on the wire: their sizes may differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bytes {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
}

impl Counts {
    /// Of several flows together.
    pub(crate) fn sum(flows: &[Flow]) -> Counts {
        flows.iter().fold(Counts::default(), |sum, Flow { counts, .. }| Counts {
            sent: sum.sent + counts.sent,
            delivered: sum.delivered + counts.delivered,
            datagram_bytes: Bytes {
                sent: sum.datagram_bytes.sent + counts.datagram_bytes.sent,
                delivered: sum.datagram_bytes.delivered + counts.datagram_bytes.delivered,
            },
            dropped: sum.dropped + counts.dropped,
            marked: sum.marked + counts.marked,
        })
    }
}

/// The flow's own links: never congested by others, so a packet's time on them is computed when it is sent.
struct Way {
    index: u32,
    group: u32,
    connection: u16,
    lanes: Lanes,
    up: Line,
    down: Line,
    /// How many others the latest packet waited for on the way down.
    queued: u8,
    access_delay: Duration,
}

/// The lanes of a flow's events: shared with flows of the same delays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    /// Its packets' arrivals at the first queue: of those that did not wait on its own link, and of those that waited for one.
    pub(crate) out: [Lane; 2],
    /// Its acknowledgements' arrivals at the sender: of packets that did not wait on the link down, and of those that waited for one.
    pub(crate) home: [Lane; 2],
    /// Its own timers.
    pub(crate) wake: Lane,
}

#[expect(
    clippy::large_enum_variant,
    reason = "nearly all flows are TCP, and a box is another cache miss for each packet"
)]
enum Endpoint {
    Tcp(Tcp),
    Datagrams(Box<Datagrams>),
}

struct Tcp {
    has_started: bool,
    sender: Sender,
    receiver: Receiver,
}

struct Datagrams {
    generator: Generator,
    rng: Rng,
    /// What is to be sent at the next wake.
    pending: Option<Emission>,
}

impl Tcp {
    fn without_data(config: &Arc<Config>) -> Self {
        Tcp { has_started: false, sender: Sender::without_data(config), receiver: Receiver::new(config) }
    }
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
    /// Bytes on the wire of the datagram that it is, or 0.
    pub(crate) datagram_bytes: u64,
    /// Its acknowledgement.
    pub(crate) ack: Option<Ack>,
}

impl Group {
    pub(crate) fn new(
        number: u32,
        plan: GroupPlan,
        salt: u64,
        legs: &mut Vec<Leg>,
        events: &mut EventQueue,
    ) -> Self {
        let (data_bytes, ack_bytes) = match &plan.source {
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => {
                (tcp.segment_bytes + tcp.header_bytes, tcp.header_bytes)
            }
            Source::Cbr { packet_bytes, header_bytes, dither, .. } => {
                assert!((0.0..=1.0).contains(dither), "a dither of {dither} is not from 0 to 1");
                assert!(
                    header_bytes <= packet_bytes,
                    "{header_bytes} of {packet_bytes} bytes cannot be headers"
                );
                (*packet_bytes, 0)
            }
            Source::Datagrams { traffic, header_bytes } => {
                (datagram::typical_bytes(traffic, *header_bytes), 0)
            }
        };
        let vary = matches!(plan.source, Source::Datagrams { .. });
        let sizes = Sizes { data: data_bytes, ack: ack_bytes, vary };
        Group {
            salt,
            sizes_vary: vary,
            pace: Pace::new(plan.access_rate, data_bytes),
            ack_on_access: plan.access_rate.time_to_send(ack_bytes.into()),
            tcp: match &plan.source {
                Source::Bulk { tcp } | Source::Tcp { tcp, .. } => Some(Arc::new(tcp.clone())),
                Source::Cbr { .. } | Source::Datagrams { .. } => None,
            },
            data_bytes,
            ack_bytes,
            forward: route::lay(&plan.forward, number, sizes, legs, events),
            back: route::lay(&plan.back, number, sizes, legs, events),
            plan,
        }
    }

    /// The last leg of the way there.
    pub(crate) fn last_forward(&self) -> usize {
        self.back as usize - 1
    }

    /// Do acknowledgements come back?
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.tcp.is_some()
    }

    /// The hash of a connection of the flow `index`. It comes round after 65 536 connections.
    #[inline(never)]
    pub(crate) fn hash(&self, index: u32, connection: u16) -> FlowHash {
        FlowHash(rng::mix(self.salt ^ (u64::from(index) + 1) ^ (u64::from(connection) << 48)))
    }

    /// How long a packet takes on the wires of `leg`; `bytes` is asked only where sizes vary.
    #[inline]
    pub(crate) fn takes(&self, leg: &Leg, is_data: bool, bytes: u32) -> Duration {
        if self.sizes_vary { leg.takes_bytes(bytes) } else { leg.takes(is_data) }
    }

    /// Bytes on the wire of its packets with data.
    pub(crate) fn data_bytes(&self) -> u32 {
        self.data_bytes
    }

    /// Bytes on the wire of the packet that `frame` is.
    #[inline]
    pub(crate) fn wire_bytes(&self, frame: Frame) -> u32 {
        if self.sizes_vary {
            return frame.datagram_bytes();
        }
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
        let Place { index, group: number, session, lanes } = place;
        let endpoint = match (&group.tcp, &group.plan.source) {
            (Some(tcp), Source::Tcp { .. }) => Endpoint::Tcp(Tcp::without_data(tcp)),
            (Some(tcp), _) => Endpoint::Tcp(Tcp {
                has_started: false,
                sender: Sender::new(tcp),
                receiver: Receiver::new(tcp),
            }),
            (None, Source::Cbr { rate, packet_bytes, dither, .. }) => {
                let generator = Generator::Cbr(cbr::Generator::new(*rate, *packet_bytes, *dither));
                Endpoint::Datagrams(Box::new(Datagrams { generator, rng: rng(), pending: None }))
            }
            (None, Source::Datagrams { traffic, header_bytes }) => {
                let generator = Generator::new(traffic, *header_bytes);
                Endpoint::Datagrams(Box::new(Datagrams { generator, rng: rng(), pending: None }))
            }
            (None, Source::Bulk { .. } | Source::Tcp { .. }) => {
                unreachable!("a group of TCP flows has their constants")
            }
        };
        let (up, down) = (Line::default(), Line::default());
        let way = Way { index, group: number, connection: 0, lanes, up, down, queued: 0, access_delay };
        let (hash, counts) = (group.hash(index, 0), Counts::default());
        Flow { hash, counts, way, endpoint, session, wakes_at: Time::MAX }
    }

    /// Reads from each part that an event needs, so that all of it is on its way from memory at once. The number means nothing.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        let Flow { hash, counts, way, endpoint, .. } = self;
        let of_way = way.up.touch() ^ way.down.touch() ^ u64::from(way.group);
        let of_end = match endpoint {
            Endpoint::Tcp(tcp) => tcp.sender.touch() ^ tcp.receiver.delivered(),
            Endpoint::Datagrams(_) => 0,
        };
        hash.0 ^ counts.sent ^ counts.marked ^ of_way ^ of_end
    }

    /// The session that it is a connection of, if any.
    #[inline]
    pub(crate) fn session(&self) -> Option<u32> {
        (self.session != NO_SESSION).then_some(self.session)
    }

    /// Opens a connection that is given `segments` to send, in place of the one that may be there, whose packets under way mean nothing
    /// from now on.
    pub(crate) fn open(&mut self, segments: u64, stage: &mut Stage<'_>) {
        let Some(config) = &stage.group.tcp else { return };
        let Endpoint::Tcp(tcp) = &mut self.endpoint else { return };
        if tcp.has_started {
            *tcp = Tcp::without_data(config);
            self.way.connection = self.way.connection.wrapping_add(1);
            self.hash = stage.group.hash(self.way.index, self.way.connection);
        }
        tcp.has_started = true;
        let now = stage.now;
        let mut outlet = Outlet { way: &mut self.way, counts: &mut self.counts, stage };
        tcp.sender.write(segments, now, &mut outlet);
        tcp.sender.start(now, &mut outlet);
        self.keep_timer(stage.events);
    }

    /// Gives the connection `segments` more to send.
    pub(crate) fn write(&mut self, segments: u64, stage: &mut Stage<'_>) {
        let Endpoint::Tcp(tcp) = &mut self.endpoint else { return };
        let now = stage.now;
        let mut outlet = Outlet { way: &mut self.way, counts: &mut self.counts, stage };
        tcp.sender.write(segments, now, &mut outlet);
        self.keep_timer(stage.events);
    }

    /// Does the sender know that all it was given has arrived?
    pub(crate) fn is_finished(&self) -> bool {
        matches!(&self.endpoint, Endpoint::Tcp(tcp) if tcp.sender.is_finished())
    }

    /// Segments that the receiver has in order.
    pub(crate) fn arrived(&self) -> u64 {
        match &self.endpoint {
            Endpoint::Tcp(tcp) => tcp.receiver.delivered(),
            Endpoint::Datagrams(_) => 0,
        }
    }

    /// Is `frame` of a connection that was left since it was sent?
    #[inline]
    pub(crate) fn is_stale(&self, frame: Frame) -> bool {
        frame.connection != self.way.connection && self.session != NO_SESSION
    }

    /// Is it a TCP flow, rather than one of datagrams?
    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self.endpoint, Endpoint::Tcp(_))
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
        let is_current = frame.connection == self.way.connection;
        let hash = if is_current { self.hash } else { group.hash(self.way.index, frame.connection) };
        let flow = if frame.is_ack() { FlowHash(!hash.0) } else { hash };
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
            Endpoint::Datagrams(source) => {
                let mut outlet = Outlet { way: &mut self.way, counts: &mut self.counts, stage };
                if let Some(next) = source.emit(&mut outlet) {
                    self.wake_at(next, stage.events);
                }
            }
        }
    }

    /// An acknowledgement reached the sender.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, ack: Ack, stage: &mut Stage<'_>) {
        let Endpoint::Tcp(tcp) = &mut self.endpoint else { unreachable!("only TCP is acknowledged") };
        let now = stage.now;
        tcp.sender.on_ack(ack, now, &mut Outlet { way: &mut self.way, counts: &mut self.counts, stage });
        self.keep_timer(stage.events);
    }

    /// A packet that got to the end of its way will have crossed the access link at the time returned, which is computed now:
    /// nothing but this flow's own packets can touch its sink, and they come in order.
    #[inline(always)]
    pub(crate) fn on_delivery(&mut self, frame: Frame, at: Time, stage: &mut Stage<'_>) -> Delivery {
        let group = stage.group;
        let bytes = group.wire_bytes(frame);
        self.way.queued = self.way.down.queued(at, &group.pace).min(usize::from(u8::MAX)) as u8;
        let sent = self.way.down.start(bytes, at, &group.pace);
        let at = sent + self.way.access_delay;
        if self.is_stale(frame) {
            return Delivery { at, packets: 0, datagram_bytes: 0, ack: None };
        }
        self.answer_late(at, stage);
        match &mut self.endpoint {
            Endpoint::Datagrams(_) => Delivery { at, packets: 1, datagram_bytes: bytes.into(), ack: None },
            Endpoint::Tcp(tcp) => {
                let before = tcp.receiver.delivered();
                let ack = tcp.receiver.on_segment(frame.segment(), at);
                let packets = tcp.receiver.delivered() - before;
                if ack.is_none() {
                    self.keep_timer(stage.events);
                }
                Delivery { at, packets, datagram_bytes: 0, ack }
            }
        }
    }

    /// Sends `ack` back from the sink at `at`, in the frame kept in `slot`.
    #[inline(always)]
    pub(crate) fn answer(&mut self, ack: Ack, slot: u32, at: Time, stage: &mut Stage<'_>) {
        let leg = stage.group.back;
        let frame = stage.frames.answer(slot, self.way.index, self.way.connection, ack, leg);
        self.go_on(frame, slot, at + stage.group.ack_on_access + self.way.access_delay, stage);
    }

    /// Sends the acknowledgement that was delayed, where it is due by `at`. Deliveries are worked out before their time, so it may be
    /// due between the one before and the one at `at`.
    #[inline(always)]
    fn answer_late(&mut self, at: Time, stage: &mut Stage<'_>) {
        let Endpoint::Tcp(tcp) = &mut self.endpoint else { return };
        if let Some(due) = tcp.receiver.deadline().filter(|due| *due <= at) {
            self.answer_since(due, stage);
        }
    }

    #[inline(never)]
    fn answer_since(&mut self, due: Time, stage: &mut Stage<'_>) {
        let Endpoint::Tcp(tcp) = &mut self.endpoint else { return };
        let Some(ack) = tcp.receiver.on_timeout(due) else { return };
        let slot = stage.frames.store_answer(self.way.index, self.way.connection, ack, stage.group.back);
        let leaves = due + stage.group.ack_on_access + self.way.access_delay;
        self.go_on(stage.frames.at(slot), slot, leaves, stage);
    }

    /// Sends `frame`, kept in `slot`, along the leg that it is on since `at`. When it gets to the sink's access link, where that is
    /// where the leg ends.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, frame: Frame, slot: u32, at: Time, stage: &mut Stage<'_>) -> Option<Time> {
        let leg = &stage.legs[frame.leg as usize];
        let there = at + stage.group.takes(leg, frame.is_data(), frame.datagram_bytes());
        match leg.to {
            Target::Queue(_) => {
                *stage.frames.at_mut(slot) = frame;
                stage.events.push(there, Event::Arrival(slot), leg.lane);
            }
            Target::End if frame.is_ack() => {
                let home = there + stage.group.ack_on_access + self.way.access_delay;
                let lane =
                    self.way.lanes.home.get(usize::from(self.way.queued)).copied().unwrap_or(Lane::NONE);
                stage.events.push(home, Event::Ack(slot), lane);
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
            self.wake_sooner(due, events);
        }
    }

    #[inline(never)] // rare, since a deadline is mostly put off
    fn wake_sooner(&mut self, at: Time, events: &mut EventQueue) {
        self.wake_at(at, events);
    }

    /// Schedules a wake, in place of the one that may be pending.
    #[inline(always)]
    pub(crate) fn wake_at(&mut self, at: Time, events: &mut EventQueue) {
        self.wakes_at = at;
        events.push(at, Event::Wake(self.way.index), self.way.lanes.wake);
    }
}

/// Where a flow stands among all.
pub(crate) struct Place {
    pub(crate) index: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
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
        let group = self.stage.group;
        let bytes = if segment.is_syn { group.ack_bytes } else { group.data_bytes };
        self.launch(Frame::carrying(self.way.index, self.way.connection, segment, group.forward), bytes);
    }
}

impl Outlet<'_, '_> {
    /// Puts a frame on the flow's way.
    #[inline(always)]
    fn launch(&mut self, frame: Frame, bytes: u32) {
        let Stage { group, legs, frames, events, now } = self.stage;
        let leg = &legs[group.forward as usize];
        let takes = group.takes(leg, frame.is_data(), bytes);
        let slot = frames.store(frame);
        frames.stamp(slot, *now);
        // Who waits for a packet of its own comes after others that set out later, but mostly in the order of those that wait too.
        let queued = self.way.up.queued(*now, &group.pace);
        let lane = self.way.lanes.out.get(queued).copied().unwrap_or(Lane::NONE);
        let there = self.way.up.start(bytes, *now, &group.pace) + self.way.access_delay + takes;
        let event = match leg.to {
            Target::Queue(_) => Event::Arrival(slot),
            Target::End => Event::Sink(slot),
        };
        events.push(there, event, lane);
        self.counts.sent += 1;
    }
}

impl Datagrams {
    /// Sends what is due now and tells when to be woken next, if ever again.
    fn emit(&mut self, outlet: &mut Outlet<'_, '_>) -> Option<Time> {
        let now = outlet.stage.now;
        let due = self.pending.take().or_else(|| self.generator.next(now, &mut self.rng))?;
        self.pending = Some(due);
        if due.at <= now {
            let Emission { bytes, conversation, .. } = due;
            let leg = outlet.stage.group.forward;
            outlet.launch(Frame::datagram(outlet.way.index, conversation, bytes, leg), bytes);
            outlet.counts.datagram_bytes.sent += u64::from(bytes);
            self.pending = self.generator.next(now, &mut self.rng);
        }
        self.pending.map(|next| next.at)
    }
}

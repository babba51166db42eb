//! A flow: its source, its sink, and its own links at either end.

mod outside;

use crate::app::datagram::{Emission, Generator, cbr};
use crate::edge::Edges;
use crate::endpoint::Start;
use crate::ends::Ends;
use crate::event::{Event, Events, Lane};
use crate::frames::{Frame, Frames};
use crate::group::Group;
use crate::line::Line;
use crate::plan::Source;
use crate::prefetch::{self, LINE};
use crate::route::{Leg, Target};
use crate::seen::Window;
use fairwire_core::{Duration, Rng, Time};
use fairwire_tcp::{Ack, LossCounts, Output, Receiver, Segment, Sender};
use outside::Outside;
use std::mem::offset_of;

/// One flow.
///
/// With many flows, what takes the time is to have its record brought from memory, line by line of 64 bytes. So its order is that of
/// need: one line for a delivery, one for what came out of order and what is seldom needed, three for an acknowledgement and the packet
/// that follows it, and one for losses. An arrival at a queue needs none.
#[repr(C, align(64))]
pub(crate) struct Flow {
    sink: Sink,
    receiver: Receiver, // its first 24 bytes belong to the line of the sink
    seldom: Seldom,
    source: Way,
    protocol: Protocol, // a sender's first 144 bytes belong to the lines of the source
}

const _: () = assert!(offset_of!(Flow, receiver) + 24 == LINE && size_of::<Flow>() == 6 * LINE);
const _: () = assert!(offset_of!(Flow, source) == 2 * LINE && offset_of!(Flow, protocol) + 144 == 5 * LINE);

/// What a delivery needs.
#[repr(C)]
struct Sink {
    down: Line,
    access_delay: Duration,
    delivered: u64,
    group: u32,
    /// The lanes of its acknowledgements' arrivals at the sender: of packets that did not wait on the link down, and of those that
    /// waited for one.
    home: [Lane; 2],
    /// How many others the latest packet waited for on the way down; 2 for more than one.
    queued: u8,
}

/// What is needed now and then.
#[repr(C)]
struct Seldom {
    dropped: u64,
    marked: u64,
    session: u32, // that it belongs to, or NO_SESSION
}

/// The flow is nobody's connection: it runs by itself.
pub(crate) const NO_SESSION: u32 = u32::MAX;

/// What became of a flow's packets, or of those of several flows together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) datagram_bytes: Bytes,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    pub(crate) losses: LossCounts, // as its senders found them
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
        flows.iter().map(Flow::counts).fold(Counts::default(), |sum, counts| Counts {
            sent: sum.sent + counts.sent,
            delivered: sum.delivered + counts.delivered,
            datagram_bytes: Bytes {
                sent: sum.datagram_bytes.sent + counts.datagram_bytes.sent,
                delivered: sum.datagram_bytes.delivered + counts.datagram_bytes.delivered,
            },
            dropped: sum.dropped + counts.dropped,
            marked: sum.marked + counts.marked,
            losses: sum.losses + counts.losses,
        })
    }
}

/// What the sending end needs. A flow's own links are never congested by others, so a packet's time on them is computed when it is sent.
#[repr(C)]
struct Way {
    up: Line,
    access_delay: Duration,
    sent: u64,
    wakes_at: Time, // the one pending wake that counts; MAX when there is none
    connection: u16,
    /// The lanes of its packets' arrivals at the first queue, as in [`Lanes`].
    out: [Lane; 2],
    wake: Lane,
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

/// What sends. Nearly all flows are TCP, and to box a sender is another cache miss for each packet.
enum Protocol {
    Tcp(Sender),
    Datagrams(Box<Datagrams>),
    Outside(Box<Outside>),
}

struct Datagrams {
    bytes: Bytes,
    generator: Generator,
    rng: Rng,
    /// What is to be sent at the next wake.
    pending: Option<Emission>,
}

/// A flow's place among all, and what its actions fall upon.
pub(crate) struct Stage<'a, E> {
    pub(crate) index: u32,
    pub(crate) group: &'a Group,
    pub(crate) legs: &'a [Leg],
    pub(crate) frames: &'a mut Frames,
    pub(crate) edges: Option<&'a Edges>,
    pub(crate) events: &'a mut E,
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
    /// Its acknowledgement, without the receiver's blocks.
    pub(crate) ack: Option<Ack>,
}

impl Flow {
    pub(crate) fn new(
        place: Place,
        group: &Group,
        member: u32,
        access_delay: Duration,
        rng: impl FnOnce() -> Rng,
    ) -> Self {
        let Place { group: number, session, lanes } = place;
        let protocol = match (&group.tcp, &group.plan.source) {
            (Some(tcp), source) => {
                let tcp = tcp.of_flow(|| rng().next_u64());
                let is_given_data = matches!(source, Source::Tcp { .. });
                Protocol::Tcp(if is_given_data { Sender::without_data(&tcp) } else { Sender::new(&tcp) })
            }
            (None, Source::Cbr { rate, packet_bytes, dither, .. }) => {
                let generator = Generator::Cbr(cbr::Generator::new(*rate, *packet_bytes, *dither));
                Protocol::Datagrams(Box::new(Datagrams::new(generator, rng())))
            }
            (None, Source::Datagrams { traffic, header_bytes }) => {
                let generator = Generator::new(traffic, *header_bytes);
                Protocol::Datagrams(Box::new(Datagrams::new(generator, rng())))
            }
            (None, Source::Endpoints { endpoints, .. }) => {
                let ends = Ends::new(endpoints, Start { number: member, rng: rng() });
                Protocol::Outside(Box::new(Outside::new(ends)))
            }
            (None, Source::Bulk { .. } | Source::Tcp { .. }) => {
                unreachable!("a group of TCP flows has their constants")
            }
        };
        let Lanes { out, home, wake } = lanes;
        Flow {
            sink: Sink { down: Line::default(), access_delay, delivered: 0, group: number, home, queued: 0 },
            receiver: group.tcp.as_deref().map_or_else(Receiver::of_nothing, Receiver::new),
            seldom: Seldom { dropped: 0, marked: 0, session },
            source: Way {
                up: Line::default(),
                access_delay,
                sent: 0,
                wakes_at: Time::MAX,
                connection: 0,
                out,
                wake,
            },
            protocol,
        }
    }

    /// What became of its packets.
    pub(crate) fn counts(&self) -> Counts {
        let Seldom { dropped, marked, .. } = self.seldom;
        let (datagram_bytes, losses) = match &self.protocol {
            Protocol::Tcp(sender) => (Bytes::default(), sender.loss_counts()),
            Protocol::Datagrams(source) => (source.bytes, LossCounts::default()),
            Protocol::Outside(outside) => (outside.bytes, LossCounts::default()),
        };
        let (sent, delivered) = (self.source.sent, self.sink.delivered);
        Counts { sent, delivered, datagram_bytes, dropped, marked, losses }
    }

    /// The warm-up is over. Deliveries are told apart by their own time, which may lie ahead, and are kept.
    pub(crate) fn start_measuring(&mut self) {
        self.source.sent = 0;
        (self.seldom.dropped, self.seldom.marked) = (0, 0);
        match &mut self.protocol {
            Protocol::Tcp(sender) => sender.forget_loss_counts(),
            Protocol::Datagrams(source) => source.bytes.sent = 0,
            Protocol::Outside(outside) => outside.bytes.sent = 0,
        }
    }

    /// Counts a delivery.
    #[inline]
    pub(crate) fn delivered(&mut self, packets: u64, datagram_bytes: u64) {
        self.sink.delivered += packets;
        if datagram_bytes > 0 {
            match &mut self.protocol {
                Protocol::Datagrams(source) => source.bytes.delivered += datagram_bytes,
                Protocol::Outside(outside) => outside.bytes.delivered += datagram_bytes,
                Protocol::Tcp(_) => {}
            }
        }
    }

    /// Counts a packet that was dropped.
    pub(crate) fn dropped(&mut self) {
        self.seldom.dropped += 1;
    }

    /// Counts a packet that was marked.
    pub(crate) fn marked(&mut self) {
        self.seldom.marked += 1;
    }

    /// Asks for what a delivery needs.
    #[inline]
    pub(crate) fn fetch_sink(&self) {
        prefetch::lines(self, 0..2); // the second one has what came out of order
    }

    /// Asks for what is seldom needed.
    #[inline]
    pub(crate) fn fetch_seldom(&self) {
        prefetch::lines(self, 1..2);
    }

    /// Asks for what an acknowledgement needs.
    #[inline]
    pub(crate) fn fetch_source(&self) {
        prefetch::lines(self, 2..6); // the last one for losses
    }

    /// The session that it is a connection of, if any.
    #[inline]
    pub(crate) fn session(&self) -> Option<u32> {
        (self.seldom.session != NO_SESSION).then_some(self.seldom.session)
    }

    /// Opens a connection that is given `segments` to send, in place of the one that may be there, whose packets under way mean nothing
    /// from now on.
    pub(crate) fn open(&mut self, segments: u64, stage: &mut Stage<'_, impl Events>) {
        let Protocol::Tcp(sender) = &mut self.protocol else { return };
        if sender.has_started() {
            let config = sender.config();
            let next = Sender::without_data(config).counting_from(sender.loss_counts());
            (self.receiver, *sender) = (Receiver::new(config), next);
            self.source.connection = self.source.connection.wrapping_add(1);
        }
        let now = stage.now;
        let mut outlet = Outlet { way: &mut self.source, stage };
        sender.write(segments, now, &mut outlet);
        sender.start(now, &mut outlet);
        self.keep_timer(stage);
    }

    /// Gives the connection `segments` more to send.
    pub(crate) fn write(&mut self, segments: u64, stage: &mut Stage<'_, impl Events>) {
        let Protocol::Tcp(sender) = &mut self.protocol else { return };
        let now = stage.now;
        sender.write(segments, now, &mut Outlet { way: &mut self.source, stage });
        self.keep_timer(stage);
    }

    /// Does the sender know that all it was given has arrived?
    pub(crate) fn is_finished(&self) -> bool {
        matches!(&self.protocol, Protocol::Tcp(sender) if sender.is_finished())
    }

    /// Segments that the receiver has in order.
    pub(crate) fn arrived(&self) -> u64 {
        self.receiver.delivered()
    }

    /// Is `frame` of a connection that was left since it was sent?
    #[inline]
    pub(crate) fn is_stale(&self, frame: Frame, group: &Group) -> bool {
        group.has_sessions() && frame.connection != self.source.connection
    }

    /// Is it a TCP flow, rather than one of datagrams?
    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self.protocol, Protocol::Tcp(_))
    }

    /// Its group.
    #[inline]
    pub(crate) fn group(&self) -> u32 {
        self.sink.group
    }

    /// What its sender thinks of the network, where it does.
    pub(crate) fn window(&self) -> Option<Window> {
        let Protocol::Tcp(sender) = &self.protocol else { return None };
        Some(Window { cwnd: sender.window(), ssthresh: sender.threshold(), srtt: sender.rtt().smoothed() })
    }

    /// A wake came up. One that was replaced by an earlier one means nothing. Tells whether the source did anything.
    pub(crate) fn on_wake(&mut self, stage: &mut Stage<'_, impl Events>) -> bool {
        if self.source.wakes_at != stage.now {
            return false;
        }
        self.source.wakes_at = Time::MAX;
        if let Protocol::Outside(_) = self.protocol {
            return self.on_timeout(stage);
        }
        let now = stage.now;
        let mut outlet = Outlet { way: &mut self.source, stage };
        match &mut self.protocol {
            Protocol::Tcp(sender) => {
                let starts = !sender.has_started();
                let is_due = sender.deadline().is_some_and(|due| due <= now);
                if starts {
                    sender.start(now, &mut outlet);
                } else if is_due {
                    sender.on_timeout(now, &mut outlet);
                } // else the timer was put off since, or stopped
                self.answer_late(now, stage);
                self.keep_timer(stage);
                starts || is_due
            }
            Protocol::Datagrams(source) => {
                let (sent, next) = source.emit(&mut outlet);
                source.bytes.sent += u64::from(sent);
                if let Some(next) = next {
                    self.wake_at(next, stage.index, stage.events);
                }
                true
            }
            Protocol::Outside(_) => unreachable!("its ends were woken"),
        }
    }

    /// An acknowledgement reached the sender.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, ack: Ack, stage: &mut Stage<'_, impl Events>) {
        let Protocol::Tcp(sender) = &mut self.protocol else { unreachable!("only TCP is acknowledged") };
        let now = stage.now;
        sender.on_ack(ack, now, &mut Outlet { way: &mut self.source, stage });
        // The receiver's timer is kept when it is set. Its line is another one.
        let due = sender.deadline().unwrap_or(Time::MAX);
        if due < self.source.wakes_at {
            self.wake_sooner(due, stage);
        }
    }

    /// A packet that got to the end of its way will have crossed the access link at the time returned, which is computed now:
    /// nothing but this flow's own packets can touch its sink, and they come in order.
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

    /// Sends `ack` and the receiver's blocks back from the sink at `at`, in the frame kept in `slot`.
    #[inline(always)]
    pub(crate) fn answer(&mut self, ack: Ack, slot: u32, at: Time, stage: &mut Stage<'_, impl Events>) {
        let (leg, connection) = (stage.group.back, self.connection(stage.group));
        let mut frame = stage.frames.answer(slot, stage.index, connection, ack, leg);
        if self.receiver.has_blocks() {
            frame.set_blocks(stage.frames.tell_blocks(slot, self.receiver.blocks()));
        }
        if let Some(edges) = stage.edges {
            frame.tag = edges.of_receiver(stage.index);
            *stage.frames.at_mut(slot) = frame;
        }
        self.go_on(frame, slot, at + stage.group.ack_on_access + self.sink.access_delay, stage);
    }

    /// The connection that is open: the only one, but for sessions.
    #[inline]
    fn connection(&self, group: &Group) -> u16 {
        if group.has_sessions() { self.source.connection } else { 0 }
    }

    /// Sends the acknowledgement that was delayed, where it is due by `at`. Deliveries are worked out before their time, so it may be
    /// due between the one before and the one at `at`.
    #[inline(always)]
    fn answer_late(&mut self, at: Time, stage: &mut Stage<'_, impl Events>) {
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

    /// Sends `frame`, kept in `slot`, along the leg that it is on since `at`, to a queue or, an acknowledgement, to its sender. Who has
    /// data for the sink's access link delivers it.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, frame: Frame, slot: u32, at: Time, stage: &mut Stage<'_, impl Events>) {
        let leg = &stage.legs[frame.leg as usize];
        let there = at + stage.group.takes(leg, frame.is_data(), frame.datagram_bytes());
        // What left one link on one leg stays in that order, also at the same instant.
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

    /// Makes sure that a wake is pending no later than either end's deadline. Put off, a deadline costs nothing here.
    #[inline]
    fn keep_timer(&mut self, stage: &mut Stage<'_, impl Events>) {
        let Protocol::Tcp(sender) = &self.protocol else { return };
        let due = sender.deadline().unwrap_or(Time::MAX);
        let due = due.min(self.receiver.deadline().unwrap_or(Time::MAX));
        if due < self.source.wakes_at {
            self.wake_sooner(due, stage);
        }
    }

    #[inline(never)] // rare, since a deadline is mostly put off
    fn wake_sooner(&mut self, at: Time, stage: &mut Stage<'_, impl Events>) {
        self.wake_at(at, stage.index, stage.events);
    }

    /// Schedules a wake of the flow, which is the one of this `index`, in place of the one that may be pending.
    #[inline(always)]
    pub(crate) fn wake_at(&mut self, at: Time, index: u32, events: &mut impl Events) {
        self.source.wakes_at = at;
        events.push_at_host(at, Event::Wake(index), index, self.source.wake);
    }
}

/// What a flow belongs to.
pub(crate) struct Place {
    pub(crate) group: u32,
    pub(crate) session: u32,
    pub(crate) lanes: Lanes,
}

struct Outlet<'a, 'b, E> {
    way: &'a mut Way,
    stage: &'a mut Stage<'b, E>,
}

impl<E: Events> Output for Outlet<'_, '_, E> {
    #[inline(always)]
    fn send(&mut self, segment: Segment) {
        let group = self.stage.group;
        let bytes = if segment.is_syn { group.ack_bytes } else { group.data_bytes };
        let frame = Frame::carrying(self.stage.index, self.way.connection, segment, group.forward);
        self.launch(frame, bytes);
    }
}

impl<E: Events> Outlet<'_, '_, E> {
    /// Puts a frame on the flow's way. The slot that it is kept in.
    #[inline(always)]
    fn launch(&mut self, mut frame: Frame, bytes: u32) -> u32 {
        let Stage { group, legs, frames, edges, events, now, .. } = self.stage;
        if let Some(edges) = edges {
            frame.tag = edges.of_sender(frame.flow);
        }
        let leg = &legs[group.forward as usize];
        let takes = group.takes(leg, frame.is_data(), bytes);
        let slot = frames.store(frame);
        frames.stamp(slot, *now);
        // Who waits for a packet of its own comes after others that set out later, but mostly in the order of those that wait too.
        let queued = self.way.up.queued(*now, &group.pace);
        let lane = self.way.out.get(queued).copied().unwrap_or(Lane::NONE);
        let there = self.way.up.start(bytes, *now, &group.pace) + self.way.access_delay + takes;
        let event = match leg.to {
            Target::Queue(_) => Event::Arrival(slot),
            Target::End => Event::Sink(slot),
        };
        events.push_at_link(there, event, frame.identity(), lane);
        self.way.sent += 1;
        slot
    }
}

impl Datagrams {
    fn new(generator: Generator, rng: Rng) -> Self {
        Datagrams { bytes: Bytes::default(), generator, rng, pending: None }
    }

    /// Sends what is due now. How many bytes that is, and when to be woken next, if ever again.
    #[inline(always)] // where it is called, it is by itself
    fn emit(&mut self, outlet: &mut Outlet<'_, '_, impl Events>) -> (u32, Option<Time>) {
        let now = outlet.stage.now;
        let Some(due) = self.pending.take().or_else(|| self.generator.next(now, &mut self.rng)) else {
            return (0, None);
        };
        if due.at > now {
            self.pending = Some(due);
            return (0, Some(due.at));
        }
        let Emission { bytes, conversation, .. } = due;
        let leg = outlet.stage.group.forward;
        outlet.launch(Frame::datagram(outlet.stage.index, conversation, bytes, leg), bytes);
        self.pending = self.generator.next(now, &mut self.rng);
        (bytes, self.pending.map(|next| next.at))
    }
}

//! A queue, a transmitter, and a wire.

use crate::builder::{LinkBuilder, Parts, probable};
use crate::error::{Mistake, NotSent};
use crate::moment::{Clock, Moment};
use crate::packet::{LostPacket, PacketInfo};
use crate::quantity::Quantity;
use crate::report::{Flows, LinkReport, Sent, jain};
use fairwire_core::{
    Backlog, Cause, Discipline, Duration as Span, Ecn, Fate, Loss, Packet, Rate, RateLaw, Server, Service,
    Signals, Step, Time, Transmitter, Wire,
};
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

/// A link in one direction, with payloads of type `T` and times of type `I`.
///
/// A [sent](Link::send) packet enters the queue, is transmitted at the link's rate, and arrives a
/// delay later. [`receive`](Link::receive) then returns it. Each call does all due work, at the
/// exact times, so the frequency of calls does not affect the results.
///
/// # Time
/// A time before the latest given counts as the latest, and [`LinkReport::backward_calls`] counts
/// such calls. Work due at an instant is done before a packet is sent at this instant.
///
/// # Memory
/// The buffer bounds the queue. Rate and delay bound the packets on the wire, if the caller
/// receives them. The report stores eight bytes per delivered packet.
pub struct Link<T, I = Duration> {
    server: Server,
    law: RateLaw,
    /// True if the link is down. Then the server is not polled, because a polled packet would never
    /// leave.
    is_down: bool,
    delay: Span,
    shortest: Span,
    wire: Wire,
    clock: Clock<I>,
    mtu: u32,
    /// Packets by [`Packet::frame`]. `free` lists unused indices.
    inside: Vec<Option<Inside<T>>>,
    free: Vec<u32>,
    /// Packets that have left the queue, ordered by their arrival at the far end.
    under_way: VecDeque<UnderWay>,
    flows: Flows,
    sent: Sent,
    copy: fn(&T) -> Option<T>,
    lost: Lost<T>,
}

/// The lost packets to keep, in order; `None` if they are not kept.
type Lost<T> = Option<VecDeque<(Inside<T>, Option<Cause>)>>;

/// A packet that has reached the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<T, I = Duration> {
    /// The payload, as sent.
    pub payload: T,
    /// The bytes, as given.
    pub bytes: usize,
    /// The flow, as given.
    pub flow: u64,
    /// The ECN codepoint: [`Ecn::Ce`] if the queue has marked the packet.
    pub ecn: Ecn,
    /// Why the queue marked the packet; `None` if it did not.
    pub mark: Option<Cause>,
    /// When the packet was sent.
    pub sent: I,
    /// When the packet's last bit arrived, at or before the time of the call.
    pub arrived: I,
}

struct Inside<T> {
    payload: T,
    bytes: u32,
    flow: u64,
    place: u32,
    sent: Time,
    mark: Option<Cause>,
}

#[derive(Clone, Copy)]
struct UnderWay {
    arrives: Time,
    frame: u32,
    ecn: Ecn,
}

impl<T, I: Moment> Link<T, I> {
    /// Configures a link with a rate and a one-way propagation delay, to be
    /// [built](LinkBuilder::build): `Link::<Vec<u8>>::new("50 Mbit/s", "20 ms")`. For another type
    /// of time, use `Link::<Vec<u8>, Instant>::new`.
    #[expect(clippy::new_ret_no_self, reason = "what is given is checked once, in `build`")]
    pub fn new(rate: impl Quantity<Rate>, delay: impl Quantity<Span>) -> LinkBuilder<T, I> {
        LinkBuilder::new(rate, delay)
    }

    pub(crate) fn of(parts: Parts<T, I>) -> Self {
        let Parts { discipline, rate, law, delay, wire, mtu, origin, copy, keeps_lost } = parts;
        Link {
            server: Server::new(discipline, Transmitter::new(rate).under(&law)),
            law,
            is_down: false,
            delay,
            shortest: wire.law().shortest(delay),
            wire,
            clock: Clock::new(origin),
            mtu,
            inside: Vec::new(),
            free: Vec::new(),
            under_way: VecDeque::new(),
            flows: Flows::default(),
            sent: Sent::default(),
            copy,
            lost: keeps_lost.then(VecDeque::new),
        }
    }

    /// Sends a packet of `flow` into the link at `now`. Its size on the link is `bytes`, including
    /// headers, whatever its payload. The queue shares between flows, which the caller numbers
    /// freely.
    ///
    /// # Errors
    /// If `bytes` is zero or exceeds the link's [`mtu`](LinkBuilder::mtu). The payload is returned,
    /// and only the link's time has changed. A drop by the queue is not an error.
    pub fn send(&mut self, payload: T, bytes: usize, flow: u64, ecn: Ecn, now: I) -> Result<(), NotSent<T>> {
        self.send_packet(payload, PacketInfo::new(bytes, flow).ecn(ecn), now)
    }

    /// Like [`send`](Link::send), with a class and a differentiated-services codepoint.
    ///
    /// # Errors
    /// As `send`.
    pub fn send_packet(&mut self, payload: T, info: PacketInfo, now: I) -> Result<(), NotSent<T>> {
        let PacketInfo { bytes, flow, ecn, class, dscp } = info;
        let now = self.advance(now);
        let Some(len) = u32::try_from(bytes).ok().filter(|len| (1..=self.mtu).contains(len)) else {
            return Err(NotSent { payload, bytes, mtu: self.mtu });
        };
        let place = self.flows.place(flow);
        self.flows.at(place).sent += 1;
        let frame = self.put(Inside { payload, bytes: len, flow, place, sent: now, mark: None });
        let packet = Packet { ecn, class, dscp: dscp & 63, ..Packet::new(frame, len, flow.into(), now) };
        let is_down = self.is_down;
        let (server, mut signals) = self.parts();
        if is_down {
            server.discipline_mut().enqueue(packet, now, &mut signals); // polled when the link is up
        } else if let Some(service) = server.enqueue(packet, now, &mut signals) {
            self.transmit(service);
        }
        Ok(())
    }

    /// The next dropped or lost packet. Always `None` without
    /// [`keep_lost`](LinkBuilder::keep_lost).
    pub fn take_lost(&mut self) -> Option<LostPacket<T, I>> {
        let (Inside { payload, bytes, flow, sent, mark, .. }, cause) = self.lost.as_mut()?.pop_front()?;
        let sent = self.clock.moment(sent)?;
        Some(LostPacket { payload, bytes: bytes as usize, flow, sent, cause, mark })
    }

    /// Sets the rate from `now` on, and cancels later [`steps`](LinkBuilder::steps). A packet being
    /// transmitted ends as scheduled. Disciplines and buffers keep the link's first rate.
    ///
    /// # Errors
    /// If `rate` is not a rate above zero, or the link follows a trace or a pattern.
    pub fn set_rate(&mut self, rate: impl Quantity<Rate>, now: I) -> Result<(), Mistake> {
        let rate = rate.read().map_err(|error| Mistake::of("set_rate", error))?;
        self.change_rate("set_rate", Some(rate), now)
    }

    /// Stops transmission until a [rate](Link::set_rate) is set. The queue still accepts packets.
    ///
    /// # Errors
    /// If the link follows a trace or a pattern.
    pub fn take_down(&mut self, now: I) -> Result<(), Mistake> {
        self.change_rate("take_down", None, now)
    }

    fn change_rate(&mut self, method: &str, rate: Option<Rate>, now: I) -> Result<(), Mistake> {
        let now = self.advance(now);
        let mut steps: Vec<Step> = match &self.law {
            RateLaw::Fixed => Vec::new(),
            RateLaw::Steps(steps) => steps.iter().filter(|step| step.at < now).copied().collect(),
            RateLaw::Pattern(_) | RateLaw::Trace(_) => {
                let message = "the link follows a trace or a pattern; allowed: a link with a rate";
                return Err(Mistake::of(method, message));
            }
        };
        steps.push(Step { at: now, rate });
        self.law = RateLaw::Steps(steps.into());
        self.is_down = rate.is_none();
        self.server.follow(&self.law, Time::ZERO, now);
        Ok(())
    }

    /// Sets the propagation delay of packets that leave the queue from `now` on. Only packets
    /// delayed by [`reorder`](LinkBuilder::reorder) can be overtaken.
    ///
    /// # Errors
    /// If `delay` is not a time, or the link has delays from a [file](LinkBuilder::delays).
    pub fn set_delay(&mut self, delay: impl Quantity<Span>, now: I) -> Result<(), Mistake> {
        let delay = delay.read().map_err(|error| Mistake::of("set_delay", error))?;
        self.advance(now);
        if self.wire.law().delay_trace.is_some() {
            let message = "the link has the delays of a file; allowed: a link with a delay";
            return Err(Mistake::of("set_delay", message));
        }
        self.delay = delay;
        self.shortest = self.wire.law().shortest(delay);
        Ok(())
    }

    /// Sets the loss model of packets that leave the queue from `now` on; 0 disables loss.
    ///
    /// # Errors
    /// If a number is not a probability.
    pub fn set_loss(&mut self, loss: impl Into<Loss>, now: I) -> Result<(), Mistake> {
        let loss = probable(loss.into()).map_err(|error| Mistake::of("set_loss", error))?;
        self.advance(now);
        self.wire.set_loss(Some(loss));
        Ok(())
    }

    /// The discipline; `inspect` returns its gauges.
    pub fn discipline(&self) -> &dyn Discipline {
        self.server.discipline()
    }

    fn parts(&mut self) -> (&mut Server, Accounts<'_, T>) {
        let Link { server, inside, free, flows, lost, .. } = self;
        (server, Accounts { inside, free, flows, lost })
    }

    /// The next packet, in order of arrival, that has reached the far end by `now`. Call this until
    /// it returns `None`.
    pub fn receive(&mut self, now: I) -> Option<Arrival<T, I>> {
        let now_here = self.advance(now);
        let &UnderWay { arrives, frame, ecn } =
            self.under_way.front().filter(|next| next.arrives <= now_here)?;
        self.under_way.pop_front();
        let Inside { payload, bytes, flow, place, sent, mark } = self.take(frame)?;
        let counts = self.flows.at(place);
        counts.delivered += 1;
        counts.delivered_bytes += u64::from(bytes);
        counts.delays.push(arrives.since(sent).ns());
        let moment = |time| self.clock.moment(time).unwrap_or(now);
        let (sent, arrived) = (moment(sent), moment(arrives));
        Some(Arrival { payload, bytes: bytes as usize, flow, ecn, mark, sent, arrived })
    }

    /// The time for the next [`receive`](Link::receive) if nothing is sent before; possibly in the
    /// past. No packet arrives earlier, but the next may arrive later. `None` if the link is empty,
    /// or nothing arrives at a time that `I` can express.
    pub fn next_timeout(&self) -> Option<I> {
        let arrives = self.under_way.front().map_or(Time::MAX, |next| next.arrives);
        // A queued packet arrives no earlier than the shortest delay after its departure.
        let leaves = if self.is_down { Time::MAX } else { self.server.next_poll_at() };
        self.clock.moment(arrives.min(leaves + self.shortest))
    }

    /// Does all work due up to `now`, like every call with a time. Call this before
    /// [`report`](Link::report).
    pub fn advance_to(&mut self, now: I) {
        self.advance(now);
    }

    /// The queue's backlog at the latest time passed to a call, without the packet being
    /// transmitted.
    pub fn backlog(&self) -> Backlog {
        self.server.backlog()
    }

    /// Packets being transmitted, on the wire, or arrived but not received.
    pub fn packets_under_way(&self) -> usize {
        self.under_way.len()
    }

    /// The report up to the latest time passed to a call.
    pub fn report(&self) -> LinkReport {
        let now = self.clock.now();
        let time = now.since(self.sent.from);
        let flows = self.flows.reports(time);
        LinkReport {
            time: time.into(),
            utilization: self.utilization(now),
            jain: jain(&flows),
            flows,
            backward_calls: self.clock.backward_calls(),
        }
    }

    /// Clears the report at `now`. Packets already in the link may later count as delivered, but
    /// not as sent.
    pub fn restart_report(&mut self, now: I) {
        let now = self.advance(now);
        self.flows.clear();
        self.sent = Sent {
            from: now,
            begun_bits: 0.0,
            inherited_bits: self.server.bits(now, self.sent.until.max(now)),
            until: self.sent.until,
        };
    }

    /// The fraction of the capacity used since `from`. Packets in transmission at `from` or `now`
    /// count partly.
    fn utilization(&self, now: Time) -> f64 {
        let Sent { from, begun_bits, inherited_bits, until } = self.sent;
        let possible = self.server.bits(from, now);
        let sent = inherited_bits + begun_bits - self.server.bits(now, until.max(now));
        if possible > 0.0 { (sent / possible).clamp(0.0, 1.0) } else { 0.0 }
    }

    #[inline]
    fn advance(&mut self, now: I) -> Time {
        let now = self.clock.advance(now);
        while !self.is_down && self.server.next_poll_at() <= now && self.server.next_poll_at() < Time::MAX {
            let (server, mut signals) = self.parts();
            if let Some(service) = server.poll(server.next_poll_at(), &mut signals) {
                self.transmit(service);
            }
        }
        now
    }

    #[inline]
    fn transmit(&mut self, Service { packet, sent }: Service) {
        self.sent.begun_bits += f64::from(packet.len) * 8.0;
        self.sent.until = sent;
        let Fate::Arrives { at: arrives, twice, .. } = self.wire.carry(sent, self.delay) else {
            if let Some(lost) = self.take(packet.frame) {
                self.flows.at(lost.place).lost += 1;
                if let Some(kept) = &mut self.lost {
                    kept.push_back((lost, None));
                }
            }
            return;
        };
        let original = UnderWay { arrives, frame: packet.frame, ecn: packet.ecn };
        self.put_under_way(original);
        if twice && let Some(frame) = self.copy(packet.frame) {
            self.put_under_way(UnderWay { frame, ..original });
        }
    }

    /// Inserts a packet by its time of arrival, behind packets with the same time. It goes to the
    /// end, unless [`reorder`](LinkBuilder::reorder) holds packets back.
    #[inline]
    fn put_under_way(&mut self, packet: UnderWay) {
        if self.under_way.back().is_none_or(|last| last.arrives <= packet.arrives) {
            self.under_way.push_back(packet);
        } else {
            let at = self.under_way.partition_point(|other| other.arrives <= packet.arrives);
            self.under_way.insert(at, packet);
        }
    }

    fn copy(&mut self, frame: u32) -> Option<u32> {
        let original = self.inside.get(frame as usize)?.as_ref()?;
        let &Inside { ref payload, bytes, flow, place, sent, mark } = original;
        let copy = Inside { payload: (self.copy)(payload)?, bytes, flow, place, sent, mark };
        self.flows.at(copy.place).duplicated += 1;
        Some(self.put(copy))
    }

    /// Stores a packet under a 32-bit number: no memory holds 2^32 packets.
    #[inline]
    fn put(&mut self, inside: Inside<T>) -> u32 {
        let Some(frame) = self.free.pop() else {
            self.inside.push(Some(inside));
            return (self.inside.len() - 1) as u32;
        };
        self.inside[frame as usize] = Some(inside);
        frame
    }

    #[inline]
    fn take(&mut self, frame: u32) -> Option<Inside<T>> {
        let inside = self.inside.get_mut(frame as usize)?.take()?;
        self.free.push(frame);
        Some(inside)
    }
}

impl<T, I> fmt::Debug for Link<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("rate", &self.server.rate())
            .field("wire", &self.wire)
            .field("backlog", &self.server.backlog())
            .field("under_way", &self.under_way.len())
            .finish_non_exhaustive()
    }
}

struct Accounts<'a, T> {
    inside: &'a mut [Option<Inside<T>>],
    free: &'a mut Vec<u32>,
    flows: &'a mut Flows,
    lost: &'a mut Lost<T>,
}

impl<T> Signals for Accounts<'_, T> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        if let Some(inside) = self.inside.get_mut(packet.frame as usize).and_then(Option::take) {
            self.free.push(packet.frame);
            self.flows.at(inside.place).dropped += 1;
            if let Some(kept) = self.lost {
                kept.push_back((inside, Some(cause)));
            }
        }
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        if let Some(Some(inside)) = self.inside.get_mut(packet.frame as usize) {
            inside.mark = Some(cause);
            self.flows.at(inside.place).marked += 1;
        }
    }
}

//! One direction, without I/O: splits, classifies, queues and shapes packets.
//!
//! The link is a [`Server`]. Departures precede arrivals at the same instant.

mod books;
mod departures;
mod replace;
pub mod transit;

pub use replace::{HandedOver, Replacement, Retired, Sizes};

use crate::account::{Accounts, ClassCounts, FirstPacket, OTHERS};
use crate::arrivals::{Arrival, ArrivalLog, SharedArrivals};
use crate::capture::{Recorder, SharedRing};
use crate::class_book::UNCLAIMED;
use crate::classify::{Classifier, Facts, InsideMac};
use crate::control::{self, ControlLimit};
use crate::edge::Edge;
use crate::ledger::{Loss, Totals};
use crate::not_ip::{NotIpLimit, is_control};
use crate::pool::{FrameNote, NoRoom, PoolSize};
use crate::sojourn::Sojourns;
use crate::trips::TripsOf;
use books::Books;
use departures::{Departures, ReadyFrame};
use fairwire_core::{
    Backlog, Discipline, Duration, FlowHash, Packet, Probe, Rate, RateLaw, RateRequest, Server, Service,
    Time, Transmitter,
};
use fairwire_linux::port::{LinkKind, MAX_FRAMES_AT_ONCE, Outgoing, Port};
use fairwire_wire::Way;
use fairwire_wire::ecn::{set_dscp, set_ecn};
use fairwire_wire::headers::{Headers, Transport};
use fairwire_wire::join::TcpOffsets;
use fairwire_wire::split::split_parsed;
use fairwire_wire::vnet::VnetHeader;

/// The components of a direction.
pub struct DirectionPlan {
    /// The link and its discipline; without them, frames pass at once.
    pub shaper: Option<ShaperPlan>,
    /// Parses headers, and finds flows and classes.
    pub classifier: Classifier,
    /// The size of the pool, which holds all of this direction's frames.
    pub pool: PoolSize,
    /// The number of flows that are counted one by one.
    pub flows: usize,
    /// The number of classes. Every class that the classifier finds has a lower number.
    pub classes: usize,
}

/// A link and its discipline.
pub struct ShaperPlan {
    /// The discipline.
    pub discipline: Box<dyn Discipline>,
    /// The link's rate.
    pub rate: Rate,
    /// The maximum lost time that the link makes up for.
    pub catch_up: Duration,
    /// The rate at which frames that are not IP may bypass the discipline. The link's rate includes
    /// this rate.
    pub not_ip: Rate,
    /// The rate at which packets that [control a network](crate::control) may bypass the
    /// discipline.
    pub control: Rate,
}

/// One direction through the gateway.
pub struct Direction {
    classifier: Classifier,
    link: Option<Link>,
    departures: Departures,
    books: Books,
    scratch: Vec<u8>,
    edge: Edge,
}

struct Link {
    server: Server,
    not_ip: NotIpLimit,
    control: ControlLimit,
    follows: bool,
}

impl Direction {
    /// An empty direction.
    pub fn new(plan: DirectionPlan) -> Self {
        Direction {
            departures: Departures::new(plan.pool.frames as usize),
            books: Books::new(&plan),
            // The pool takes no frame longer than `frame_bytes`.
            scratch: vec![0; plan.pool.frame_bytes as usize],
            classifier: plan.classifier,
            link: plan.shaper.map(Link::new),
            edge: Edge::default(),
        }
    }

    /// Takes in a frame that arrived at `now`. The frame may be a super-packet or have a partial
    /// checksum.
    pub fn receive(
        &mut self,
        frame: &[u8],
        vnet: &VnetHeader,
        kind: LinkKind,
        now: Time,
        trips: &mut TripsOf<'_>,
    ) {
        self.books.now = now;
        self.books.totals.frames_received += 1;
        // One flow and one account suffice: all packets of a super-packet agree in the fields read
        // here.
        let headers = kind.parse(frame);
        let mut facts = self.classifier.facts(frame, &headers, 0);
        if facts.is_spoofed {
            return self.lose_spoofed(frame, facts.class, kind);
        }
        let account = self.account(&headers, frame, &facts);
        let offsets = if vnet.is_gso() { TcpOffsets::of(&headers) } else { None };
        let ticket = match headers.transport {
            Some(Transport { tcp_flags: Some(_), .. }) => {
                let part_bytes = if vnet.is_gso() { vnet.gso_size.into() } else { 0 };
                trips.arrives(frame, &headers, part_bytes, facts.class, now)
            }
            Some(Transport { payload: Some(_), .. }) => trips.spins(frame, &headers, facts.class, now),
            _ => 0,
        };
        let mut note =
            FrameNote { len: 0, account, class: facts.class, ecn: facts.ecn, kind, offsets, ticket };
        if control::of(frame, &headers) && self.passes_as_control(frame, &headers, kind) {
            facts.bypasses = true;
        } else if !facts.is_ip && self.is_over_the_limit(frame, &headers, kind) {
            return self.lose_unshaped(frame, account, kind);
        }
        if !vnet.is_gso() && vnet.partial().is_none() {
            return self.arrive(frame, &facts, note, now);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let outcome = split_parsed(frame, &headers, vnet, &mut scratch, &mut |packet| {
            self.arrive(packet, &facts, note, now);
            note.ticket = 0; // only the first part is timed
        });
        self.scratch = scratch;
        if let Err(error) = outcome {
            self.books.totals.packets_in += 1;
            self.books.lost(split_loss(&error), UNCLAIMED, frame);
        }
    }

    /// Counts a frame that arrived at `now` as lost because it loops.
    pub fn cut(&mut self, frame: &[u8], kind: LinkKind, now: Time) {
        let len = self.wire_bytes(frame, kind);
        self.books.now = now;
        self.books.totals.frames_received += 1;
        self.books.totals.packets_in += 1;
        self.books.totals.bytes_in += u64::from(len);
        self.books.lost(Loss::Looped, UNCLAIMED, frame);
    }

    #[inline]
    fn wire_bytes(&self, frame: &[u8], kind: LinkKind) -> u32 {
        self.classifier.wire_bytes(kind.length(frame, self.classifier.way()))
    }

    #[cold]
    fn passes_as_control(&mut self, frame: &[u8], headers: &Headers, kind: LinkKind) -> bool {
        let bytes = self.wire_bytes(frame, kind);
        let Some(Link { control, .. }) = &mut self.link else { return false };
        control.takes(frame, headers, bytes, self.books.now)
    }

    fn is_over_the_limit(&mut self, frame: &[u8], headers: &Headers, kind: LinkKind) -> bool {
        let bytes = self.wire_bytes(frame, kind);
        let Some(Link { not_ip, .. }) = &mut self.link else { return false };
        !not_ip.takes(bytes, is_control(frame, headers), self.books.now)
    }

    /// Counts the loss of a frame that forges the name of the subscriber `class`. The subscriber's
    /// counts do not change.
    #[cold]
    fn lose_spoofed(&mut self, frame: &[u8], class: u32, kind: LinkKind) {
        self.books.totals.packets_in += 1;
        self.books.totals.bytes_in += u64::from(self.wire_bytes(frame, kind));
        self.books.lost(Loss::Spoofed, class, frame);
    }

    #[cold]
    fn lose_unshaped(&mut self, frame: &[u8], account: u32, kind: LinkKind) {
        let len = self.wire_bytes(frame, kind);
        self.books.came(account, None, len);
        self.books.count_drop(account, None);
        self.books.lost(Loss::NotIp, UNCLAIMED, frame);
    }

    /// Handles all events due at `now`: starts waiting packets as the rate allows, and sends
    /// transmitted frames to `port`.
    pub fn advance(&mut self, now: Time, port: &mut dyn Port, trips: &mut TripsOf<'_>) {
        self.books.now = now;
        while self.link.as_ref().is_some_and(|link| link.server.next_poll_at() <= now) {
            self.poll();
        }
        self.departures.advance(now);
        while self.transmit_batch(port, trips) {}
        self.books.were_lost(port.take_late());
    }

    /// Makes the link's rate follow `law` from `now` on, with times counted from `start`. A packet
    /// in transmission ends as scheduled. Has no effect without a shaper.
    ///
    /// # Panics
    /// If the steps are not in order of time.
    pub fn follow(&mut self, law: &RateLaw, start: Time, now: Time) {
        if let Some(Link { server, follows, .. }) = &mut self.link {
            server.follow(law, start, now);
            *follows = *law != RateLaw::Fixed;
        }
    }

    /// The next time at which [`advance`](Direction::advance) is due; `None` if only an arrival can
    /// make it due.
    pub(crate) fn next_wakeup(&self) -> Option<Time> {
        let next_poll_at = self.link.as_ref().map(|link| link.server.next_poll_at());
        let link = next_poll_at.filter(|at| *at != Time::MAX);
        [link, self.departures.next_due()].into_iter().flatten().min()
    }

    pub(crate) fn backlog_lasts(&self) -> Option<Duration> {
        let server = &self.link.as_ref()?.server;
        let bytes = server.backlog().bytes;
        (bytes > 0).then(|| server.rate().time_to_send(bytes))
    }

    /// The traffic of each flow since the start.
    pub fn accounts(&self) -> &Accounts {
        &self.books.accounts
    }

    /// The traffic of each class since the start.
    pub fn classes(&self) -> &ClassCounts {
        &self.books.classes
    }

    /// The outcome of every packet since the start.
    pub fn totals(&self) -> &Totals {
        &self.books.totals
    }

    /// The waits of packets that left, during the last second and since the start.
    pub fn sojourns(&self) -> &Sojourns {
        &self.books.sojourns
    }

    /// Shows the gauges of the discipline, if any.
    pub fn inspect(&self, probe: &mut dyn Probe) {
        if let Some(link) = &self.link {
            link.server.discipline().inspect(probe);
        }
    }

    /// The latest drops, marks and losses.
    pub fn recorder(&self) -> &Recorder {
        &self.books.recorder
    }

    /// Records drops, marks and losses in `ring` from now on.
    pub fn record_into(&mut self, ring: SharedRing) {
        self.books.recorder = Recorder::into_ring(ring);
    }

    /// Hands arrivals at the discipline over to `shared` from now on.
    pub fn log_arrivals(&mut self, shared: SharedArrivals) {
        self.books.arrivals = ArrivalLog::into_batch(shared);
    }

    /// Makes this direction the `edge` of a DiffServ domain.
    pub fn set_edge(&mut self, edge: Edge) {
        self.edge = edge;
    }

    /// The edge of a DiffServ domain.
    pub fn edge(&self) -> &Edge {
        &self.edge
    }

    /// Applies a `request` that the far edge reported for `class`, valid until `until`. Has no
    /// effect without a shaper.
    pub fn on_report(&mut self, class: u32, request: RateRequest, until: Time, now: Time) {
        if let Some(Link { server, .. }) = &mut self.link {
            server.discipline_mut().on_report(class, request, until, now);
        }
    }

    /// Shows the edge's targets at `now` to other threads.
    pub fn show_targets(&mut self, now: Time) {
        let link = &mut self.link;
        let target_of = |class| link.as_mut()?.server.discipline_mut().target_bps(class, now);
        self.edge.show_targets(target_of);
    }

    /// The number of packets in the discipline, in transmission, or waiting for the port.
    pub fn packets_inside(&self) -> usize {
        self.books.pool.in_use()
    }

    /// The discipline's backlog.
    pub fn backlog(&self) -> Backlog {
        self.link.as_ref().map(|link| link.server.backlog()).unwrap_or_default()
    }

    /// Is every packet that ever arrived accounted for?
    pub fn is_balanced(&self) -> bool {
        let inside = self.backlog().packets as usize + self.departures.len();
        inside == self.packets_inside() && self.totals().is_balanced(inside)
    }

    #[inline]
    fn account(&mut self, headers: &Headers, frame: &[u8], facts: &Facts) -> u32 {
        if facts.has_no_host {
            return OTHERS; // a group is not a host
        }
        let way = self.classifier.way();
        self.books.accounts.open(facts.flow, self.books.now, || opened(headers, frame, facts, way))
    }

    /// The flow that the discipline sees: the packet's flow, or its host and conversation.
    #[inline]
    fn name(&mut self, facts: &Facts, account: u32) -> FlowHash {
        match facts.within {
            None => facts.flow,
            Some(conversation) => FlowHash::of_host(self.books.accounts.host(account), conversation),
        }
    }

    /// Takes in one packet that arrived at `arrived`, never a super-packet. `facts` describe the
    /// packet, except for its length.
    fn arrive(&mut self, frame: &[u8], facts: &Facts, note: FrameNote, arrived: Time) {
        let facts = &Facts { len: self.wire_bytes(frame, note.kind), ..*facts };
        let class = facts.is_ip.then_some(facts.class);
        self.books.came(note.account, class, facts.len);
        self.edge.observe(facts);
        if class.is_some_and(|class| self.classifier.suspends(class)) {
            self.books.count_drop(note.account, class);
            return self.books.lost(Loss::Suspended, facts.class, frame);
        }
        match self.books.pool.put(frame, note) {
            Ok(id) => {
                self.wash(id, facts);
                self.admit(id, facts, arrived);
            }
            Err(reason) => {
                self.books.count_drop(note.account, class);
                self.books.lost(no_room(reason), facts.class, frame);
            }
        }
    }

    /// Clears the codepoint, which classification has already used.
    fn wash(&mut self, id: u32, facts: &Facts) {
        if facts.dscp == 0 || !self.classifier.washes() {
            return;
        }
        let kind = self.books.pool.note(id).kind;
        let bytes = self.books.pool.bytes_mut(id);
        let headers = kind.parse(bytes);
        set_dscp(bytes, &headers, 0);
        self.books.totals.washed += 1;
    }

    fn admit(&mut self, id: u32, facts: &Facts, arrived: Time) {
        let account = self.books.pool.note(id).account;
        let flow = self.name(facts, account);
        let now = self.books.now;
        let Some(Link { server, .. }) = self.link.as_mut().filter(|_| !facts.bypasses) else {
            if let Some(Link { server, .. }) = &mut self.link {
                server.charge(facts.len, now); // it leaves at once, but takes the link's time
            }
            self.departures.pass(id);
            return self.books.left(account, facts.is_ip.then_some(facts.class), facts.len);
        };
        let Facts { class, ecn, dscp, color, .. } = *facts;
        let packet = Packet { class, ecn, dscp, color, ..Packet::new(id, facts.len, flow, arrived) };
        let Books { arrivals, accounts, .. } = &mut self.books;
        arrivals.record(|| Arrival {
            at: now,
            flow: facts.flow,
            conversation: FlowHash::of_host(accounts.host(account), facts.within.unwrap_or(facts.flow)),
            class: facts.class,
            len: facts.len,
            ecn: facts.ecn,
            dscp: facts.dscp,
        });
        let service = server.enqueue(packet, now, &mut self.books);
        self.send(service);
    }

    fn poll(&mut self) {
        let Some(Link { server, .. }) = &mut self.link else { return };
        let service = server.poll(self.books.now, &mut self.books);
        self.send(service);
    }

    fn send(&mut self, service: Option<Service>) {
        let Some(Service { packet, sent }) = service else { return };
        let Books { pool, sojourns, now, .. } = &mut self.books;
        sojourns.record(*now, now.since(packet.arrived));
        let note = pool.note(packet.frame);
        self.departures.begin(packet.frame, sent);
        let codepoint = self.classifier.codepoint_of(&packet).filter(|dscp| *dscp != packet.dscp);
        if note.ecn != packet.ecn || codepoint.is_some() {
            let bytes = pool.bytes_mut(packet.frame);
            let headers = note.kind.parse(bytes);
            set_ecn(bytes, &headers, packet.ecn);
            if let Some(dscp) = codepoint {
                set_dscp(bytes, &headers, dscp);
            }
        }
        self.books.left(note.account, Some(note.class), packet.len);
    }

    fn transmit_batch(&mut self, port: &mut dyn Port, trips: &mut TripsOf<'_>) -> bool {
        let Direction { departures, books, .. } = self;
        let mut batch = [ReadyFrame::default(); MAX_FRAMES_AT_ONCE];
        let mut frames = [Outgoing::default(); MAX_FRAMES_AT_ONCE];
        let mut count = 0;
        // Slots are zipped before departures, so without a free slot, no departure is popped.
        for ((place, frame), due) in
            batch.iter_mut().zip(&mut frames).zip(std::iter::from_fn(|| departures.pop()))
        {
            *place = due;
            let FrameNote { offsets, account, .. } = books.pool.note(due.frame);
            *frame = Outgoing { bytes: books.pool.bytes(due.frame), offsets, flow: account };
            count += 1;
        }
        if count == 0 {
            return false;
        }
        let refused = port.transmit_all(&frames[..count]);
        for (place, due) in batch[..count].iter().enumerate() {
            match refused.has(place) {
                false => {
                    trips.leaves(books.pool.note(due.frame).ticket, books.now);
                    books.sent(due.frame, due.is_shaped);
                }
                true if refused.is_too_long(place) => books.refused(due.frame, Loss::OverMtu),
                true => books.refused(due.frame, Loss::Refused),
            }
        }
        true
    }
}

impl Link {
    fn new(plan: ShaperPlan) -> Self {
        let transmitter = Transmitter::with_catch_up(plan.rate, plan.catch_up);
        Link {
            server: Server::new(plan.discipline, transmitter),
            not_ip: NotIpLimit::new(plan.not_ip),
            control: ControlLimit::new(plan.control),
            follows: false,
        }
    }
}

#[cold]
fn opened(headers: &Headers, frame: &[u8], facts: &Facts, way: Way) -> FirstPacket {
    let (key, vlan) = (headers.flow_key(frame), headers.outer_vlan(frame).unwrap_or(0));
    let mac = headers.mac(frame, way).unwrap_or_default();
    FirstPacket { key, class: facts.class, vlan, dscp: facts.dscp, mac }
}

fn no_room(reason: NoRoom) -> Loss {
    match reason {
        NoRoom::Exhausted => Loss::NoBuffer,
        NoRoom::TooLong => Loss::TooLong,
    }
}

fn split_loss(error: &fairwire_wire::split::SplitError) -> Loss {
    match error {
        fairwire_wire::split::SplitError::ScratchTooSmall { .. } => Loss::TooLong,
        _ => Loss::Malformed,
    }
}

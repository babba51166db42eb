//! One direction through the gateway, without any I/O: split, classify, queue, shape.
//!
//! The link is a [`Server`], as the simulator's is. What becomes free and what arrives at the same instant happen in this
//! order: first free, then arrive.

mod departures;
mod replace;

pub use replace::{HandedOver, Measure, Replacement, Retired};

use crate::account::{Accounts, ClassCounts, OTHERS, Opened};
use crate::class_book::{UNCLAIMED, Way};
use crate::classify::{Classifier, Facts, InsideMac};
use crate::ledger::{Loss, Totals};
use crate::not_ip::{NotIpLimit, is_control};
use crate::pool::{FramePool, NoRoom, Note, PoolSize};
use crate::telemetry::capture::{Event, Fate, Recorder, SharedRing};
use crate::telemetry::sojourn::Sojourns;
use departures::{Departure, Departures};
use fairwire_core::{
    Backlog, Cause, Discipline, Duration, FlowHash, Packet, Probe, Rate, Server, Service, Signals, Time,
    Transmitter,
};
use fairwire_linux::port::{LinkKind, MOST_FRAMES_AT_ONCE, Outgoing, Port};
use fairwire_metrics::LinkMeter;
use fairwire_metrics::record::LinkRecord;
use fairwire_wire::ecn::{clear_dscp, set_ecn};
use fairwire_wire::headers::Headers;
use fairwire_wire::join::Seam;
use fairwire_wire::split::split_parsed;
use fairwire_wire::vnet::VnetHeader;

/// What one direction is made of.
pub struct DirectionPlan {
    /// The rate and the discipline; without one, frames pass at once.
    pub shaper: Option<ShaperPlan>,
    /// Reads headers and names flows.
    pub classifier: Classifier,
    /// Buffers for what waits, is being sent, or is through.
    pub pool: PoolSize,
    /// Flows that are counted one by one.
    pub flows: usize,
    /// Classes that the classifier may name: numbers below this.
    pub classes: usize,
}

/// A link and what shares it.
pub struct ShaperPlan {
    /// What shares the link.
    pub discipline: Box<dyn Discipline>,
    /// The link's rate.
    pub rate: Rate,
    /// Lost time that may be made up for: how late the process may wake without losing rate.
    pub catch_up: Duration,
    /// The rate at which what is not IP may pass by the discipline. It is a part of the link's.
    pub not_ip: Rate,
}

/// One direction through the gateway.
pub struct Direction {
    classifier: Classifier,
    pool: FramePool,
    link: Option<Link>,
    departures: Departures,
    totals: Totals,
    accounts: Accounts,
    classes: ClassCounts,
    sojourns: Sojourns,
    recorder: Recorder,
    flows: usize,
    is_metered: bool,
    scratch: Vec<u8>,
}

struct Link {
    server: Server,
    not_ip: NotIpLimit,
    /// For laboratories: what telemetry tells is counted elsewhere.
    meter: Option<LinkMeter>,
}

impl Direction {
    /// An empty direction that begins at `start`.
    pub fn new(plan: DirectionPlan, start: Time) -> Self {
        Direction {
            classifier: plan.classifier,
            pool: FramePool::new(plan.pool),
            link: plan.shaper.map(|shaper| Link::new(shaper, Some(start))),
            departures: Departures::new(plan.pool.frames as usize),
            totals: Totals::default(),
            accounts: Accounts::new(plan.flows),
            classes: ClassCounts::new(plan.classes),
            sojourns: Sojourns::new(),
            recorder: Recorder::off(),
            flows: plan.flows,
            is_metered: true,
            // Whatever is longer does not fit the pool either.
            scratch: vec![0; plan.pool.frame_bytes as usize],
        }
    }

    /// The same without a [`link_record`](Direction::link_record), which only laboratories read: it costs time with each packet.
    #[must_use]
    pub fn without_meter(mut self) -> Self {
        if let Some(link) = &mut self.link {
            link.meter = None;
        }
        self.is_metered = false;
        self
    }

    /// Takes in a frame that arrived at `now`, as the interface gave it: perhaps a super-packet, perhaps with a checksum
    /// still to be made.
    pub fn receive(&mut self, frame: &[u8], vnet: &VnetHeader, kind: LinkKind, now: Time) {
        self.totals.frames_received += 1;
        // One pass, one flow and one account for all parts of a super-packet: they differ in nothing that is asked here.
        let headers = kind.parse(frame);
        let facts = self.classifier.facts(frame, &headers, 0);
        let account = self.account(&headers, frame, &facts, now);
        let seam = if vnet.is_gso() { Seam::of(&headers) } else { None };
        let note = Note { len: 0, account, class: facts.class, ecn: facts.ecn, kind, seam };
        if !facts.is_ip && self.is_over_the_limit(frame, &headers, kind, now) {
            return self.lose_unshaped(frame, account, kind, now);
        }
        if !vnet.is_gso() && vnet.partial().is_none() {
            return self.arrive(frame, &facts, note, now);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let outcome = split_parsed(frame, &headers, vnet, &mut scratch, &mut |packet| {
            self.arrive(packet, &facts, note, now);
        });
        self.scratch = scratch;
        if let Err(error) = outcome {
            self.totals.packets_in += 1;
            self.lose(split_loss(&error), frame, UNCLAIMED, now);
        }
    }

    /// Takes note of a frame that arrived at `now` and is not forwarded, since it comes back time and again.
    pub fn cut(&mut self, frame: &[u8], kind: LinkKind, now: Time) {
        let len = self.classifier.wire_bytes(frame.len() + kind.missing_bytes());
        self.totals.frames_received += 1;
        self.totals.packets_in += 1;
        self.totals.bytes_in += u64::from(len);
        self.lose(Loss::Looped, frame, UNCLAIMED, now);
    }

    /// Is there more of what is not IP, with `frame`, than may pass by the discipline?
    fn is_over_the_limit(&mut self, frame: &[u8], headers: &Headers, kind: LinkKind, now: Time) -> bool {
        let Some(Link { not_ip, .. }) = &mut self.link else { return false };
        let bytes = self.classifier.wire_bytes(frame.len() + kind.missing_bytes());
        !not_ip.takes(bytes, is_control(frame, headers), now)
    }

    #[cold]
    fn lose_unshaped(&mut self, frame: &[u8], account: u32, kind: LinkKind, now: Time) {
        let len = self.classifier.wire_bytes(frame.len() + kind.missing_bytes());
        self.totals.packets_in += 1;
        self.totals.bytes_in += u64::from(len);
        let count = self.accounts.entry(account);
        count.came(len);
        count.dropped += 1;
        self.lose(Loss::NotIp, frame, UNCLAIMED, now);
    }

    /// Does everything that is due at `now`: lets what waits begin as the rate allows, and sends what is through into `port`.
    pub fn advance(&mut self, now: Time, port: &mut dyn Port) {
        while self.link.as_ref().is_some_and(|link| link.server.asks_at() <= now) {
            self.ask(now);
        }
        self.departures.advance(now);
        while self.transmit_batch(now, port) {}
    }

    /// When [`advance`](Direction::advance) has something to do next; `None` when only an arrival can bring something.
    pub fn next_wakeup(&self) -> Option<Time> {
        let asks_at = self.link.as_ref().map(|link| link.server.asks_at());
        let link = asks_at.filter(|at| *at != Time::MAX);
        [link, self.departures.next_due()].into_iter().flatten().min()
    }

    /// Forgets what was measured, as at the end of a warm-up. The totals go on.
    pub fn restart_measuring(&mut self, now: Time) {
        self.accounts.clear();
        if let Some(meter) = self.link.as_mut().and_then(|link| link.meter.as_mut()) {
            meter.restart(now);
        }
    }

    /// What the link did since the measuring began; `None` where nothing is shaped or there is no meter.
    pub fn link_record(&self, name: &str, now: Time) -> Option<LinkRecord> {
        let link = self.link.as_ref()?;
        Some(link.meter.as_ref()?.record(name, link.server.rate(), now))
    }

    /// What each flow got since the measuring began.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// What each class got since the start.
    pub fn classes(&self) -> &ClassCounts {
        &self.classes
    }

    /// Where every packet went since the start.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// How long packets waited that left during the last second.
    pub fn sojourns(&self) -> &Sojourns {
        &self.sojourns
    }

    /// Shows the gauges of the discipline, where there is one.
    pub fn inspect(&self, probe: &mut dyn Probe) {
        if let Some(link) = &self.link {
            link.server.discipline().inspect(probe);
        }
    }

    /// What keeps the last drops, marks and losses.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// From now on what is dropped, marked and lost goes into `ring`.
    pub fn record_into(&mut self, ring: SharedRing) {
        self.recorder = Recorder::into_ring(ring);
    }

    /// Packets inside: waiting, or being sent.
    pub fn packets_inside(&self) -> usize {
        self.pool.in_use()
    }

    /// What waits in the discipline.
    pub fn backlog(&self) -> Backlog {
        self.link.as_ref().map(|link| link.server.backlog()).unwrap_or_default()
    }

    /// Does every packet that ever came in have its place?
    pub fn is_balanced(&self) -> bool {
        let inside = self.backlog().packets as usize + self.departures.len();
        inside == self.pool.in_use() && self.totals.is_balanced(inside)
    }

    /// The account of a frame's flow.
    #[inline]
    fn account(&mut self, headers: &Headers, frame: &[u8], facts: &Facts, now: Time) -> u32 {
        if facts.is_of_nobody {
            return OTHERS; // a group is no host
        }
        let way = self.classifier.way();
        self.accounts.open(facts.flow, now, || opened(headers, frame, facts, way))
    }

    /// The class and the flow that a discipline knows a packet by: where conversations are told apart, its host and its conversation.
    #[inline]
    fn names(&self, facts: &Facts, account: u32) -> (u32, FlowHash) {
        match facts.within {
            None => (facts.class, facts.flow),
            Some(conversation) => (self.accounts.host(account), conversation),
        }
    }

    /// A wire-size packet arrives; `facts` are its own but for its length.
    fn arrive(&mut self, frame: &[u8], facts: &Facts, note: Note, now: Time) {
        self.totals.packets_in += 1;
        let len = self.classifier.wire_bytes(frame.len() + note.kind.missing_bytes());
        let facts = &Facts { len, ..*facts };
        self.totals.bytes_in += u64::from(len);
        // What is not IP is of no class: it has a count of its own, `unshaped`.
        self.accounts.entry(note.account).came(len);
        if facts.is_ip {
            self.classes.entry(facts.class).came(len);
        }
        match self.pool.put(frame, note) {
            Ok(id) => {
                self.wash(id, facts);
                self.admit(id, facts, now);
            }
            Err(reason) => {
                self.accounts.entry(note.account).dropped += 1;
                if facts.is_ip {
                    self.classes.entry(facts.class).dropped += 1;
                }
                self.lose(no_room(reason), frame, facts.class, now);
            }
        }
    }

    /// Clears the codepoint of frame `id`, where that is to be done: its class was found by it before.
    fn wash(&mut self, id: u32, facts: &Facts) {
        if facts.dscp == 0 || !self.classifier.washes() {
            return;
        }
        let kind = self.pool.note(id).kind;
        let bytes = self.pool.bytes_mut(id);
        let headers = kind.parse(bytes);
        clear_dscp(bytes, &headers);
        self.totals.washed += 1;
    }

    fn admit(&mut self, id: u32, facts: &Facts, now: Time) {
        let (class, flow) = self.names(facts, self.pool.note(id).account);
        let Some(Link { server, meter, .. }) = self.link.as_mut().filter(|_| facts.is_ip) else {
            if let Some(Link { server, .. }) = &mut self.link {
                server.charge(facts.len, now); // it leaves at once, and what waits has so much less of the link
            }
            self.departures.pass(id);
            let class = facts.is_ip.then_some(facts.class);
            return self.count_out(self.pool.note(id).account, class, facts.len);
        };
        let packet =
            Packet { class, ecn: facts.ecn, dscp: facts.dscp, ..Packet::new(id, facts.len, flow, now) };
        if let Some(meter) = meter {
            meter.offered();
        }
        let (pool, accounts, classes) = (&mut self.pool, &mut self.accounts, &mut self.classes);
        let (totals, recorder) = (&mut self.totals, &mut self.recorder);
        let service =
            server.offer(packet, now, &mut Ledger { pool, accounts, classes, totals, meter, recorder, now });
        self.send(service, now);
    }

    /// The transmitter is free: asks for the next packet.
    fn ask(&mut self, now: Time) {
        let Some(Link { server, meter, .. }) = &mut self.link else { return };
        let (pool, accounts, classes) = (&mut self.pool, &mut self.accounts, &mut self.classes);
        let (totals, recorder) = (&mut self.totals, &mut self.recorder);
        let service = server.ask(now, &mut Ledger { pool, accounts, classes, totals, meter, recorder, now });
        self.send(service, now);
    }

    /// Takes note of what waits, and of a packet that has begun to leave.
    fn send(&mut self, service: Option<Service>, now: Time) {
        let Some(Link { server, meter, .. }) = &mut self.link else { return };
        if let Some(meter) = meter {
            meter.waiting(server.backlog(), now);
            if let Some(Service { packet, sent }) = &service {
                meter.started(packet, now, *sent);
            }
        }
        let Some(Service { packet, sent }) = service else { return };
        self.sojourns.record(now, now.since(packet.arrived));
        let note = self.pool.note(packet.frame);
        self.departures.begin(packet.frame, sent);
        if note.ecn != packet.ecn {
            let bytes = self.pool.bytes_mut(packet.frame);
            let headers = note.kind.parse(bytes);
            set_ecn(bytes, &headers, packet.ecn);
        }
        self.count_out(note.account, Some(note.class), packet.len);
    }

    /// A packet of so many bytes on the link began to be sent.
    fn count_out(&mut self, account: u32, class: Option<u32>, len: u32) {
        self.totals.bytes_out += u64::from(len);
        self.accounts.entry(account).left(len);
        if let Some(class) = class {
            self.classes.entry(class).left(len);
        }
    }

    /// Sends out a batch of what is through and gives its buffers back. False when nothing was.
    fn transmit_batch(&mut self, now: Time, port: &mut dyn Port) -> bool {
        let mut batch = [Departure::default(); MOST_FRAMES_AT_ONCE];
        let mut frames = [Outgoing::default(); MOST_FRAMES_AT_ONCE];
        let mut count = 0;
        // The places first: what has been popped must find one.
        let through = std::iter::from_fn(|| self.departures.pop());
        for ((place, frame), due) in batch.iter_mut().zip(&mut frames).zip(through) {
            *place = due;
            *frame = Outgoing { bytes: self.pool.bytes(due.frame), seam: self.pool.note(due.frame).seam };
            count += 1;
        }
        if count == 0 {
            return false;
        }
        let refused = port.transmit_all(&frames[..count]);
        for (place, due) in batch[..count].iter().enumerate() {
            if refused.has(place) {
                let loss = if refused.is_too_long(place) { Loss::OverMtu } else { Loss::Refused };
                self.totals.lost[loss as usize] += 1;
                self.recorder.record(loss_of(loss, UNCLAIMED, now), self.pool.bytes(due.frame));
            } else {
                self.totals.packets_out += 1;
                self.totals.unshaped += u64::from(!due.is_shaped);
            }
            self.pool.release(due.frame);
        }
        true
    }

    /// Loses `frame`, which has no buffer.
    fn lose(&mut self, loss: Loss, frame: &[u8], class: u32, now: Time) {
        self.totals.lost[loss as usize] += 1;
        self.recorder.record(loss_of(loss, class, now), frame);
    }
}

impl Link {
    /// Measured from `measured_from` on, if ever.
    fn new(plan: ShaperPlan, measured_from: Option<Time>) -> Self {
        let transmitter = Transmitter::with_catch_up(plan.rate, plan.catch_up);
        Link {
            server: Server::new(plan.discipline, transmitter),
            not_ip: NotIpLimit::new(plan.not_ip),
            meter: measured_from.map(LinkMeter::new),
        }
    }
}

/// Frees frames and counts, on behalf of the discipline.
struct Ledger<'a> {
    pool: &'a mut FramePool,
    accounts: &'a mut Accounts,
    classes: &'a mut ClassCounts,
    totals: &'a mut Totals,
    meter: &'a mut Option<LinkMeter>,
    recorder: &'a mut Recorder,
    now: Time,
}

impl Ledger<'_> {
    fn record(&mut self, packet: &Packet, fate: Fate) {
        let waited = self.now.since(packet.arrived);
        let event = Event { at: self.now, fate, class: self.pool.note(packet.frame).class, waited };
        self.recorder.record(event, self.pool.bytes(packet.frame));
    }
}

impl Signals for Ledger<'_> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        if let Some(meter) = self.meter {
            meter.dropped(cause);
        }
        self.totals.dropped[cause as usize] += 1;
        let note = self.pool.note(packet.frame);
        self.accounts.entry(note.account).dropped += 1;
        self.classes.entry(note.class).dropped += 1;
        self.record(&packet, Fate::Dropped(cause));
        self.pool.release(packet.frame);
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        if let Some(meter) = self.meter {
            meter.marked(cause);
        }
        self.totals.marked[cause as usize] += 1;
        let note = self.pool.note(packet.frame);
        self.accounts.entry(note.account).marked += 1;
        self.classes.entry(note.class).marked += 1;
        self.record(packet, Fate::Marked(cause));
    }
}

/// A packet was lost that has no time of arrival of its own.
fn loss_of(loss: Loss, class: u32, now: Time) -> Event {
    Event { at: now, fate: Fate::Lost(loss), class, waited: Duration::ZERO }
}

/// What the first packet of a flow tells of it.
#[cold]
fn opened(headers: &Headers, frame: &[u8], facts: &Facts, way: Way) -> Opened {
    let (key, vlan) = (headers.flow_key(frame), headers.outer_vlan(frame).unwrap_or(0));
    let mac = headers.mac(frame, way).unwrap_or_default();
    Opened { key, class: facts.class, vlan, dscp: facts.dscp, mac }
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

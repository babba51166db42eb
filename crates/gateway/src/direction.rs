//! One direction through the gateway, without any I/O: split, classify, queue, shape, delay.
//!
//! The link is a [`Server`], as the simulator's is. What becomes free and what arrives at the same instant happen in this
//! order: first free, then arrive.

use crate::account::Accounts;
use crate::classify::{Classifier, Facts};
use crate::delay_line::DelayLine;
use crate::io::{LinkKind, MOST_FRAMES_AT_ONCE, Outgoing, Port};
use crate::ledger::{Loss, Totals};
use crate::loss::RandomLoss;
use crate::pool::{FramePool, NoRoom, Note, PoolSize};
use fairwire_core::{
    Backlog, Cause, Discipline, Duration, Packet, Rate, Server, Service, Signals, Time, Transmitter,
};
use fairwire_metrics::LinkMeter;
use fairwire_metrics::record::LinkRecord;
use fairwire_wire::ecn::set_ecn;
use fairwire_wire::join::Seam;
use fairwire_wire::split::split_parsed;
use fairwire_wire::vnet::VnetHeader;

/// What one direction is made of.
pub struct DirectionPlan {
    /// The rate and the discipline; without one, frames are only delayed.
    pub shaper: Option<ShaperPlan>,
    /// Constant delay after the last bit was sent.
    pub delay: Duration,
    /// Reads headers and names flows.
    pub classifier: Classifier,
    /// Buffers for what waits in the discipline and on the delay line.
    pub pool: PoolSize,
    /// Flows that are counted one by one.
    pub flows: usize,
}

/// A link and what shares it.
pub struct ShaperPlan {
    /// What shares the link.
    pub discipline: Box<dyn Discipline>,
    /// The link's rate.
    pub rate: Rate,
    /// Lost time that may be made up for: how late the process may wake without losing rate.
    pub catch_up: Duration,
}

/// One direction through the gateway.
pub struct Direction {
    classifier: Classifier,
    pool: FramePool,
    link: Option<Link>,
    loss: Option<RandomLoss>,
    shaped: DelayLine,
    unshaped: DelayLine,
    totals: Totals,
    accounts: Accounts,
    scratch: Vec<u8>,
}

/// A frame that is to be sent out now.
#[derive(Clone, Copy, Default)]
struct Due {
    frame: u32,
    is_shaped: bool,
}

struct Link {
    server: Server,
    meter: LinkMeter,
}

impl Direction {
    /// An empty direction that begins at `start`.
    pub fn new(plan: DirectionPlan, start: Time) -> Self {
        let frames = plan.pool.frames as usize;
        Direction {
            classifier: plan.classifier,
            pool: FramePool::new(plan.pool),
            link: plan.shaper.map(|shaper| Link::new(shaper, start)),
            loss: None,
            shaped: DelayLine::new(plan.delay, frames),
            unshaped: DelayLine::new(plan.delay, frames),
            totals: Totals::default(),
            accounts: Accounts::new(plan.flows),
            // Whatever is longer does not fit the pool either.
            scratch: vec![0; plan.pool.frame_bytes as usize],
        }
    }

    /// The same with random loss after the link, before the delay.
    #[must_use]
    pub fn with_loss(self, loss: RandomLoss) -> Self {
        Direction { loss: Some(loss), ..self }
    }

    /// Takes in a frame that arrived at `now`, as the interface gave it: perhaps a super-packet, perhaps with a checksum
    /// still to be made.
    pub fn receive(&mut self, frame: &[u8], vnet: &VnetHeader, kind: LinkKind, now: Time) {
        self.totals.frames_received += 1;
        // One pass, one flow and one account for all parts of a super-packet: they differ in nothing that is asked here.
        let headers = kind.parse(frame);
        let facts = self.classifier.facts(frame, &headers, 0);
        let account = self.accounts.open(facts.flow);
        let seam = if vnet.is_gso() { Seam::of(&headers) } else { None };
        let note = Note { len: 0, account, ecn: facts.ecn, kind, seam };
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
            self.lose(split_loss(&error));
        }
    }

    /// Does everything that is due at `now`: sends what waits as the rate allows, and what was delayed into `port`.
    pub fn advance(&mut self, now: Time, port: &mut dyn Port) {
        while self.link.as_ref().is_some_and(|link| link.server.asks_at() <= now) {
            self.ask(now);
        }
        while self.transmit_due(now, port) {}
    }

    /// When [`advance`](Direction::advance) has something to do next; `None` when only an arrival can bring something.
    pub fn next_wakeup(&self) -> Option<Time> {
        let asks_at = self.link.as_ref().map(|link| link.server.asks_at());
        let link = asks_at.filter(|at| *at != Time::MAX);
        [link, self.shaped.next_due(), self.unshaped.next_due()].into_iter().flatten().min()
    }

    /// Forgets what was measured, as at the end of a warm-up. The totals go on.
    pub fn restart_measuring(&mut self, now: Time) {
        self.accounts.clear();
        if let Some(link) = &mut self.link {
            link.meter.restart(now);
        }
    }

    /// What the link did since the measuring began; `None` where nothing is shaped.
    pub fn link_record(&self, name: &str, now: Time) -> Option<LinkRecord> {
        self.link.as_ref().map(|link| link.meter.record(name, link.server.rate(), now))
    }

    /// What each flow got since the measuring began.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Where every packet went since the start.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Packets inside: waiting, being sent, or on the delay line.
    pub fn packets_inside(&self) -> usize {
        self.pool.in_use()
    }

    /// What waits in the discipline.
    pub fn backlog(&self) -> Backlog {
        self.link.as_ref().map(|link| link.server.backlog()).unwrap_or_default()
    }

    /// Does every packet that ever came in have its place?
    pub fn is_balanced(&self) -> bool {
        let waiting = self.backlog().packets as usize;
        let inside = waiting + self.shaped.len() + self.unshaped.len();
        inside == self.pool.in_use() && self.totals.is_balanced(inside)
    }

    /// A wire-size packet arrives; `facts` are its own but for its length.
    fn arrive(&mut self, frame: &[u8], facts: &Facts, note: Note, now: Time) {
        self.totals.packets_in += 1;
        self.accounts.entry(note.account).packets_in += 1;
        let len = self.classifier.wire_bytes(frame.len() + note.kind.missing_bytes());
        match self.pool.put(frame, note) {
            Ok(id) => self.admit(id, &Facts { len, ..*facts }, now),
            Err(reason) => {
                self.accounts.entry(note.account).dropped += 1;
                self.lose(no_room(reason));
            }
        }
    }

    fn admit(&mut self, id: u32, facts: &Facts, now: Time) {
        let Some(Link { server, meter }) = self.link.as_mut().filter(|_| facts.is_ip) else {
            if !self.is_lost_on_the_way(id) {
                self.unshaped.push(id, now);
            }
            return;
        };
        let packet =
            Packet { ecn: facts.ecn, dscp: facts.dscp, ..Packet::new(id, facts.len, facts.flow, now) };
        meter.offered();
        let (pool, accounts, totals) = (&mut self.pool, &mut self.accounts, &mut self.totals);
        let service = server.offer(packet, now, &mut Ledger { pool, accounts, totals, meter });
        self.send(service, now);
    }

    /// The transmitter is free: asks for the next packet.
    fn ask(&mut self, now: Time) {
        let Some(Link { server, meter }) = &mut self.link else { return };
        let (pool, accounts, totals) = (&mut self.pool, &mut self.accounts, &mut self.totals);
        let service = server.ask(now, &mut Ledger { pool, accounts, totals, meter });
        self.send(service, now);
    }

    /// Takes note of what waits, and puts a packet that has begun to leave on the delay line.
    fn send(&mut self, service: Option<Service>, now: Time) {
        let Some(Link { server, meter }) = &mut self.link else { return };
        meter.waiting(server.backlog(), now);
        let Some(Service { packet, sent }) = service else { return };
        meter.started(&packet, now, sent);
        if self.is_lost_on_the_way(packet.frame) {
            return;
        }
        self.shaped.push(packet.frame, sent);
        let note = self.pool.note(packet.frame);
        if note.ecn != packet.ecn {
            let bytes = self.pool.bytes_mut(packet.frame);
            let headers = note.kind.parse(bytes);
            set_ecn(bytes, &headers, packet.ecn);
        }
        let count = self.accounts.entry(note.account);
        count.packets_out += 1;
        count.bytes_out += u64::from(packet.len);
    }

    /// Sends out a batch of what is due and gives its buffers back. False when nothing was.
    fn transmit_due(&mut self, now: Time, port: &mut dyn Port) -> bool {
        let mut batch = [Due::default(); MOST_FRAMES_AT_ONCE];
        let mut frames = [Outgoing::default(); MOST_FRAMES_AT_ONCE];
        let unshaped =
            std::iter::from_fn(|| self.unshaped.pop(now)).map(|frame| Due { frame, is_shaped: false });
        let shaped = std::iter::from_fn(|| self.shaped.pop(now)).map(|frame| Due { frame, is_shaped: true });
        let mut count = 0;
        // The places first: what has been popped must find one.
        for ((place, frame), due) in batch.iter_mut().zip(&mut frames).zip(unshaped.chain(shaped)) {
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
                self.lose(Loss::Refused);
            } else {
                self.totals.packets_out += 1;
                self.totals.unshaped += u64::from(!due.is_shaped);
            }
            self.pool.release(due.frame);
        }
        true
    }

    /// Does the lab's loss take this frame? Then its buffer is given back.
    fn is_lost_on_the_way(&mut self, frame: u32) -> bool {
        let is_lost = self.loss.as_mut().is_some_and(RandomLoss::is_next_lost);
        if is_lost {
            self.accounts.entry(self.pool.note(frame).account).dropped += 1;
            self.lose(Loss::Lab);
            self.pool.release(frame);
        }
        is_lost
    }

    fn lose(&mut self, loss: Loss) {
        self.totals.lost[loss as usize] += 1;
    }
}

impl Link {
    fn new(plan: ShaperPlan, start: Time) -> Self {
        let transmitter = Transmitter::with_catch_up(plan.rate, plan.catch_up);
        Link { server: Server::new(plan.discipline, transmitter), meter: LinkMeter::new(start) }
    }
}

/// Frees frames and counts, on behalf of the discipline.
struct Ledger<'a> {
    pool: &'a mut FramePool,
    accounts: &'a mut Accounts,
    totals: &'a mut Totals,
    meter: &'a mut LinkMeter,
}

impl Signals for Ledger<'_> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.meter.dropped(cause);
        self.totals.dropped[cause as usize] += 1;
        self.accounts.entry(self.pool.note(packet.frame).account).dropped += 1;
        self.pool.release(packet.frame);
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.meter.marked(cause);
        self.accounts.entry(self.pool.note(packet.frame).account).marked += 1;
    }
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

//! One direction through the gateway, without any I/O: split, classify, queue, shape, delay.
//!
//! The link is a [`Server`], as the simulator's is. What becomes free and what arrives at the same instant happen in this
//! order: first free, then arrive.

use crate::account::{Accounts, ClassCounts};
use crate::classify::{Classifier, Facts};
use crate::delay_line::DelayLine;
use crate::io::Port;
use crate::ledger::{Loss, Totals};
use crate::pool::{FramePool, NoRoom, Note, PoolSize};
use fairwire_core::{
    Backlog, Cause, Discipline, Duration, Packet, Rate, Server, Service, Signals, Time, Transmitter,
};
use fairwire_metrics::LinkMeter;
use fairwire_metrics::record::LinkRecord;
use fairwire_wire::ecn::set_ecn;
use fairwire_wire::split::split;
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
}

/// One direction through the gateway.
pub struct Direction {
    classifier: Classifier,
    pool: FramePool,
    link: Option<Link>,
    shaped: DelayLine,
    unshaped: DelayLine,
    totals: Totals,
    accounts: Accounts,
    classes: ClassCounts,
    scratch: Vec<u8>,
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
            shaped: DelayLine::new(plan.delay, frames),
            unshaped: DelayLine::new(plan.delay, frames),
            totals: Totals::default(),
            accounts: Accounts::new(plan.flows),
            classes: ClassCounts::new(plan.classes),
            // Whatever is longer does not fit the pool either.
            scratch: vec![0; plan.pool.frame_bytes as usize],
        }
    }

    /// Takes in a frame that arrived at `now`, as the interface gave it: perhaps a super-packet, perhaps with a checksum
    /// still to be made.
    pub fn receive(&mut self, frame: &[u8], vnet: &VnetHeader, now: Time) {
        self.totals.frames_received += 1;
        let mut scratch = std::mem::take(&mut self.scratch);
        let outcome = split(frame, vnet, &mut scratch, &mut |packet| self.arrive(packet, now));
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
        while let Some(frame) = self.unshaped.pop(now) {
            self.totals.unshaped += u64::from(self.transmit(frame, port));
        }
        while let Some(frame) = self.shaped.pop(now) {
            self.transmit(frame, port);
        }
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

    /// What each class got since the start.
    pub fn classes(&self) -> &ClassCounts {
        &self.classes
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

    /// A wire-size packet arrives.
    fn arrive(&mut self, frame: &[u8], now: Time) {
        self.totals.packets_in += 1;
        let facts = self.classifier.classify(frame);
        let account = self.accounts.open(facts.flow);
        // What is not IP is of no class: it has a count of its own, `unshaped`.
        let class = facts.is_ip.then(|| self.classes.entry(facts.class));
        for count in [self.accounts.entry(account)].into_iter().chain(class) {
            count.packets_in += 1;
            count.bytes_in += u64::from(facts.len);
        }
        let note = Note { len: 0, account, ecn: facts.ecn };
        match self.pool.put(frame, note) {
            Ok(id) => self.admit(id, &facts, now),
            Err(reason) => {
                self.accounts.entry(account).dropped += 1;
                if facts.is_ip {
                    self.classes.entry(facts.class).dropped += 1;
                }
                self.lose(no_room(reason));
            }
        }
    }

    fn admit(&mut self, id: u32, facts: &Facts, now: Time) {
        let Some(Link { server, meter }) = self.link.as_mut().filter(|_| facts.is_ip) else {
            return self.unshaped.push(id, now);
        };
        let packet = Packet {
            class: facts.class,
            ecn: facts.ecn,
            dscp: facts.dscp,
            ..Packet::new(id, facts.len, facts.flow, now)
        };
        meter.offered();
        let (pool, accounts, classes) = (&mut self.pool, &mut self.accounts, &mut self.classes);
        let totals = &mut self.totals;
        let service = server.offer(packet, now, &mut Ledger { pool, accounts, classes, totals, meter });
        self.send(service, now);
    }

    /// The transmitter is free: asks for the next packet.
    fn ask(&mut self, now: Time) {
        let Some(Link { server, meter }) = &mut self.link else { return };
        let (pool, accounts, classes) = (&mut self.pool, &mut self.accounts, &mut self.classes);
        let totals = &mut self.totals;
        let service = server.ask(now, &mut Ledger { pool, accounts, classes, totals, meter });
        self.send(service, now);
    }

    /// Takes note of what waits, and puts a packet that has begun to leave on the delay line.
    fn send(&mut self, service: Option<Service>, now: Time) {
        let Some(Link { server, meter }) = &mut self.link else { return };
        meter.waiting(server.backlog(), now);
        let Some(Service { packet, sent }) = service else { return };
        meter.started(&packet, now, sent);
        self.shaped.push(packet.frame, sent);
        let note = self.pool.note(packet.frame);
        if note.ecn != packet.ecn {
            let bytes = self.pool.bytes_mut(packet.frame);
            let headers = self.classifier.headers(bytes);
            set_ecn(bytes, &headers, packet.ecn);
        }
        for count in [self.accounts.entry(note.account), self.classes.entry(packet.class)] {
            count.packets_out += 1;
            count.bytes_out += u64::from(packet.len);
        }
    }

    /// Sends a frame out and gives its buffer back. False when the port refused it.
    fn transmit(&mut self, frame: u32, port: &mut dyn Port) -> bool {
        let is_sent = port.transmit(self.pool.bytes(frame));
        match is_sent {
            true => self.totals.packets_out += 1,
            false => self.lose(Loss::Refused),
        }
        self.pool.release(frame);
        is_sent
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
    classes: &'a mut ClassCounts,
    totals: &'a mut Totals,
    meter: &'a mut LinkMeter,
}

impl Signals for Ledger<'_> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.meter.dropped(cause);
        self.totals.dropped[cause as usize] += 1;
        self.accounts.entry(self.pool.note(packet.frame).account).dropped += 1;
        self.classes.entry(packet.class).dropped += 1;
        self.pool.release(packet.frame);
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.meter.marked(cause);
        self.accounts.entry(self.pool.note(packet.frame).account).marked += 1;
        self.classes.entry(packet.class).marked += 1;
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

//! A direction's records: its frames and the fates of its packets.

use super::DirectionPlan;
use crate::account::{Accounts, ClassCounts};
use crate::arrivals::ArrivalLog;
use crate::capture::{Event, Incident, Recorder};
use crate::class_book::UNCLAIMED;
use crate::ledger::{Loss, Totals};
use crate::pool::FramePool;
use crate::sojourn::Sojourns;
use fairwire_core::{Acknowledgement, Cause, Duration, Packet, Signals, Time};
use fairwire_linux::port::Late;
use fairwire_wire::tcp::Segment;

/// A direction's records, which are the discipline's [`Signals`].
pub(super) struct Books {
    /// The frames inside.
    pub pool: FramePool,
    /// The outcome of every packet since the start.
    pub totals: Totals,
    pub accounts: Accounts,
    pub classes: ClassCounts,
    /// The waits of packets.
    pub sojourns: Sojourns,
    /// The latest drops, marks and losses.
    pub recorder: Recorder,
    /// The arrivals at the discipline, for replays.
    pub arrivals: ArrivalLog,
    /// The current time, which new entries get.
    pub now: Time,
}

impl Books {
    pub(super) fn new(plan: &DirectionPlan) -> Self {
        Books {
            pool: FramePool::new(plan.pool),
            totals: Totals::default(),
            accounts: Accounts::new(plan.flows),
            classes: ClassCounts::new(plan.classes),
            sojourns: Sojourns::new(),
            recorder: Recorder::off(),
            arrivals: ArrivalLog::off(),
            now: Time::ZERO,
        }
    }

    /// Counts an arrival. `class` is `None` if the packet is not IP.
    #[inline]
    pub(super) fn came(&mut self, account: u32, class: Option<u32>, len: u32) {
        self.totals.packets_in += 1;
        self.totals.bytes_in += u64::from(len);
        self.accounts.entry(account).came(len);
        if let Some(class) = class {
            self.classes.entry(class).came(len);
        }
    }

    /// Counts the start of transmission of `len` bytes.
    #[inline]
    pub(super) fn left(&mut self, account: u32, class: Option<u32>, len: u32) {
        self.totals.bytes_out += u64::from(len);
        self.accounts.entry(account).left(len);
        if let Some(class) = class {
            self.classes.entry(class).left(len);
        }
    }

    #[inline]
    pub(super) fn count_drop(&mut self, account: u32, class: Option<u32>) {
        self.accounts.entry(account).dropped += 1;
        if let Some(class) = class {
            self.classes.entry(class).dropped += 1;
        }
    }

    /// Records the loss of a `frame` that has no buffer.
    #[cold]
    pub(super) fn lost(&mut self, loss: Loss, class: u32, frame: &[u8]) {
        self.totals.lost[loss as usize] += 1;
        self.recorder.record(loss_of(loss, class, self.now), frame);
    }

    #[inline]
    pub(super) fn sent(&mut self, id: u32, is_shaped: bool) {
        self.totals.packets_out += 1;
        self.totals.unshaped += u64::from(!is_shaped);
        self.pool.release(id);
    }

    #[cold]
    pub(super) fn refused(&mut self, id: u32, loss: Loss) {
        self.totals.lost[loss as usize] += 1;
        self.recorder.record(loss_of(loss, UNCLAIMED, self.now), self.pool.bytes(id));
        self.pool.release(id);
    }

    /// Counts frames that a port took and then lost.
    #[inline]
    pub(super) fn were_lost(&mut self, late: Late) {
        if late == Late::default() {
            return;
        }
        self.totals.packets_out -= late.refused + late.too_long;
        self.totals.lost[Loss::Refused as usize] += late.refused;
        self.totals.lost[Loss::OverMtu as usize] += late.too_long;
    }

    fn record(&mut self, packet: &Packet, class: u32, fate: Incident) {
        let event = Event { at: self.now, fate, class, waited: self.now.since(packet.arrived) };
        self.recorder.record(event, self.pool.bytes(packet.frame));
    }
}

impl Signals for Books {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.totals.dropped[cause as usize] += 1;
        let note = self.pool.note(packet.frame);
        self.count_drop(note.account, Some(note.class));
        self.record(&packet, note.class, Incident::Dropped(cause));
        self.pool.release(packet.frame);
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.totals.marked[cause as usize] += 1;
        let note = self.pool.note(packet.frame);
        self.accounts.entry(note.account).marked += 1;
        self.classes.entry(note.class).marked += 1;
        self.record(packet, note.class, Incident::Marked(cause));
    }

    fn acknowledges(&self, frame: u32) -> Option<Acknowledgement> {
        let (bytes, kind) = (self.pool.bytes(frame), self.pool.note(frame).kind);
        Segment::acknowledgement(bytes, &kind.parse(bytes))
    }
}

/// The record of a lost packet. Its arrival time is unknown, so `waited` is zero.
fn loss_of(loss: Loss, class: u32, now: Time) -> Event {
    Event { at: now, fate: Incident::Lost(loss), class, waited: Duration::ZERO }
}

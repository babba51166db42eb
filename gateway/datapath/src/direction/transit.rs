//! Moves the packets inside a direction to another process, or takes in packets from another
//! process.
//!
//! A waiting frame keeps its congestion marks. It gets its original codepoint back, by which the
//! other process classifies it.

use super::departures::ReadyFrame;
use super::{Direction, Link};
use crate::classify::Facts;
use crate::ledger::Loss;
use crate::pool::FrameNote;
use fairwire_core::{Packet, Time};
use fairwire_linux::port::LinkKind;
use fairwire_wire::ecn::{set_dscp, set_ecn};
use std::io;

/// A moving frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit<'a> {
    /// The arrival time of a waiting frame; `None` if the frame waits only for the port.
    pub arrived: Option<Time>,
    /// Its bytes.
    pub frame: &'a [u8],
}

/// All packets that were inside, in the order in which they move. Each frame keeps its slot until
/// released or put back.
#[derive(Default)]
pub struct TakenOut {
    through: Vec<ReadyFrame>,
    waiting: Vec<Packet>,
}

impl TakenOut {
    /// Was nothing inside?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Packets in all.
    pub fn len(&self) -> usize {
        self.through.len() + self.waiting.len()
    }
}

impl Direction {
    /// Takes out all packets of this direction. The packet in transmission then waits only for the
    /// port.
    pub fn take_out(&mut self) -> TakenOut {
        self.departures.end_sending();
        let through = std::iter::from_fn(|| self.departures.pop()).collect();
        let mut waiting = Vec::with_capacity(self.backlog().packets as usize);
        if let Some(link) = &mut self.link {
            link.server.discipline_mut().drain(&mut |packet| waiting.push(packet));
        }
        // A tree of disciplines drains one leaf after another, not in order of arrival.
        waiting.sort_by_key(|packet| packet.arrived);
        TakenOut { through, waiting }
    }

    /// Calls `each` with every frame of `taken`.
    pub fn show(
        &mut self,
        taken: &TakenOut,
        each: &mut dyn FnMut(Transit<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        for ready in &taken.through {
            each(Transit { arrived: None, frame: self.books.pool.bytes(ready.frame) })?;
        }
        for packet in &taken.waiting {
            let note = self.books.pool.note(packet.frame);
            let bytes = self.books.pool.bytes(packet.frame);
            let copy = &mut self.scratch[..bytes.len()];
            copy.copy_from_slice(bytes);
            let headers = note.kind.parse(copy);
            if note.ecn != packet.ecn {
                set_ecn(copy, &headers, packet.ecn);
            }
            if self.classifier.washes() {
                set_dscp(copy, &headers, packet.dscp);
            }
            each(Transit { arrived: Some(packet.arrived), frame: copy })?;
        }
        Ok(())
    }

    /// Releases the frames that another process has received.
    pub fn release(&mut self, taken: &TakenOut) {
        let frames = taken.through.iter().map(|ready| ready.frame);
        for frame in frames.chain(taken.waiting.iter().map(|packet| packet.frame)) {
            self.books.pool.release(frame);
            self.books.totals.handed_over += 1;
        }
    }

    /// Puts the packets back at `now`, with their original times of arrival. A discipline that
    /// drops or marks arrivals at random may do so again.
    pub fn put_back(&mut self, taken: TakenOut, now: Time) {
        self.books.now = now;
        taken.through.into_iter().for_each(|ready| self.departures.put(ready));
        for packet in taken.waiting {
            let Some(Link { server, .. }) = &mut self.link else { return };
            let service = server.enqueue(packet, now, &mut self.books);
            self.send(service);
        }
    }

    /// Takes in a frame that another process passed on.
    pub fn take_in(&mut self, transit: Transit<'_>, kind: LinkKind, now: Time) {
        let Transit { arrived, frame } = transit;
        self.books.now = now;
        self.books.totals.frames_received += 1;
        let headers = kind.parse(frame);
        let facts = self.classifier.facts(frame, &headers, 0);
        let account = self.account(&headers, frame, &facts);
        let note =
            FrameNote { len: 0, account, class: facts.class, ecn: facts.ecn, kind, offsets: None, ticket: 0 };
        // Makes the packet's host known at once. Otherwise the host's next packets could get
        // another flow and overtake this packet.
        self.books.accounts.know(account);
        match arrived {
            Some(arrived) => self.arrive(frame, &facts, note, arrived.min(now)),
            None => self.leave_at_once(frame, &facts, note),
        }
    }

    fn leave_at_once(&mut self, frame: &[u8], facts: &Facts, note: FrameNote) {
        let len = self.wire_bytes(frame, note.kind);
        let class = facts.is_ip.then_some(facts.class);
        self.books.came(note.account, class, len);
        match self.books.pool.put(frame, note) {
            Ok(id) => {
                self.departures.pass(id);
                self.books.left(note.account, class, len);
            }
            Err(_) => {
                self.books.count_drop(note.account, class);
                self.books.lost(Loss::NoBuffer, facts.class, frame);
            }
        }
    }
}

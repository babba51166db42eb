//! The frames in flight: the simulator's data about a packet in addition to its descriptor.

use crate::edge::Tag;
use crate::prefetch;
use crate::seen::Content;
use fairwire_core::{Acknowledgement, Ecn, Time};
use fairwire_tcp::{Ack, Sack, Segment};
use std::any::Any;
use std::collections::VecDeque;

/// One packet, or the acknowledgement that replaced it. Aligned, so that it never spans two cache
/// lines.
///
/// A function that handles many packets and is not inlined takes a slot instead of a frame. A frame
/// passed as an argument would be written to memory, and reading one field would wait for the
/// complete write.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Frame {
    /// The segment number on the forward path, the next expected segment on the return path, or a
    /// datagram's bytes.
    seq: u64,
    pub(crate) flow: u32,
    /// Its current leg.
    pub(crate) leg: u32,
    marks: u32, // for an acknowledgement
    pub(crate) connection: u16,
    is_ack: bool,
    is_syn: bool,
    /// True for a retransmitted segment, and for an acknowledgement with blocks.
    is_special: bool,
    /// TCP's ECN flags: CWR of a segment, or ECE of an acknowledgement.
    flag: bool,
    epoch: bool,
    /// The codepoint of a segment, as it was sent or as it arrived.
    pub(crate) ecn: Ecn,
    pub(crate) tag: Tag,
}

const _: () = assert!(size_of::<Frame>() == 32);

/// The departure of a packet from a link whose discipline uses round trips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) flow: u32,
    pub(crate) link: u32,
    pub(crate) at: Time,
    /// The bytes of this packet, and of later packets that the same answer covers.
    pub(crate) bytes: u32,
}

impl Frame {
    #[inline]
    pub(crate) fn carrying(flow: u32, connection: u16, segment: Segment, leg: u32) -> Self {
        let Segment { seq, is_syn, is_retransmission, ecn, cwr, epoch } = segment;
        Frame {
            seq,
            flow,
            leg,
            marks: 0,
            connection,
            is_ack: false,
            is_syn,
            is_special: is_retransmission,
            flag: cwr,
            epoch,
            ecn,
            tag: Tag::default(),
        }
    }

    #[inline]
    fn answering(flow: u32, connection: u16, ack: Ack, leg: u32) -> Self {
        let Ack { next, is_for_syn, ece, marks, echo, sack } = ack;
        Frame {
            seq: next,
            flow,
            leg,
            marks,
            connection,
            is_ack: true,
            is_syn: is_for_syn,
            is_special: !sack.is_empty(),
            flag: ece,
            epoch: echo,
            ecn: Ecn::NotEct,
            tag: Tag::default(),
        }
    }

    pub(crate) fn datagram(flow: u32, conversation: u16, bytes: u32, ecn: Ecn, leg: u32) -> Self {
        Frame { ecn, ..Frame::carrying(flow, conversation, Segment::data(bytes.into()), leg) }
    }

    /// A packet of an external endpoint, which is the second end if `is_back`.
    pub(crate) fn packet(flow: u32, bytes: u32, ecn: Ecn, is_back: bool, leg: u32) -> Self {
        Frame { is_ack: is_back, ..Frame::datagram(flow, 0, bytes, ecn, leg) }
    }

    pub(crate) fn datagram_bytes(&self) -> u32 {
        self.seq as u32
    }

    /// A number for the tie rule, which differs between frames that may arrive simultaneously.
    #[inline(always)]
    pub(crate) fn identity(&self) -> u32 {
        self.flow ^ (self.seq as u32).wrapping_mul(0x9e37_79b1)
    }

    pub(crate) fn is_ack(&self) -> bool {
        self.is_ack
    }

    pub(crate) fn is_data(&self) -> bool {
        !self.is_ack && !self.is_syn
    }

    #[inline]
    pub(crate) fn set_blocks(&mut self, has_blocks: bool) {
        self.is_special = has_blocks;
    }

    pub(crate) fn content(&self, sack: Sack) -> Content {
        let Frame { seq, is_ack, is_syn, is_special, flag, .. } = *self;
        match (is_ack, is_syn) {
            (true, is_for_syn) => Content::Ack { next: seq, is_for_syn, ece: flag, sack },
            (false, true) => Content::Syn,
            (false, false) => Content::Data { seq, is_retransmission: is_special, cwr: flag },
        }
    }

    pub(crate) fn segment(&self) -> Segment {
        let Frame { seq, is_syn, is_special, flag, epoch, ecn, .. } = *self;
        Segment { seq, is_syn, is_retransmission: is_special, ecn, cwr: flag, epoch }
    }
}

/// A slot is prefetched this many frames before it is used.
const STORES_AHEAD: usize = 8;

pub(crate) type Payload = Box<dyn Any + Send>;

/// A pool of frames. It grows to the maximum number of frames in flight.
///
/// The frame released first is reused first, so consecutive packets are adjacent in memory.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    slots: Vec<Frame>,
    free: VecDeque<u32>,
    /// By slot: the SACK blocks of the slot's acknowledgement, if any. Grows when needed.
    sacks: Vec<Sack>,
    /// By slot: the time at which its packet was sent. Kept only for observers.
    sent: Option<Vec<Time>>,
    /// By slot: departures from a link that uses round trips. Grows when needed.
    left: Vec<Option<Left>>,
    /// By flow: the first departure that the next answer covers. Grows when needed.
    unanswered: Vec<Option<Left>>,
    /// By slot: the payloads of external endpoints. Grows when needed.
    payloads: Vec<Option<Payload>>,
}

impl Frames {
    #[inline(always)]
    pub(crate) fn store(&mut self, frame: Frame) -> u32 {
        if let Some(slot) = self.free.pop_front() {
            if let Some(&soon) = self.free.get(STORES_AHEAD) {
                self.fetch(soon);
            }
            self.slots[slot as usize] = frame;
            return slot;
        }
        self.slots.push(frame);
        (self.slots.len() - 1) as u32
    }

    pub(crate) fn with_stamps() -> Self {
        Frames { sent: Some(Vec::new()), ..Frames::default() }
    }

    #[inline]
    pub(crate) fn stamp(&mut self, slot: u32, now: Time) {
        if let Some(sent) = &mut self.sent {
            if sent.len() < self.slots.len() {
                sent.resize(self.slots.len(), Time::ZERO);
            }
            sent[slot as usize] = now;
        }
    }

    pub(crate) fn sent(&self, slot: u32) -> Time {
        self.sent.as_ref().and_then(|sent| sent.get(slot as usize)).copied().unwrap_or(Time::ZERO)
    }

    #[inline(always)]
    pub(crate) fn answer(&mut self, slot: u32, flow: u32, connection: u16, ack: Ack, leg: u32) -> Frame {
        let frame = Frame::answering(flow, connection, ack, leg);
        self.slots[slot as usize] = frame;
        frame
    }

    #[inline(never)]
    pub(crate) fn add_blocks(&mut self, slot: u32, sack: Sack) -> bool {
        self.slots[slot as usize].is_special = !sack.is_empty();
        self.keep_blocks(slot, sack);
        !sack.is_empty()
    }

    pub(crate) fn store_answer(&mut self, flow: u32, connection: u16, ack: Ack, leg: u32) -> u32 {
        let slot = self.store(Frame::answering(flow, connection, ack, leg));
        self.take_left(slot); // of an earlier frame
        if !self.unanswered.is_empty() {
            self.answer_all(slot, flow);
        }
        self.keep_blocks(slot, ack.sack);
        slot
    }

    #[cold]
    fn keep_blocks(&mut self, slot: u32, sack: Sack) {
        if self.sacks.len() < self.slots.len() {
            self.sacks.resize(self.slots.len(), Sack::NONE);
        }
        self.sacks[slot as usize] = sack;
    }

    #[inline(always)]
    pub(crate) fn ack(&self, slot: u32) -> Ack {
        let Frame { seq, marks, is_syn, is_special, flag, epoch, .. } = self.slots[slot as usize];
        let sack = if is_special { self.sacks[slot as usize] } else { Sack::NONE };
        Ack { next: seq, is_for_syn: is_syn, ece: flag, marks, echo: epoch, sack }
    }

    pub(crate) fn blocks(&self, slot: u32) -> Sack {
        if self.slots[slot as usize].is_ack { self.ack(slot).sack } else { Sack::NONE }
    }

    pub(crate) fn acknowledges(&self, slot: u32) -> Option<Acknowledgement> {
        let Frame { seq, marks, is_ack, is_syn, is_special, flag, .. } = self.at(slot);
        let is_plain = !(is_syn || is_special || flag);
        is_ack.then_some(Acknowledgement { number: seq as u32, marks, echoes_mark: flag, is_plain })
    }

    /// Stores a copy of the packet in `slot`; `None` if its content cannot be copied.
    pub(crate) fn copy(&mut self, slot: u32) -> Option<u32> {
        if self.payloads.get(slot as usize).is_some_and(Option::is_some) {
            return None;
        }
        let (frame, blocks, sent) = (self.at(slot), self.blocks(slot), self.sent(slot));
        let copy = self.store(frame);
        self.take_left(copy); // of an earlier frame
        self.stamp(copy, sent);
        if !blocks.is_empty() {
            self.keep_blocks(copy, blocks);
        }
        Some(copy)
    }

    pub(crate) fn keep_left(&mut self, slot: u32, left: Option<Left>) {
        if self.left.len() < self.slots.len() {
            self.left.resize(self.slots.len(), None);
        }
        self.left[slot as usize] = left;
    }

    pub(crate) fn take_left(&mut self, slot: u32) -> Option<Left> {
        self.left.get_mut(slot as usize)?.take()
    }

    /// Records that the packet in `slot` has arrived and is answered later. The answer then belongs
    /// to the first waiting packet, as with a timestamp's echo (RFC 7323, section 4.3).
    pub(crate) fn answer_later(&mut self, slot: u32) {
        let Some(left) = self.take_left(slot) else { return };
        let flow = left.flow as usize;
        if self.unanswered.len() <= flow {
            self.unanswered.resize(flow + 1, None);
        }
        let first = self.unanswered[flow]
            .map(|first| Left { bytes: first.bytes.saturating_add(left.bytes), ..first });
        self.unanswered[flow] = first.or(Some(left));
    }

    #[inline(never)] // few runs have any
    pub(crate) fn answer_all(&mut self, slot: u32, flow: u32) {
        let Some(first) = self.unanswered.get_mut(flow as usize).and_then(Option::take) else { return };
        let last = self.take_left(slot).filter(|left| left.flow == flow);
        let bytes = first.bytes.saturating_add(last.map_or(0, |left| left.bytes));
        self.keep_left(slot, Some(Left { bytes, ..first }));
    }

    pub(crate) fn keep_payload(&mut self, slot: u32, payload: Option<Payload>) {
        if self.payloads.len() < self.slots.len() {
            self.payloads.resize_with(self.slots.len(), || None);
        }
        self.payloads[slot as usize] = payload;
    }

    #[inline(never)] // few runs have any
    pub(crate) fn take_payload(&mut self, slot: u32) -> Option<Payload> {
        self.payloads.get_mut(slot as usize)?.take()
    }

    #[inline]
    pub(crate) fn drop_payload(&mut self, slot: u32) {
        if !self.payloads.is_empty() {
            self.take_payload(slot);
        }
    }

    #[inline]
    pub(crate) fn fetch(&self, slot: u32) {
        prefetch::lines(&self.slots[slot as usize], 0..1);
    }

    #[inline]
    pub(crate) fn at(&self, slot: u32) -> Frame {
        self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, slot: u32) -> &mut Frame {
        &mut self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn release(&mut self, slot: u32) {
        self.free.push_back(slot);
    }

    #[cfg(test)]
    pub(crate) fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    #[cfg(test)]
    pub(crate) fn payloads(&self) -> usize {
        self.payloads.iter().flatten().count()
    }
}

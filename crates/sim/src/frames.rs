//! The frames in flight: what the simulator knows of a packet beside its descriptor.

use fairwire_tcp::{Ack, Segment};

/// Sequence number that stands for a SYN, or for the answer to one.
const SYN: u64 = u64::MAX;

/// One packet, or the acknowledgement that it turned into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Segment number on the way out, next segment expected on the way back; of a datagram, its bytes.
    seq: u64,
    /// The flow it belongs to.
    pub(crate) flow: u32,
    /// The leg of its way that it is on.
    pub(crate) leg: u32,
    /// Which of the flow's connections or conversations it belongs to.
    pub(crate) connection: u16,
    is_ack: bool,
}

impl Frame {
    pub(crate) fn datagram(flow: u32, conversation: u16, bytes: u32, leg: u32) -> Self {
        Frame { flow, seq: bytes.into(), leg, connection: conversation, is_ack: false }
    }

    /// Bytes on the wire of the datagram that it is.
    pub(crate) fn datagram_bytes(&self) -> u32 {
        self.seq as u32
    }

    pub(crate) fn carrying(flow: u32, connection: u16, segment: Segment, leg: u32) -> Self {
        let seq = match segment {
            Segment::Syn => SYN,
            Segment::Data(seq) => seq,
        };
        Frame { flow, seq, leg, connection, is_ack: false }
    }

    pub(crate) fn answering(flow: u32, connection: u16, ack: Ack, leg: u32) -> Self {
        Frame { flow, seq: if ack.is_for_syn { SYN } else { ack.next }, leg, connection, is_ack: true }
    }

    pub(crate) fn is_ack(&self) -> bool {
        self.is_ack
    }

    pub(crate) fn ack(&self) -> Ack {
        match self.seq {
            SYN => Ack { next: 0, is_for_syn: true },
            next => Ack { next, is_for_syn: false },
        }
    }

    pub(crate) fn segment(&self) -> Segment {
        match self.seq {
            SYN => Segment::Syn,
            seq => Segment::Data(seq),
        }
    }
}

const _: () = assert!(size_of::<Frame>() == 24);

/// A pool of frames. It grows to the most that were ever in flight, and no further.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    slots: Vec<Frame>,
    free: Vec<u32>,
}

impl Frames {
    #[inline]
    pub(crate) fn store(&mut self, frame: Frame) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = frame;
            return slot;
        }
        self.slots.push(frame);
        (self.slots.len() - 1) as u32
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
        self.free.push(slot);
    }

    #[cfg(test)]
    pub(crate) fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

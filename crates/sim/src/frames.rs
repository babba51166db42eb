//! The frames in flight: what the simulator knows of a packet beside its descriptor.

use fairwire_tcp::{Ack, Segment};

/// Sequence number that stands for a SYN, or for the answer to one.
const SYN: u64 = u64::MAX;

/// One packet, or the acknowledgement that it turned into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The flow it belongs to.
    pub(crate) flow: u32,
    /// Segment number on the way out, next segment expected on the way back.
    pub(crate) seq: u64,
}

impl Frame {
    pub(crate) fn carrying(flow: u32, segment: Segment) -> Self {
        Frame { flow, seq: if segment.is_syn { SYN } else { segment.seq } }
    }

    pub(crate) fn answering(flow: u32, ack: Ack) -> Self {
        Frame { flow, seq: if ack.is_for_syn { SYN } else { ack.next } }
    }

    pub(crate) fn ack(&self) -> Ack {
        match self.seq {
            SYN => Ack::of_syn(),
            next => Ack::of(next),
        }
    }

    pub(crate) fn segment(&self) -> Segment {
        match self.seq {
            SYN => Segment::SYN,
            seq => Segment::data(seq),
        }
    }
}

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

//! The messages: segments in one direction, acknowledgements in the other.

use fairwire_core::Ecn;

/// A segment, without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The segment's number, counted from 0; 0 for a SYN, which is not data.
    pub seq: u64,
    /// Does the segment open the connection?
    pub is_syn: bool,
    /// Was the segment sent before?
    pub is_retransmission: bool,
    /// The ECN codepoint with which the segment leaves or arrives.
    pub ecn: Ecn,
    /// Has the sender reduced its window since the echo of a mark (RFC 3168, section 6.1.2)?
    pub cwr: bool,
    /// The epoch changes with the first retransmission after a reduction, with a retransmitted
    /// probe, and with each retransmitted SYN. It replaces a timestamp (RFC 7323). If an
    /// acknowledgement's [`echo`](Ack::echo) differs from the sender's current epoch, the
    /// acknowledgement echoes a segment of an earlier epoch. Used with
    /// [`Recovery::Rack`](crate::Recovery::Rack).
    pub epoch: bool,
}

impl Segment {
    /// The opening of a connection. It is not ECN-capable (RFC 3168, section 6.1.1).
    pub const SYN: Segment = Segment { is_syn: true, ..Segment::data(0) };

    /// Data segment number `seq`, sent for the first time, not ECN-capable.
    pub const fn data(seq: u64) -> Self {
        let ecn = Ecn::NotEct;
        Segment { seq, is_syn: false, is_retransmission: false, ecn, cwr: false, epoch: false }
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The next segment expected: everything below it has arrived.
    pub next: u64,
    /// Does the acknowledgement answer a SYN? Such an answer is never a duplicate acknowledgement.
    pub is_for_syn: bool,
    /// True from the arrival of a mark until the sender reports that it has reduced its window (RFC
    /// 3168, section 6.1.3).
    pub ece: bool,
    /// Marked segments received so far on the connection, wrapping.
    pub marks: u32,
    /// The [`epoch`](Segment::epoch) of the echoed segment, chosen as in RFC 7323, section 4.3: the
    /// last segment to arrive in order, or the first segment that a delayed acknowledgement covers.
    /// Used with [`Recovery::Rack`](crate::Recovery::Rack).
    pub echo: bool,
    /// The segments received beyond `next`, or twice.
    pub sack: Sack,
}

impl Ack {
    /// An acknowledgement of exactly the data below `next`.
    pub const fn of(next: u64) -> Self {
        Ack { next, is_for_syn: false, ece: false, marks: 0, echo: false, sack: Sack::NONE }
    }

    /// The answer to a SYN.
    pub const fn of_syn() -> Self {
        Ack { is_for_syn: true, ..Ack::of(0) }
    }
}

/// Up to three blocks of segments that have arrived out of order (RFC 2018). The block of the
/// latest arrival is first. An empty block ends the list. A segment that has arrived twice takes
/// the first place, before at most two blocks (DSACK, RFC 2883).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sack {
    /// The blocks.
    pub blocks: [Block; Sack::MOST],
}

/// A run of segments. Its position is relative to the acknowledgement that reports it, so the
/// fields are small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First segment, counted from the acknowledgement's [`next`](Ack::next); at least 1.
    pub offset: u32,
    /// Number of segments; 0 for no block.
    pub len: u32,
}

impl Sack {
    /// The maximum number of blocks that fit together with a timestamp (RFC 2018, section 3).
    pub const MOST: usize = 3;

    /// No blocks.
    pub const NONE: Sack = Sack { blocks: [Block { offset: 0, len: 0 }; Sack::MOST] };

    /// True if there is no block and no segment that has arrived twice.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.blocks[0].len == 0
    }

    /// These blocks, preceded by a report that segment `seq` has arrived twice. `next` is the next
    /// segment expected.
    pub(crate) fn after_duplicate(self, seq: u64, next: u64) -> Self {
        let [first, second, _] = self.blocks;
        let duplicate = Block { offset: seq.wrapping_sub(next) as u32, len: Block::DUPLICATE };
        Sack { blocks: [duplicate, first, second] }
    }

    /// The segment that has arrived twice, if any. The acknowledgement covers everything below
    /// `next`.
    pub fn duplicate(&self, next: u64) -> Option<u64> {
        let [first, ..] = self.blocks;
        let offset = i64::from(first.offset.cast_signed());
        (first.len == Block::DUPLICATE).then_some(next.wrapping_add_signed(offset))
    }

    /// The ranges of the SACK option in an acknowledgement of everything below `next`: a segment
    /// that has arrived twice, then the blocks. A range consists of its first segment number and
    /// the number after its last.
    pub fn ranges(&self, next: u64) -> impl Iterator<Item = [u64; 2]> + '_ {
        let blocks = self.iter().map(move |block| {
            let first = next + u64::from(block.offset);
            [first, first + u64::from(block.len)]
        });
        self.duplicate(next).map(|seq| [seq, seq + 1]).into_iter().chain(blocks)
    }

    /// The blocks, without the report of a duplicate.
    pub fn iter(&self) -> impl Iterator<Item = Block> + '_ {
        let skipped = usize::from(self.blocks[0].len == Block::DUPLICATE);
        self.blocks.iter().copied().skip(skipped).take_while(|block| block.len > 0)
    }
}

impl Block {
    /// The length that marks a segment as having arrived twice.
    const DUPLICATE: u32 = u32::MAX;
}

const _: () = assert!(size_of::<Segment>() == 16 && size_of::<Ack>() <= 40);

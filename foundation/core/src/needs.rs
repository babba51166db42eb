//! The indexes that a buffer maintains.

/// The indexes that a scheduler or a dropper reads from the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub(crate) order: bool,
    pub(crate) flows: bool,
    pub(crate) random_packet: bool,
}

impl Needs {
    /// Only the order of arrival.
    pub const ORDER: Needs = Needs { order: true, flows: false, random_packet: false };
    /// The packets of each flow, and the backlogged flows; not the order in which packets of
    /// different flows arrived.
    pub const QUEUES: Needs = Needs { order: false, flows: true, random_packet: false };
    /// [`Needs::QUEUES`], and the order of arrival.
    pub const FLOWS: Needs = Needs { order: true, flows: true, random_packet: false };
    /// A uniformly random packet, and the order of arrival.
    pub const RANDOM_PACKET: Needs = Needs { order: true, flows: false, random_packet: true };
    /// Every index.
    pub const ALL: Needs = Needs { order: true, flows: true, random_packet: true };
}

impl core::ops::BitOr for Needs {
    type Output = Needs;
    fn bitor(self, other: Needs) -> Needs {
        Needs {
            order: self.order || other.order,
            flows: self.flows || other.flows,
            random_packet: self.random_packet || other.random_packet,
        }
    }
}
